// Silencing alerts for a deploy: what is sent, what is left as it is, and what the run reports.
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { editDuring, inputsFor, methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'

const now = '2026-11-11T03:12:10Z'

const startMs = Date.parse(now)

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => startMs })

const run = async (inputs: Readonly<Record<string, string>>, at = now, more: Partial<InvokeOptions> = {}) => {
  const ran = await invokeText({
    ...more,
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), ...inputs },
    clock: createVirtualClock(Date.parse(at)),
  })
  return { ...ran, text: renderTerminal(ran.blocks, { color: false }).join('\n') }
}

const silence = (name: string, more: Readonly<Record<string, string>> = {}, at = now, options: Partial<InvokeOptions> = {}) =>
  run({ operation: 'silence-alerts', select: `name~${name}`, for: '20m', ...more }, at, options)

const endSilence = (name: string, at = now) => run({ operation: 'silence-alerts', select: `name~${name}`, for: '0m' }, at)

const alerts = () => serviceOf(emulator()).alerts

const alertNamed = (name: string) => alerts().find((one) => one.name === name)

const startOf = (name: string) => alertNamed(name)?.scheduleStartAt

const edit = (name: string, fields: object): void => void Object.assign(alertNamed(name) ?? {}, fields)

const puts = () => emulator().requests.filter(({ method }) => method === 'PUT')

