import { expect, it } from 'vitest'
import { checkIncident, countOutcomes, explainUntestable, incidentTable, judgeIncidents } from '../../../src/changes/backtest/incidents.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { readDocument } from '../../../src/platform/documents/document.ts'
import { type Incident, readIncidents } from '../../../src/sync/declarations/incidents.ts'
import { tablesIn } from '../../support/report-texts.ts'

const incident: Incident = {
  key: 'outage',
  name: 'Outage',
  location: { file: 'a.yml' },
  startMs: 1000,
  endMs: 2000,
  alerts: ['errors'],
  withinMs: 1000,
}

const windowAt = (startMs: number, notifications = 1) => ({ startMs, values: [9], isBreaching: true, notifications, resolved: 0 })

const check = (one: Incident, ...startsMs: readonly number[]) =>
  checkIncident(one, [one], () => ({ windows: startsMs.map((ms) => windowAt(ms)), lengthMs: 1000 }))

it('counts the notifications of every group outside of an incident, not the windows', () => {
  const { alerts } = checkIncident(incident, [incident], () => ({ windows: [windowAt(5000, 2)], lengthMs: 1000 }))
  expect(alerts).toEqual([{ alert: 'errors', outcome: 'missed', outside: 2, outsideAt: ['1970-01-01T00:00:06.000Z'] }])
})

it('a notification at the end of the time that an incident allows is in time, and one after it is late', () => {
  expect(check(incident, 1000).alerts).toMatchObject([{ outcome: 'detected' }])
  expect(check({ ...incident, withinMs: 999 }, 1000).alerts).toMatchObject([{ outcome: 'late' }])
})

it('an incident accepts as many notifications outside of it as it allows', () => {
  const reasons = (maxNotifications: number) =>
    judgeIncidents([check({ ...incident, maxNotifications }, 1000, 5000, 7000)]).map(toPlainText)
  expect(reasons(2)).toEqual([])
  expect(reasons(1)).toEqual(['incident outage: alert errors sends 2 notifications outside of its incidents, above 1'])
})

it('lists the ten notifications that are nearest to an incident, before and after it, and counts all', () => {
  const late = { ...incident, startMs: 21_000, endMs: 22_000 }
  const [one, none] = [check(late, ...Array.from({ length: 40 }, (_, i) => i * 1000)).alerts[0], check(late, 21_000).alerts[0]]
  expect(one).toMatchObject({ outcome: 'detected', outside: 39 })
  const seconds = one?.outsideAt?.map((at) => Date.parse(at) / 1000)
  expect(seconds).toEqual([21, 20, 23, 19, 24, 18, 25, 17, 26, 16])
  expect(none).toEqual({ alert: 'errors', outcome: 'detected', afterMinutes: 1 / 60, outside: 0 })
})

it('a window shows an incident that it overlaps, and a notification in any incident of its alert is not outside', () => {
  const later = { ...incident, key: 'later', startMs: 5000, endMs: 6000 }
  const of = (alerts: readonly string[]) =>
    checkIncident(incident, [incident, { ...later, alerts }], () => ({
      windows: [0, 1500, 2000, 5000].map((ms) => windowAt(ms)),
      lengthMs: 1000,
    }))
  // The first one ends where the incident starts, and the third one starts where it ends.
  expect(of(['errors']).alerts).toMatchObject([{ outcome: 'late', afterMinutes: 1.5 / 60, outside: 2 }])
  expect(of(['others']).alerts).toMatchObject([{ outside: 3 }])
})

it('an incident that is older than the data is no failure, and a note names ten of its alerts', () => {
  const alerts = Array.from({ length: 11 }, (_, i) => `a${i}`)
  const checked = checkIncident({ ...incident, alerts }, [], () => ({ reason: 'it is older than the data', isTooOld: true }))
  expect(judgeIncidents([checked])).toEqual([])
  expect(explainUntestable(incident, checked.alerts).map(({ message }) => message)).toEqual([
    expect.stringContaining('not testable any more with a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 and 1 more, because'),
  ])
  expect(countOutcomes([checked, check(incident)])).toEqual({ incidentCount: 2, detected: 0, late: 0, missed: 1, untestable: 11 })
})

it('the table has the result for each alert, with its notifications outside of the incident', () => {
  const report = incidentTable([check(incident, 1000, 5000), check({ ...incident, key: 'other' })])
  expect(tablesIn([report])).toEqual([
    ['Incident', 'Start', 'Alert', 'Result', 'Notifications outside'],
    ['outage', '1 Jan 1970 00:00 UTC', 'errors', 'detected after 1 s', '1: 1 Jan 1970 00:00 UTC'],
    ['other', '1 Jan 1970 00:00 UTC', 'errors', 'missed', '0'],
  ])
  expect(report).toHaveProperty('statuses', ['pass', 'fail'])
})

it('reads an incident of up to 7 days, with every alert that one of its patterns names', () => {
  const read = (end: string) => {
    const of = { name: 'Outage', start: '2026-03-01T00:00:00Z', end, alerts: ['err*', 'slow', '*-cart'], within: '10m' }
    const document = readDocument(JSON.stringify({ incidents: { outage: of } }), 'a.json')
    if (!('value' in document)) throw new Error('it is JSON')
    const keys = ['slow-cart', 'slow', 'errors', 'errors-cart', 'other']
    const { incidents, diagnostics } = readIncidents([{ key: 'outage', location: { file: 'a.json' }, document }], keys)
    return [...incidents.map(({ alerts }) => alerts.join()), ...diagnostics.map(({ message }) => message)]
  }
  expect(read('2026-03-08T00:00:00Z')).toEqual(['errors,errors-cart,slow,slow-cart'])
  expect(read('2026-03-08T00:00:01Z')).toEqual(['incidents.outage.end: is more than 7 days after start'])
  expect(read('2026-03-01T00:00:00Z')).toEqual(['incidents.outage.end: is not after start'])
})
