// Loaded only if there is a config file, because it needs the YAML parser and the rules of declarations.

import * as z from 'zod'
import { projectForm, projectGrammar } from '../kinds/marker.ts'
import { type Diagnostic, inputDiagnosticAt, type LintSettings, type Location, severities } from '../platform/core/diagnostics.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { isMapping, keysOf } from '../platform/core/keys.ts'
import { didYouMean, toCamel, toKebab, whyDropped } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import { type ReadDocument, readDocument } from '../platform/documents/document.ts'
import { schemaDiagnostics } from '../platform/documents/validate.ts'
import { fileInputs, fileSettings, notInRepository, settingsSchema } from '../platform/operation/inputs.ts'
import type { PreviousOwner } from '../platform/operation/operation.ts'
import { type LintRule, lintRules } from '../sync/declarations/lint.ts'

export const ruleSettingsSchema = z
  .partialRecord(z.enum(keysOf<LintRule>(lintRules)), z.enum([...severities, 'off']))
  .meta({ description: 'Severity of each lint rule, by its id.' })

export const sqlFunctionsSchema = z
  .array(
    z
      .string()
      .regex(/^[A-Za-z_]\w{0,127}$/)
      .meta({ accepts: 'the name of a function' }),
  )
  .max(200)
  .meta({ description: 'Functions of your own that SQL in files may call. ClickHouse has others with more than data: these stay refused.' })

export const previousOwnerShape = {
  'previous-project': z
    .union([z.literal(false), z.string().regex(projectGrammar)])
    .optional()
    .meta({
      description:
        'The name of the project before it was renamed. `apply` takes over its objects that files declare. `false` confirms a second set of objects beside those of another project.',
      accepts: `false, or ${projectForm}`,
    }),
  'previous-repository': z
    .string()
    .regex(/^(?:[0-9a-f]{10}|[A-Za-z0-9.-]+(?:\/[\w.-]+){2,})$/)
    .optional()
    .meta({
      description: 'The address of the repository before it was renamed or moved, or the 10 hex digits that a message has in its place.',
      accepts: 'HOST/OWNER/NAME, or 10 hex digits',
    }),
}

const previousOwnerSchema = z.strictObject(previousOwnerShape)

export interface Config {
  readonly values: Readonly<Record<string, unknown>>
  readonly inputs: Readonly<Record<string, unknown>>
  readonly lintSettings: LintSettings
  readonly sqlFunctions: readonly string[]
  readonly previousOwner: PreviousOwner
  readonly diagnostics: readonly Diagnostic[]
  /** Undefined for a name that the file does not have. */
  locationOf(name: string): Location | undefined
}

/** Problems become diagnostics; the valid settings are kept. */
export function readConfig(text: string, file: string): Partial<Config> {
  // A file whose settings are all commented out is valid.
  if (text.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line))) return {}
  const document = readDocument(text, file)
  if ('diagnostics' in document) return document
  const { value } = document
  if (!isMapping(value)) return { diagnostics: [inputDiagnosticAt(document.locationOf([]), 'must be a map of settings')] }
  const { rules, 'sql-functions': sqlFunctions, 'previous-project': project, 'previous-repository': repository, ...rest } = value
  const entries = Object.entries(rest)
  const lint = readKey(['rules', rules ?? {}], ruleSettingsSchema, document)
  const functions = readKey(['sql-functions', sqlFunctions ?? []], sqlFunctionsSchema, document)
  const previous = previousOwnerSchema.safeParse({ 'previous-project': project, 'previous-repository': repository })
  const rejected = entries.filter(([key]) => !isSetting(key) && !isInput(key))
  return {
    values: Object.fromEntries(entries.filter(([key]) => isSetting(key)).map(([key, setting]) => [toCamel(key), setting])),
    inputs: Object.fromEntries(entries.filter(([key]) => isInput(key))),
    lintSettings: lint.value ?? {},
    sqlFunctions: functions.value ?? [],
    previousOwner: { project: previous.data?.['previous-project'], repository: previous.data?.['previous-repository'] },
    diagnostics: [
      ...(previous.success ? [] : schemaDiagnostics(previous.error, document, previousOwnerSchema)),
      ...lint.diagnostics,
      ...functions.diagnostics,
      ...rejected.map(([key]) => inputDiagnosticAt(document.locationOfKey([key]), `"${quote(key)}" ${whyNotInFile(toCamel(key))}`)),
    ],
    locationOf(name) {
      const [key] = entries.find(([one]) => toCamel(one) === name) ?? []
      return key === undefined ? undefined : document.locationOf([key])
    },
  }
}

function readKey<S extends z.ZodType>([key, value]: readonly [key: string, value: unknown], schema: S, document: ReadDocument) {
  const parsed = schema.safeParse(value)
  return { value: parsed.data, diagnostics: parsed.success ? [] : schemaDiagnostics(parsed.error, document, schema, [key]) }
}

const isSetting = (key: string) => fileSettings.some((name) => name === toCamel(key))

const isInput = (key: string) => fileInputs.some((name) => name === key)

function whyNotInFile(name: string) {
  if (name === 'env') return `cannot be set here, because it would apply to every job; set ${spellInput('env')}`
  return Object.hasOwn(settingsSchema.shape, name)
    ? notInRepository
    : (whyDropped(toKebab(name)) ??
        `is an unknown setting${didYouMean(toKebab(name), [...fileSettings.map(toKebab), ...fileInputs, 'rules', 'sql-functions', ...Object.keys(previousOwnerShape)])}`)
}
