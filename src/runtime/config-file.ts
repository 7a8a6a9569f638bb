// Loaded only where there is a config file: it needs the YAML parser and the rules of declarations.
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { didYouMean, toCamel, toKebab } from '../core/names.ts'
import { quote } from '../core/text.ts'
import { type ReadDocument, readDocument } from '../documents/document.ts'
import { schemaDiagnostics } from '../documents/validate.ts'
import type { LintSettings } from '../operation/operation.ts'
import { fileInputs, fileSettings } from '../operation/settings.ts'
import { loadLintSettingsSchema } from '../operations.ts'
import { decode, settingFields, settingNames, type Values } from './decode.ts'

/** The settings of a config file, whose keys are spelled like inputs. What may not be set in a repository is a problem. */
export interface Config {
  readonly values: Values
  /** Inputs of operations, for those that have them. */
  readonly inputs: Values
  readonly lintSettings: LintSettings
  readonly diagnostics: readonly Diagnostic[]
}

export async function readConfig(text: string, file: string): Promise<Config> {
  // A file whose settings are all commented out is fine.
  if (text.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line))) return refuse([])
  const reading = readDocument(text, file)
  if ('diagnostics' in reading) return refuse(reading.diagnostics)
  const { value } = reading
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse([inputDiagnostic(file, 'is no map of settings')])
  const { rules, ...settings } = value as Values
  const lint = await readRules(rules ?? {}, reading)
  const known = Object.entries(settings).filter(([key]) => mayBeSet(toCamel(key)))
  const unknown = Object.keys(settings).filter((key) => !mayBeSet(toCamel(key)) && !isInput(key))
  return {
    values: Object.fromEntries(known.map(([key, setting]) => [toCamel(key), decoded(toCamel(key), setting)])),
    inputs: Object.fromEntries(Object.entries(settings).filter(([key]) => isInput(key))),
    lintSettings: lint.lintSettings,
    diagnostics: [...lint.diagnostics, ...unknown.map((key) => inputDiagnostic(file, `"${quote(key, 60)}" ${whyNot(toCamel(key))}`))],
  }
}

const refuse = (diagnostics: readonly Diagnostic[]): Config => ({ values: {}, inputs: {}, lintSettings: {}, diagnostics })

async function readRules(rules: unknown, document: ReadDocument): Promise<Pick<Config, 'lintSettings' | 'diagnostics'>> {
  const schema = await loadLintSettingsSchema()
  const parsed = schema.safeParse(rules)
  if (parsed.success) return { lintSettings: parsed.data, diagnostics: [] }
  return { lintSettings: {}, diagnostics: schemaDiagnostics(parsed.error, document, schema, ['rules']) }
}

const mayBeSet = (name: string): boolean => fileSettings.some((allowed) => allowed === name)

const isInput = (name: string): boolean => fileInputs.some((allowed) => allowed === name)

function decoded(name: string, setting: unknown): unknown {
  const field = settingFields[name]
  return typeof setting === 'string' && field ? decode(field, setting) : setting
}

const whyNot = (name: string): string =>
  settingNames.includes(name)
    ? 'may not be set by a file in the repository: give it as an input or a variable'
    : `is an unknown setting${didYouMean(name, [...fileSettings.map(toKebab), ...fileInputs])}`
