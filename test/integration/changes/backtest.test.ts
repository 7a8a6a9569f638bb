import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dayOf, plainDay } from '../../../src/platform/core/dates.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const weekMs = 7 * 86_400_000
const monday = Date.parse('2026-11-09T00:00:00Z')

/** The end of a whole week of the demo's telemetry, which repeats. */
const until = new Date(monday + Math.floor((Date.now() - monday) / weekMs) * weekMs).toISOString()

const dayBefore = (days: number): string => new Date(Date.parse(until) - days * 86_400_000).toISOString().slice(0, 10)

const week = `${dayBefore(7)}..${dayBefore(1)}`

/** Its Saturday and Sunday. */
const period = `${dayBefore(2)}..${dayBefore(1)}`

type Fields = Readonly<Record<string, unknown>>

const errorsOfCheckout = { aggFn: 'count', where: 'ServiceName:checkout SeverityText:error' }

const tile = (name: string, select: readonly Fields[], more: Fields = {}): Fields => ({
  name,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select, ...more },
})

const alert = (name: string, more: Fields = {}): Fields => ({
  name,
  dashboard: 'shop',
  tile: 'Errors',
  interval: '5m',
  thresholdType: 'above',
  threshold: 19,
  channel: { type: 'webhook', webhook: 'oncall' },
  ...more,
})

const unknownColumn = tile('Unknown column', [{ aggFn: 'count', where: 'Nope:1' }])

const tiles = [
  tile('Errors', [errorsOfCheckout]),
  tile('Sessions', [{ aggFn: 'count', where: '' }], { sourceId: { source: 'Sessions' } }),
  tile('Never', [{ aggFn: 'count', where: 'ServiceName:nobody' }]),
]

function declare(alerts: Fields, on: readonly Fields[] = tiles): string {
  const isBroken = JSON.stringify(alerts).includes('Unknown column') && on === tiles
  return JSON.stringify({ dashboards: { shop: { name: 'Backtested', tiles: isBroken ? [...on, unknownColumn] : on } }, alerts })
}

const run = (operation: string, alerts: Fields, more: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation, files: 'a.json', project: 'shop/main', ...more },
    files: { 'a.json': declare(alerts) },
  })

