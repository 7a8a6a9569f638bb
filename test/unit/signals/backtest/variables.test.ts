// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the server replaces the variables of a dashboard
import { describe, expect, it } from 'vitest'
import { comparedVariable, withoutVariables } from '../../../../src/signals/backtest/terms.ts'

const filters = [{ isVariableEnabled: true, variableName: 'service', name: 'Service', expression: 'ServiceName' }]

const sql = (condition: string): string => {
  const tile = { name: 'T', config: { sqlTemplate: `SELECT count() FROM a WHERE ${condition}` } }
  return String((withoutVariables(tile, filters).config as { readonly sqlTemplate: string }).sqlTemplate).split(' WHERE ')[1] ?? ''
}

const where = (condition: string, whereLanguage?: string): unknown => {
  const tile = { name: 'T', config: { select: [{ aggFn: 'count', where: condition, ...(whereLanguage && { whereLanguage }) }] } }
  return (withoutVariables(tile, filters).config as { readonly select: readonly { readonly where: string }[] }).select[0]?.where
}

// The forms were evaluated by the alert task of HyperDX 2.36: all rows, or none.
const forms = [
  ['ServiceName = $service', 'ServiceName = NULL', 'none'],
  ['ServiceName IN ($service)', 'ServiceName IN (NULL)', 'none'],
  ["ServiceName = '${service}'", "ServiceName = 'NULL'", 'none'],
  ['ServiceName != $service', 'ServiceName != NULL', 'none'],
  ['ServiceName IN (${service:sqlstring})', 'ServiceName IN (NULL)', 'none'],
  ['$__filter(ServiceName, $service)', '(1=1)', 'all'],
  ['$__filter($service)', '(1=1)', 'all'],
  ['$__conditionalAll(ServiceName = $service, $service)', '(1=1)', 'all'],
  ['$__conditionalAll(lower(ServiceName) = lower($service), $service)', '(1=1)', 'all'],
  ['(ServiceName = $service OR $service IS NULL)', '(ServiceName = NULL OR NULL IS NULL)', 'all'],
  ["match(ServiceName, '${service:regex}')", "match(ServiceName, '.*')", 'all'],
  ["ServiceName LIKE '%${service:csv}%'", "ServiceName LIKE '%%'", 'all'],
] as const

describe('the variables of a dashboard in the query of an alert', () => {
  it('are empty, in each form', () => {
    for (const [form, expanded] of forms) expect(sql(form), form).toBe(expanded)
    expect(where('ServiceName:$service')).toBe('ServiceName:("")')
    expect(where('ServiceName:${service}', 'lucene')).toBe('ServiceName:("")')
    expect(where('ServiceName = $service', 'sql')).toBe('ServiceName = NULL')
  })

  it('are compared with in the forms that match no row', () => {
    for (const [form, , rows] of forms) expect(comparedVariable(form, filters), form).toBe(rows === 'none' ? 'service' : undefined)
    expect(comparedVariable('ServiceName:"$service"', filters)).toBe('service')
    expect(comparedVariable('ServiceName:$service', filters)).toBeUndefined()
    expect(comparedVariable('ServiceName = $other', filters)).toBeUndefined()
  })

  it('are those that a filter enables, by its name or the one derived from it; other texts stay', () => {
    const tile = { name: 'T', config: { sqlTemplate: 'SELECT $service, $Other_One, $__timeFilter(t), $none', select: [{ where: 'a:b' }] } }
    expect(withoutVariables(tile, [])).toBe(tile)
    expect(withoutVariables(tile, [{ name: 'service', isVariableEnabled: false }])).toBe(tile)
    expect(withoutVariables(tile, [{ name: ' Other One ', isVariableEnabled: true }])).toEqual({
      name: 'T',
      config: { sqlTemplate: 'SELECT $service, NULL, $__timeFilter(t), $none', select: [{ where: 'a:b' }] },
    })
  })
})
