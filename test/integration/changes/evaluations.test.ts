// An alert that is stored as declared and whose evaluations fail never fires: plan, drift, apply and doctor say so.

import { describe, expect, it } from 'vitest'
import { formatMoment } from '../../../src/platform/core/dates.ts'
import type { Diagnostic } from '../../../src/platform/core/diagnostics.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { errors, shop } from '../../support/shop-declaration.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const alerts = { errors, slow: { ...errors, name: 'Slow', tile: 'B' } }
const content = { dashboards: { shop }, alerts }

async function run(operation: string, declared: object = content, inputs: Readonly<Record<string, string>> = {}) {
  const isDoctor = operation === 'doctor'
  const ran = await invokeText({
    inputs: {
      ...inputsFor(emulator(), 'clickhouse-cloud'),
      operation,
      ...(!isDoctor && { project: 'shop/evaluations', files: 'a.json' }),
      ...inputs,
    },
    files: { 'a.json': JSON.stringify(declared) },
  })
  const diagnostics = (ran.document.diagnostics ?? []) as readonly Diagnostic[]
  const notEvaluated = (ran.document.notEvaluated ?? []) as readonly { readonly key: string; readonly dueAt: string }[]
  return {
    ...ran,
    notEvaluated,
    text: renderTerminal(ran.blocks, { color: false }).join('\n'),
    found: diagnostics.map(({ rule, severity, message }) => `${severity} ${rule}: ${message}`),
  }
}

const haveApplied = useApplied(emulator, () => run('apply'))

