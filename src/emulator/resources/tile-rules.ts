// Owns what the parts of a tile's config must be to each other and to the service's sources. Source: HyperDX server code.
import { check, type Problem } from '../problems.ts'
import type { JsonObject, Service } from '../store.ts'
import { checkSource } from './saved-searches.ts'
import { builderConfigs, rawConfigs, selectItem } from './tile-config.ts'

export function checkConfig(config: JsonObject, path: string, service: Service): Problem[] {
  const raw = 'configType' in config
  const schema = (raw ? rawConfigs : builderConfigs).get(config.displayType)
  if (schema === undefined) return [{ path: `${path}.displayType`, message: raw ? 'is no display type for raw SQL' : 'is no display type' }]
  const checked = check(schema, config, path)
  if ('problems' in checked) return checked.problems
  const { sourceId } = config
  return [
    ...(typeof sourceId === 'string' ? checkSource(service, sourceId, `${path}.sourceId`) : []),
    ...(raw || config.displayType === 'heatmap' ? [] : checkSelect(config, path)),
  ]
}

function checkSelect({ displayType, select, asRatio, formulas }: JsonObject, path: string): Problem[] {
  if (!Array.isArray(select)) return []
  const problems: Problem[] = select.flatMap((item: unknown, index) => checkItem(item, `${path}.select.${index}`))
  const formulaCount = Array.isArray(formulas) ? formulas.length : 0
  const refuse = (field: string, message: string): number => problems.push({ path: `${path}.${field}`, message })
  if (asRatio === true && select.length !== 2) refuse('asRatio', 'needs exactly two select items')
  if (asRatio === true && formulaCount > 0) refuse('formulas', 'must not stand beside asRatio')
  if (displayType !== 'number') return problems
  if (formulaCount === 0 && select.length !== 1) refuse('select', 'a number tile without formulas has exactly one item')
  if (formulaCount > 1) refuse('formulas', 'a number tile has at most one formula')
  return problems
}

function checkItem(value: unknown, path: string): Problem[] {
  const checked = check(selectItem, value, path)
  if ('problems' in checked) return checked.problems
  const { aggFn, level, valueExpression } = checked.value
  const problems: Problem[] = []
  if (level !== undefined && aggFn !== 'quantile') problems.push({ path: `${path}.level`, message: 'is for aggFn quantile alone' })
  if (aggFn === 'count' && valueExpression !== undefined) {
    problems.push({ path: `${path}.valueExpression`, message: 'must not be given for aggFn count' })
  }
  if (aggFn !== 'count' && valueExpression === undefined) {
    problems.push({ path: `${path}.valueExpression`, message: `is required for aggFn ${aggFn}` })
  }
  return problems
}
