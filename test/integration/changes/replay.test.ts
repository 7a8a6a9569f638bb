import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { recordCommand } from '../../../src/changes/backtest/recordings.ts'
import type { Incident } from '../../../src/sync/declarations/incidents.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

// An incident of the demo's telemetry is recorded once, and replayed without a server.

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const weekMs = 7 * 86_400_000
const monday = Date.parse('2026-11-09T00:00:00Z')
const until = new Date(monday + Math.floor((Date.now() - monday) / weekMs) * weekMs).toISOString()

type Fields = Readonly<Record<string, unknown>>

const tile = (name: string, select: Fields, more: Fields = {}): Fields => ({
  name,
  config: { displayType: 'line', source: 'Logs', select: [select], ...more },
})

const channel = { type: 'webhook', webhook: 'oncall' }

const errors = { name: 'Errors', dashboard: 'shop', tile: 'Errors', interval: '5m', threshold: 19, channel }

const declaration = {
  dashboards: {
    shop: {
      name: 'Shop',
      tiles: [
        tile('Errors', { aggFn: 'count', where: 'ServiceName:checkout SeverityText:error' }),
        tile('By service', { aggFn: 'count', where: 'SeverityText:error' }, { groupBy: 'ServiceName' }),
        tile('Slow', { aggFn: 'quantile', level: 0.99, valueExpression: 'Duration', where: 'ServiceName:checkout' }, { source: 'Traces' }),
      ],
    },
  },
  savedSearches: { search: { name: 'Errors', source: 'Logs', where: 'ServiceName:payment SeverityText:error' } },
  slos: {
    payment: {
      name: 'Payment',
      source: 'Traces',
      total: "ServiceName = 'payment'",
      good: "StatusCode != 'Error'",
      objective: 99,
      window: '7d',
      alerts: { page: { channel } },
    },
  },
  alerts: {
    errors,
    services: { ...errors, name: 'Services', tile: 'By service' },
    slow: { ...errors, name: 'Slow', tile: 'Slow', threshold: 100_000_000 },
    search: { name: 'Search', savedSearch: 'search', interval: '5m', threshold: 20, channel },
  },
}

// Ten errors a minute of checkout and payment on Saturday from 12:00 to 12:15. On Thursday, a quarter of the requests to payment fail for an hour.
const dayOf = (day: number): string => new Date(Date.parse(until) - (7 - day) * 86_400_000).toISOString().slice(0, 10)
const saturday = dayOf(5)
const thursday = dayOf(3)
const incidents = {
  checkout: {
    name: 'No payments',
    start: `${saturday}T12:00:00Z`,
    end: `${saturday}T12:15:00Z`,
    alerts: ['errors', 'services', 'search'],
    within: '10m',
    maxNotifications: 9,
  },
  slow: { name: 'Slow', start: `${saturday}T20:05:00Z`, end: `${saturday}T20:20:00Z`, alerts: ['slow'], within: '10m' },
  payment: { name: 'Failures', start: `${thursday}T09:00:00Z`, end: `${thursday}T10:00:00Z`, alerts: ['payment.page-1h'], within: '40m' },
}

const file = { ...declaration, incidents }

let backtested: Invoked

let recordings: Record<string, string> = {}

let seriesRequests = 0

const record = async (content: object, more: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
  invokeText({
    inputs: {
      ...inputsFor(emulator(), 'hyperdx'),
      operation: 'backtest',
      files: 'a.json',
      project: 'shop/main',
      period: `${thursday}..${saturday}`,
      recordings: 'recordings',
      ...more,
    },
    files: { 'a.json': JSON.stringify(content, null, 1) },
  })

const contentOf = ({ files }: Invoked): Record<string, string> => Object.fromEntries(files.map(({ path, content }) => [path, content]))

const replay = (content: object = file, recorded: Readonly<Record<string, string>> = recordings): Promise<Invoked> =>
  invokeText({
    inputs: { operation: 'replay', files: 'a.json', profile: 'hyperdx' },
    files: { 'a.json': JSON.stringify(content, null, 1), ...recorded },
  })

const withAlert = (key: keyof typeof declaration.alerts, more: Fields): object => ({
  ...file,
  alerts: { ...declaration.alerts, [key]: { ...declaration.alerts[key], ...more } },
})

const countSeries = (): number => emulator().requests.filter(({ path: to }) => to.endsWith('/charts/series')).length

beforeAll(async () => {
  backtested = await record(file)
  if (backtested.document.recordingCount !== 5) throw new Error(backtested.reason)
  recordings = contentOf(backtested)
  seriesRequests = countSeries()
})

const path = 'recordings/checkout/errors.json'

it('refuses a small recording with many values at once', async () => {
  const steps = 90_000
  const content = {
    recording: 1,
    incident: 'checkout',
    alert: 'errors',
    query: '0123456789abcdef',
    values: 'counts',
    step: '1m',
    from: '2026-01-01T00:00:00.000Z',
    until: new Date(Date.parse('2026-01-01T00:00:00Z') + steps * 60_000).toISOString(),
    groups: 'named',
    rows: Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`g${i}`, [`0*${steps}`]])),
  }
  const checksum = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const { document, reason } = await replay(file, { ...recordings, [path]: JSON.stringify({ ...content, checksum }, null, 1) })
  expect(document.status).toBe('fail')
  expect(reason).toContain('rows: has more than 2000000 values')
})

