// Alerts of a newer server, with a source or a mode that this version does not know.
import { describe, expect, it } from 'vitest'
import type { Alert } from '../../../src/emulator/index.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { actions, errorRules, errors, shop } from '../../support/shop-declaration.ts'
import { withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'hyperdx' })

const run = (operation: string, more: Readonly<Record<string, string>> = {}) =>
  invokeText({ inputs: { operation, ...inputsFor(emulator(), 'hyperdx'), ...more } })

const forms = [
  ['source', { source: 'inline', chartConfig: { sql: 'SELECT 1' } }, 'the source inline'],
  ['detection mode', { detectionMode: 'anomaly' }, 'the detectionMode anomaly'],
  ['anomaly configuration', { anomalyConfig: { sensitivity: 2 } }, 'an anomalyConfig'],
] as const

/** The alert of the declared file, as a newer server stores it. */
function change(fields: object): Alert {
  const alert = serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')
  if (alert === undefined) throw new Error('apply has not created it')
  return Object.assign(alert, { newer: fields })
}

const files = { 'a.json': { dashboards: { shop }, alerts: { errors } } }

const site = <T>(use: Parameters<typeof withSite<T>>[2]): Promise<T> => withSite(emulator(), 'hyperdx', use)

describe.each(forms)('an alert with an unknown %s', (_, fields, words) => {
  it('an alert of an unknown form is not created a second time, and a warning of plan and apply names it', () =>
    site(async (one) => {
      await one.apply(files)
      const { id } = change(fields)
      const count = serviceOf(emulator()).alerts.length
      const planned = await one.plan(files, { prune: true })
      expect([actions(planned), errorRules(planned)]).toEqual([{ shop: 'unchanged', errors: 'held' }, []])
      expect(JSON.stringify(planned.diagnostics)).toContain(
        `\\"Errors\\" (${id}) has a form that this version does not know: files have no field but raw for ${words}, and a write could lose it`,
      )
      const before = structuredClone(serviceOf(emulator()))
      expect(await one.apply(files, { prune: true })).toMatchObject({ changed: false, isPlanWrong: false })
      expect(serviceOf(emulator())).toEqual(before)
      expect(serviceOf(emulator()).alerts).toHaveLength(count)
    }))

  it('an alert of an unknown form is shown, and refused by name by every operation that writes it', () =>
    site(async (one) => {
      await one.apply(files)
      const alert = change(fields)
      const { id } = alert
      expect((await run('get-alert', { id })).document).toMatchObject({ status: 'pass', alert: { id, ...fields } })
      expect(JSON.stringify((await run('list-alerts')).document)).toContain(id)
      const before = structuredClone(alert)
      for (const [operation, more, reason] of [
        [
          'update-alert',
          { alert: '{ threshold: 99 }' },
          `was not written, because it has ${words}, which this version does not know. Change it in the web app`,
        ],
        ['delete-alert', {}, `was not deleted, because it has ${words}, which this version does not know. Delete it in the web app`],
      ] as const) {
        const { document } = await run(operation, { id, ...more })
        expect([operation, document]).toMatchObject([
          operation,
          { status: 'error', failureReason: expect.stringContaining(`The alert "Errors" (${id}) ${reason}`) },
        ])
      }
      for (const length of ['30m', '0m']) {
        const { document } = await run('silence-alerts', { select: 'name~Errors', for: length })
        expect([length, document.status, document.failureReason]).toEqual([
          length,
          'fail',
          expect.stringContaining('1 alert refused: Errors'),
        ])
        expect(JSON.stringify(document.alerts)).toContain(words)
      }
      expect(serviceOf(emulator()).alerts.find((one) => one.id === id)).toEqual(before)
    }))
})

it.each([{ detectionMode: 'threshold' }, { detectionMode: null, anomalyConfig: null }, { displayName: 'x', tags: ['a'] }])(
  'writes an alert with %o, and keeps the fields',
  (fields) =>
    site(async (one) => {
      await one.apply(files)
      const { id } = change(fields)
      const applied = await one.apply({ 'a.json': { dashboards: { shop }, alerts: { errors: { ...errors, threshold: 77 } } } })
      expect(errorRules(applied)).toEqual([])
      expect((await run('update-alert', { id, alert: '{ threshold: 78 }' })).document).toMatchObject({ status: 'pass', changed: true })
      expect(serviceOf(emulator()).alerts.find((alert) => alert.id === id)).toMatchObject({ threshold: 78, newer: fields })
    }),
)

it('an alert in anomaly mode is listed as what it is, and its threshold is not', () =>
  site(async (one) => {
    await one.apply(files)
    for (const fields of [{ detectionMode: 'anomaly' }, { anomalyConfig: { sensitivity: 2 } }]) {
      const { id } = change(fields)
      for (const ran of [await run('list-alerts', { select: 'name~Errors' }), await run('get-alert', { id })]) {
        const shown = JSON.stringify(ran.blocks)
        expect([shown.includes('anomaly on 5m'), shown.includes('≥ 1 over')]).toEqual([true, false])
      }
    }
  }))

it('a file that states the mode in raw declares the alert, and a change of it by a person is a difference', () =>
  site(async (one) => {
    await one.apply(files)
    const raw = { detectionMode: 'anomaly', anomalyConfig: { sensitivity: 2 } }
    const declared = { 'a.json': { dashboards: { shop }, alerts: { errors: { ...errors, raw } } } }
    const { id } = change(raw)
    expect(actions(await one.plan(declared))).toMatchObject({ errors: expect.not.stringMatching('held|create') })
    await one.apply(declared)
    expect(actions(await one.plan(declared))).toEqual({ shop: 'unchanged', errors: 'unchanged' })
    change({ ...raw, detectionMode: 'other' })
    const planned = await one.plan(declared)
    expect(JSON.stringify(planned.objects.find((object) => object.id === id)?.fields)).toContain('detectionMode')
  }))