const backtest = (alerts: Fields, more: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
  run('backtest', alerts, { period, ...more })

/** Requests for values, all of them or those with this text. */
const seriesRequests = (text = ''): number =>
  emulator().requests.filter(({ path, body }) => path.endsWith('/charts/series') && JSON.stringify(body).includes(text)).length

describe('backtest', () => {
  it('shows a new alert with its numbers, counted by hand', { tags: 'slow' }, async () => {
    // Day 1, 10:00-10:04: 19 errors, 10:05-10:09: 30; day 5, 12:00-12:14: 51, 50 and 50.
    const { document } = await backtest({ errors: alert('Errors') }, { period: week })
    expect(document).toMatchObject({ status: 'pass', firing: 1, notifications: 5, requestCount: 2 })
    expect(document.alerts).toEqual([
      {
        key: 'errors',
        name: 'Errors',
        changed: true,
        next: expect.objectContaining({
          verdict: 'fires',
          windows: 2016,
          breachingWindows: 5,
          episodes: 2,
          notifications: 5,
          notificationsOnBusiestDay: 3,
          longestEpisodeMinutes: 15,
        }),
      },
    ])
  })

  it('compares an alert as it is on the service with the alert as it is declared, in one request beside that for the coverage', {
    tags: 'slow',
  }, async () => {
    await run('apply', { errors: alert('Errors', { threshold: 1 }) })
    const { document } = await backtest({ errors: alert('Errors') })
    expect(document.alerts).toMatchObject([{ key: 'errors', now: { notifications: 98 }, next: { notifications: 3 } }])
    expect(seriesRequests()).toBe(2)
  })

  it('leaves out unchanged alerts by default, and alerts whose text changes only, and finds one whose tile changes', {
    tags: 'slow',
  }, async () => {
    const alerts = { errors: alert('Errors') }
    // What no file declares any more is not a part of it either.
    await run('apply', { ...alerts, gone: alert('Gone') })
    expect((await backtest(alerts)).document).toMatchObject({ status: 'pass', alertCount: 0, requestCount: 0 })
    expect((await backtest({ errors: alert('Errors', { note: 'Look.' }) })).document).toMatchObject({ alertCount: 0 })
    expect((await backtest(alerts, { select: 'all' })).document).toMatchObject({ alertCount: 1, notifications: 3 })
    expect((await backtest(alerts, { select: 'key=errors' })).document).toMatchObject({ alertCount: 1, status: 'pass' })
    const changed = declare(alerts).replace('ServiceName:checkout', 'ServiceName:cart')
    const inputs = { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period }
    const { document } = await invokeText({ inputs, files: { 'a.json': changed } })
    expect(document.alerts).toMatchObject([{ now: { notifications: 3 }, next: { notifications: expect.any(Number) } }])
  })

  it('shows a changed alert that has no estimate, and leaves it out while it is unchanged', { tags: 'slow' }, async () => {
    await run('apply', { broken: alert('Broken', { scheduleOffsetMinutes: 1 }) })
    expect((await backtest({ broken: alert('Broken', { scheduleOffsetMinutes: 1 }) })).document).toMatchObject({ alertCount: 0 })
    const { document } = await backtest({ broken: alert('Broken', { scheduleOffsetMinutes: 2 }) })
    expect(document.alerts).toMatchObject([{ now: { verdict: 'not-estimable' }, next: { verdict: 'not-estimable' } }])
    const repaired = await backtest({ broken: alert('Broken', { scheduleOffsetMinutes: 0 }) })
    expect(repaired.document.alerts).toMatchObject([{ now: { verdict: 'not-estimable' }, next: { verdict: 'fires', notifications: 3 } }])
  })

  describe('of an alert with a declared start at a border of its intervals', () => {
    // The second incident of the week is on Saturday from 12:00 to 12:15.
    const saturday = (time: string): string => `${new Date(Date.parse(until) - 2 * 86_400_000).toISOString().slice(0, 10)}T${time}:00Z`

    it('evaluates only the windows from it on, and says where there are none', async () => {
      const { document, blocks } = await backtest({
        before: alert('Before', { scheduleStartAt: '2026-01-01T00:00:00Z' }),
        between: alert('Between', { scheduleStartAt: saturday('01:00') }),
        inside: alert('Inside', { scheduleStartAt: saturday('12:05') }),
        last: alert('Last', { scheduleStartAt: saturday('13:05'), threshold: 1 }),
        never: alert('Never', { scheduleStartAt: until, threshold: 1 }),
      })
      expect(
        (document.alerts as { key: string; next: { notifications: number; windows: number } }[]).map(({ key, next }) => [
          key,
          next.notifications,
          next.windows,
        ]),
      ).toEqual([
        ['before', 3, 576],
        ['between', 3, 564],
        ['inside', 2, 431],
        ['last', 69, 419],
        ['never', 0, 0],
      ])
      expect(JSON.stringify(blocks)).toContain('not evaluated before its start')
    })

    it('backtest of an alert with a declared start at a border of its intervals is a change of the alert only where it changes an evaluation', async () => {
      await run('apply', { errors: alert('Errors', { scheduleStartAt: '2026-01-01T00:00:00Z' }) })
      expect((await backtest({ errors: alert('Errors', { scheduleStartAt: '2026-02-01T00:00:00Z' }) })).document).toMatchObject({
        alertCount: 0,
      })
      const { document } = await backtest({ errors: alert('Errors', { scheduleStartAt: saturday('12:05') }) })
      expect(document.alerts).toMatchObject([{ now: { notifications: 3 }, next: { notifications: 2 } }])
    })

    it('leaves out a start that no file declares: the end of a silence', async () => {
      await run('apply', { errors: alert('Errors') })
      const stored = serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')
      if (stored !== undefined) stored.scheduleStartAt = saturday('12:05')
      const { document } = await backtest({ errors: alert('Errors') }, { select: 'all' })
      expect(document.alerts).toMatchObject([{ now: { notifications: 3 }, next: { notifications: 3 } }])
    })
  })

  describe('with data in a part of the time', () => {
    // The demo has no telemetry after its now: six of 48 hours have data.
    const early = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', now: () => Date.parse('2026-11-25T05:59:00Z') })
    const runLater = (alerts: Fields, more: Readonly<Record<string, string>>) =>
      invokeText({
        clock: createVirtualClock(Date.parse('2026-11-26T23:59:00Z')),
        inputs: {
          ...inputsFor(early(), 'hyperdx'),
          operation: 'backtest',
          files: 'a.json',
          project: 'shop/main',
          period: 'last-2-days',
          ...more,
        },
        files: { 'a.json': declare(alerts) },
      })
    const sparse = (more: Readonly<Record<string, string>>) => runLater({ errors: alert('Errors', { threshold: 100_000 }) }, more)

    it('shows the share of the windows of the source, and its first and last value', async () => {
      const { document, blocks } = await sparse({})
      const { next } = (document.alerts as readonly { next: { coverage: { share: number; first: string; last: string } } }[])[0] ?? {}
      expect(next?.coverage.share).toBeGreaterThan(0.1)
      expect(next?.coverage.share).toBeLessThan(0.13)
      expect(next?.coverage.first).toBe('2026-11-25T00:00:00.000Z')
      expect(JSON.stringify(blocks)).toMatch(/quiet.*data in .*1[12](\.\d)?%.* of the time/)
    })

    it('backtest with data in a part of the time is no proof for a gate, unless on-missing accepts it', async () => {
      for (const [onMissing, status, reason] of [
        ['', 'fail', /max-notifications was checked for alert errors with data in only 1[12](\.\d)?% of its windows, below 90%$/],
        ['warn', 'warn', /data in only 1[12]/],
        ['ignore', 'pass', /^$/],
      ] as const) {
        const ran = await sparse({ 'max-notifications': '1', 'on-missing': onMissing })
        expect([ran.document.status, ran.reason], onMissing).toEqual([status, expect.stringMatching(reason)])
      }
    })
  })

  it('separates alerts that fire, are quiet, have no data, or have no estimate', async () => {
    const { document } = await backtest({
      fires: alert('Fires'),
      quiet: alert('Quiet', { threshold: 100_000 }),
      silent: alert('Silent', { tile: 'Never' }),
      empty: alert('Empty', { tile: 'Sessions' }),
      broken: alert('Broken', { tile: 'Unknown column' }),
      offset: alert('Offset', { scheduleOffsetMinutes: 2 }),
    })
    const verdicts = (document.alerts as { key: string; next: { verdict: string; reason?: string } }[]).map(
      ({ key, next: { verdict, reason } }) => [key, verdict, reason],
    )
    expect(verdicts).toEqual([
      ['fires', 'fires', undefined],
      ['quiet', 'quiet', undefined],
      ['silent', 'quiet', undefined],
      ['empty', 'no-data', undefined],
      ['broken', 'not-estimable', expect.stringMatching(/^The API answered 500: Unknown expression or function identifier `Nope`/)],
      ['offset', 'not-estimable', 'scheduleOffsetMinutes makes the server evaluate each window in two parts'],
    ])
    expect(document).toMatchObject({ firing: 1, quiet: 2, noData: 1, notEstimable: 2, notifications: 3 })
    const estimates = document.alerts as { next: object }[]
    expect(estimates.slice(3).map(({ next }) => 'notifications' in next)).toEqual([false, false, false])
  })

  it('names the remedy for bare text in Lucene, with which the starter set can be estimated', { tags: 'slow' }, async () => {
    const starter = readFileSync(new URL('../../../examples/starter/service.yml', import.meta.url), 'utf8')
    const estimate = async (text: string) => {
      const inputs = {
        ...inputsFor(emulator(), 'hyperdx'),
        operation: 'backtest',
        files: 'a.yml',
        project: 'shop/main',
        period: dayBefore(1),
      }
      const variables = { SERVICE: 'checkout', WEBHOOK: 'oncall', ERRORS_PER_FIVE_MINUTES: '20' }
      const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`WATCHKEEPER_VAR_${name}`, value]))
      const { document } = await invokeText({ inputs, env, files: { 'a.yml': text } })
      return document.alerts as readonly { key: string; next: { verdict: string; reason?: string } }[]
    }
    const verdicts = (await estimate(starter)).map(({ next }) => next.verdict)
    expect([verdicts.includes('not-estimable'), verdicts.length]).toEqual([false, 5])
    const bare = await estimate(starter.replace('Body:exception', 'exception'))
    expect(bare.find(({ key }) => key === 'exceptions')?.next).toEqual({
      verdict: 'not-estimable',
      reason: 'the API cannot search bare text in Lucene; name its column, such as Body:text',
    })
  })

  it('backtest needs three requests for 50 alerts with two intervals on one tile', { tags: 'slow' }, async () => {
    const alerts = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`a${i}`, alert(`A${i}`, { threshold: i + 1, interval: i % 2 === 0 ? '5m' : '1m' })]),
    )
    const { document } = await backtest(alerts, { period: dayBefore(1) })
    expect(document).toMatchObject({ alertCount: 50, notEstimable: 0, requestCount: 3 })
  })

  it('a backtest reads the same periods as a report of usage, up to 31 days and without billing cycles', async () => {
    const at = (given: string) =>
      invokeText({
        inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period: given },
        files: { 'a.json': declare({}) },
        clock: createVirtualClock(Date.parse('2026-03-31T12:00:00Z')),
      })
    for (const [given, days, end] of [
      ['yesterday', 1, '2026-03-31T00:00:00.000Z'],
      ['previous-month', 28, '2026-03-01T00:00:00.000Z'],
      ['2026-02-03', 1, '2026-02-04T00:00:00.000Z'],
      ['2026-03-30..', 2, '2026-03-31T12:00:00.000Z'],
      ['last-2-days', 2, '2026-03-31T12:00:00.000Z'],
      ['month-to-date', 31, '2026-03-31T12:00:00.000Z'],
    ] as const)
      expect((await at(given)).document, given).toMatchObject({ days, until: end })
    for (const given of ['year-to-date', 'last-32-days', '2026-01-01..2026-02-15'])
      expect((await at(given)).reason).toBe('period: is longer than 31 days')
    expect((await at('billing-cycle')).reason).toBe('period: is billing-cycle, which is a period of usage; set days')
    expect((await at('2026-04-02')).reason).toMatch(/^period: begins on 2 Apr 2026, which is in the future/)
  })

  it('requests long ranges in parts', async () => {
    const { document } = await backtest({ errors: alert('Errors') }, { period: `${dayBefore(14)}..${dayBefore(1)}` })
    expect(document).toMatchObject({ requestCount: 4, alerts: [{ next: { windows: 4032, notifications: 10 } }] })
  })

  it('requests a tile with more than five series in parts, and compares the last one', async () => {
    const select = ['cart', 'payment', 'search', 'cart', 'payment', 'checkout'].map((name) => ({
      aggFn: 'count',
      where: `ServiceName:${name} SeverityText:error`,
    }))
    const files = { 'a.json': declare({ errors: alert('Errors', { tile: 'Six' }) }, [tile('Six', select)]) }
    const inputs = { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period }
    const { document } = await invokeText({ inputs, files })
    expect(document).toMatchObject({ notifications: 3, requestCount: 3 })
  })

  it('backtest has no estimate for groups that are numbers, because the server then compares the group', async () => {
    const slow = tile('Slow', [{ aggFn: 'count' }], { source: 'Traces', sourceId: undefined, groupBy: 'Duration' })
    const inputs = { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period }
    const { document } = await invokeText({ inputs, files: { 'a.json': declare({ slow: alert('Slow', { tile: 'Slow' }) }, [slow]) } })
    const reason = 'the groups are numbers, which the server compares instead of the values'
    expect(document.alerts).toMatchObject([{ next: { verdict: 'not-estimable', reason } }])
  })

  it('suggests a threshold and windows in a row for an alert above max-notifications', async () => {
    const { document, blocks } = await backtest({ errors: alert('Errors', { threshold: 1 }) }, { 'max-notifications': '3' })
    expect(document.alerts).toMatchObject([
      { next: { notifications: 98, suggestion: { threshold: 30, windows: 1, notificationsOnBusiestDay: 3 } } },
    ])
    expect(JSON.stringify(blocks)).toContain('Suggested conditions')
    const kept = await backtest({ errors: alert('Errors', { threshold: 30 }) }, { 'max-notifications': '3' })
    expect(JSON.stringify([kept.document, kept.blocks])).not.toMatch(/suggest/i)
  })

  it('backtest is a gate for the busiest day of the selected alerts', async () => {
    const later = alert('Later', { scheduleStartAt: new Date(Date.parse(until) + weekMs).toISOString() })
    const alerts = { errors: alert('Errors'), quiet: alert('Quiet', { threshold: 100_000 }), later }
    for (const [select, maximum, status, reason] of [
      ['', '3', 'pass', ''],
      ['name~err', '2', 'fail', 'alert errors sends 3 notifications on one day, above 2'],
      // One is quiet, and one starts after the evaluated time.
      ['key=quiet,later', '0', 'pass', ''],
    ] as const) {
      const ran = await backtest(alerts, { 'max-notifications': maximum, select })
      expect([ran.document.status, ran.reason.replace(/^Backtest of .*? UTC: /, '')], select).toEqual([status, reason])
    }
  })

  it('V9: fails where a maximum of notifications cannot be checked, unless on-missing accepts it', async () => {
    const alerts = { broken: alert('Broken', { tile: 'Unknown column' }) }
    const ran = await backtest(alerts, { 'max-notifications': '1' })
    expect(ran.document.status).toBe('fail')
    expect(ran.reason).toMatch(/: max-notifications could not be checked for broken; on-missing: warn accepts alerts without an estimate$/)
    for (const [onMissing, status] of [
      ['warn', 'warn'],
      ['ignore', 'pass'],
    ])
      expect((await backtest(alerts, { 'max-notifications': '1', 'on-missing': onMissing ?? '' })).document.status).toBe(status)
  })

  it('rejects a selection of alerts that no file declares', async () => {
    const selected = async (select: string) => (await backtest({ errors: alert('Errors') }, { select })).reason
    expect(await selected('key=erors')).toBe('select: "erors" is not an alert in these files; did you mean "errors"?')
    expect(await selected('name~slow')).toBe('select: matches no alert in these files: none has name~slow')
  })

  it('backtest ends with the error of a key that is rejected', async () => {
    emulator().addFault({ match: { path: '/charts/series' }, effect: { kind: 'status', status: 401 } })
    expect((await backtest({ errors: alert('Errors') })).document).toMatchObject({ status: 'error', error: { kind: 'authentication' } })
  })

  it('backtests an alert on a saved search with groups', async () => {
    const files = {
      'a.json': JSON.stringify({
        savedSearches: { errors: { name: 'Errors by service', sourceId: { source: 'Logs' }, where: 'SeverityText:error' } },
        alerts: {
          errors: {
            name: 'By service',
            savedSearch: 'errors',
            groupBy: 'ServiceName',
            interval: '15m',
            threshold: 20,
            channel: { type: 'webhook', webhook: 'oncall' },
          },
        },
      }),
    }
    const inputs = { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period }
    expect((await invokeText({ inputs, files })).document).toMatchObject({
      notifications: 4,
      alerts: [{ next: { breachingWindows: 3 } }],
    })
  })
})