it('records alerts that compare the same values with the requests of one', async () => {
  const { errors } = declaration.alerts
  const twins = { ...declaration.alerts, again: { ...errors, name: 'Again', threshold: 40 }, more: { ...errors, name: 'More' } }
  const named = { ...incidents, checkout: { ...incidents.checkout, alerts: [...incidents.checkout.alerts, 'again', 'more'] } }
  const ran = await record({ ...file, alerts: twins, incidents: named })
  expect([ran.document.status, countSeries()]).toEqual(['pass', seriesRequests])
})

describe('replay', () => {
  it('V12: has the same result as the backtest that recorded the incidents', async () => {
    const { document } = await replay()
    expect(document).toMatchObject({ status: 'pass', incidentCount: 3, detected: 5, late: 0, missed: 0, errorCount: 0 })
    const detections = (list: unknown) =>
      (list as readonly { key: string; alerts: readonly Fields[] }[]).map(({ key, alerts }) => [
        key,
        alerts.map(({ alert, outcome, afterMinutes }) => [alert, outcome, afterMinutes]),
      ])
    expect(detections(document.incidents)).toEqual(detections(backtested.document.incidents))
  })

  it('V12: fails when a threshold is raised above the incident, and passes when it is lowered', async () => {
    const raised = await replay(withAlert('errors', { threshold: 52 }))
    expect([raised.document.status, raised.reason]).toEqual([
      'fail',
      expect.stringContaining('incident checkout: alert errors does not notify'),
    ])
    expect((await replay(withAlert('errors', { threshold: 10 }))).document).toMatchObject({ status: 'pass', detected: 5 })
  })

  it('fails when a threshold is so low that the alert notifies outside of the incident', async () => {
    const ran = await replay(withAlert('errors', { threshold: 0 }))
    expect(ran.reason).toMatch(/incident checkout: alert errors sends 57 notifications outside of its incidents, above 9/)
  })

  it('accepts another condition, more windows, a longer interval of counts, a later start and another name', async () => {
    for (const more of [
      { thresholdType: 'between', thresholdMax: 1000 },
      { numConsecutiveWindows: 2 },
      { interval: '15m', threshold: 100 },
      { scheduleStartAt: until },
      { name: 'Renamed', note: 'Look.' },
    ])
      expect((await replay(withAlert('errors', more))).reason, JSON.stringify(more)).not.toContain('record it')
  })

  it('evaluates an SLO with another objective', async () => {
    const slos = { payment: { ...declaration.slos.payment, objective: 98 } }
    expect((await replay({ ...file, slos })).reason).toContain('incident payment: alert payment.page-1h does not notify')
  })

  const command = 'watchkeeper backtest --files a.json --period'

  it('fails for a recording that is missing or does not fit the declaration, and shows the command that records again', async () => {
    const cases: readonly (readonly [string, object, Readonly<Record<string, undefined>>, string])[] = [
      ['a missing recording', file, { [path]: undefined }, `incidents.checkout: ${path} is missing; record it: ${command}`],
      [
        'a changed condition',
        JSON.parse(JSON.stringify(file).replace('ServiceName:checkout SeverityText', 'ServiceName:cart SeverityText')),
        {},
        `${path}:1:1: the query of alert errors has changed; record it again: ${command}`,
      ],
      [
        'a shorter interval',
        withAlert('errors', { interval: '1m' }),
        {},
        `${path}:1:1: an interval of 1m needs other values than those of 5m that were recorded; record it again: ${command}`,
      ],
      [
        'an interval of values that cannot be added up',
        withAlert('slow', { interval: '15m' }),
        {},
        'recordings/slow/slow.json:1:1: an interval of 15m needs other values than those of 5m that were recorded',
      ],
      [
        'an interval that is longer than the recorded time',
        withAlert('errors', { interval: '1d' }),
        {},
        `${path}:1:1: the windows of 1d of this incident are not in the recorded time`,
      ],
      [
        'a changed SLO',
        { ...file, slos: { payment: { ...declaration.slos.payment, good: "StatusCode = 'Ok'" } } },
        {},
        'recordings/payment/payment.page-1h.json:1:1: the query of alert payment.page-1h has changed',
      ],
    ]
    for (const [name, content, changes, message] of cases) {
      const recorded = Object.entries({ ...recordings, ...changes }).flatMap(([file, text]) =>
        text === undefined ? [] : [[file, text] as const],
      )
      const ran = await replay(content, Object.fromEntries(recorded))
      expect([ran.document.status, ran.reason], name).toEqual(['fail', expect.stringContaining(message)])
    }
  })

  const damaged: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    ['edited', (text) => text.replace(/50/, '5'), /errors\.json:\d+:\d+: checksum: does not match the content/],
    ['cut off', (text) => text.slice(0, 300), /errors\.json:\d+:\d+: is not a whole recording: /],
    ['empty', () => '', /errors\.json: is not a whole recording: is empty/],
    [
      'of another alert',
      () => recordings['recordings/checkout/search.json'] ?? '',
      /errors\.json:1:1: the query of alert errors has changed/,
    ],
    ['of another program', () => '{"values": [1, 2]}', /errors\.json:1:\d+: is not a recording: /],
    ['of a later version', (text) => text.replace('"recording": 1', '"recording": 2'), /errors\.json:2:\d+: is not a recording: recording/],
    ['YAML', () => 'recording: 1', /errors\.json:1:1: is not a recording/],
    ['too large', (text) => text + ' '.repeat(1_000_000), /errors\.json: is larger than 1 MB/],
  ]

  it('V12: explains with file and place why a recording is unusable', async () => {
    for (const [name, damage, message] of damaged) {
      const text = recordings[path] ?? ''
      const ran = await replay(file, { ...recordings, [path]: damage(text) })
      expect([ran.document.status, ran.reason], name).toEqual(['fail', expect.stringMatching(message)])
      expect(ran.reason, name).toContain('record it again: watchkeeper backtest')
    }
  })

  it('leaves the usual files out of the command that records again, and quotes a directory with a blank', () => {
    const incident: Incident = {
      key: 'checkout',
      name: 'No payments',
      location: { file: 'a.json' },
      startMs: monday,
      endMs: monday + 900_000,
      alerts: ['errors'],
      withinMs: 600_000,
    }
    expect(recordCommand(incident, { files: ['observability/**/*.{yml,yaml,json}'], recordings: 'our recordings' })).toBe(
      "watchkeeper backtest --period 2026-11-09 --recordings 'our recordings'",
    )
  })

  it('a renamed alert keeps its recordings, by its previousKey, and a renamed file stays valid', async () => {
    const { errors: _, ...others } = declaration.alerts
    const renamed = (more: Fields) => ({
      ...file,
      alerts: { ...others, failures: { ...errors, ...more } },
      incidents: { ...incidents, checkout: { ...incidents.checkout, alerts: ['failures', 'services', 'search'] } },
    })
    const moved = {
      ...Object.fromEntries(Object.entries(recordings).map(([name, text]) => [name.replace('/errors.', '/failures.'), text])),
    }
    const passing = { status: 'pass', detected: 5, diagnostics: [] }
    expect((await replay(renamed({ previousKey: 'errors' }))).document).toMatchObject(passing)
    expect((await replay(renamed({ previousKey: 'errors' }), { ...moved, ...recordings })).document).toMatchObject({
      status: 'pass',
      diagnostics: [{ rule: 'recording-unused', location: { file: path } }],
    })
    expect((await replay(renamed({}), moved)).document).toMatchObject(passing)
    expect((await replay(renamed({}))).reason).toContain('recordings/checkout/failures.json is missing')
    const { checkout, ...left } = incidents
    const directory = Object.fromEntries(
      Object.entries(recordings).map(([name, text]) => [name.replace('/checkout/', '/no-payments/'), text]),
    )
    expect((await replay({ ...file, incidents: { ...left, 'no-payments': checkout } }, directory)).document).toMatchObject(passing)
  })

  it('warns about a recording that no incident needs', async () => {
    const { document } = await replay(file, { ...recordings, 'recordings/old/errors.json': '{}' })
    expect(document).toMatchObject({
      status: 'pass',
      diagnostics: [{ rule: 'recording-unused', location: { file: 'recordings/old/errors.json' } }],
    })
  })

  it('fails for an alert on a dashboard that is not in the files', async () => {
    const alerts = { ...declaration.alerts, errors: { ...errors, dashboard: { name: 'Other' } } }
    expect((await replay({ ...file, alerts })).reason).toContain(
      'alerts.errors: cannot be replayed: the files do not declare the dashboard',
    )
  })

  it('fails for a formula over recorded values of which one is missing', async () => {
    const select = [
      { aggFn: 'avg', valueExpression: 'Duration', where: 'ServiceName:nobody' },
      { aggFn: 'count', where: 'ServiceName:payment StatusCode:Error' },
    ]
    const withConfig = (more: Fields): object => ({
      dashboards: { shop: { name: 'Shop', tiles: [tile('Errors', {}, { source: 'Traces', select, ...more })] } },
      alerts: { errors: { ...errors, threshold: 3 } },
      incidents: { payment: { ...incidents.payment, alerts: ['errors'] } },
    })
    const recorded = contentOf(await record(withConfig({})))
    expect((await replay(withConfig({}), recorded)).document).toMatchObject({ status: 'pass', detected: 1 })
    const { document, reason } = await replay(withConfig({ formulas: [{ expression: 'A + B' }] }), recorded)
    expect([document.status, reason]).toEqual([
      'fail',
      expect.stringContaining(
        'alerts.errors: cannot be replayed: a series of the tile has no rows in a window in which another one has some',
      ),
    ])
  })

  it('finds the recordings of a directory in any spelling, and rejects one outside of the workspace', async () => {
    const replayIn = (directory: string): Promise<Invoked> =>
      invokeText({
        inputs: { operation: 'replay', files: 'a.json', profile: 'hyperdx', recordings: directory },
        files: { 'a.json': JSON.stringify(file), ...recordings },
      })
    for (const directory of ['recordings', './recordings', 'recordings//', './/recordings/./'])
      expect((await replayIn(directory)).document, directory).toMatchObject({ status: 'pass', detected: 5, diagnostics: [] })
    for (const directory of ['/recordings', '.', '..', 'a/../recordings']) {
      const { reason } = await replayIn(directory)
      expect(reason).toBe(`recordings: "${directory}" is not a directory inside the workspace; use a path such as recordings`)
    }
  })

  it('rejects files without incidents', async () => {
    expect((await replay(declaration)).reason).toBe('files: declare no incidents; add some below incidents')
  })
})

