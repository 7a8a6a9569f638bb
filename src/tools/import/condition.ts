// The condition of a rule: a chain of a query, at most one reduce expression, and a threshold. Everything else is refused.

import { comparisons, type ThresholdType } from '../../kinds/alert/alert.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'
import { refuse } from '../../signals/backtest/window-sql.ts'
import { type GrafanaQuery, type GrafanaRule, textOrEmpty } from './grafana-file.ts'
import type { Reduction } from './shape.ts'

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

type Model = Readonly<Record<string, unknown>>

/** Whether an entry of `data` is an expression, and not a query of a data source. */
const isExpression = ({ datasourceUid, model }: { readonly datasourceUid?: unknown; readonly model?: unknown }): boolean =>
  /^(?:__expr__|-100)$/.test(String(datasourceUid ?? '')) ||
  (isMapping(model) && isMapping(model.datasource) && model.datasource.type === '__expr__')

/** Throws an UnusableSql for a condition that has no equivalent. */
export function readCondition({ condition, data }: GrafanaRule): RuleCondition {
  const used = new Set<GrafanaQuery>()
  const follow: Follow = (given, from) => {
    if (typeof given !== 'string') return refuse(from === undefined ? 'it has no condition' : `${quote(from.refId, 40)} has no expression`)
    const refId = given.replace(/^\$\{?(.*?)\}?$/, '$1')
    const found = data?.find((one) => one.refId === refId) ?? refuse(`its condition is about ${quote(refId, 40)}, which is not in data`)
    used.add(found)
    return found
  }
  const read = readLast(follow(condition), follow)
  const left = (data ?? []).filter((one) => !used.has(one))
  const unused = left.map(({ refId }) => `${quote(refId, 40)} is left out, because the condition does not use it`)
  return { ...read, differences: [...read.differences, ...unused] }
}

/** Finds what the condition of the rule, or another expression, is about. */
type Follow = (refId: unknown, from?: GrafanaQuery) => GrafanaQuery

function readLast(last: GrafanaQuery, follow: Follow): RuleCondition {
  const common = { reduction: undefined, isClassic: false, differences: [] }
  // Grafana fires for every number but 0.
  if (!isExpression(last)) return { ...common, query: last, evaluator: { thresholdType: 'not_equal', threshold: 0 } }
  const { type, conditions, expression } = last.model ?? {}
  const all: readonly Model[] = Array.isArray(conditions) ? conditions.filter(isMapping) : []
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
  const what = `${quote(refId, 40)} of type ${describe(model?.type)} has no equivalent: ${describe(model?.expression)}`
  return refuse(`the expression ${what}. Write it in the SQL of one query`)
}

const typeOf = (value: unknown): string => (isMapping(value) ? textOrEmpty(value.type) : '')

const paramsOf = (value: unknown): readonly unknown[] => (isMapping(value) && Array.isArray(value.params) ? value.params : [])

function describeClassic({ evaluator, query, reducer, operator }: Model): string {
  const paramsIn = (value: unknown): string => JSON.stringify(paramsOf(value)).slice(1, -1)
  return quote(`${typeOf(operator)} ${typeOf(reducer)}(${paramsIn(query)}) ${typeOf(evaluator)} ${paramsIn(evaluator)}`.trim(), 120)
}

const describe = (value: unknown): string => quote(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'), 120)
