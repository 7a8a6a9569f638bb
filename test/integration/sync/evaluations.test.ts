// An alert that is stored as declared and whose evaluations fail never fires: plan, drift, apply and doctor say so.
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../src/core/diagnostics.ts'
import { renderTerminal } from '../../../src/report/terminal.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { errors, shop } from '../../support/shop-declaration.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const neutral = useEmulator()

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
  it.each(['plan', 'drift'])('a managed alert whose last evaluation failed is a warning of %s', async (operation) => {
    await run('apply')
    evaluate('Slow')
    const ran = await run(operation)
    expect(ran.found).toEqual([`warning failed-evaluation: alerts.slow: ${words}`])
    expect([ran.exitCode, ran.document.status, ran.document.changed]).toEqual([0, 'warn', false])
    expect(ran.annotations).toMatchObject([{ location: { file: 'a.json' } }])
  })

  it.each(['plan', 'drift'])('fails %s where the input says so, and is no error in the files', async (operation) => {
    await run('apply')
    evaluate('Slow')
    const ran = await run(operation, content, { 'on-failed-evaluation': 'fail', 'plan-file': 'x.plan.json' })
    expect(ran.found).toEqual([`error failed-evaluation: alerts.slow: ${words}`])
    expect([ran.exitCode, ran.document.status]).toEqual([10, 'fail'])
    expect(ran.reason).toMatch(/^No (?:changes|drift): the service matches the files: the last evaluation of 1 alert failed$/)
    expect(ran.document.planFile).toBe('x.plan.json')
  })

  it('a managed alert whose last evaluation failed is left out where the input says so', async () => {
    await run('apply')
    evaluate('Slow')
    for (const operation of ['plan', 'drift'])
      expect(await run(operation, content, { 'on-failed-evaluation': 'ignore' })).toMatchObject({ exitCode: 0, found: [] })
  })

  it('a managed alert whose last evaluation failed is reported beside a drift', async () => {
    await run('apply')
    evaluate('Slow')
    stored('Errors').threshold = 9
    const ran = await run('drift', content, { 'on-failed-evaluation': 'fail' })
    expect([ran.exitCode, ran.reason]).toEqual([10, 'shop/evaluations has drifted: 1 to update; the last evaluation of 1 alert failed'])
  })

  it('a managed alert whose last evaluation failed is reported where no file declares it any more, and not where another project owns it', async () => {
    await run('apply')
    await run(
      'apply',
      { dashboards: { other: { ...shop, name: 'Other' } }, alerts: { foreign: { ...errors, name: 'Foreign', dashboard: 'other' } } },
      { project: 'shop/other' },
    )
    evaluate('Slow', 'Foreign', 'High latency')
    const ran = await run('drift', { dashboards: { shop }, alerts: { errors } })
    expect(ran.found).toEqual([`warning failed-evaluation: alert "Slow" (${stored('Slow').id}): ${words}`])
  })

  it('a managed alert whose last evaluation failed does not keep apply from writing, which may repair it', async () => {
    await run('apply')
    evaluate('Slow', 'Errors')
    const ran = await run('apply', { ...content, alerts: { ...alerts, slow: { ...alerts.slow, threshold: 7 } } })
    expect([ran.exitCode, ran.document.status, stored('Slow').threshold]).toEqual([0, 'warn', 7])
    expect(ran.found).toEqual([`warning failed-evaluation: alerts.errors: ${words}`])
    expect(ran.notEvaluated.map(({ key }) => key)).toEqual(['slow'])
  })

  it('a managed alert whose last evaluation failed is a warning of an apply that changes nothing', async () => {
    await run('apply')
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

  it('an alert without an evaluation is not named when it was evaluated before the end of the run', async () => {
    await run('apply', { dashboards: { shop } })
    emulator().addFault({ match: { method: 'POST', path: '/alerts' }, nth: 2, act: 'after', effect: { kind: 'delay', ms: 50 } })
    const running = run('apply')
    for (let i = 0; i < 200 && serviceOf(emulator()).alerts.every(({ name }) => name !== 'Slow'); i++)
      await new Promise((done) => setTimeout(done, 1))
    evaluate('Slow')
    expect(await running).toMatchObject({ found: [`warning failed-evaluation: alerts.slow: ${words}`], notEvaluated: [] })
  })

  it('an alert without an evaluation is not named in a product whose contract shows no evaluations', async () => {
    const channel = { type: 'webhook', webhookId: serviceOf(neutral()).webhooks[0]?.id }
    const { note: _, ...fields } = errors
    const ran = await invokeText({
      inputs: { ...inputsFor(neutral()), operation: 'apply', project: 'shop/evaluations', files: 'a.json' },
      files: { 'a.json': JSON.stringify({ dashboards: { shop }, alerts: { errors: { ...fields, channel } } }) },
    })
    expect(ran.document).toMatchObject({ status: 'pass', toCreate: 2, notEvaluated: [], diagnostics: [] })
  })
})

describe('doctor', () => {
  const alertCheck = ({ document }: Awaited<ReturnType<typeof run>>) =>
    (document.checks as readonly { readonly name: string }[]).find(({ name }) => name === 'alerts')

  it('doctor reports nothing about alerts that do not fail, and about those that no project manages', async () => {
    await run('apply')
    evaluate('High latency')
    const ran = await run('doctor')
    expect(alertCheck(ran)).toMatchObject({ outcome: 'ok', detail: `${serviceOf(emulator()).alerts.length} found` })
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'pass'])
  })

  it('agrees with plan and drift about an alert that fails', async () => {
    await run('apply')
    evaluate('Slow')
    const warned = await run('doctor')
    expect([warned.exitCode, warned.document.status, warned.document.healthy]).toEqual([0, 'warn', true])
    expect(warned.reason).toContain('alerts: the last evaluation of 1 of 2 managed alerts failed')
    expect(alertCheck(warned)).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining(
        ` found, and the last evaluation of 1 of 2 managed alerts failed:\n"Slow" (${stored('Slow').id}): ${words.replace('its last evaluation failed with ', '')}`,
      ),
    })
    const failed = await run('doctor', content, { 'on-failed-evaluation': 'fail' })
    expect([failed.exitCode, failed.document.status, failed.document.healthy]).toEqual([10, 'fail', false])
    expect(failed.reason).toBe('1 of 9 checks failed: alerts.')
    const ignored = await run('doctor', content, { 'on-failed-evaluation': 'ignore' })
    expect([ignored.exitCode, ignored.document.status]).toEqual([0, 'pass'])
  })
})
