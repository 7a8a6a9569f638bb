import { expect, it } from 'vitest'
import { checkIncident } from '../../../src/sync/backtest/incidents.ts'
import type { Incident } from '../../../src/sync/declarations/incidents.ts'

const incident: Incident = {
  key: 'outage',
  name: 'Outage',
  location: { file: 'a.yml' },
  startMs: 1000,
  endMs: 2000,
  alerts: ['errors'],
  withinMs: 1000,
}

it('counts the notifications of every group outside of an incident, not the windows', () => {
  const window = { startMs: 5000, values: [9, 9], isBreaching: true, notifications: 2, resolved: 0 }
  const { alerts } = checkIncident(incident, [incident], () => ({ windows: [window], lengthMs: 1000 }))
  expect(alerts).toEqual([{ alert: 'errors', outcome: 'missed', outside: 2, outsideAt: ['1970-01-01T00:00:06.000Z'] }])
})