describe('silence-alerts', () => {
  it('W16: sets a start at a border of each interval, and changes nothing else', async () => {
    const before = structuredClone(alertNamed('Checkout errors'))
    const ran = await silence('CHECKOUT')
    expect(ran.document).toMatchObject({ status: 'pass', changed: true, silencedUntil: '2026-11-11T04:00:00.000Z' })
    expect(alertNamed('Checkout errors')).toEqual({
      ...before,
      scheduleStartAt: '2026-11-11T03:35:00.000Z',
      scheduleOffsetMinutes: 0,
      updatedAt: expect.any(String),
    })
    expect(startOf('Checkout is slow')).toBe('2026-11-11T03:45:00.000Z')
    expect(startOf('Declined payments')).toBeUndefined()
    expect(ran.text).toMatch(/Checkout errors +– +11 Nov 2026 03:35 UTC +11 Nov 2026 03:40 UTC/)
  })

  it('extends a silence, and never shortens it', async () => {
    await silence('checkout errors', { for: '1h' })
    const shorter = await silence('checkout errors')
    expect(shorter.document).toMatchObject({ status: 'pass', count: 1, changed: false, silencedUntil: '2026-11-11T04:15:00.000Z' })
    expect(shorter.document.alerts).toMatchObject([{ outcome: 'already-silenced', firstEvaluation: '2026-11-11T04:20:00.000Z' }])
    expect(puts()).toHaveLength(1)
    expect(shorter.text).toContain('1 alert silenced already')
    expect((await silence('checkout')).text).toContain('2 alerts silenced, 1 alert silenced already')
    expect(shorter.text).toContain(
      'Already silenced for at least as long, and not changed: Checkout errors. To end a silence early, set for: 0m',
    )
    await silence('checkout errors', { for: '2h' })
    expect(startOf('Checkout errors')).toBe('2026-11-11T05:15:00.000Z')
  })

  it('silences again after an earlier silence has ended', async () => {
    edit('Checkout errors', { scheduleStartAt: '2026-11-10T08:05:00.000Z', scheduleOffsetMinutes: 0 })
    expect((await silence('checkout errors')).document).toMatchObject({ status: 'pass', changed: true })
    expect(startOf('Checkout errors')).toBe('2026-11-11T03:35:00.000Z')
  })

  it('leaves out an interval above 1h by name, unless the silence is as long', async () => {
    edit('Checkout is slow', { interval: '6h' })
    const ran = await silence('checkout')
    expect(ran.document).toMatchObject({ status: 'pass', changed: true })
    expect(ran.text).toMatch(/Checkout is slow +its interval is 6h; to include it, silence it for at least that long/)
    expect(startOf('Checkout is slow')).toBeUndefined()
    const all = await silence('checkout is slow', { for: '6h' })
    expect(all.document).toMatchObject({ status: 'pass', silencedUntil: '2026-11-11T12:00:00.000Z' })
  })

  it('fails when every alert was left out, because none is silenced', async () => {
    edit('Checkout is slow', { interval: '1d' })
    const ran = await silence('checkout is slow')
    expect(ran.document).toMatchObject({ status: 'fail', count: 0, changed: false, silencedUntil: '' })
    expect(ran.reason).toContain('the silence is shorter than the interval of every alert that matches')
  })

  it('refuses alerts whose windows are shifted, silences the others, and fails', async () => {
    edit('Checkout is slow', { scheduleOffsetMinutes: 2 })
    const ran = await silence('checkout')
    expect(ran.document).toMatchObject({ status: 'fail', changed: true })
    expect(ran.reason).toContain('1 alert refused: Checkout is slow')
    expect(ran.text).toMatch(/Checkout is slow +it has a schedule offset, which the server resets when a start is set/)
    expect(startOf('Checkout errors')).toBe('2026-11-11T03:35:00.000Z')
    expect(alertNamed('Checkout is slow')).toMatchObject({ scheduleOffsetMinutes: 2 })
  })

  it('silence-alerts is an error when no name matches', async () => {
    const ran = await silence('chekcout')
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-found' } })
    expect(ran.reason).toBe('None of the alerts that list-alerts shows has name~chekcout')
  })

  it('rejects a duration without a unit, or of more than a year', async () => {
    for (const length of ['30', '0', '1w', '-5m', '1.5h', '366d', '9000h']) {
      const { reason } = await silence('checkout', { for: length })
      expect(reason).toBe(`for: "${length}" is not accepted; accepted: minutes, hours or days such as 30m, 2h or 1d, at most 365d, or 0m`)
    }
    expect((await silence('checkout errors', { for: '365d' })).document.status).toBe('pass')
  })

  it('silences the alerts of a project or with a key, and shows their owners', async () => {
    for (const [name, project, key] of [
      ['Checkout errors', 'shop/infra', 'errors'],
      ['Checkout is slow', 'shop/infra', 'slow'],
      ['Declined payments', 'shop/payments', 'errors'],
    ] as const)
      edit(name, { note: `A note.\n\nwatchkeeper: ${project} ${key} 0123ab` })
    const by = (more: Readonly<Record<string, string>>) => run({ operation: 'silence-alerts', for: '20m', ...more })
    const silenced = () => alerts().flatMap(({ name, scheduleStartAt }) => (scheduleStartAt ? [name] : []))
    const ofProject = await by({ select: 'project=shop/infra' })
    expect(ofProject.document.alerts).toMatchObject([
      { name: 'Checkout errors', project: 'shop/infra', key: 'errors' },
      { name: 'Checkout is slow', project: 'shop/infra', key: 'slow' },
    ])
    expect(ofProject.text).toMatch(/Checkout errors +shop\/infra errors +11 Nov/)
    expect(silenced()).toEqual(['Checkout errors', 'Checkout is slow'])
    expect((await by({ select: 'key=errors\nproject=shop/payments' })).document).toMatchObject({ count: 1 })
    const ended = await run({ operation: 'silence-alerts', for: '0m', select: 'key=errors' }, '2026-11-11T03:22:10Z')
    expect(ended.document).toMatchObject({ count: 2 })
    expect((await by({ select: 'project=shop/infra\nkey=none' })).reason).toBe('None of the alerts that list-alerts shows has key=none')
  })

  it('requires a name, a project or a key', async () => {
    for (const [select, reason] of [
      [undefined, /^select: is missing; accepted: conditions that the operation knows, one per line, such as name~checkout$/],
      ['state=ALERT', /^select: needs a condition on name, key or project, so that it is clear which alerts are meant$/],
    ] as const)
      expect((await run({ operation: 'silence-alerts', for: '20m', ...(select && { select }) })).reason).toMatch(reason)
    expect(methodsOf(emulator())).toEqual([])
  })

  it('reports what it has done when the API fails later, and a second run does the rest', async () => {
    emulator().addFault({ match: { method: 'PUT' }, nth: 2, effect: { kind: 'status', status: 403 } })
    const ran = await silence('checkout')
    expect(ran).toMatchObject({ exitCode: 4, document: { status: 'error', changed: true, count: 1 } })
    const outcomes = (ran.document.alerts as readonly { outcome: string }[]).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['silenced', 'failed', 'skipped'])
    // Time does not cure a missing permission.
    expect(ran.reason).toMatch(/; 1 alert skipped, because an earlier alert failed$/)
    expect((await silence('checkout')).document).toMatchObject({ status: 'pass', count: 3, changed: true })
  })

  it('reports an alert as unknown when the run is canceled before the outcome is known, and a second run does the rest', async () => {
    const cases = [
      ['checkout errors', 1, ['unknown']],
      ['checkout', 2, ['already-silenced', 'silenced', 'unknown']],
    ] as const
    for (const [name, nth, outcomes] of cases) {
      emulator().addFault({ match: { method: 'PUT' }, nth, act: 'after', effect: { kind: 'status', status: 503 } })
      const canceled = new AbortController()
      const note = (line: string): void => (line.includes('503') ? canceled.abort() : undefined)
      const ran = await silence(name, {}, now, { note, stop: canceled.signal })
      expect(ran, name).toMatchObject({ exitCode: 4, document: { status: 'error', count: outcomes.length - 1 } })
      expect(ran.document.alerts).toMatchObject(outcomes.map((outcome) => ({ outcome })))
      expect(ran.reason).toContain('1 alert may have been changed, because the server did not answer; run it again')
      expect(ran.text).toContain('Outcome unknown')
      expect(ran.text).not.toContain('Not silenced')
    }
    expect((await silence('checkout')).document).toMatchObject({ status: 'pass', count: 3, changed: false })
  })

  it('keeps what another user changed after the alerts were listed', async () => {
    editDuring(emulator(), { method: 'GET', path: `/alerts/${alertNamed('Checkout errors')?.id}` }, () =>
      edit('Checkout errors', { threshold: 7, interval: '15m' }),
    )
    expect((await silence('checkout errors')).document).toMatchObject({ status: 'pass', silencedUntil: '2026-11-11T03:45:00.000Z' })
    expect(alertNamed('Checkout errors')).toMatchObject({ threshold: 7, scheduleStartAt: '2026-11-11T03:45:00.000Z' })
  })

  it('has one row for all alerts with one reason, and advises another run where time cures the cause', async () => {
    const first = alertNamed('Checkout errors')
    for (let i = 0; i < 20; i++) alerts().push({ ...structuredClone(first), id: `${i}`.padStart(24, '0'), name: `Checkout ${i}` } as never)
    const effect = { kind: 'status', status: 429, headers: { 'retry-after': '1000000' } } as const
    emulator().addFault({ match: { method: 'PUT' }, nth: 2, times: 20, effect })
    const ran = await silence('checkout')
    expect(ran.reason).toMatch(/; \d+ alerts skipped, because an earlier alert failed; run it again$/)
    expect(ran.text.match(/.*an earlier alert failed; run it again$/gm)?.slice(1)).toEqual([
      expect.stringMatching(/^21 alerts: Checkout 2, .* and 16 more +an earlier/),
    ])
  })

  it('shows the error of the API when it fails at once', async () => {
    emulator().addFault({ match: { method: 'PUT' }, effect: { kind: 'status', status: 403 } })
    expect((await silence('checkout')).document).toMatchObject({ status: 'error', error: { kind: 'permission' } })
  })
})

