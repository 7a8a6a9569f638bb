import { describe, expect, it } from 'vitest'
import { refuseSql } from '../../src/platform/core/sql.ts'
import { hostileForms, legalForms, unseenForms, withUnknownFunction } from './cases/sql-forms.ts'
import { readRecordedForms } from './sql-forms.ts'

const engines = Object.values(readRecordedForms())

const effectsOf = (form: string): readonly (string | undefined)[] => engines.map(({ effects }) => effects[form])

const isHarmless = (effect: string | undefined): boolean => effect === 'answers' || /^error \d+$/.test(effect ?? '')

describe('SQL of files', () => {
  it('W4: is refused, or no version of ClickHouse that ran it reached beyond its own data', () => {
    const reaching = hostileForms.filter((form) => !effectsOf(form).every(isHarmless))
    expect(reaching.length).toBeGreaterThan(140)
    expect(reaching.filter((form) => refuseSql(form) === undefined)).toEqual([])
  })

  it('W4: is refused for a table function of a later release in each place where ClickHouse accepts one', () => {
    const accepting = hostileForms.filter((form) => withUnknownFunction(form) !== form && effectsOf(form).includes('connects'))
    expect(accepting.length).toBeGreaterThan(30)
    expect(accepting.map(withUnknownFunction).filter((form) => refuseSql(form) === undefined)).toEqual([])
  })

  it('W4: is refused for functions whose effects the recorded servers do not show, and for parts that change another part', () =>
    expect(unseenForms.filter((form) => refuseSql(form) === undefined)).toEqual([]))

  it('is accepted where it reads the database, and may have columns with the names of such functions', () =>
    expect(legalForms.map((form) => ({ form, refused: refuseSql(form), effects: effectsOf(form) }))).toEqual(
      legalForms.map((form) => ({ form, refused: undefined, effects: engines.map(() => 'answers') })),
    ))

  it('was recorded for every form', () => {
    const forms = [...hostileForms, ...unseenForms, ...legalForms].sort()
    expect(new Set(forms).size).toBe(forms.length)
    for (const { effects } of engines) expect(Object.keys(effects).sort()).toEqual(forms)
  })
})

/** Table functions that read the data of the database, what a query has, or nothing. Their arguments are SQL that is searched, too. */
const harmlessTableFunctions = [
  ...['SQLStandardValues', 'cluster', 'clusterAllReplicas', 'dictionary', 'format', 'fuzzJSON', 'fuzzQuery', 'generateRandom'],
  ...['generateSeries', 'generate_series', 'merge', 'mergeTreeAnalyzeIndexes', 'mergeTreeAnalyzeIndexesUUID', 'mergeTreeCodecBlockCounts'],
  ...['mergeTreeIndex', 'mergeTreeProjection', 'mergeTreeTextIndex', 'null', 'numbers', 'numbers_mt', 'primes', 'prometheusQuery'],
  ...['prometheusQueryRange', 'timeSeriesData', 'timeSeriesMetricFamilies', 'timeSeriesMetrics', 'timeSeriesSamples', 'timeSeriesSelector'],
  ...['timeSeriesTags', 'values', 'view', 'viewExplain', 'viewIfPermitted', 'zeros', 'zeros_mt'],
]

describe('the functions of ClickHouse', () => {
  it('W4: a table function that reaches beyond the database is refused in any place', () => {
    const names = new Set(engines.flatMap(({ tableFunctions }) => tableFunctions))
    expect(names.size).toBeGreaterThan(90)
    const accepted = [...names].filter((name) => refuseSql(`SELECT ${name}(1)`) === undefined)
    expect(accepted.filter((name) => !harmlessTableFunctions.includes(name))).toEqual([])
  })

  it('W4: a function that takes others cannot call file, and a function that calls a model is refused', () => {
    const [higherOrder, ai] = [engines.flatMap((one) => one.higherOrder), engines.flatMap((one) => one.ai)]
    expect([higherOrder.length, ai.length]).toEqual([39, 16])
    expect(higherOrder.filter((name) => refuseSql(`SELECT ${name}(file, a)`) === undefined)).toEqual([])
    expect(ai.filter((name) => refuseSql(`SELECT ${name}('x')`) === undefined)).toEqual([])
  })
})