describe('incidents of files', () => {
  // Ten errors a minute on Saturday from 12:00 to 12:15.
  const day = new Date(Date.parse(until) - 2 * 86_400_000).toISOString().slice(0, 10)
  const incident = { name: 'No payments', start: `${day}T12:00:00Z`, end: `${day}T12:15:00Z`, alerts: ['err*'], within: '10m' }
  /** Two errors a minute on Wednesday from 03:00 to 04:00. On Tuesday at 10:05 and 10:10, the alert notifies, too. */
  const wednesday = { ...incident, start: `${dayBefore(5)}T03:00:00Z`, end: `${dayBefore(5)}T04:00:00Z`, within: '20m' }
  const moved = (days: number, start = '12:00', end = '12:15') => {
    const on = dayBefore(2 + days)
    return { ...incident, start: `${on}T${start}:00Z`, end: `${on}T${end}:00Z` }
  }
  const checkAll = (alerts: Fields, incidents: Fields, inputs: Readonly<Record<string, string>> = {}) =>
    invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period, ...inputs },
      files: {
        'a.json': JSON.stringify({
          dashboards: { shop: { name: 'Backtested', tiles: [...tiles, unknownColumn] } },
          alerts,
          incidents,
        }),
      },
    })
  const check = (more: Fields, of: Fields = incident, inputs: Readonly<Record<string, string>> = {}) =>
    checkAll({ errors: alert('Errors', more) }, { payments: of }, inputs)

  it('reports incidents that the alert detects in time, whatever the period is, and counts their requests', async () => {
    const incidents = { now: incident, before: moved(7), earlier: moved(14), first: moved(21) }
    const { document, blocks } = await checkAll({ errors: alert('Errors') }, incidents, { period: `${dayBefore(1)}..${dayBefore(1)}` })
    expect(document).toMatchObject({ status: 'pass', incidentCount: 4, detected: 4, late: 0, missed: 0, requestCount: seriesRequests() })
    expect(document.incidents).toMatchObject(
      Object.keys(incidents).map((key) => ({
        ...{ key, withinMinutes: 10, alerts: [{ alert: 'errors', outcome: 'detected', afterMinutes: 5, outside: 0 }] },
      })),
    )
    expect(JSON.stringify(blocks)).toContain('detected after')
  })

  it('V12: passes with a note where the data of the service begins after the incident, and only there', async () => {
    const old = moved(63)
    const { document, blocks } = await check({ threshold: 1000 }, old)
    expect(document).toMatchObject({ status: 'pass', incidentCount: 1, missed: 0, incidents: [{ alerts: [{ outcome: 'untestable' }] }] })
    expect(document.diagnostics).toEqual([
      {
        rule: 'incident-untestable',
        severity: 'note',
        location: { file: 'a.json', line: 1, column: expect.any(Number) },
        message: 'incidents.payments: not testable any more with errors, because the data of the service begins after it',
      },
    ])
    expect(renderTerminal(blocks, { color: false }).join('\n')).not.toContain('Incidents')
    // A source that is always empty does not prove that there was data once.
    const empty = await check({ tile: 'Sessions' }, old)
    expect([empty.document.status, empty.reason]).toEqual([
      'fail',
      expect.stringContaining('alert errors cannot be checked (its source has no data)'),
    ])
    // The telemetry has a gap on Thursdays from 04:10 to 04:25, and an incident in it is one.
    const gap = moved(2, '04:12', '04:20')
    expect((await check({ thresholdType: 'below', threshold: 1 }, gap)).document).toMatchObject({ status: 'pass', detected: 1 })
  })

  it('tests the alerts of SLOs, which compare the hours before each window', { tags: 'slow' }, async () => {
    const start = `${dayBefore(4)}T09:00:00Z`
    const slos = (objective: number) => ({
      payment: {
        name: 'Payment',
        source: 'Traces',
        total: "ServiceName = 'payment'",
        good: "StatusCode != 'Error'",
        objective,
        window: '7d',
        alerts: { page: { channel: { type: 'webhook', webhook: 'oncall' } } },
      },
    })
    const incidents = {
      payments: {
        name: 'Failures',
        start,
        end: start.replace('09', '10'),
        alerts: ['payment.page-1h'],
        within: '40m',
        maxNotifications: 9,
      },
    }
    for (const [objective, status] of [
      [99, 'pass'],
      [98, 'fail'],
    ] as const) {
      const inputs = { ...inputsFor(emulator(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period }
      const ran = await invokeText({ inputs, files: { 'a.json': JSON.stringify({ slos: slos(objective), incidents }) } })
      expect(ran.document, ran.reason).toMatchObject({ status, detected: status === 'pass' ? 1 : 0 })
    }
  })

  it('does not test an incident that is not over', async () => {
    const of = { ...incident, start: new Date(Date.now() - 60_000).toISOString(), end: new Date(Date.now() + 60_000).toISOString() }
    expect((await check({}, of)).reason).toContain('alert errors cannot be checked (the incident is not over)')
  })

  it('tests an alert without the start that its file declares', async () => {
    expect((await check({ scheduleStartAt: until })).document).toMatchObject({ detected: 1 })
  })

  it('names the times of notifications, so that a missed incident shows where the alert fired', async () => {
    const times = ['05', '10', '15'].map((minute) => `${day}T12:${minute}:00.000Z`)
    const { document, blocks } = await check({}, { ...incident, start: `${day}T09:00:00Z`, end: `${day}T09:15:00Z` })
    expect(document).toMatchObject({
      missed: 1,
      incidents: [{ alerts: [{ outcome: 'missed', outside: 3, outsideAt: times }] }],
      alerts: [{ next: { notifiedAt: expect.arrayContaining([`${day}T12:05:00.000Z`]) } }],
    })
    const report = renderTerminal(blocks, { color: false }).join('\n')
    const shown = plainDay(dayOf(Date.parse(day)))
    expect(report).toContain(`3: ${shown} 12:05, 12:10, 12:15 UTC`)
    expect(report).toMatch(new RegExp(`Notifies at .*${shown} 12:05 UTC`, 's'))
  })

  it('V12: an incident that an alert misses, detects late or cannot be checked for fails without any other gate, and so do too many notifications outside of it', async () => {
    for (const [more, of, reason] of [
      [{ threshold: 52 }, {}, 'does not notify'],
      [{ numConsecutiveWindows: 3 }, {}, 'notifies 15 min after the start, later than 10 min'],
      [{}, { ...wednesday, maxNotifications: 1 }, 'sends 2 notifications outside of its incidents, above 1'],
      [{ tile: 'Unknown column' }, {}, 'cannot be checked (The API answered 500: Unknown expression'],
    ] as const) {
      const ran = await check(more, { ...incident, ...of })
      expect([ran.document.status, ran.reason]).toEqual(['fail', expect.stringContaining(`incident payments: alert errors ${reason}`)])
    }
  })

  it('suggests a condition within the notifications that an incident allows outside of it', { tags: 'slow' }, async () => {
    const suggest = async (of: Fields, maxNotifications: number) => {
      const { document } = await check({ threshold: 1 }, { ...of, maxNotifications }, { 'max-notifications': '12', period: week })
      return document.alerts
    }
    expect(await suggest(wednesday, 2)).toMatchObject([
      { next: { suggestion: { threshold: 6, windows: 1, notificationsOnBusiestDay: 12 } } },
    ])
    expect(await suggest(wednesday, 0)).toMatchObject([
      { next: { suggestion: { threshold: 6, windows: 3, notificationsOnBusiestDay: 10 } } },
    ])
    // The incident of another week counts as much, and one without data does not.
    const before = {
      ...wednesday,
      start: wednesday.start.replace(dayBefore(5), dayBefore(12)),
      end: wednesday.end.replace(dayBefore(5), dayBefore(12)),
    }
    expect(await suggest(before, 0)).toMatchObject([{ next: { suggestion: { threshold: 6, windows: 3 } } }])
    expect(await suggest(moved(63), 0)).toMatchObject([{ next: { suggestion: { threshold: 6, windows: 1 } } }])
  })

  it('tests unchanged alerts, too, unless others are selected', async () => {
    await run('apply', { errors: alert('Errors') })
    expect((await check({})).document).toMatchObject({ alertCount: 0, detected: 1 })
    expect((await check({}, incident, { select: 'name=Errors' })).document).toMatchObject({ alertCount: 1, detected: 1 })
    const others = { errors: alert('Errors'), other: alert('Other') }
    const { document } = await checkAll(others, { payments: incident }, { select: 'name=Other' })
    expect(document).toMatchObject({ alertCount: 1, incidentCount: 0 })
  })

  it('rejects a wrong incident with its place', async () => {
    for (const [wrong, message] of [
      [{ end: incident.start }, 'incidents.payments.end: is not after start'],
      [{ start: '2026-01-01T00:00:00Z' }, 'incidents.payments.end: is more than 7 days after start'],
      [{ alerts: ['err*', 'nope'] }, 'incidents.payments.alerts[1]: no alert in these files has the key \\"nope\\"'],
      [{ within: '10' }, 'incidents.payments.within: '],
      [{ tolerance: '10m' }, 'incidents.payments'],
    ] as const) {
      const { document } = await check({}, { ...incident, ...wrong })
      expect(document.status, message).toBe('fail')
      expect(JSON.stringify(document.diagnostics)).toContain(message)
      expect(document.diagnostics, message).toMatchObject([{ location: { file: 'a.json', line: 1, column: expect.any(Number) } }])
    }
  })
})

