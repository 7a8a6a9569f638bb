// The gate on error budgets, with the demo's telemetry: every fourth span of payment fails on day 3 from 09:00 to 10:00.
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { dayOf } from '../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { formatShortDay } from '../../../src/platform/report/format.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const weekMs = 7 * 86_400_000
const monday = Date.parse('2026-11-09T00:00:00Z')

/** The start of the last whole week of the demo's telemetry, which repeats. */
const weekStart = monday + (Math.floor((Date.now() - monday) / weekMs) - 1) * weekMs

const at = (day: number, hour: number, minute = 0): string => new Date(weekStart + ((day * 24 + hour) * 60 + minute) * 60_000).toISOString()

const payment = {
  name: 'Payment',
  source: 'Traces',
  total: "ServiceName = 'payment'",
  good: "StatusCode != 'Error'",
  objective: 99,
  window: '7d',
}

type Fields = Readonly<Record<string, unknown>>

/** The reason without the headline in front of it. */
const check = async (slos: Fields, more: Readonly<Record<string, string>> = {}, now = at(7, 0)): Promise<Invoked> => {
  const ran = await invokeText({
    clock: createVirtualClock(Date.parse(now)),
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'check-slos', files: 'a.json', ...more },
    files: { 'a.json': JSON.stringify({ slos }) },
  })
  return { ...ran, reason: ran.reason.replace(/^\d+ SLOs? until .* UTC: /, '') }
}

