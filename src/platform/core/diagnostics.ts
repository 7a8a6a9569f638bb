import * as z from 'zod'

export const severities = ['error', 'warning', 'note'] as const

export type Severity = (typeof severities)[number]

export const locationSchema = z.object({
  file: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  instance: z.string().optional().describe('Of a file with `instances`: the key of the instance.'),
})

/** Lines and columns count from 1. Without them, it is the whole file or input. */
export type Location = Readonly<z.infer<typeof locationSchema>>

export const diagnosticSchema = z.object({
  rule: z.string().describe('Id of the rule.'),
  severity: z.enum(severities),
  message: z.string(),
  location: locationSchema.describe('File, line and column, from 1.'),
  page: z.string().optional().describe('Page of the documents of Watchkeeper, with which the message ends.'),
})

/** A problem or a remark about a file or an input. */
export type Diagnostic = Readonly<z.infer<typeof diagnosticSchema>>

export interface Rule {
  readonly severity: Severity
  /** Severity in the exceptional case that the description names. */
  readonly exception?: Severity
  /** For the documents and SARIF. */
  readonly description: string
}

export type Rules = Readonly<Record<string, Rule>>

export const diagnosticOf = <Id extends string>(
  rules: Readonly<Record<Id, Rule>>,
  rule: NoInfer<Id>,
  location: Location,
  message: string,
): Diagnostic => ({ rule, severity: rules[rule].severity, location, message })

export const exceptionalDiagnostic = <Id extends string>(
  rules: Readonly<Record<NoInfer<Id>, Required<Rule>>>,
  rule: Id,
  location: Location,
  message: string,
): Diagnostic => ({ rule, severity: rules[rule].exception, location, message })

const inputRules = {
  input: { severity: 'error', description: 'An input is not valid.' },
  'missing-input': { severity: 'error', description: 'An input is missing.' },
} as const satisfies Rules

/** `name` is in kebab-case. The message names the given value and the accepted ones. */
export const inputDiagnostic = (name: string, message: string): Diagnostic => inputDiagnosticAt({ file: name }, message)

/** Another place may have the value. */
export const missingInput = (name: string, message: string): Diagnostic =>
  diagnosticOf(inputRules, 'missing-input', { file: name }, message)

export const isMissingInput = ({ rule }: Diagnostic): boolean => rule === ('missing-input' satisfies keyof typeof inputRules)

/** Whether the diagnostic is about an input or a setting, and not about an object. */
export const isAboutInput = ({ rule }: { readonly rule: string }): boolean => Object.hasOwn(inputRules, rule)

export const inputDiagnosticAt = (location: Location, message: string): Diagnostic => diagnosticOf(inputRules, 'input', location, message)

/** `file:line:column`. */
export const formatLocation = ({ file, line, column }: Location): string =>
  [file, line, column].filter((part) => part !== undefined).join(':')

export const errorsIn = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === 'error')

/** Keeps their original order. */
export function mostSevere(diagnostics: readonly Diagnostic[], limit: number): readonly Diagnostic[] {
  if (diagnostics.length <= limit) return diagnostics
  const bySeverity = diagnostics.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const kept = new Set(bySeverity.slice(0, limit))
  return diagnostics.filter((one) => kept.has(one))
}

export type LintSettings = Readonly<Record<string, Severity | 'off'>>
