import { describe, expect, it } from 'vitest'
import { refuseSql } from '../../src/platform/core/sql.ts'
import { hostileForms, legalForms, unseenForms, withUnknownFunction } from './cases/sql-forms.ts'
import { readRecordedForms } from './sql-forms.ts'

const engines = Object.values(readRecordedForms())

const effectsOf = (form: string): readonly (string | undefined)[] => engines.map(({ effects }) => effects[form])

const isHarmless = (effect: string | undefined): boolean => effect === 'answers' || /^error \d+$/.test(effect ?? '')

/** The forms that may be sent. */
async function passing(forms: readonly string[]): Promise<readonly string[]> {
  const reasons = await Promise.all(forms.map((form) => refuseSql(form)))
  return forms.filter((_, i) => reasons[i] === undefined)
}

describe('SQL of files', () => {
  it('W4: is refused, or no version of ClickHouse that ran it reached beyond its own data', async () => {
    const reaching = hostileForms.filter((form) => !effectsOf(form).every(isHarmless))
    expect(reaching.length).toBeGreaterThan(180)
    expect(await passing(reaching)).toEqual([])
  })

  it('W4: is refused for a table function of a later release in each place where ClickHouse accepts one', { tags: 'slow' }, async () => {
    const accepting = hostileForms.filter((form) => withUnknownFunction(form) !== form && effectsOf(form).includes('connects'))
    expect(accepting.length).toBeGreaterThan(30)
    expect(await passing(accepting.map(withUnknownFunction))).toEqual([])
  })

  it('W4: is refused for data of the server, for effects that a recorded server does not show, and as more than a part of a query', async () =>
    expect(await passing(unseenForms)).toEqual([]))

  it('is accepted where it reads the database, and may have columns with the names of such functions and clauses', async () => {
    const accepted = await passing(legalForms)
    expect(legalForms.map((form) => ({ form, isAccepted: accepted.includes(form), effects: effectsOf(form) }))).toEqual(
      legalForms.map((form) => ({ form, isAccepted: true, effects: engines.map(() => 'answers') })),
    )
  })

  it('was recorded for every form', () => {
    const forms = [...hostileForms, ...unseenForms, ...legalForms].sort()
    expect(new Set(forms).size).toBe(forms.length)
    for (const { effects } of engines) expect(Object.keys(effects).sort()).toEqual(forms)
  })
})

/** Table functions that read the data of the database, or nothing. `format` and `fuzzQuery` are functions of texts where no table can be. */
const harmlessTableFunctions = [
  ...['cluster', 'clusterAllReplicas', 'dictionary', 'format', 'fuzzQuery', 'generateSeries', 'generate_series', 'merge'],
  ...['numbers', 'numbers_mt', 'primes', 'prometheusQuery', 'prometheusQueryRange', 'timeSeriesData', 'timeSeriesMetricFamilies'],
  ...['timeSeriesMetrics', 'timeSeriesSamples', 'timeSeriesSelector', 'timeSeriesTags', 'view', 'zeros', 'zeros_mt'],
]

describe('the functions of ClickHouse', () => {
  const callOf = (names: readonly string[], make: (name: string) => string) => names.map(make)

  it('W4: a table function that reaches beyond the database is refused in any place', async () => {
    const names = [...new Set(engines.flatMap(({ tableFunctions }) => tableFunctions))]
    expect(names.length).toBeGreaterThan(90)
    const harmless = callOf(harmlessTableFunctions, (name) => `SELECT ${name}(1)`)
    expect((await passing(callOf(names, (name) => `SELECT ${name}(1)`))).filter((form) => !harmless.includes(form))).toEqual([])
  })

  it('W4: a function that takes others cannot call file, and a function that calls a model is refused', async () => {
    const [higherOrder, ai] = [engines.flatMap((one) => one.higherOrder), engines.flatMap((one) => one.ai)]
    expect([higherOrder.length, ai.length]).toEqual([39, 16])
    expect(await passing(callOf(higherOrder, (name) => `SELECT ${name}(file, a)`))).toEqual([])
    expect(await passing(callOf(ai, (name) => `SELECT ${name}('x')`))).toEqual([])
  })
})
