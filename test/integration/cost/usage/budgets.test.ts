import { beforeEach, describe, expect, it } from 'vitest'
import { addDays, type Day, formatDay, plainDay } from '../../../../src/platform/core/dates.ts'
import { formatShortDay } from '../../../../src/platform/report/format.ts'
import { fillUsage, inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

let today: Day
beforeEach(() => {
  today = fillUsage(emulator(), 92, [
    { name: 'checkout', microOn: () => ({ compute: 2_000_000, backup: 500_000 }), locked: true },
    { name: 'search', microOn: () => ({ compute: 1_000_000 }), locked: true },
    { name: 'main', type: 'datawarehouse', microOn: () => ({ storage: 250_000 }), locked: false },
  ])
})

const judge = async (budgets: string, inputs: Readonly<Record<string, string>> = {}) => {
  const ran = await invokeText({
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', budgets: 'budgets.yml', period: 'last-10-days', ...inputs },
    files: { 'budgets.yml': budgets },
  })
  return { ...ran, budgets: (ran.document.budgets ?? []) as readonly Record<string, unknown>[] }
}

const textOf = (line: readonly { readonly text: string }[]): string => line.map(({ text }) => text).join('')

describe('a budgets file', () => {
  it('judges each budget by its own scope in one run', async () => {
    const ran = await judge(`
budgets:
  - { name: all, limit: 37.5 }
  - { name: checkout, limit: 24.999999, scope: { service: checkout } }
  - { name: compute, limit: 100, warn: 29, scope: { metric: compute } }
  - { name: warehouse, limit: 100, warn: 2%, scope: { entityType: datawarehouse } }
  - { name: both, limit: 35, scope: { entity: [checkout, search] } }
`)
    expect(ran.budgets.map(({ name, used, status }) => [name, used, status])).toEqual([
      ['all', '37.5', 'pass'],
      ['checkout', '25', 'fail'],
      ['compute', '30', 'warn'],
      ['warehouse', '2.5', 'warn'],
      ['both', '35', 'pass'],
    ])
    expect(ran.document).toMatchObject({ status: 'fail', budgetExceeded: true })
    expect(ran.reason).toBe(
      'Budget checkout exceeded: 25 of 24.999999 CHC (100.000004%). Warning level of budget compute exceeded: 30.00 of 29.00 CHC. Warning level of budget warehouse exceeded: 2.50 of 2.00 CHC.',
    )
    expect(ran.exitCode).toBe(10)
    // The period, and the four weeks before it.
    expect(emulator().requests).toHaveLength(2)
  })

  it('reads every day of all its periods once', async () => {
    const ran = await judge(`
- { name: week, limit: 26.25, period: last-7-days }
- { name: forty, limit: 150, period: last-40-days }
- { name: dates, limit: 3.75, period: ${addDays(today, -60)} }
`)
    expect(ran.budgets.map(({ used, status }) => [used, status])).toEqual([
      ['26.25', 'pass'],
      ['150', 'pass'],
      ['3.75', 'pass'],
    ])
    const days = emulator().requests.map(({ path }) => new URL(path, 'http://x').searchParams)
    expect(days.map((query) => `${query.get('from_date')} ${query.get('to_date')}`).sort()).toEqual([
      `${addDays(today, -60)} ${addDays(today, -60)}`,
      `${addDays(today, -39)} ${addDays(today, -10)}`,
      `${addDays(today, -9)} ${today}`,
    ])
  })

  it('reports the month to date when the run has no period', async () => {
    const ran = await judge('[{ name: x, limit: 1000, period: yesterday }]', { period: '' })
    expect(ran.document).toMatchObject({ status: 'pass', fromDate: `${today.slice(0, 7)}-01`, toDate: today })
  })

  it('reads tagged usage in separate requests', async () => {
    const ran = await judge('[{ name: tagged, limit: 1000, scope: { tag: team=checkout } }, { name: all, limit: 1000 }]')
    expect(emulator().requests.filter(({ path }) => path.includes('filter=tag%3Ateam%3Dcheckout'))).toHaveLength(1)
    expect(emulator().requests).toHaveLength(3)
    expect(ran.budgets[0]).toMatchObject({ dataQualityIssue: { kind: 'no-records', level: 'fail' }, status: 'fail' })
    expect(ran.document.status).toBe('fail')
  })

  it('counts usage with any of several tags once, with a request for each tag', async () => {
    const [organization] = emulator().store.organizations
    if (organization === undefined) throw new Error('the shop has changed')
    for (const [name, tags] of [
      ['checkout', [{ key: 'team', value: 'platform' }, { key: 'tier' }]],
      ['search', [{ key: 'team', value: 'data' }]],
    ] as const) {
      const service = serviceOf(emulator(), name)
      service.tags = [...tags]
      const entityId = organization.usage.find(({ entityName }) => entityName === name)?.entityId
      for (const one of organization.usage) if (one.entityId === entityId) one.serviceId = service.id
    }
    const tagged = (tags: string) => `[{ name: teams, limit: 35, scope: { tag: ${tags} } }]`
    const ran = await judge(tagged('[team=platform, team=data, tier]'))
    expect(ran.budgets).toMatchObject([{ used: '35', status: 'pass', scope: { tag: ['team=platform', 'team=data', 'tier'] } }])
    const filters = emulator().requests.flatMap(({ path }) => new URL(path, 'http://x').searchParams.getAll('filter'))
    expect(filters.toSorted()).toEqual(['tag:team=data', 'tag:team=platform', 'tag:tier'])
    expect((await judge(tagged('[team=data]'))).budgets).toMatchObject([{ used: '10', status: 'pass' }])
    const misspelled = await judge(tagged('[team=data, team=plattform]'))
    expect([misspelled.document.status, misspelled.reason]).toEqual([
      'fail',
      expect.stringContaining('The scope of budget teams has names that match no usage: team=plattform.'),
    ])
  })

  it('knows the services, warehouses and pipes of records without a type, as in the first contract of the API', async () => {
    const cost = (entityId: string, entityName: string, serviceId: string | null, totalCredits: number) => {
      const metrics = { computeCredits: totalCredits }
      return { date: addDays(today, -3), dataWarehouseId: 'w', serviceId, entityId, entityName, totalCredits, metrics, locked: true }
    }
    const costs = [cost('w', 'main', null, 1), cost('s', 'checkout', 's', 2), cost('p', 'orders', 's', 4)]
    const text = JSON.stringify({ result: { grandTotalCredits: 7, costs } })
    emulator().addFault({ match: { path: '/usageCost' }, times: 9, effect: { kind: 'body', text } })
    const ran = await judge(
      `
- { name: service, limit: 10, scope: { service: checkout } }
- { name: warehouse, limit: 10, scope: { warehouse: main } }
- { name: pipes, limit: 10, scope: { entityType: clickpipe } }
`,
      { period: `${addDays(today, -3)}..${addDays(today, -3)}` },
    )
    expect(ran.budgets.map(({ used, status }) => [used, status])).toEqual([
      ['6', 'pass'],
      ['7', 'pass'],
      ['4', 'pass'],
    ])
  })

  it('a warning level of 100% is not exceeded by an equal amount, whatever the number of digits', async () => {
    const amount = '2.1234567890123456789012345'
    const costs = [{ date: addDays(today, -3), entityType: 'service', entityId: 'x', entityName: 'x', locked: true }]
    const text = JSON.stringify({
      result: { grandTotalCredits: 'AMOUNT', costs: costs.map((one) => ({ ...one, totalCredits: 'AMOUNT' })) },
    })
    const body = text.replaceAll('"AMOUNT"', amount)
    emulator().addFault({ match: { path: '/usageCost' }, times: 9, effect: { kind: 'body', text: body } })
    const period = `${addDays(today, -3)}..${addDays(today, -3)}`
    const ran = await judge(`[{ name: x, limit: "${amount}", warn: 100% }]`, { period })
    expect(ran.budgets).toMatchObject([{ used: amount, status: 'pass', limitStatus: 'within' }])
  })

  it('fails by default when a scope matches nothing', async () => {
    const file = '[{ name: typo, limit: 10, scope: { service: chekcout } }]'
    expect((await judge(file)).reason).toContain(
      'The scope of budget typo has names that match no usage: chekcout (did you mean checkout?). Check',
    )
    expect((await judge(file, { 'on-missing': 'warn' })).document.status).toBe('warn')
    expect((await judge(file, { 'on-missing': 'ignore' })).document.status).toBe('pass')
  })

  it('fails when one of several names matches nothing', async () => {
    const ran = await judge('[{ name: teams, limit: 100, scope: { service: [checkout, serach] } }]')
    expect([ran.document.status, ran.reason]).toEqual(['fail', expect.stringContaining('match no usage: serach (did you mean search?).')])
  })

  it('fails when its own period has no records', async () => {
    const [organization] = emulator().store.organizations
    if (organization) organization.usage = organization.usage.filter(({ date }) => date > addDays(today, -10))
    const ran = await judge('[{ name: forty, limit: 1000, period: last-40-days }]')
    expect([ran.document.status, ran.reason]).toEqual(['fail', expect.stringContaining('No usage records for ')])
  })

  it('does not report missing days of tagged usage', async () => {
    emulator().addFault({
      match: { path: 'filter=' },
      effect: {
        kind: 'body',
        text: JSON.stringify({
          result: {
            grandTotalCHC: 1,
            costs: [{ date: addDays(today, -3), entityType: 'service', entityId: 'x', entityName: 'x', totalCHC: 1, locked: true }],
          },
        }),
      },
    })
    const ran = await judge('[{ name: tagged, limit: 10, scope: { tag: team=x } }]')
    expect(ran.document).toMatchObject({ status: 'pass', budgets: [{ used: '1', status: 'pass' }] })
  })

  it('counts the part of a total that no metric covers as the metric other', async () => {
    const [organization] = emulator().store.organizations
    if (organization === undefined) throw new Error('the shop has changed')
    const day = addDays(today, -3)
    const record = {
      date: day,
      entityType: 'service',
      entityId: 'x',
      entityName: 'x',
      totalCredits: 3,
      metrics: { computeCredits: 1 },
      locked: true,
    }
    emulator().addFault({ effect: { kind: 'body', text: JSON.stringify({ result: { grandTotalCredits: 3, costs: [record] } }) } })
    const ran = await judge('[{ name: rest, limit: 10, scope: { metric: other } }]', { period: `${day}..${day}` })
    expect(ran.budgets[0]).toMatchObject({ used: '2', status: 'pass' })
  })

  it('judges the forecast of a budget with forecast: true', async () => {
    const period = `${addDays(today, -9)}..${addDays(today, 10)}`
    const ran = await judge(`
- { name: kept, limit: 75, period: ${period}, forecast: true }
- { name: will not be kept, limit: 74.99, period: ${period}, forecast: true }
- { name: not asked, limit: 74.99, period: ${period} }
`)
    expect(ran.budgets.map(({ status, forecast }) => [status, (forecast as { total: string }).total])).toEqual([
      ['pass', '75'],
      ['fail', '75'],
      ['pass', '75'],
    ])
    expect(ran.budgets[1]).toMatchObject({ isForecastAbove: true, runsOutOn: addDays(today, 10) })
    const end = formatShortDay(addDays(today, 10), today)
    expect(ran.reason).toContain(`Forecast of 75.00 CHC by ${end} exceeds budget will not be kept of 74.99 CHC.`)
    const [table] = ran.blocks.flatMap((block) => (block.kind === 'table' && block.title === 'Budgets' ? [block] : []))
    expect(table?.rows[0]?.[5]).toEqual([{ kind: 'trusted', text: `${end} (forecast)` }])
  })

  it.each([
    ['name: x', /budgets\.yml:1:1: "name" is an unknown field; did you mean|budgets\.yml:1:1: budgets: is missing/],
    ['budgets: []', /budgets\.yml:1:10: budgets: \[\] is not accepted/],
    ['- { name: x, limit: -1 }', /budgets\.yml:1:21: \["x"\]\.limit: -1 is not accepted; accepted: an amount of zero or more/],
    ['- { name: x, limit: lots }', /budgets\.yml:1:21: \["x"\]\.limit: "lots" is not accepted/],
    ['- { name: x, limit: 1e400 }', /budgets\.yml:1:21/],
    ['- { name: x, limit: 12345678901234567890 }', /budgets\.yml:1:21: has more digits than a number can hold; write it in quotes/],
    ['- { name: x }', /budgets\.yml:1:3: \["x"\]\.limit: is missing; accepted: an amount/],
    ['- { name: x, limit: 1, wran: 2 }', /budgets\.yml:1:24: \["x"\]: "wran" is an unknown field; did you mean "warn"\?/],
    [
      '- { name: x, limit: 1, warn: 80 percent }',
      /budgets\.yml:1:30: \["x"\]\.warn: "80 percent" is not accepted; accepted: a percentage such as 80%/,
    ],
    ['- { name: x, limit: 1, period: last-month }', /budgets\.yml:1:32: \["x"\]\.period: "last-month" is not accepted; accepted: today, /],
    ['- { name: x, limit: 1, period: 2026-02-02..2026-02-01 }', /budgets\.yml:1:32: \["x"\]\.period: "2026-02-02\.\.2026-02-01" is not/],
    ['- { name: x, limit: 1, period: 2026-02-02..3026-02-01 }', /at most 3660 days/],
    ['- { name: x, limit: 1, warn: 2 }', /budgets\.yml:1:30: \["x"\]\.warn: .*is above the limit/],
    ['- { name: x, limit: 1, warn: 120% }', /\["x"\]\.warn: "120%" is not accepted/],
    ['- { name: x, limit: 1, scope: { team: y } }', /budgets\.yml:1:33: \["x"\]\.scope: "team" is an unknown field/],
    ['- { name: x, limit: 1 }\n- { name: x, limit: 2 }', /budgets\.yml:2:11: \["x"\]\.name: .*is already the name of budget number 1/],
    [
      '- { name: x, limit: 1, waiver: { until: 2026-02-30, reason: y } }',
      /budgets\.yml:1:41: \["x"\]\.waiver\.until: "2026-02-30" is not accepted; accepted: YYYY-MM-DD/,
    ],
    ['- { name: x, limit: 1, waiver: { until: 2099-01-01 } }', /budgets\.yml:1:24: \["x"\]\.waiver\.reason: is missing/],
    ['- { name: x, limit: 1, waiver: { until: 2099-01-01, reason: " " } }', /\["x"\]\.waiver\.reason: " " is not accepted/],
    ['- { name: x, name: y, limit: 1 }', /budgets\.yml:1:14: Map keys must be unique/],
  ])('a budgets file is rejected with the location of the mistake: %s', async (text, reason) => {
    const ran = await judge(text)
    expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringMatching(reason)])
    expect(emulator().requests).toHaveLength(0)
  })

  describe('with a waiver', () => {
    const text = (name: string, until: Day, rest = '') =>
      `- { name: ${name}, limit: 20, ${rest} waiver: { until: ${until}, reason: Load test of the shop; agreed } }`
    const daysLater = (days: number) => formatDay(addDays(today, days)).replaceAll('\u00a0', ' ')

    it('turns a failure of its budget into a warning with the reason of the waiver', async () => {
      const ran = await judge(text('shop', today, 'scope: { service: checkout },'))
      expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
      expect(ran.reason).toBe(
        `Budget shop exceeded: 25.00 of 20.00 CHC (125%). Waived until ${daysLater(0)}: Load test of the shop; agreed`,
      )
      expect(ran.document).toMatchObject({
        budgetExceeded: true,
        budgets: [{ status: 'warn', isWaived: true, waiver: { until: today, reason: 'Load test of the shop; agreed' } }],
      })
    })

    it('turns a failure because of missing data into a warning', async () => {
      const ran = await judge(text('shop', today, 'scope: { service: chekcout },'))
      expect([ran.document.status, ran.reason]).toEqual(['warn', expect.stringContaining(`Waived until ${daysLater(0)}`)])
    })

    it('adds no warning about missing data that on-missing ignores', async () => {
      const ran = await judge(text('shop', today, 'scope: { service: [checkout, chekcout] },'), { 'on-missing': 'ignore' })
      expect(ran.document.status).toBe('warn')
      expect(ran.reason).toMatch(/^Budget shop exceeded: [^:]* Waived until [^:]*: Load test of the shop; agreed$/)
    })

    it('waives no other budget and no other limit', async () => {
      const file = `${text('shop', today)}\n- { name: all, limit: 30 }`
      const ran = await judge(file)
      expect(ran.document.status).toBe('fail')
      expect(ran.reason).toMatch(/^Budget all exceeded: .* Budget shop exceeded: .* Waived until /)
      expect((await judge(text('shop', today), { budget: '30' })).document.status).toBe('fail')
    })

    it('shows the waiver in the report of a run that passes', async () => {
      const ran = await judge(text('shop', addDays(today, 1), 'scope: { service: search },'))
      expect(ran.document).toMatchObject({ status: 'pass', budgets: [{ isWaived: false }] })
      expect(ran.blocks.flatMap((block) => (block.kind === 'paragraph' ? [textOf(block.line)] : []))).toContain(
        `Waiver of budget shop until ${daysLater(1)}: Load test of the shop; agreed`,
      )
    })

    it('is an error after its last day', async () => {
      const ran = await judge(`- { name: all, limit: 30 }\n${text('shop', addDays(today, -1))}`)
      expect([ran.exitCode, ran.document.status]).toEqual([2, 'error'])
      expect(ran.reason).toContain(
        `budgets.yml:2:46: the waiver of "shop" expired on ${plainDay(addDays(today, -1))}, and today is ${plainDay(today)} in UTC. Remove it, or set a new date and reason`,
      )
      expect(emulator().requests).toHaveLength(0)
    })
  })

  it('compares limits in quotes with all their digits', async () => {
    const ran = await judge('[{ name: x, limit: "37.499999999999999999999" }]')
    expect(ran.reason).toContain('Budget x exceeded: 37.5 of 37.499999999999999999999 CHC (just over 100%).')
  })
})
