// Alert rules of Grafana: provisioning files, and what its UI and API export. Facts are from grafana/grafana, in pkg/expr and
// pkg/services/provisioning/alerting/rules_types.go.
import * as z from 'zod'
import { comparisons, type ThresholdType } from '../../kinds/alert/alert.ts'
import { isApiDashboard, isSingleDashboard, isWebAppDashboard, singleDashboard } from '../../kinds/dashboard/dashboard-file.ts'
import type { Body } from '../../kinds/kind.ts'
import { sectionNames } from '../../kinds/kind-names.ts'
import { formatLocation, inputDiagnosticAt } from '../../platform/core/diagnostics.ts'
import { InputError } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { isEmpty, isMapping, mapItems } from '../../platform/core/keys.ts'
import { plural, quote } from '../../platform/core/text.ts'
import { type ReadDocument, readDocument, type ValuePath } from '../../platform/documents/document.ts'
import { refuse } from '../../signals/backtest/window-sql.ts'
import { describeOtherProgram, importable } from '../../sync/declarations/other-files.ts'
import type { Reduction } from './shape.ts'

/** YAML has numbers and booleans where Grafana reads texts. */
const text = z.union([z.string(), z.number(), z.boolean()]).transform(String)

const plain = z.unknown().transform((value) => (typeof value === 'object' ? '' : String(value)))

const texts = z.record(z.string(), plain).nullish()

const seconds = z.number().min(0).max(1e9).nullish()

/** Fields that are not in a schema stay in the value, so that a report can name them. */
export const querySchema = z.looseObject({
  refId: text,
  datasourceUid: text.nullish(),
  queryType: text.nullish(),
  relativeTimeRange: z.object({ from: seconds, to: seconds }).nullish(),
  model: z.record(z.string(), z.unknown()).nullish(),
})

export type GrafanaQuery = z.output<typeof querySchema>

export const ruleSchema = z.looseObject({
  uid: text.nullish(),
  title: text,
  condition: text.nullish(),
  data: z.array(querySchema).nullish(),
  for: text.nullish(),
  noDataState: text.nullish(),
  execErrState: text.nullish(),
  labels: texts,
  annotations: texts,
  dashboardUid: text.nullish(),
  panelId: text.nullish(),
  isPaused: z.boolean().nullish(),
  notification_settings: z.looseObject({ receiver: text }).nullish(),
  record: z.unknown().optional(),
})

export type GrafanaRule = z.output<typeof ruleSchema>

export interface RuleInFile {
  readonly value: unknown
  readonly group: string
  readonly folder: string
  /** A duration, or a number of seconds. */
  readonly interval: unknown
  readonly location: string
}

const otherSections = /^(?:delete\w+|contactPoints|policies|resetPolicies|muteTimes|templates)$/

const noRules = `has no groups of alert rules; ${importable}. Export rules in Grafana at Alerting, Alert rules, Export rules, or from /api/v1/provisioning/alert-rules/export`

const provisioned =
  'has the form of a file of the provisioner; where a server has it, the provisioner overwrites the dashboard that it made, also one that apply adopted, so remove it there first'

interface ImportedFile {
  readonly rules: readonly RuleInFile[]
  /** What stays in Grafana, and what to know about the file. */
  readonly notes: readonly string[]
  readonly dashboard?: Body
}

/** Places that a template pack fills in. Links have templates of their own. */
const placeholder = /\{\{[A-Z][A-Z0-9_]*\}\}/g

/** Throws an InputError for the placeholders of a dashboard, each with its first place. */
function refusePlaceholders(document: ReadDocument, named: ReadonlySet<string>) {
  const places = new Map<string, ValuePath[]>()
  const visit = (value: unknown, path: ValuePath) => {
    const found = typeof value === 'string' && !named.has(value) && !path.includes('onClick') ? (value.match(placeholder) ?? []) : []
    for (const name of new Set(found)) places.set(name, [...(places.get(name) ?? []), path])
    mapItems(value, (item, key) => visit(item, [...path, key]))
  }
  visit(document.value, [])
  if (places.size === 0) return
  throw new InputError(
    [...places].map(([name, [first = [], ...others]]) => {
      const field = ['sourceId', 'connectionId'].find((one) => first.includes(one))
      const option = field === undefined ? '' : `, or give ${spellInput(field.replace('Id', ''), `${name}=NAME`)}`
      const count = others.length === 0 ? '' : ` (and ${plural(others.length, 'more place')})`
      return inputDiagnosticAt(document.locationOf(first), `${name}${count} is a placeholder; fill it in${option}`)
    }),
  )
}