describe('plan with backtest: true', () => {
  const plan = (more: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
    run('plan', { errors: alert('Errors') }, { backtest: 'true', ...more })

  it('a plan with backtest: true has the numbers before and after the change, which it does not make', { tags: 'slow' }, async () => {
    await run('apply', { errors: alert('Errors', { threshold: 1 }) })
    const before = structuredClone(serviceOf(emulator()))
    const { document, blocks } = await plan()
    expect(serviceOf(emulator())).toEqual(before)
    expect(document).toMatchObject({
      status: 'pass',
      toUpdate: 1,
      backtest: { days: 7, alerts: [{ now: { verdict: 'fires' }, next: { verdict: 'fires' } }] },
    })
    const [header = '', row = ''] = renderTerminal(blocks, { color: false }).flatMap((line, i, lines) =>
      line.includes('Notifies at') ? [line, lines[i + 1] ?? ''] : [],
    )
    expect(row.slice(header.indexOf('Notifies at'))).toMatch(/^\d+ \w{3} \d{4} \d\d:\d\d,? .*UTC/)
  })

  it('asks for the values of a changed alert once, as a backtest does', async () => {
    const changed = { errors: alert('Errors', { threshold: 20 }) }
    await run('apply', { errors: alert('Errors') })
    const requestsOf = async (operation: string, more: Readonly<Record<string, string>>): Promise<number> => {
      const before = seriesRequests()
      expect((await run(operation, changed, more)).document.status).toBe('pass')
      return seriesRequests() - before
    }
    const ofBacktest = await requestsOf('backtest', {})
    expect(ofBacktest).toBeGreaterThan(0)
    expect(await requestsOf('plan', { backtest: 'true' })).toBe(ofBacktest)
  })

  it('does not depend on its estimates', async () => {
    emulator().addFault({ match: { path: '/charts/series' }, times: 9, effect: { kind: 'status', status: 503 } })
    expect((await plan()).document).toMatchObject({ status: 'pass', backtest: { alerts: [{ next: { verdict: 'not-estimable' } }] } })
    emulator().reset()
    emulator().addFault({ match: { path: '/charts/series' }, times: 9, effect: { kind: 'status', status: 403 } })
    expect((await plan()).document).toMatchObject({ status: 'pass', backtest: { message: expect.stringContaining('403') } })
  })

  it('a plan with backtest: true is a gate only with a gate input', async () => {
    expect(await plan({ 'max-notifications': '0' })).toMatchObject({
      document: { status: 'fail' },
      reason: expect.stringMatching(/alert errors sends \d notifications on one day, above 0$/),
    })
    expect((await plan({ 'max-notifications': '9' })).document.status).toBe('pass')
    emulator().addFault({ match: { path: '/charts/series' }, times: 9, effect: { kind: 'status', status: 403 } })
    expect(await plan({ 'max-notifications': '1000' })).toMatchObject({
      document: { status: 'fail' },
      reason: expect.stringContaining('no backtest: '),
    })
    const ran = await run('plan', { errors: alert('Errors') }, { 'max-notifications': '5' })
    expect(ran.reason).toBe('max-notifications: requires backtest: true')
  })
})

describe('the queries of a plan', () => {
  const plan = (alerts: Fields, more: Readonly<Record<string, string>> = {}): Promise<Invoked> => run('plan', alerts, more)
  const unknown = (name: string): Fields => alert(name, { tile: 'Unknown column' })
  const found = ({ document }: Invoked) =>
    (document.diagnostics as readonly { rule: string; message: string }[]).filter(({ rule }) => rule.endsWith('-query'))

  it('a plan warns of each alert whose query the server cannot run, and asks once for alerts on the same tile', async () => {
    const ran = await plan({ errors: alert('Errors'), one: unknown('One'), two: { ...unknown('Two'), threshold: 5 } })
    expect(ran.document).toMatchObject({ status: 'warn', toCreate: 4 })
    const message = (key: string) =>
      `alerts.${key}: it would never fire, because the server cannot run its query: Unknown expression or function identifier \`Nope\`. Correct the conditions and expressions of what it watches`
    expect(found(ran).map((one) => one.message)).toEqual([message('one'), message('two')])
    // Once beside the others, and once by itself, because an error does not say which series is broken.
    expect(seriesRequests('Nope')).toBe(2)
  })

  it('a plan runs no query of an alert that it does not change, unless its tile changes', async () => {
    const alerts = { one: unknown('One') }
    await run('apply', alerts)
    const before = seriesRequests()
    expect(found(await plan(alerts))).toEqual([])
    expect(seriesRequests()).toBe(before)
    const changed = [...tiles, tile('Unknown column', [{ aggFn: 'count', where: 'Other:1' }])]
    const ran = await invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'plan', files: 'a.json', project: 'shop/main' },
      files: { 'a.json': declare(alerts, changed) },
    })
    expect(found(ran).map(({ message }) => message)).toEqual([expect.stringContaining('`Other`')])
  })

  it('a plan does not say that an alert never fires where the server failed, or can evaluate what its charts cannot', async () => {
    const bare = [...tiles, tile('Bare', [{ aggFn: 'count', where: 'timeout', whereLanguage: 'lucene' }])]
    const ran = await invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'plan', files: 'a.json', project: 'shop/main' },
      files: { 'a.json': declare({ bare: alert('Bare', { tile: 'Bare' }) }, bare) },
    })
    expect([ran.document.status, seriesRequests('timeout')]).toEqual(['pass', 2])
    expect(found(ran).map(({ message }) => message)).toContainEqual(
      'alerts.bare: its query was not run: the API cannot search bare text in Lucene; name its column, such as Body:text',
    )
    for (const status of [403, 404, 503]) {
      emulator().reset()
      emulator().addFault({ match: { path: '/charts/series' }, times: 9, effect: { kind: 'status', status } })
      const ran = await plan({ one: unknown('One') })
      expect(ran.document).toMatchObject({ status: 'pass', toCreate: 2 })
      const notes =
        status === 403
          ? [/^The queries of alerts were not run: .*403/]
          : [
              /^alerts\.one: its query was not run: .*(?:404|503)/,
              ...Array(3).fill(/^dashboards\.shop\.tiles.* was not run: .*(?:404|503)/),
            ]
      expect(found(ran).map(({ message }) => message)).toEqual(notes.map((note) => expect.stringMatching(note)))
    }
  })

  it('a plan does not say that an alert never fires because the database is down or busy', async () => {
    for (const error of ['', 'connect ECONNREFUSED 127.0.0.1:8123']) {
      emulator().reset()
      emulator().addFault({
        match: { path: '/charts/series' },
        times: 9,
        effect: { kind: 'status', status: 500, body: JSON.stringify({ error }), contentType: 'application/json' },
      })
      const rules = found(await plan({ errors: alert('Errors') })).map(({ rule }) => rule)
      expect(rules, error).toEqual(['unchecked-query', 'unchecked-query', 'unchecked-query'])
      expect(seriesRequests('SeverityText:error'), error).toBe(2)
    }
  })

  it('a plan of many alerts asks for the values of all of them, five in a request, and shows them', { tags: 'slow' }, async () => {
    const many = Array.from({ length: 105 }, (_, i) => tile(`T${i}`, [{ aggFn: 'count', where: `ServiceName:s${i}` }]))
    const alerts = Object.fromEntries(many.map(({ name }) => [`a-${String(name).toLowerCase()}`, alert(String(name), { tile: name })]))
    const ran = await invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'plan', files: 'a.json', project: 'shop/main' },
      files: { 'a.json': declare(alerts, many) },
    })
    // The values, the source, and what matched in 7 days.
    expect(seriesRequests()).toBeLessThan(50)
    expect(found(ran)).toEqual([])
    expect(ran.document).toMatchObject({ status: 'pass', checkedAlerts: { alertCount: 105, checkedCount: 105 } })
    const { facts } = ran.document.checkedAlerts as { readonly facts: readonly { readonly key: string; readonly fact: string }[] }
    expect([facts.length, facts[0]]).toEqual([
      105,
      { key: 'a-t0', name: 'T0', fact: 'last window none; 24 h: no value; ≥ 19: not reached' },
    ])
  })
})