describe('check-slos', () => {
  it('shows what is left of an error budget, counted by hand', async () => {
    // 4 spans a minute but for 15 minutes without any: 40,260 events, 60 of them bad, and 402.6 are allowed.
    const { document } = await check({ payment }, {}, at(7, 0, 4))
    expect(document).toMatchObject({
      status: 'pass',
      until: at(7, 0),
      sloCount: 1,
      withinBudget: 1,
      spent: 0,
      notEnoughData: 0,
      worstSlo: 'payment',
      requestCount: 2,
    })
    expect(document.budgetLeft).toBe((100 * (40_260 - 6000)) / 40_260)
    expect(document.slos).toMatchObject([
      { key: 'payment', total: 40_260, good: 40_200, status: 'within-budget', runsOut: 'never', burning: [] },
    ])
  })

  it('names the day that spent most of a budget of which less than half, or than the limit, is left', async () => {
    const dayIn = async (objective: number, gates = {}) => {
      const { blocks } = await check({ payment: { ...payment, objective } }, gates)
      return blocks.flatMap((block) => (block.kind === 'paragraph' ? toPlainText(block.line) : []))
    }
    const day = formatShortDay(dayOf(Date.parse(at(3, 9))), dayOf(Date.parse(at(7, 0))))
    expect(await dayIn(99.8)).toEqual([
      expect.stringContaining(`payment spent most of its error budget on ${day} (UTC). Find out what failed`),
    ])
    expect(await dayIn(99)).toEqual([])
    expect(await dayIn(99, { 'min-budget-left': '85' })).toEqual([])
    expect(await dayIn(99, { 'min-budget-left': '90' })).toEqual([expect.stringContaining(day)])
  })

  it('writes the table and the chart as a page', async () => {
    const { files } = await check({ payment }, { reports: 'html=slos.html' })
    const [page] = files
    expect([files.length, page?.path]).toEqual([1, 'slos.html'])
    for (const text of ['<!doctype html>', 'payment', 'Budget left', 'Error budget of payment spent', '"valueName":"spent"'])
      expect(page?.content).toContain(text)
  })

  it('shows burn rates while the budget burns, and when it runs out', async () => {
    const { document, blocks } = await check({ payment }, {}, at(3, 10))
    expect(document).toMatchObject({ burnRate: 25 })
    expect(document.slos).toMatchObject([{ burnRates: { '5m': 25, '30m': 25, '1h': 25 }, burning: ['page-1h'] }])
    const { budgetLeft, runsOut } = (document.slos as readonly { budgetLeft: number; runsOut: string }[])[0] ?? {
      budgetLeft: 0,
      runsOut: '',
    }
    expect(Date.parse(runsOut)).toBe(Math.trunc(Date.parse(at(3, 10)) + ((budgetLeft / 100) * weekMs) / 25))
    expect(blocks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['verdict', 'table', 'chart']))
  })

  it('counts to the minute, although it asks for hours', async () => {
    // The window of 7 days that ends at 09:30 starts in an hour with bad events: those from 09:30 of the week before.
    const { document } = await check({ payment }, {}, at(3, 9, 30))
    expect(document.slos).toMatchObject([{ total: 40_260, good: 40_260 - 30 - 30 }])
  })

  it('fails a gate with less budget left, or a higher burn rate, and passes at the limit', async () => {
    const reason = async (gates: Readonly<Record<string, string>>) => {
      const { document, reason } = await check({ payment: { ...payment, objective: 75 } }, gates, at(3, 10))
      return [document.status, reason]
    }
    expect(await reason({ 'max-burn-rate': '1' })).toEqual(['pass', ''])
    expect(await reason({ 'max-burn-rate': '0.99' })).toEqual([
      'fail',
      'payment burns its error budget 1 times as fast as allowed, above 0.99',
    ])
    const left = (100 * (40_260 * 0.25 - 60)) / (40_260 * 0.25)
    expect((await reason({ 'min-budget-left': String(left) }))[0]).toBe('pass')
    expect(await reason({ 'min-budget-left': '99.9' })).toEqual([
      'fail',
      `payment has ${left.toFixed(1)}% of its error budget left, below 99.9%`,
    ])
  })

  it('shows enough digits to see that a value is beyond its gate', async () => {
    const { reason } = await check({ payment }, { 'min-budget-left': '85.1' })
    // 85.0969…
    expect(reason).toBe('payment has 85.0969% of its error budget left, below 85.1%')
  })

  it('V7: never passes a gate with too little data, and warns without a gate', async () => {
    const few = { few: { ...payment, minEvents: 100_000 } }
    const plain = await check(few)
    expect(plain).toMatchObject({ document: { status: 'warn', notEnoughData: 1 }, reason: 'few has not enough data' })
    expect([plain.document.budgetLeft, plain.document.burnRate]).toEqual([undefined, undefined])
    expect((await check(few, { 'min-budget-left': '-1000' })).reason).toBe(
      'few has not enough data for min-budget-left: 40260 events in 7d',
    )
    expect((await check(few, { 'max-burn-rate': '1000' })).reason).toBe('few has not enough data for max-burn-rate in the last hour')
    const nobody = { nobody: { ...payment, total: "ServiceName = 'nobody'" } }
    expect((await check(nobody, { 'min-budget-left': '0' })).document).toMatchObject({ status: 'fail', notEnoughData: 1 })
    const groups = { groups: { ...payment, total: "ServiceName = 'nobody'", groupBy: 'ServiceName' } }
    expect((await check(groups, { 'min-budget-left': '0' })).document).toMatchObject({ status: 'fail', sloCount: 1, notEnoughData: 1 })
  })

  it('warns when a budget is spent', async () => {
    const { document, reason } = await check({ payment: { ...payment, objective: 99.9 } })
    expect([document.status, document.spent, reason]).toEqual(['warn', 1, 'the error budget of payment is spent'])
  })

  it('a message has a line for each SLO that fails, or else has a warning, and none for the others', async () => {
    // 60.39 bad events are allowed, and 60 were bad.
    const spent = await check({ spent: { ...payment, objective: 99.9 }, kept: { ...payment, objective: 99.85 } })
    expect(spent.keyLines().map(toPlainText)).toEqual([expect.stringMatching(/^spent: /)])
    const low = await check({ kept: { ...payment, objective: 90 }, low: payment }, { 'min-budget-left': '90' })
    expect(low.keyLines().map(toPlainText)).toEqual([expect.stringMatching(/^low: .*budget left 85\.1%/)])
    expect(low.document.worstSlo).toBe('low')
  })

  it('judges each group, and reports the worst one', async () => {
    const { document, reason, cause } = await check(
      { services: { ...payment, total: "ServiceName != ''", groupBy: 'ServiceName' }, payment },
      { 'min-budget-left': '90' },
    )
    expect(document.budgetLeft).toBe((100 * (40_260 - 6000)) / 40_260)
    const slos = document.slos as readonly Fields[]
    expect(slos.map(({ key, group, status }) => [key, group, status])).toEqual([
      ['services', 'cart', 'within-budget'],
      ['services', 'checkout', 'within-budget'],
      ['services', 'payment', 'within-budget'],
      ['services', 'search', 'within-budget'],
      ['payment', undefined, 'within-budget'],
    ])
    expect(reason).toBe(
      'services (payment) has 85.1% of its error budget left, below 90%; payment has 85.1% of its error budget left, below 90%',
    )
    expect(cause).toBe('services (payment) has too little error budget left and others')
  })

  it('checks the named SLOs only', async () => {
    const { document } = await check({ payment, other: payment }, { select: 'key=other' })
    expect(document.slos).toMatchObject([{ key: 'other' }])
    expect(await check({ payment }, { select: 'key=paymnt' })).toMatchObject({
      document: { status: 'error' },
      reason: expect.stringContaining('"paymnt" is not an SLO in these files'),
    })
  })

  it('check-slos is an error, not a pass, where there is nothing to check', async () => {
    expect((await check({})).reason).toContain('declare no SLOs')
    expect((await check({ payment: { ...payment, source: 'Nope' } })).document).toMatchObject({
      status: 'fail',
      diagnostics: [{ rule: 'unknown-name' }],
    })
    expect((await check({ payment: { ...payment, good: '1=1) OR (1=1' } })).document).toMatchObject({ status: 'fail' })
    expect((await check({ payment: { ...payment, good: 'NoSuchColumn = 1' } })).document).toMatchObject({
      status: 'error',
      error: { kind: 'refused', retryable: false },
    })
  })

  it('checks the others where one cannot be counted, and fails', async () => {
    const { document, reason, annotations } = await check(
      { wrong: { ...payment, name: 'W', good: 'NoSuchColumn = 1' }, payment, lost: { ...payment, name: 'L', source: 'Nope' } },
      { 'min-budget-left': '100' },
      at(3, 10),
    )
    expect(document).toMatchObject({
      status: 'fail',
      sloCount: 1,
      requestCount: 4,
      slos: [{ key: 'payment' }],
      diagnostics: [{ rule: 'slo-source', location: { file: 'a.json', line: 1 } }, { rule: 'unknown-name' }],
    })
    expect(reason).toMatch(/^2 errors; payment has [^;]*% of its error budget left, below 100%$/)
    expect(annotations.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^slos\.wrong was not counted \(a\.json:1\)\. .*correct total, good or groupBy of this SLO\..*server\.$/),
      expect.stringContaining('"Nope"'),
    ])
  })

  it('W4: does not let the files of a fork decide what SQL runs', async () => {
    const before = emulator().requests.length
    const mergeQueue = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-7' }
    for (const env of [{ GITHUB_EVENT_NAME: 'pull_request_target' }, mergeQueue]) {
      const { document, reason } = await invokeText({
        inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'check-slos', files: 'a.json' },
        env,
        files: { 'a.json': JSON.stringify({ slos: { payment } }) },
      })
      expect([document.status, reason]).toEqual(['error', expect.stringContaining('pull request from a fork')])
    }
    expect(emulator().requests.length).toBe(before)
  })

  it('W4: sends no SQL that could read other data than that of the database', async () => {
    const before = emulator().requests.length
    const refused = {
      "1 IN url('http://other.example/', 'TSV', 'x UInt8')": 'its SQL uses url, which does more than read the data of the database',
      "file('/etc/passwd') != ''": 'its SQL uses file, which does more than read the data of the database',
      'a IN system.users': 'its SQL has system.users; of system, it may read tables, columns, parts, functions',
      "a = 1 SETTINGS additional_result_filter = '1'":
        'its SQL has SETTINGS additional_result_filter; leave that out, or write `SETTINGS` in backticks where it is a name',
    }
    for (const [good, why] of Object.entries(refused)) {
      const { document, reason } = await check({ payment: { ...payment, good } })
      expect([document.status, reason]).toEqual(['error', `The events of "Payment" were not counted: ${why}.`])
    }
    expect(
      emulator()
        .requests.slice(before)
        .some(({ path }) => path.endsWith('/series')),
    ).toBe(false)
  })

  it('sends two requests for each SLO and one for the sources, names the first 20 failures, and counts the others', {
    tags: 'slow',
  }, async () => {
    const before = emulator().requests.length
    const many = Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`slo-${i}`, payment]))
    const { document, reason } = await check(many, { 'min-budget-left': '100' }, at(3, 10))
    expect(document.status).toBe('fail')
    expect(reason).toMatch(/^slo-0 has (?:[^;]*; ){19}slo-19 has [^;]*% of its error budget left, below 100%; 2 more$/)
    expect(
      emulator()
        .requests.slice(before)
        .map(({ path }) => path.replace(/.*\//, '')),
    ).toEqual(['health', 'sources', ...Array(44).fill('series')])
  })
})

