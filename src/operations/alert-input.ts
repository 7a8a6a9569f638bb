// Owns the two ways to say what an alert should be, a document or single fields, and the one body that both become.
import * as z from 'zod'
import {
  type AlertFields,
  alertBodySchema,
  alertIntervals,
  alertSources,
  channelTypes,
  missingInAlert,
  thresholdTypes,
} from '../api/alert-body.ts'
import type { AlertBody } from '../api/alerts.ts'
import type { Profile } from '../api/profiles.ts'
import { InputError, type Problem } from '../kernel/errors.ts'
import { toKebab } from '../kernel/names.ts'
import { choice, decimalNumber, longText, opaqueId, text } from './fields.ts'
import type { Given } from './operation.ts'
import { documentFile, documentText, readWritten } from './written-document.ts'

/** The fields of an alert that an input of their own can set. */
const singleFields = {
  dashboardId: opaqueId('Dashboard that holds the tile.').optional(),
  tileId: opaqueId('Tile that the alert watches.').optional(),
  threshold: decimalNumber('Value that the alert compares with.').optional(),
  thresholdType: choice(thresholdTypes, 'How the value is compared; `above` for a new alert.').optional(),
  interval: choice(alertIntervals, 'How often the alert looks, and over which time.').optional(),
  source: choice(alertSources, 'What the alert watches; `tile` for a new alert.').optional(),
  channelType: choice(channelTypes, 'How the alert notifies; `webhook` for a new alert.').optional(),
  webhookId: opaqueId('Webhook that is called.').optional(),
  name: text('Name of the alert.', 512).optional(),
  message: longText('Text of the notification.', 4096).optional(),
}

export const alertInput = z.strictObject({ alert: documentText('alert'), alertFile: documentFile('alert'), ...singleFields })

export type AlertInput = z.output<typeof alertInput>

/** A document or single fields, never both: nobody could tell which one wins. */
export function checkAlertInput({ names }: Pick<Given<typeof alertInput>, 'names'>): readonly Problem[] {
  const singles = Object.keys(singleFields).filter((name) => names.has(name))
  const documents = ['alert', 'alertFile'].filter((name) => names.has(name))
  if (documents.length === 2) return [{ name: 'alert', message: 'cannot be given together with alert-file' }]
  const [document] = documents
  if (document !== undefined)
    return singles.map((name) => ({ name: toKebab(name), message: `cannot be given together with ${toKebab(document)}` }))
  return names.has('channelType') && !names.has('webhookId')
    ? [{ name: 'webhook-id', message: 'is missing: channel-type says how, webhook-id says where' }]
    : []
}

/** What a new alert needs when it is given in single fields. */
export function checkNewAlert(given: Given<typeof alertInput>): readonly Problem[] {
  const { names, values } = given
  if (names.has('alert') || names.has('alertFile')) return []
  if (values.source === 'saved_search')
    return [{ name: 'source', message: 'saved_search needs more fields than single inputs have: use alert or alert-file' }]
  if (values.channelType === 'email')
    return [{ name: 'channel-type', message: 'email needs recipients, which single inputs cannot give: use alert or alert-file' }]
  if (values.thresholdType?.endsWith('between')) {
    return [
      { name: 'threshold-type', message: `${values.thresholdType} needs a second threshold: use alert or alert-file with thresholdMax` },
    ]
  }
  const needed = ['dashboardId', 'tileId', 'threshold', 'interval', 'webhookId'].filter((name) => !names.has(name))
  return needed.map((name) => ({ name: toKebab(name), message: 'is missing: a new alert needs it (or alert, or alert-file)' }))
}

type ReadFile = (path: string, input: string) => Promise<string>

/** What the user declared, and nothing else: no default is mixed in here. */
export async function readAlertInput(input: AlertInput, profile: Profile, readFile: ReadFile): Promise<AlertFields> {
  const { alert, alertFile } = input
  if (alert !== undefined) return writtenAlert(alert, 'alert', profile)
  if (alertFile !== undefined) return writtenAlert(await readFile(alertFile, 'alert-file'), alertFile, profile)
  const { channelType, webhookId, alert: _, alertFile: __, ...fields } = input
  const declared = Object.entries(fields).filter(([name, value]) => Object.hasOwn(singleFields, name) && value !== undefined)
  const channel = webhookId === undefined ? [] : [['channel', { type: 'webhook', webhookId }]]
  return alertBodySchema.parse(Object.fromEntries([...declared, ...channel]))
}

function writtenAlert(written: string, name: string, profile: Profile): AlertFields {
  const alert = readWritten(written, name, alertBodySchema)
  const beyond = Object.keys(alert).filter((field) => !neutralFields.has(field) && !profile.extraAlertFields.includes(field))
  if (beyond.length === 0) return alert
  throw new InputError(
    beyond.map((field) => ({
      name: `${name}.${field}`,
      message: 'is no field of the neutral contract; set the profile of a product that has it',
    })),
  )
}

const neutralFields = new Set(['dashboardId', 'tileId', 'threshold', 'interval', 'source', 'thresholdType', 'channel', 'name', 'message'])

/** The body of a new alert, with the documented defaults. Throws an InputError when the document lacks something. */
export function toNewAlert(declared: AlertFields): AlertBody & AlertFields {
  const body: AlertFields = { source: 'tile', thresholdType: 'above', ...declared }
  const missing = missingInAlert(body)
  if (missing.length > 0) throw new InputError(missing.map((field) => ({ name: `alert.${field}`, message: 'is missing' })))
  return body
}