const stored = (name: string) => {
  const found = serviceOf(emulator()).alerts.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} was not applied`)
  return found
}

const failure = { timestamp: '2026-11-22T19:56:52.291Z', type: 'QUERY_ERROR', message: 'Unknown identifier Nope' }

const words = 'its last evaluation failed with QUERY_ERROR at 22 Nov 2026 19:56 UTC: Unknown identifier Nope'

/** As the alert task of the server does. */
function evaluate(...failing: readonly string[]): void {
  for (const alert of serviceOf(emulator()).alerts) alert.executionErrors = failing.includes(alert.name ?? '') ? [failure] : []
}

describe('a managed alert whose last evaluation failed', () => {
  it('a managed alert whose last evaluation failed is a warning of plan', async () => {
    await haveApplied()
    evaluate('Slow')
    const ran = await run('plan')
    expect(ran.found).toEqual([`warning failed-evaluation: alerts.slow: ${words}`])
    expect([ran.exitCode, ran.document.status, ran.document.changed]).toEqual([0, 'warn', false])
    expect(ran.annotations).toMatchObject([{ location: { file: 'a.json' } }])
    expect((await run('drift', content, { 'on-failed-evaluation': 'warn' })).document.status).toBe('warn')
  })

  it('fails drift, and plan with on-failed-evaluation: fail, is no error in the files, and is left out where the input says so', async () => {
    await haveApplied()
    evaluate('Slow')
    for (const [operation, inputs] of [
      ['drift', {}],
      ['plan', { 'on-failed-evaluation': 'fail' }],
    ] as const) {
      const ran = await run(operation, content, { ...inputs, 'plan-file': 'x.plan.json' })
      expect(ran.found, operation).toEqual([`error failed-evaluation: alerts.slow: ${words}`])
      expect([ran.exitCode, ran.document.status], operation).toEqual([10, 'fail'])
      expect(ran.reason).toMatch(
        /^No (?:changes|drift) for shop\/evaluations: everything matches the files: the last evaluation of 1 alert failed$/,
      )
      expect(ran.document.planFile, operation).toBe('x.plan.json')
      expect(await run(operation, content, { 'on-failed-evaluation': 'ignore' })).toMatchObject({ exitCode: 0, found: [] })
    }
  })

  it('a managed alert whose last evaluation failed is reported beside a drift', async () => {
    await haveApplied()
    evaluate('Slow')
    stored('Errors').threshold = 9
    const ran = await run('drift', content, { 'on-failed-evaluation': 'fail' })
    expect([ran.exitCode, ran.reason]).toEqual([10, 'shop/evaluations has drifted: 1 to update; the last evaluation of 1 alert failed'])
  })

  it('a managed alert whose last evaluation failed is reported where no file declares it any more, and not where another project owns it', async () => {
    await haveApplied()
    await run(
      'apply',
      { dashboards: { other: { ...shop, name: 'Other' } }, alerts: { foreign: { ...errors, name: 'Foreign', dashboard: 'other' } } },
      { project: 'shop/other' },
    )
    evaluate('Slow', 'Foreign', 'High latency')
    const ran = await run('drift', { dashboards: { shop }, alerts: { errors } })
    expect(ran.found).toEqual([`error failed-evaluation: alert "Slow" (${stored('Slow').id}): ${words}`])
  })

  it('a managed alert whose last evaluation failed does not keep apply from writing, which may repair it', async () => {
    await haveApplied()
    evaluate('Slow', 'Errors')
    const ran = await run('apply', { ...content, alerts: { ...alerts, slow: { ...alerts.slow, threshold: 7 } } })
    expect([ran.exitCode, ran.document.status, stored('Slow').threshold]).toEqual([0, 'warn', 7])
    expect(ran.found).toEqual([`warning failed-evaluation: alerts.errors: ${words}`])
    expect(ran.notEvaluated.map(({ key }) => key)).toEqual(['slow'])
  })

  it('a managed alert whose last evaluation failed is a warning of an apply that changes nothing', async () => {
    await haveApplied()
    evaluate('Slow')
    const ran = await run('apply')
    expect([ran.exitCode, ran.document.status, ran.document.changed]).toEqual([0, 'warn', false])
    expect(ran.found).toEqual([`warning failed-evaluation: alerts.slow: ${words}`])
  })
})

describe('an alert that the server has not evaluated yet', () => {
  it('an alert without an evaluation is named by the apply that created it, with the time of the evaluation', async () => {
    const startMs = Date.now()
    const ran = await run('apply')
    expect(ran.found).toEqual([])
    expect(ran.notEvaluated.map(({ key }) => key)).toEqual(['errors', 'slow'])
    // The clock of the run jumps over its waits of a second.
    const latestMs = Date.now() + 6 * 60_000 + 10_000
    const dueMs = ran.notEvaluated.map(({ dueAt }) => Date.parse(dueAt))
    expect(dueMs.every((ms) => ms > startMs && ms <= latestMs)).toBe(true)
    expect(ran.text).toMatch(
      /^Not evaluated since this run: 2 alerts \(errors, slow\)\. plan, drift and doctor show errors of the next evaluation, by \d+ \w+ \d{4} \d\d:\d\d UTC$/m,
    )
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'pass'])
    expect((await run('plan')).found).toEqual([])
  })

  it('an alert without an evaluation since its update is named, whether the last one failed or not', async () => {
    await haveApplied()
    evaluate('Errors')
    const declared = { dashboards: { shop }, alerts: { errors: { ...errors, threshold: 7 }, slow: { ...alerts.slow, threshold: 7 } } }
    const ran = await run('apply', declared)
    expect(ran.notEvaluated.map(({ key }) => key)).toEqual(['errors', 'slow'])
    expect(ran.found).toEqual([])
  })

  it('an alert without an evaluation is not named when it was evaluated before the end of the run', async () => {
    await run('apply', { dashboards: { shop } })
    emulator().addFault({ match: { method: 'POST', path: '/alerts' }, nth: 2, act: 'after', effect: { kind: 'delay', ms: 50 } })
    const running = run('apply')
    for (let i = 0; i < 200 && serviceOf(emulator()).alerts.every(({ name }) => name !== 'Slow'); i++)
      await new Promise((done) => setTimeout(done, 1))
    evaluate('Slow')
    expect(await running).toMatchObject({ found: [`warning failed-evaluation: alerts.slow: ${words}`], notEvaluated: [] })
  })
})

const alertCheck = ({ document }: Awaited<ReturnType<typeof run>>) =>
  (document.checks as readonly { readonly name: string }[]).find(({ name }) => name === 'alerts')

describe('an alert that the server evaluates no more', () => {
  /** As after an evaluation at that time, and none since. The alerts have an interval of five minutes. */
  function stopAfter(minutesAgo: number, ...names: readonly string[]): string {
    const at = new Date(Date.now() - minutesAgo * 60_000)
    for (const name of names) Object.assign(stored(name), { updatedAt: at.toISOString(), executionErrors: [] })
    return formatMoment(at.getTime())
  }

  it('an alert that the server evaluates no more is a warning of plan, drift, apply and doctor', async () => {
    await haveApplied()
    evaluate()
    const since = stopAfter(21, 'Slow')
    const message = `the server has not evaluated it since ${since}, with an interval of 5m`
    for (const operation of ['plan', 'drift', 'apply']) {
      const ran = await run(operation)
      expect(ran.found, operation).toEqual([`warning overdue-evaluation: alerts.slow: ${message}`])
      expect([ran.exitCode, ran.document.status], operation).toEqual([0, 'warn'])
    }
    const ran = await run('doctor')
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    expect(alertCheck(ran)).toMatchObject({
      outcome: 'warning',
      advice: 'the evaluation of 1 of 2 managed alerts is overdue',
      detail: expect.stringMatching(new RegExp(`overdue:\n"Slow" \\(\\w+\\): ${message}$`)),
    })
  })

  it('an alert that the server evaluates no more is not reported before two intervals and ten minutes, when it is silenced or disabled, or where the input ignores it', async () => {
    await haveApplied()
    evaluate()
    for (const [minutesAgo, changes, inputs] of [
      [19, {}, {}],
      [60, { scheduleStartAt: new Date(Date.now() + 3_600_000).toISOString() }, {}],
      [60, { scheduleStartAt: new Date(Date.now() - 19 * 60_000).toISOString() }, {}],
      [60, { state: 'DISABLED' }, {}],
      [60, {}, { 'on-failed-evaluation': 'ignore' }],
    ] as const) {
      stopAfter(minutesAgo, 'Slow')
      const before = { ...stored('Slow') }
      Object.assign(stored('Slow'), changes)
      const { found } = await run('plan', content, inputs)
      expect(
        found.filter((one) => one.includes('overdue')),
        JSON.stringify([minutesAgo, changes, inputs]),
      ).toEqual([])
      expect(alertCheck(await run('doctor', content, inputs)), JSON.stringify(changes)).toMatchObject({ outcome: 'ok' })
      Object.assign(stored('Slow'), { scheduleStartAt: undefined }, before)
    }
  })

  it('one warning says that the alert task of the server does not run, when all alerts are overdue, never evaluated ones included', async () => {
    await haveApplied()
    const names = serviceOf(emulator()).alerts.flatMap(({ name, state }) => (state === 'DISABLED' || name == null ? [] : [name]))
    stopAfter(60 * 24 * 30, ...names)
    const since = stopAfter(25, 'Errors', 'Slow')
    Object.assign(stored('Slow'), { executionErrors: undefined })
    const message = `the server has evaluated no alert since ${since} (${names.length} alerts overdue), so none sends a notification: its alert task does not run`
    for (const operation of ['plan', 'drift']) expect((await run(operation)).found).toEqual([`warning overdue-evaluation: ${message}`])
    const ran = await run('doctor')
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    expect(ran.reason).toContain(`alerts: ${message}`)
  })
})

describe('doctor', () => {
  it('doctor reports nothing about alerts that do not fail, and about those that no project manages', async () => {
    await haveApplied()
    evaluate('High latency')
    const ran = await run('doctor')
    expect(alertCheck(ran)).toMatchObject({ outcome: 'ok', detail: `${serviceOf(emulator()).alerts.length} found` })
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'pass'])
  })

  it('agrees with drift about an alert that fails', async () => {
    await haveApplied()
    evaluate('Slow')
    const warned = await run('doctor', content, { 'on-failed-evaluation': 'warn' })
    expect([warned.exitCode, warned.document.status, warned.document.healthy]).toEqual([0, 'warn', true])
    expect(warned.reason).toContain('alerts: the last evaluation of 1 of 2 managed alerts failed')
    expect(alertCheck(warned)).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining(
        ` found, and the last evaluation of 1 of 2 managed alerts failed:\n"Slow" (${stored('Slow').id}): ${words.replace('its last evaluation failed with ', '')}`,
      ),
    })
    const all = serviceOf(emulator()).alerts
    all.push(...Array.from({ length: 10 }, (_, i) => ({ ...stored('Slow'), id: `65f5e4a35eedc0de000000f${i}` })))
    const failed = await run('doctor')
    expect(alertCheck(failed)).toMatchObject({ detail: expect.stringMatching(/failed:(?:\n"Slow" .*){10}\n… and 1 more$/) })
    expect([failed.exitCode, failed.document.status, failed.document.healthy]).toEqual([10, 'fail', false])
    expect(failed.reason).toBe('1 of 9 checks failed: alerts.')
    const ignored = await run('doctor', content, { 'on-failed-evaluation': 'ignore' })
    expect([ignored.exitCode, ignored.document.status]).toEqual([0, 'pass'])
  })
})