describe('check-slos in ClickHouse Cloud', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

  const sqlKey = { 'sql-key-id': demo.apiKeyId, 'sql-key-secret': demo.apiKeySecret }

  const checkCloud = (slos: Fields, more: Readonly<Record<string, string>> = {}, now = at(7, 0)): Promise<Invoked> =>
    invokeText({
      clock: createVirtualClock(Date.parse(now)),
      inputs: {
        ...inputsFor(cloud(), 'clickhouse-cloud'),
        ...sqlKey,
        'sql-url': cloud().url,
        operation: 'check-slos',
        files: 'a.json',
        ...more,
      },
      files: { 'a.json': JSON.stringify({ slos }) },
    })

  const services = { ...payment, total: "SpanKind = 'Server'", groupBy: 'ServiceName' }

  it('gives the same numbers as the values of charts', { tags: 'slow' }, async () => {
    for (const [what, slo, now] of [
      ['one that burns, with a window that starts between two hours', payment, at(3, 9, 35)],
      ['groups', services, at(3, 10)],
      ['four weeks', { ...payment, window: '28d' }, at(3, 10)],
      ['no events', { ...payment, total: "ServiceName = 'nothing'" }, at(7, 0)],
      ['logs', { ...payment, source: 'Logs', good: "SeverityText != 'error'" }, at(3, 14, 40)],
    ] as const) {
      const server = await check({ slo }, {}, now)
      const { document } = await checkCloud({ slo }, {}, now)
      expect(document.error, what).toBeUndefined()
      expect(document.slos, what).toEqual(server.document.slos)
      expect(document.budgetLeft, what).toBe(server.document.budgetLeft)
    }
  })

  it('sends one query for each SLO, to the query endpoint of the service', async () => {
    const { document } = await checkCloud({ payment, services })
    expect(document.requestCount).toBe(2)
    expect(cloud().requests.flatMap(({ method, path }) => (method === 'POST' ? [path] : []))).toEqual(
      Array(2).fill(`/service/${demo.services.checkout}/run?format=JSON`),
    )
  })

  it('needs a key for SQL, and says so before any request', async () => {
    const { reason, document } = await checkCloud({ payment }, { 'sql-key-id': '', 'sql-key-secret': '' })
    expect(document).toMatchObject({ status: 'error', error: { kind: 'input' } })
    expect(reason).toBe(
      [
        '2 errors in the input:',
        '- sql-key-id: is missing: in ClickHouse Cloud, SLOs are counted with SQL, by a key that the query endpoint of the service lists; set the input or WATCHKEEPER_SQL_KEY_ID. See https://github.com/watchkeeper/watchkeeper/blob/main/docs/self-hosted.md#sql-queries',
        '- sql-key-secret: is missing; set the input or WATCHKEEPER_SQL_KEY_SECRET',
      ].join('\n'),
    )
    expect(cloud().requests).toEqual([])
  })

  it('W4: does not wake a service that sleeps: a gate fails, and without a gate the verdict is a warning', async () => {
    const sleep = (): void => {
      const service = cloud().store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
      Object.assign(service ?? {}, { state: 'idle' })
    }
    sleep()
    const plain = await checkCloud({ payment })
    expect(plain.document).toMatchObject({ status: 'warn', asleep: true, sloCount: 0 })
    expect(plain.reason).toBe(
      'The SLOs were not checked: the service is asleep, and a query would wake it; set WATCHKEEPER_WAKE_SERVICE: true to allow that',
    )
    for (const gate of [{ 'min-budget-left': '1' }, { 'max-burn-rate': '1000' }])
      expect((await checkCloud({ payment }, gate)).document).toMatchObject({ status: 'fail', asleep: true })
    expect(cloud().requests.some(({ method }) => method === 'POST')).toBe(false)
    expect((await checkCloud({ payment }, { 'wake-service': 'true' })).document).toMatchObject({ status: 'pass', sloCount: 1 })
  })

  it('is an error when the server refuses the query', async () => {
    const { document, reason } = await checkCloud({ payment: { ...payment, good: "Missing = 'x'" } })
    expect(document.status).toBe('error')
    expect(reason).toMatch(/^The events of "Payment" were not counted: the server refused the query: .*`Missing`\.$/)
  })
})
