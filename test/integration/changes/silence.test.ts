// Alerts that are silenced for a deploy, while files declare them.
import { describe, expect, it } from 'vitest'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { errors, shop } from '../../support/shop-declaration.ts'

const nowMs = Date.parse('2026-11-11T03:12:10Z')
const later = nowMs + 3_600_000

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })

const declared = (fields: object = {}) => ({ dashboards: { shop }, alerts: { errors: { ...errors, ...fields } } })

async function run(inputs: Readonly<Record<string, string>>, content?: object, atMs = nowMs) {
  const ran = await invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), ...inputs },
    clock: createVirtualClock(atMs),
    ...(content && { files: { 'a.json': JSON.stringify(content) } }),
  })
  return { ...ran, text: renderTerminal(ran.blocks, { color: false }).join('\n') }
}

function sync(operation: string, content: object, atMs = nowMs) {
  if (atMs > nowMs) emulator().runAlertTask(atMs)
  return run({ operation, project: 'shop/silence', files: 'a.json' }, content, atMs)
}

const haveApplied = useApplied(emulator, () => sync('apply', declared()))

/** Applies the files and silences the alert until 03:35. */
async function applyAndSilence(content?: object): Promise<void> {
  await (content === undefined ? haveApplied() : sync('apply', content))
  await run({ operation: 'silence-alerts', select: 'name~Errors', for: '20m' })
}

const end = '2026-11-11T03:35:00.000Z'

const alert = () => serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')

const startOf = () => alert()?.scheduleStartAt

const lastPut = () => emulator().requests.findLast(({ method, path }) => method === 'PUT' && path.includes('/alerts/'))?.body

describe('a silenced alert that no file declares the start of', () => {
  it('a silenced alert that no file declares the start of is not a change for plan, drift and apply, which show until when it is silenced', async () => {
    await applyAndSilence()
    for (const operation of ['plan', 'drift', 'apply']) {
      const ran = await sync(operation, declared())
      expect(ran.document, operation).toMatchObject({ status: 'pass', changed: false, toUpdate: 0 })
      expect(ran.document.diagnostics, operation).toContainEqual(
        expect.objectContaining({ rule: 'silenced', severity: 'note', message: 'alerts.errors: silenced until 11 Nov 2026 03:35 UTC' }),
      )
      expect(ran.text, operation).toContain('alerts.errors: silenced until 11 Nov 2026 03:35 UTC')
      expect(startOf(), operation).toBe(end)
    }
  })

  it('W16: keeps an alert silenced when apply changes other fields', async () => {
    await applyAndSilence()
    const ran = await sync('apply', declared({ threshold: 9 }))
    expect(ran.document).toMatchObject({ status: 'pass', changed: true, diagnostics: [{ rule: 'silenced' }] })
    expect(lastPut()).toMatchObject({ threshold: 9 })
    expect(lastPut()).not.toHaveProperty('scheduleStartAt')
    expect(startOf()).toBe(end)
  })

  it('a silenced alert that no file declares the start of is as declared after the silence, and stays so', async () => {
    await applyAndSilence()
    for (const operation of ['plan', 'drift', 'apply'])
      expect((await sync(operation, declared(), later)).document).toMatchObject({ status: 'pass', changed: false, diagnostics: [] })
    await sync('apply', declared({ threshold: 9 }), later)
    expect(startOf()).toBe(end)
    expect((await sync('drift', declared({ threshold: 9 }), later)).document).toMatchObject({ status: 'pass', changed: false })
  })

  it('a silenced alert that no file declares the start of can be silenced between plan and apply', async () => {
    await haveApplied()
    const content = declared({ threshold: 9 })
    const planned = await run({ operation: 'plan', project: 'shop/silence', files: 'a.json', 'plan-file': 'plan.json' }, content)
    await run({ operation: 'silence-alerts', select: 'name~Errors', for: '20m' })
    const ran = await invokeText({
      inputs: {
        ...inputsFor(emulator(), 'clickhouse-cloud'),
        operation: 'apply',
        project: 'shop/silence',
        files: 'a.json',
        'plan-file': 'plan.json',
      },
      clock: createVirtualClock(nowMs),
      files: { 'a.json': JSON.stringify(content), 'plan.json': planned.files[0]?.content ?? '' },
    })
    expect(ran.document).toMatchObject({ status: 'pass', changed: true })
    expect(alert()).toMatchObject({ threshold: 9, scheduleStartAt: end })
  })

  it('a silenced alert that no file declares the start of is silenced until a border of its new interval when the files change it', async () => {
    await applyAndSilence()
    await sync('apply', declared({ interval: '1h' }))
    expect(alert()).toMatchObject({ interval: '1h', scheduleStartAt: '2026-11-11T04:00:00.000Z' })
    expect((await sync('drift', declared({ interval: '1h' }))).document).toMatchObject({ status: 'pass', changed: false })
  })

  it('a silenced alert that no file declares the start of is pulled without the start', async () => {
    await applyAndSilence()
    await run({ operation: 'silence-alerts', select: 'name~checkout errors', for: '20m' })
    for (const atMs of [nowMs, later]) {
      const pulled = await sync('pull', declared(), atMs)
      const text = pulled.files.map(({ content }) => content).join()
      expect(text).toContain('Checkout errors')
      expect(text).not.toContain('scheduleStartAt')
      expect(pulled.document.objects).toContainEqual(expect.objectContaining({ key: 'errors', outcome: 'unchanged' }))
    }
  })
})

