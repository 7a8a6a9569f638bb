// Owns how alerts are shown.
import * as z from 'zod'
import { type Alert, alertSchema } from '../api/alerts.ts'
import type { Block } from '../report/blocks.ts'
import { data, type Inline, type Line, ours, say } from '../report/line.ts'

export const alertOutput = z.object({
  alertId: z.string().describe('Id of the alert.'),
  alertState: z.string().optional().describe('State of the alert: ALERT, OK, INSUFFICIENT_DATA, DISABLED or PENDING.'),
  changed: z.boolean().describe('Whether this run changed anything.'),
})

export const alertDetails = z.object({ alert: alertSchema.describe('The alert, as the API answered.') })

export const outputsOf = (alert: Alert, changed: boolean) => ({
  alertId: alert.id,
  ...(alert.state && { alertState: alert.state }),
  changed,
  alert,
})

const orDash = (text: string | null | undefined): Inline => (text ? data(text) : ours('–'))

export const nameOf = ({ name, id }: Pick<Alert, 'name' | 'id'>): Inline => data(name || id)

/** `above 5 over 5m`, `between 5 and 9 over 5m`. */
export const conditionOf = ({ threshold, thresholdMax, thresholdType, interval }: Alert): Line => {
  const isRange = thresholdType?.endsWith('between') && thresholdMax != null
  const values = ours([threshold ?? '–', ...(isRange ? [thresholdMax] : [])].map(String).join(' and '))
  return say`${orDash(thresholdType)} ${values} over ${orDash(interval)}`
}

export const alertFacts = (alert: Alert): Block => ({
  kind: 'facts',
  facts: [
    { label: 'Name', value: [orDash(alert.name)] },
    { label: 'State', value: [orDash(alert.state)] },
    { label: 'Condition', value: conditionOf(alert) },
    { label: 'Dashboard', value: [orDash(alert.dashboardId)] },
    { label: 'Tile', value: [orDash(alert.tileId)] },
    { label: 'Id', value: [data(alert.id)] },
  ],
})

export const alertTable = (alerts: readonly Alert[]): Block => ({
  kind: 'table',
  columns: [{ title: 'Name' }, { title: 'State' }, { title: 'Condition' }, { title: 'Id' }],
  rows: alerts.map((alert) => [[orDash(alert.name)], [orDash(alert.state)], conditionOf(alert), [data(alert.id)]]),
})
