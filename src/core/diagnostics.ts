// Owns where in a file something stands.

export interface Place {
  /** As the user named it: a path, or an input. */
  readonly file: string
  /** From 1; undefined when it is about the file as a whole. */
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** `file:line:column`. */
export const formatPlace = ({ file, line, column }: Place): string => [file, line, column].filter((part) => part !== undefined).join(':')

// Owns what is found wrong in files: by which rule, how bad, and where.

export const severities = ['error', 'warning', 'note'] as const

export type Severity = (typeof severities)[number]

export interface Finding {
  /** Id of the rule, for configuration and for SARIF. */
  readonly rule: string
  readonly severity: Severity
  readonly message: string
  readonly place: Place
}

export const failing = (findings: readonly Finding[]): readonly Finding[] => findings.filter(({ severity }) => severity === 'error')