describe('a condition that no row matches', () => {
  const on = (where: string, language = 'lucene', more: Fields = {}): readonly Fields[] => [
    tile('Errors', [{ aggFn: 'count', where, whereLanguage: language, ...more }]),
  ]

  const runWith = (operation: string, watched: readonly Fields[], more: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
    invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation, files: 'a.json', project: 'shop/main', ...more },
      files: { 'a.json': declare({ errors: alert('Errors') }, watched) },
    })

  const warnings = ({ document }: Invoked): readonly string[] =>
    (document.diagnostics as readonly { rule: string; severity: string; message: string }[]).map(
      ({ rule, severity, message }) => `${severity} ${rule}: ${message}`,
    )

  it('a condition that no row matches is a warning of plan and backtest, which name the term and the nearest value', {
    tags: 'slow',
  }, async () => {
    const cases = [
      [on('ServiceName:chekout SeverityText:info'), 'warn', 'no row matches `ServiceName:chekout` in 7 days; did you mean `checkout`?'],
      [
        on('SeverityText:info AND ServiceName:"nobody"'),
        'note',
        'no row matches `ServiceName:"nobody"` in 7 days; the column has `checkout`, `cart`, `payment`, `search`. Right if such rows are rare',
      ],
      [
        on("(ServiceName = 'checkout') AND (SeverityText = 'Infos')", 'sql'),
        'warn',
        "no row matches `SeverityText = 'Infos'` in 7 days; did you mean `info`?",
      ],
      [on("ServiceName IN ('chekout', 'kart')", 'sql'), 'note', "no row matches `ServiceName IN ('chekout', 'kart')` in 7 days, of "],
      [on('ServiceName:cart Body:"connection refused: card-processor timeout"'), 'note', 'no row matches all its terms together in 7 days'],
    ] as const
    for (const [watched, status, reason] of cases) {
      const planned = await runWith('plan', watched)
      const rule = status === 'warn' ? 'warning implausible-alert' : 'note quiet-alert'
      expect(warnings(planned), reason).toEqual([expect.stringContaining(`${rule}: alerts.errors: ${reason}`)])
      expect(planned.document.status, reason).toBe(status === 'warn' ? 'warn' : 'pass')
    }
    const [watched, , reason] = cases[0]
    const tested = await runWith('backtest', watched, { period })
    expect(warnings(tested)).toEqual([`warning implausible-alert: alerts.errors: ${reason}`])
    expect(tested.document).toMatchObject({
      status: 'warn',
      alerts: [
        { next: { verdict: 'quiet', findings: [{ severity: 'warning', message: reason }], coverage: { share: expect.closeTo(1, 1) } } },
      ],
    })
    expect(renderTerminal(tested.blocks, { color: false }).join('\n')).toContain(`quiet (${reason})`)
  })

  it('a condition that no row matches is named without a nearest value where the server cannot run SQL', async () => {
    emulator().addFault({ match: { path: '/mcp' }, times: 9, effect: { kind: 'html', status: 404 } })
    expect(warnings(await runWith('plan', on('ServiceName:chekout')))).toEqual([
      expect.stringMatching(/^note quiet-alert: .*: no row matches `ServiceName:chekout` in 7 days, of [\d,]+ rows a day\./),
    ])
  })

  it('a condition that no row matches does not pass a maximum of notifications without a warning', async () => {
    const ran = await runWith('backtest', on('ServiceName:chekout'), { period, 'max-notifications': '0' })
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    const reviewed = await runWith('plan', on('ServiceName:chekout'), { backtest: 'true', 'max-notifications': '0' })
    expect([reviewed.exitCode, reviewed.document.status]).toEqual([0, 'warn'])
    expect(warnings(reviewed)).toEqual([expect.stringContaining('no row matches `ServiceName:chekout` in 7 days; did')])
  })

  it('a condition that no row matches is not reported where rows match it, or only the compared series counts', async () => {
    const both = { aggFn: 'count', where: 'ServiceName:chekout' }
    for (const watched of [
      on('ServiceName:checkout SeverityText:error'),
      [tile('Errors', [both, { aggFn: 'count', where: 'SeverityText:error' }])],
    ])
      for (const [operation, inputs] of [
        ['plan', {}],
        ['backtest', { period }],
      ] as const)
        expect(warnings(await runWith(operation, watched, inputs)), operation).toEqual([])
    const ratio = [tile('Errors', [{ aggFn: 'count', where: '' }, both], { asRatio: true })]
    expect(warnings(await runWith('plan', ratio))).toEqual([
      expect.stringContaining(
        'warning implausible-alert: alerts.errors: B, which it divides by, has no row in 7 days (no row matches `ServiceName:chekout`',
      ),
    ])
  })

  it('a condition that no row matches is that of a source or a metric without rows', async () => {
    const empty = [tile('Errors', [{ aggFn: 'count', where: '' }], { sourceId: { source: 'Sessions' } })]
    expect(warnings(await runWith('plan', empty))).toEqual([expect.stringMatching(/: its source has no row in 24 h$/)])
    const metric = { aggFn: 'max', valueExpression: 'Value', where: '', metricName: 'cpu.utilisation', metricType: 'gauge' }
    const watched = [tile('Errors', [metric], { sourceId: { source: 'Metrics' } })]
    expect(warnings(await runWith('plan', watched))).toEqual([expect.stringMatching(/the metric `cpu\.utilisation` has no value in 24 h$/)])
  })

  it('a condition that no row matches is that of an SLO, whose alerts would never fire', async () => {
    const channel = { type: 'webhook', webhook: 'oncall' }
    const slo = {
      name: 'Checkout',
      source: 'Traces',
      total: "ServiceName = 'chekout'",
      good: "StatusCode != 'Error'",
      objective: 99.9,
      window: '7d',
      alerts: { page: { channel } },
      noData: { channel },
    }
    const ran = await invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'plan', files: 'a.json', project: 'shop/main' },
      files: { 'a.json': JSON.stringify({ slos: { checkout: slo } }) },
    })
    expect(warnings(ran)).toEqual([
      expect.stringContaining(
        "slos.checkout (alert checkout.page-1h): total: no row matches `ServiceName = 'chekout'` in 7 days; did you mean `checkout`?",
      ),
    ])
  })
})

