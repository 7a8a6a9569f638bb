// The objects of a file with `instances` exist once for each of them, with its values in place of `${{ instance.NAME }}`.
import * as z from 'zod'
import { type KindName, kindNames, sectionNames, sections } from '../../kinds/kind-names.ts'
import { fileSchemas } from '../../kinds/kinds.ts'
import { keyForm, keyGrammar } from '../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, type Location, type Rules } from '../../platform/core/diagnostics.ts'
import { InputError } from '../../platform/core/errors.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { adviceOnDropped, didYouMean, variableName } from '../../platform/core/names.ts'
import { quote } from '../../platform/core/text.ts'
import { maxExpandedSize, type ReadDocument, type ValuePath } from '../../platform/documents/document.ts'
import {
  countExpressions,
  type ExpansionBudget,
  exceedsRoom,
  type InstanceScope,
  instanceNamesIn,
  interpolate,
} from '../../platform/documents/expressions.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { schemaDiagnostics } from '../../platform/documents/validate.ts'
import { textOrNumber } from './environment.ts'

const valueName = z
  .string()
  .regex(variableName)
  .refine((name) => name !== 'key')
  .meta({ description: 'Name of the value.', accepts: 'letters, digits and underscores; the first is not a digit; not key' })

export const instanceValues = z.record(valueName, textOrNumber)

export const instancesSchema = z.record(
  z.string().regex(keyGrammar).meta({ description: 'Key of the instance: `instance.key`.', accepts: keyForm }),
  instanceValues.nullable(),
)

const frame = z.object({ defaults: z.object({ instances: instanceValues.optional() }).optional(), instances: instancesSchema })

const maxInstantiatedObjects = 1000

export const instanceRules = {
  variable: { severity: 'error', description: 'An expression is not supported, or its variable is not set.' },
  instance: {
    severity: 'error',
    description: 'The instances of a file are not valid: equal keys of objects, a value that no expression uses, or too many objects.',
  },
} as const satisfies Rules

const report = (location: Location, message: string): Diagnostic => diagnosticOf(instanceRules, 'instance', location, message)

export type Fill = (
  document: ReadDocument,
  base: ValuePath,
  instance?: InstanceScope,
) => { readonly value: unknown; readonly unset: readonly Diagnostic[] }

interface Instantiated {
  /** Located in the file. */
  readonly documents: readonly ReadDocument[]
  readonly diagnostics: readonly Diagnostic[]
}

export const hasInstances = ({ value: root }: ReadDocument): boolean =>
  ownValue(root, 'instances') !== undefined || ownValue(ownValue(root, 'defaults'), 'instances') !== undefined

/** With errors in the instances, there are no documents. Throws an InputError when the files exceed their `room`. */
export function instantiate(file: ReadDocument, fill: Fill, room: ExpansionBudget): Instantiated {
  const fail = (diagnostics: readonly Diagnostic[]): Instantiated => ({ documents: [], diagnostics })
  const [own, common] = [fill(file, ['instances']), fill(file, ['defaults', 'instances'])]
  const filled = { instances: own.value, ...(common.value !== undefined && { defaults: { instances: common.value } }) }
  const parsed = frame.safeParse(filled)
  const unset = [...own.unset, ...common.unset]
  if (unset.length > 0) return fail(unset)
  if (!parsed.success) return fail(schemaDiagnostics(parsed.error, { ...file, value: filled }, frame))
  const scopes = Object.entries(parsed.data.instances).map(([key, values]): InstanceScope => {
    const all = { ...parsed.data.defaults?.instances, ...values, key }
    return { key, values: new Map(Object.entries(all)) }
  })
  const templates = templatesOf(file.value)
  const count = templates.length * scopes.length
  const size = sizeOf(withoutInstances(file.value)) * scopes.length
  const tooLarge =
    count > maxInstantiatedObjects
      ? `${scopes.length} instances of ${templates.length} objects are ${count} objects, but a file may have ${maxInstantiatedObjects}; split the file`
      : size > maxExpandedSize
        ? `the file has more than ${maxExpandedSize} values after expansion; split it`
        : undefined
  if (tooLarge !== undefined) return fail([report(file.locationOfKey(['instances']), tooLarge)])
  const keys = findEqualKeys(file, templates, scopes)
  const used = new Set([...usedNames(file.value), previousName])
  const unused = findUnused(file, parsed.data, used)
  if (keys.length > 0) return fail([...keys, ...unused])
  const documents: ReadDocument[] = []
  const diagnostics: Diagnostic[] = [...unused]
  for (const scope of scopes) {
    const instance = instantiateOne(file, fill, scope)
    // An object takes memory, however small it is.
    room.characters -= 1000 + JSON.stringify(instance.document.value).length
    if (room.characters < 0) throw new InputError([report(file.locationOfKey(['instances']), `the instances ${exceedsRoom}`)])
    documents.push(instance.document)
    diagnostics.push(...instance.unset)
  }
  return { documents, diagnostics }
}

interface Template {
  readonly section: string
  readonly key: string
}