/** Throws an InputError for a file that cannot be read, and for one of another kind. `named` are the ids, and placeholders, that have names. */
export function readImportedFile(content: string, file: string, named: ReadonlySet<string> = new Set()): ImportedFile {
  const refuseFile = (is: string): never => {
    throw new InputError([inputDiagnosticAt({ file }, is)])
  }
  if (file.endsWith('.tf')) return refuseFile('is a file of Terraform; watchkeeper pull writes the objects of the service to files')
  const document = readDocument(content, file)
  if ('diagnostics' in document) throw new InputError(document.diagnostics)
  const root: Body = isMapping(document.value) ? document.value : {}
  if (isWebAppDashboard(root)) return { rules: [], notes: root.version === undefined ? [`${file}: ${provisioned}`] : [], dashboard: root }
  if (isApiDashboard(root)) {
    refusePlaceholders(document, named)
    return { rules: [], notes: [], dashboard: root }
  }
  const isGroup = Array.isArray(root.rules)
  const given: unknown = Array.isArray(document.value) ? [{ rules: document.value }] : isGroup ? [root] : root.groups
  const groups: readonly unknown[] = Array.isArray(given) ? given : []
  const others = isGroup ? [] : Object.keys(root).filter((key) => key !== 'apiVersion' && key !== 'groups')
  const other = describeOtherProgram(root)
  if (other !== undefined) return refuseFile(other)
  const declared = sectionNames.find((section) => !isEmpty(root[section]))
  const is = isSingleDashboard(root) ? singleDashboard : declared && 'a file with declarations'
  if (is !== undefined) return refuseFile(`is ${is}; ${importable}`)
  if (groups.length === 0 && !others.some((key) => otherSections.test(key))) return refuseFile(noRules)
  const rules = groups.flatMap((group, g) => {
    const { rules: own, name, title, folder, folderUid, interval } = isMapping(group) ? group : {}
    return (Array.isArray(own) ? own : []).map((value: unknown, r): RuleInFile => {
      const { ruleGroup, folderUID } = isMapping(value) ? value : {}
      const path = Array.isArray(document.value) ? [r] : isGroup ? ['rules', r] : ['groups', g, 'rules', r]
      const names = { group: textOrEmpty(name ?? title ?? ruleGroup), folder: textOrEmpty(folder ?? folderUid ?? folderUID) }
      return { value, ...names, interval, location: formatLocation(document.locationOf(path)) }
    })
  })
  const unknown = groups.flatMap((group) => Object.keys(isMapping(group) ? group : {}).filter((key) => !knownInGroup.test(key)))
  const notes = [...others, ...new Set(unknown)].map((key) => `${file}: ${quote(key)} stays in Grafana`)
  return { rules, notes }
}

const knownInGroup = /^(?:org(?:Id|ID)|name|title|folder|folderUid|interval|rules)$/

/** The text of a name or a number; empty for anything else. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 }

/** `1m30s`, or a number of seconds; undefined for anything else. */
export function toSeconds(value: unknown): number | undefined {
  const given = textOrEmpty(value).trim()
  if (/^\d{1,9}$/.test(given)) return Number(given)
  if (!/^(?:\d{1,9}(?:ms|[smhdwy]))+$/.test(given)) return undefined
  return [...given.matchAll(/(\d+)(ms|[smhdwy])/g)].reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit] ?? 0), 0)
}

/** `90` → `90s`, `300` → `5m`. */
export function formatSeconds(seconds: number): string {
  const unit = ['d', 'h', 'm'].find((one) => seconds > 0 && seconds % (unitSeconds[one] ?? 1) === 0) ?? 's'
  return `${seconds / (unitSeconds[unit] ?? 1)}${unit}`
}

export const isGiven = (value: unknown): boolean => !isEmpty(value) && value !== false

// The condition of a rule: a chain of a query, at most one reduce expression, and a threshold. Everything else is refused.

interface Evaluator {
  readonly thresholdType: ThresholdType
  readonly threshold: number
  readonly thresholdMax?: number
  /** `within_range` leaves out its borders, and `between` includes them. */
  readonly withoutBorders?: boolean
}

export interface RuleCondition {
  readonly query: GrafanaQuery
  readonly reduction: Reduction | undefined
  /** A classic condition fires once for all groups. */
  readonly isClassic: boolean
  readonly evaluator: Evaluator
  readonly differences: readonly string[]
}

/** Whether an entry of `data` is an expression, and not a query of a data source. */
const isExpression = ({ datasourceUid, model }: { readonly datasourceUid?: unknown; readonly model?: unknown }) =>
  /^(?:__expr__|-100)$/.test(String(datasourceUid ?? '')) ||
  (isMapping(model) && isMapping(model.datasource) && model.datasource.type === '__expr__')

/** Throws an UnusableSql for a condition that has no equivalent. */
export function readCondition({ condition, data }: GrafanaRule): RuleCondition {
  const used = new Set<GrafanaQuery>()
  const follow: Follow = (given, from) => {
    if (typeof given !== 'string') return refuse(from === undefined ? 'it has no condition' : `${quote(from.refId)} has no expression`)
    const refId = given.replace(/^\$\{?(.*?)\}?$/, '$1')
    const found = data?.find((one) => one.refId === refId) ?? refuse(`its condition is about ${quote(refId)}, which is not in data`)
    used.add(found)
    return found
  }
  const read = readLast(follow(condition), follow)
  const left = (data ?? []).filter((one) => !used.has(one))
  const unused = left.map(({ refId }) => `${quote(refId)} is left out, because the condition does not use it`)
  return { ...read, differences: [...read.differences, ...unused] }
}

