// Owns the operation that changes one alert: read, change what was given, write the whole, keep what nobody mentioned.
import * as z from 'zod'
import { ours, say } from '../report/line.ts'
import { changeAlert } from './alert-change.ts'
import { alertInput, checkAlertInput, readAlertInput } from './alert-input.ts'
import { alertDetails, alertFacts, alertOutput, nameOf, outputsOf } from './alert-report.ts'
import { alertId } from './alerts.ts'
import { defineOperation, type Given } from './operation.ts'

const input = z.strictObject({ alertId, ...alertInput.shape })

export const updateAlert = defineOperation({
  summary: 'Changes one alert. What is not given stays as it is; null in a document clears a field.',
  effect: 'write',
  scope: 'service',
  input,
  output: alertOutput,
  details: alertDetails,
  example: { alertId: '65f5e4a35eedc0de0000001f', threshold: 10 },
  check: (given) => [...checkAlertInput(given), ...checkChange(given)],
  async run({ api, service, profile, files }, { alertId: id, ...rest }) {
    const declared = await readAlertInput(rest, profile, files.read)
    const { alert, changed } = await changeAlert({ api, service, profile }, await api.alerts.get(service, id), declared)
    return outputsOf(alert, changed)
  },
  report: ({ alert, changed }) => ({
    headline: say`Alert ${nameOf(alert)} ${ours(changed ? 'updated' : 'is as it should be')}`,
    blocks: [alertFacts(alert)],
  }),
})

const checkChange = ({ names }: Given<typeof input>) =>
  [...names].some((name) => name !== 'alertId')
    ? []
    : [{ name: 'alert', message: 'is missing: give alert, alert-file or the single fields to change' }]