const templatesOf = (root: unknown): readonly Template[] =>
  sectionNames.flatMap((section) => {
    const objects = ownValue(root, section)
    return isMapping(objects) ? Object.keys(objects).map((key) => ({ section, key })) : []
  })

const sizeOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.values(value).reduce((sum: number, item) => sum + 1 + sizeOf(item), 1) : 1

/** An empty text means none. */
const previousName = 'previousKey'

/** Unless the object says otherwise. Sources have no keys in the service. */
function withPreviousKey(object: unknown, kind: KindName, template: string, { key, values }: InstanceScope): unknown {
  const previous = values.get(previousName) ?? ''
  if (previous === '' || !isMapping(object) || !Object.hasOwn(fileSchemas[kind].shape, previousName)) return object
  return { [previousName]: String(fillKey(template, { key, values: new Map([...values, ['key', previous]]) }).value), ...object }
}

/** No environment changes it, because it identifies the object. */
const fillKey = (key: string, instance: InstanceScope) =>
  interpolate(key, { variable: () => undefined, isText: () => true, instance, room: { characters: 1000 } })

function findEqualKeys(file: ReadDocument, templates: readonly Template[], scopes: readonly InstanceScope[]): readonly Diagnostic[] {
  return templates.flatMap(({ section, key }) => {
    const at = (message: string) => [report(file.locationOfKey([section, key]), `${section}: "${quote(key)}" ${message}`)]
    const names = instanceNamesIn(key)
    if (names.length < countExpressions(key)) return at('has an expression that is not supported in a key; use only values of the instance')
    if (names.length === 0) return at(`is the same key for each instance; add \${{ instance.key }} to it`)
    const groups = Map.groupBy(scopes, (scope) => String(fillKey(key, scope).value))
    const [equal] = [...groups.values()].filter((group) => group.length > 1)
    const [first, second] = equal ?? []
    if (first === undefined || second === undefined) return []
    return at(`is the same key for the instances ${first.key} and ${second.key}; add \${{ instance.key }} to it`)
  })
}

const usedNames = (root: unknown): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value === 'string') for (const name of instanceNamesIn(value)) names.add(name)
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      visit(key)
      visit(item)
    }
  }
  visit(root)
  return names
}

function adviseOnUnused(name: string, used: ReadonlySet<string>) {
  const dropped = adviceOnDropped(name)
  return didYouMean(name, used) || (dropped === undefined ? '' : `; ${dropped}`)
}

/** A misspelled name would leave the default in place. */
function findUnused(file: ReadDocument, { defaults, instances }: z.output<typeof frame>, used: ReadonlySet<string>): readonly Diagnostic[] {
  const values = [
    [['defaults', 'instances'], defaults?.instances ?? {}] as const,
    ...Object.entries(instances).map(([key, own]) => [['instances', key], own ?? {}] as const),
  ]
  return values.flatMap(([path, own]) =>
    Object.keys(own)
      .filter((name) => !used.has(name))
      .map((name) =>
        report(file.locationOfKey([...path, name]), `${path.join('.')}: no expression uses "${quote(name)}"${adviseOnUnused(name, used)}`),
      ),
  )
}

function instantiateOne(file: ReadDocument, fill: Fill, instance: InstanceScope) {
  const at = (location: Location): Location => ({ ...location, instance: instance.key })
  const inFile: ReadDocument = {
    value: withoutInstances(file.value),
    locationOf: (path) => at(file.locationOf(path)),
    locationOfKey: (path) => at(file.locationOfKey(path)),
  }
  const { value: filled, unset } = fill(inFile, [], instance)
  const keys = new Map<string, string>()
  const diagnostics: Diagnostic[] = [...unset]
  const instantiated = kindNames.flatMap((kind) => {
    const section = sections[kind]
    const objects = ownValue(filled, section)
    if (!isMapping(objects)) return []
    const entries = Object.entries(objects).map(([template, object]) => {
      const { value: key, errors } = fillKey(template, instance)
      for (const { message } of errors)
        diagnostics.push(diagnosticOf(instanceRules, 'variable', inFile.locationOfKey([section, template]), `${section}: ${message}`))
      keys.set(`${section} ${String(key)}`, template)
      return [String(key), withPreviousKey(object, kind, template, instance)] as const
    })
    return [[section, Object.fromEntries(entries)] as const]
  })
  const inTemplate = ([section, key, ...rest]: ValuePath): ValuePath => {
    const template = keys.get(`${String(section)} ${String(key)}`)
    return [section, template ?? key, ...rest].filter((part) => part !== undefined)
  }
  const document: ReadDocument = {
    value: { ...(isMapping(filled) && filled), ...Object.fromEntries(instantiated) },
    locationOf: (path) => inFile.locationOf(inTemplate(path)),
    locationOfKey: (path) => inFile.locationOfKey(inTemplate(path)),
  }
  return { document, unset: diagnostics }
}

function withoutInstances(root: unknown): unknown {
  if (!isMapping(root)) return root
  const { instances: _, defaults, ...rest } = root
  if (!isMapping(defaults)) return { ...rest, ...(defaults !== undefined && { defaults }) }
  const { instances: __, ...others } = defaults
  return { ...rest, defaults: others }
}