describe('a pull request from a fork', () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchkeeper-fork-'))
  })
  afterAll(() => rm(directory, { recursive: true }))

  const runOn = async (head: string, operation: string, more: Readonly<Record<string, string>> = {}): Promise<Invoked> => {
    const event = join(directory, 'event.json')
    await writeFile(event, JSON.stringify({ pull_request: { number: 7, head: { repo: { full_name: head } } } }))
    return invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation, files: 'a.json', project: 'shop/main', ...more },
      env: { GITHUB_REPOSITORY: 'shop/infra', GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_EVENT_PATH: event },
      files: { 'a.json': declare({ errors: alert('Errors') }) },
    })
  }

  const reason = 'the files may be those of a pull request from a fork, and the server would run their SQL'

  it('W4: plans without a backtest on a pull request from a fork, says why, and fails a gate that needs it', async () => {
    const { document } = await runOn('eve/infra', 'plan', { backtest: 'true' })
    expect(document).toMatchObject({ status: 'pass', toCreate: 2, backtest: { alerts: [], requestCount: 0, message: reason } })
    const gated = await runOn('eve/infra', 'plan', { backtest: 'true', 'max-notifications': '5' })
    expect([gated.document.status, gated.reason]).toEqual(['fail', expect.stringContaining(`no backtest: ${reason}`)])
    expect(seriesRequests()).toBe(0)
    expect((await runOn('shop/infra', 'plan', { backtest: 'true' })).document).toMatchObject({
      backtest: { alerts: [{ next: { verdict: 'fires' } }] },
    })
  })

  it('W4: runs no query of a plan on a pull request from a fork', async () => {
    const { document } = await runOn('eve/infra', 'plan')
    expect(seriesRequests()).toBe(0)
    expect(document.diagnostics).toMatchObject([
      { rule: 'unchecked-query', severity: 'note', message: expect.stringMatching(/^The queries of what the plan changes .*fork/) },
    ])
    await runOn('shop/infra', 'plan')
    expect(seriesRequests()).toBeGreaterThan(0)
  })

  it('a pull request from a fork is refused by backtest before the first request', async () => {
    const ran = await runOn('eve/infra', 'backtest')
    expect([ran.document.status, ran.reason]).toEqual(['error', `No backtest: ${reason}.`])
    expect(emulator().requests).toEqual([])
  })
})

describe('a server without values of the past', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

  const reasonOf = async (inputs: Readonly<Record<string, string>>): Promise<string> =>
    (
      await invokeText({
        inputs: { ...inputs, files: 'a.json', project: 'shop/main' },
        files: { 'a.json': declare({ errors: alert('Errors') }) },
      })
    ).reason

  it('a backtest of ClickHouse Cloud needs a key for SQL, and says so before the first request', async () => {
    const inputs = inputsFor(cloud(), 'clickhouse-cloud')
    const expected = expect.stringMatching(
      /^2 errors in the input:\n- sql-key-id: is missing: in ClickHouse Cloud, a backtest counts with SQL, .*\n- sql-key-secret: is missing/,
    )
    expect(await reasonOf({ ...inputs, operation: 'backtest' })).toEqual(expected)
    expect(await reasonOf({ ...inputs, operation: 'plan', backtest: 'true' })).toEqual(expected)
    expect(cloud().requests).toEqual([])
  })
})