describe('a recording', () => {
  it('two recordings of the same values are the same', async () => {
    expect(contentOf(await record(file))).toEqual(recordings)
  })

  it('has hashes in place of the names of groups, unless names are asked for', async () => {
    const name = 'recordings/checkout/services.json'
    expect(recordings[name]).not.toContain('payment')
    const named = contentOf(await record(file, { 'record-group-names': 'true' }))
    expect(named[name]).toContain('ServiceName:payment')
    expect((await replay(file, named)).document).toMatchObject({ status: 'pass', detected: 5 })
  })

  it('a recording is small, ASCII, and ends with a line break', () => {
    for (const [name, text] of Object.entries(recordings)) {
      expect(text.length, name).toBeLessThan(5_000)
      expect(text, name).toMatch(/^[\n -~]*\n$/)
    }
  })

  it('is not written for an alert that cannot be evaluated, and the run fails', async () => {
    const broken = withAlert('errors', { scheduleOffsetMinutes: 2 })
    const ran = await record(broken)
    expect([ran.document.status, ran.files.map((one) => one.path).includes(path)]).toEqual(['fail', false])
    expect(ran.reason).toContain('incident checkout: alert errors was not recorded (scheduleOffsetMinutes makes the server')
  })

  it('fails where no incident is in the period', async () => {
    const ran = await record(file, { period: '2026-01-01..2026-01-07' })
    expect(ran.reason).toContain('nothing was recorded, because no incident of the files is in the period')
  })
})
