// Owns the operations that read alerts or remove one. Making and changing them: create-alert.ts, update-alert.ts.
import * as z from 'zod'
import { alertStates } from '../api/alert-body.ts'
import { alertSchema } from '../api/alerts.ts'
import { countOf, data, say } from '../report/line.ts'
import { alertDetails, alertFacts, alertOutput, alertTable, nameOf, outputsOf } from './alert-report.ts'
import { choice, resourceId } from './fields.ts'
import { judgeCutList, listOutput, mayBeCut, nameContains, toListResult } from './listing.ts'
import { defineOperation, noDetails } from './operation.ts'

export const alertId = resourceId('The alert.')

export const listAlerts = defineOperation({
  summary: 'Lists the alerts of a service.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({
    nameContains: nameContains.optional(),
    state: choice(alertStates, 'Only alerts in this state.').optional(),
  }),
  output: listOutput,
  details: z.object({ alerts: z.array(alertSchema).describe('The alerts, as the API answered.'), mayBeCut }),
  example: { state: 'ALERT' },
  async run({ api, service }, input) {
    const { items, ...result } = toListResult(
      await api.alerts.list(service),
      input.nameContains,
      ({ state }) => !input.state || state === input.state,
    )
    return { ...result, alerts: items }
  },
  judge: judgeCutList,
  report: ({ alerts }) => ({ headline: say`${countOf(alerts, 'alert')}`, blocks: [alertTable(alerts)] }),
})

export const getAlert = defineOperation({
  summary: 'Reads one alert.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ alertId }),
  output: alertOutput,
  details: alertDetails,
  example: { alertId: '65f5e4a35eedc0de0000001f' },
  async run({ api, service }, input) {
    return outputsOf(await api.alerts.get(service, input.alertId), false)
  },
  report: ({ alert }) => ({
    headline: say`Alert ${nameOf(alert)} is ${data(alert.state || 'in no known state')}`,
    blocks: [alertFacts(alert)],
  }),
})

export const deleteAlert = defineOperation({
  summary: 'Deletes one alert. It is no failure when there is none.',
  effect: 'write',
  scope: 'service',
  input: z.strictObject({ alertId }),
  output: z.object({
    alertId: z.string().describe('Id of the alert.'),
    changed: z.boolean().describe('Whether there was such an alert.'),
  }),
  details: noDetails,
  example: { alertId: '65f5e4a35eedc0de0000001f' },
  async run({ api, service }, input) {
    return { alertId: input.alertId, changed: await api.alerts.remove(service, input.alertId) }
  },
  report: (result) => ({
    headline: result.changed ? say`Deleted alert ${data(result.alertId)}` : say`There was no alert ${data(result.alertId)}`,
    blocks: [],
  }),
})