describe('silence-alerts for 0m', () => {
  it('W16: ends a silence with a start at the latest border, never with null', async () => {
    await silence('checkout', { for: '2h' })
    const ran = await endSilence('checkout', '2026-11-11T03:22:10Z')
    expect(ran.document).toMatchObject({ status: 'pass', changed: true, count: 3 })
    expect(startOf('Checkout errors')).toBe('2026-11-11T03:20:00.000Z')
    expect(startOf('Checkout is slow')).toBe('2026-11-11T03:15:00.000Z')
    expect(ran.text).toMatch(/Checkout errors +– +11 Nov 2026 03:25 UTC/)
    expect(puts().map(({ body }) => (body as { scheduleStartAt: string }).scheduleStartAt)).not.toContain(null)
    expect(ran.text).toContain('Silence of 3 alerts ended')
  })

  it('passes without a change where nothing is silenced', async () => {
    edit('Checkout errors', { scheduleStartAt: '2026-11-10T08:05:00.000Z' })
    const ran = await endSilence('checkout')
    expect(ran.document).toMatchObject({ status: 'pass', changed: false, count: 0 })
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it('the end of a silence is an error when no name matches', async () => {
    expect((await endSilence('chekcout')).document).toMatchObject({ status: 'error', error: { kind: 'not-found' } })
  })
})

describe('a self-hosted server', () => {
  const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', now: () => startMs })
  const given = () => ({
    'api-url': selfHosted().url,
    'api-key': demo.apiKeySecret,
    profile: 'hyperdx',
    select: 'name~checkout errors',
  })
  const invoke = (inputs: Readonly<Record<string, string>>) =>
    invokeText({ inputs: { ...given(), ...inputs }, clock: createVirtualClock(startMs) })

  it('a self-hosted server is silenced in the same way', async () => {
    expect((await invoke({ operation: 'silence-alerts', for: '20m' })).document).toMatchObject({ status: 'pass', changed: true })
    expect(serviceOf(selfHosted()).alerts.find(({ name }) => name === 'Checkout errors')?.scheduleStartAt).toBe('2026-11-11T03:35:00.000Z')
    expect((await invoke({ operation: 'silence-alerts', for: '0m' })).document).toMatchObject({ status: 'pass', count: 1 })
  })
})

describe('a server that is older than the field', () => {
  const older = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', unknownFields: ['scheduleStartAt'], now: () => startMs })

  it('a server that is older than the field is an error, because it drops the start without one', async () => {
    const inputs = { 'api-url': older().url, 'api-key': demo.apiKeySecret, profile: 'hyperdx', select: 'name~checkout errors' }
    const ran = await invokeText({ inputs: { ...inputs, operation: 'silence-alerts', for: '20m' }, clock: createVirtualClock(startMs) })
    expect(ran.document).toMatchObject({ status: 'error' })
    expect(ran.reason).toContain('The service did not store the start of the alert. Its version might not have this field yet.')
  })
})