type Follow = (refId: unknown, from?: GrafanaQuery) => GrafanaQuery

function readLast(last: GrafanaQuery, follow: Follow): RuleCondition {
  const common = { reduction: undefined, isClassic: false, differences: [] }
  // Grafana fires for every number but 0.
  if (!isExpression(last)) return { ...common, query: last, evaluator: { thresholdType: 'not_equal', threshold: 0 } }
  const { type, conditions, expression } = last.model ?? {}
  const all: readonly Body[] = Array.isArray(conditions) ? conditions.filter(isMapping) : []
  const isClassic = type === 'classic_conditions'
  if (!isClassic && type !== 'threshold') return refuseExpression(last)
  if (all.length !== 1) return refuse(`the condition combines ${all.length}: ${all.map(describeClassic).join('; ')}. Make a rule for each`)
  const { evaluator, unloadEvaluator, query, reducer } = all[0] ?? {}
  const target = follow(isClassic ? paramsOf(query)[0] : expression, last)
  const own = isClassic ? { reducer: readReducer(typeOf(reducer)), mode: 'classic' as const } : undefined
  const reduced = isExpression(target) ? readReduce(target, follow) : { query: target, reduction: own }
  const recovery = `is OK again when its threshold holds no more; Grafana waited for ${describe(unloadEvaluator)} (unloadEvaluator)`
  const differences = unloadEvaluator == null ? [] : [recovery]
  return { ...reduced, isClassic, evaluator: readEvaluator(evaluator, isClassic), differences }
}

function readReduce(reduce: GrafanaQuery, follow: Follow): Pick<RuleCondition, 'query' | 'reduction'> {
  const { type, expression, settings, reducer } = reduce.model ?? {}
  if (type !== 'reduce') return refuseExpression(reduce)
  const query = follow(expression, reduce)
  if (isExpression(query)) return refuseExpression(query)
  const { mode, replaceWithValue } = isMapping(settings) ? settings : {}
  const replaced = typeof replaceWithValue === 'number' ? { replaceBy: replaceWithValue } : undefined
  const isStrict = mode == null || mode === '' || mode === 'strict'
  const known = isStrict ? 'strict' : mode === 'dropNN' ? 'dropNN' : mode === 'replaceNN' ? replaced : undefined
  if (known === undefined) return refuse(`the mode ${describe(mode)} of the reduce expression is unknown`)
  return { query, reduction: { reducer: readReducer(reducer), mode: known } }
}

const reducers = ['last', 'mean', 'min', 'max', 'sum', 'count'] as const

const readReducer = (given: unknown): Reduction['reducer'] =>
  reducers.find((one) => one === (given === 'avg' ? 'mean' : given)) ??
  refuse(`the reducer ${describe(given)} has no equivalent; use one of ${reducers.join(', ')}`)

/** Reads an evaluator. The borders of a range can have any order in a classic condition only. */
function readEvaluator(given: unknown, isClassic: boolean): Evaluator {
  const name = typeOf(given)
  const [first, second] = paramsOf(given)
  const thresholdType = Object.hasOwn(comparisons, name) ? comparisons[name] : undefined
  if (thresholdType !== undefined && typeof first === 'number') return { thresholdType, threshold: first }
  if (!/^(?:within_range(?:_included)?|outside_range)$/.test(name) || typeof first !== 'number' || typeof second !== 'number')
    return refuse(`the evaluator ${describe(given)} has no equivalent`)
  if (first > second && !isClassic) return refuse(`the range from ${first} to ${second} is in the wrong order`)
  const range = { threshold: Math.min(first, second), thresholdMax: Math.max(first, second) }
  return name === 'outside_range'
    ? { thresholdType: 'not_between', ...range }
    : { thresholdType: 'between', ...range, withoutBorders: name === 'within_range' }
}

function refuseExpression({ refId, model }: GrafanaQuery): never {
  const what = `${quote(refId)} of type ${describe(model?.type)} has no equivalent: ${describe(model?.expression)}`
  return refuse(`the expression ${what}. Write it in the SQL of one query`)
}

const typeOf = (value: unknown) => (isMapping(value) ? textOrEmpty(value.type) : '')

const paramsOf = (value: unknown): readonly unknown[] => (isMapping(value) && Array.isArray(value.params) ? value.params : [])

function describeClassic({ evaluator, query, reducer, operator }: Body) {
  const paramsIn = (value: unknown) => JSON.stringify(paramsOf(value)).slice(1, -1)
  return quote(`${typeOf(operator)} ${typeOf(reducer)}(${paramsIn(query)}) ${typeOf(evaluator)} ${paramsIn(evaluator)}`.trim(), 120)
}

const describe = (value: unknown) => quote(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'), 120)
