import { expect, it } from 'vitest'
import { checkIncident, incidentTable, judgeIncidents } from '../../../src/changes/backtest/incidents.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import type { Incident } from '../../../src/sync/declarations/incidents.ts'
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

it('lists the ten notifications that are nearest to an incident, and counts all', () => {
  const startsMs = Array.from({ length: 12 }, (_, i) => 5000 + i * 1000)
  const [detection] = check(incident, ...startsMs).alerts
  expect(detection?.outside).toBe(12)
  expect(detection?.outsideAt).toEqual(startsMs.slice(0, 10).map((ms) => new Date(ms + 1000).toISOString()))
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