describe('apply', () => {
  it('W16: never sends a start of null where no file declares a start', async () => {
    await haveApplied()
    Object.assign(alert() ?? {}, { scheduleStartAt: null })
    await sync('apply', declared({ threshold: 9 }))
    expect(lastPut()).not.toHaveProperty('scheduleStartAt')
  })

  it('apply moves a start that shifts the windows to a border, where no file declares it any more', async () => {
    const start = '2026-11-11T03:01:00.000Z'
    await sync('apply', declared({ scheduleStartAt: start }))
    expect(startOf()).toBe(start)
    expect((await sync('drift', declared())).document).toMatchObject({ status: 'fail', toUpdate: 1 })
    await sync('apply', declared())
    expect(startOf()).toBe('2026-11-11T03:00:00.000Z')
    expect((await sync('drift', declared())).document).toMatchObject({ status: 'pass', changed: false })
  })

  it('clears a start for an offset that a file declares, because a start disables it', async () => {
    await sync('apply', declared({ scheduleStartAt: '2026-11-11T02:00:00Z' }))
    await sync('apply', declared({ scheduleOffsetMinutes: 2 }))
    expect(alert()).toMatchObject({ scheduleStartAt: null, scheduleOffsetMinutes: 2 })
    // Files with an offset have a warning.
    expect((await sync('drift', declared({ scheduleOffsetMinutes: 2 }))).document).toMatchObject({ status: 'warn', changed: false })
  })

  it('sets the start that a file declares, also during a silence', async () => {
    const content = declared({ scheduleStartAt: '2026-01-01T00:00:00Z' })
    await applyAndSilence(content)
    const planned = await sync('plan', content)
    expect(planned.document).toMatchObject({ changed: true, toUpdate: 1, diagnostics: [] })
    await sync('apply', content)
    expect(startOf()).toBe('2026-01-01T00:00:00.000Z')
  })

  it('leaves what a past silence set, where a file declares another start in the past', async () => {
    const content = declared({ scheduleStartAt: '2026-01-01T00:00:00Z' })
    await applyAndSilence(content)
    expect((await sync('drift', content, later)).document).toMatchObject({ status: 'pass', changed: false })
  })
})

it('update-alert keeps a silence, moves its end with the interval, and clears the start when a document says so', async () => {
  await applyAndSilence()
  const update = (text: string) => run({ operation: 'update-alert', id: alert()?.id ?? '', alert: text })
  await update('{ threshold: 8 }')
  expect(lastPut()).not.toHaveProperty('scheduleStartAt')
  expect(alert()).toMatchObject({ threshold: 8, scheduleStartAt: end })
  await update('{ interval: 1h }')
  expect(startOf()).toBe('2026-11-11T04:00:00.000Z')
  expect((await update('scheduleStartAt: null')).document).toMatchObject({ status: 'pass', changed: true })
  expect(startOf()).toBeNull()
})

it('update-alert keeps a start between two borders', async () => {
  const start = '2026-11-11T03:01:00.000Z'
  await sync('apply', declared({ scheduleStartAt: start }))
  await run({ operation: 'update-alert', id: alert()?.id ?? '', alert: '{ threshold: 8 }' })
  expect(alert()).toMatchObject({ threshold: 8, scheduleStartAt: start })
})

it('an alert that must be created again stays silenced, and then is as declared', async () => {
  const tiles = (names: readonly string[]) => ({ ...shop, tiles: shop.tiles.filter(({ name }) => names.includes(name)) })
  await sync('apply', { dashboards: { shop }, alerts: { errors: { ...errors, tile: 'B' } } })
  await run({ operation: 'silence-alerts', select: 'name~Errors', for: '20m' })
  const content = { dashboards: { shop: tiles(['A']) }, alerts: { errors: { ...errors, interval: '1h' } } }
  expect((await sync('apply', content)).document).toMatchObject({ status: 'pass', toReplace: 1 })
  expect(startOf()).toBe('2026-11-11T04:00:00.000Z')
  for (const atMs of [nowMs, later]) expect((await sync('drift', content, atMs)).document).toMatchObject({ status: 'pass', changed: false })
})
