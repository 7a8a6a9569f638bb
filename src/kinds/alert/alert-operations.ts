import * as z from 'zod'
import { ApiError } from '../../api/api-error.ts'
import type { WriteApi } from '../../api/client.ts'
import type { Target } from '../../api/path.ts'
import type { Profile } from '../../api/profiles.ts'
import { type Diagnostic, inputDiagnostic } from '../../core/diagnostics.ts'
import { InputError, WatchkeeperError } from '../../core/errors.ts'
import { counted, nameOrId, say, trusted, untrusted } from '../../core/line.ts'
import { toKebab } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { parseWithLocations } from '../../documents/validate.ts'
import { choice, decimalNumber, documentFile, documentText, longText, opaqueId, resourceId, text } from '../../operation/inputs.ts'
import { judgeCutList, listOutput, mayBeCut, toListResult } from '../../operation/listing.ts'
import { defineOperation, type Given, noDetails } from '../../operation/operation.ts'
import { findNames } from '../names.ts'
import { ownersDetail, toOwners } from '../owner.ts'
import { type Alert, alertCollection, alertSchema, alertSources, shortIntervalNote, thresholdTypeMeaning, thresholdTypes } from './alert.ts'
import { type AlertFields, alertBodySchema, channelTypes, missingInAlert } from './alert-body.ts'
import { alertFieldsOf } from './alert-kind.ts'
import {
  alertFacts,
  alertTable,
  executionErrorTable,
  missingNames,
  readAlertMarker,
  selectAlerts,
  selectableAlert,
  watchedId,
  webhookIds,
} from './alert-report.ts'
import { type AlertWriter, changeAlert, refuseUnknownForm, toAlertRequest } from './change-alert.ts'
import { alertIntervals, startMsOf, toStart } from './schedule.ts'

/** The fields of an alert that an input of their own can set. */
const singleFields = {
  dashboardId: opaqueId('Id of the dashboard that contains the tile.').optional(),
  tileId: opaqueId('Id of the tile that the alert watches.').optional(),
  threshold: decimalNumber('Value that the alert is compared with.').optional(),
  thresholdType: choice(
    thresholdTypes,
    `How the value is compared with the threshold: ${thresholdTypeMeaning} The default for a new alert is \`above\`.`,
  ).optional(),
  interval: choice(alertIntervals, `How often the alert is evaluated, and over which period. ${shortIntervalNote}.`).optional(),
  source: choice(alertSources, 'What the alert watches. The default for a new alert is `tile`.').optional(),
  channelType: choice(channelTypes, 'How the alert notifies. The default for a new alert is `webhook`.').optional(),
  webhookId: opaqueId('Id of the webhook to call.').optional(),
  name: text('Name of the alert.', 512).optional(),
  message: longText('Text of the notification.', 4096).optional(),
}

const alertInput = z.strictObject({ alert: documentText('alert'), alertFile: documentFile('alert'), ...singleFields })

type AlertInput = z.output<typeof alertInput>

const alertId = resourceId('Id of the alert.')

const alertOutput = z.object({
  alertId: z.string().describe('Id of the alert.'),
  alertState: z.string().optional().describe('State of the alert: ALERT, OK, INSUFFICIENT_DATA, DISABLED or PENDING.'),
  changed: z.boolean().describe('Whether this run changed anything.'),
})

const alertDetails = z.object({ alert: alertSchema.describe('The alert as the API returned it.') })

export const listAlerts = defineOperation({
  summary: 'Lists the alerts of a service.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({ select: selectAlerts('Lists only these alerts.').optional() }),
  output: listOutput,
  details: z.object({
    alerts: z.array(alertSchema).describe('The alerts as the API returned them.'),
    names: z.record(z.string(), z.string()).describe('Names of the dashboards, saved searches and webhooks of these alerts, by id.'),
    namesFailure: z.string().optional().describe('Why names are missing, where a list could not be read.'),
    owners: ownersDetail,
    silencedUntil: z.record(z.string(), z.string()).describe('End of the silence of each alert that is silenced now, by id.'),
    mayBeCut,
  }),
  example: { select: ['state=ALERT'] },
  async run({ api, service, clock }, input) {
    const [list, { names, failure }] = await Promise.all([alertCollection.list(api, service), findNames(api, service)])
    const { items, ...result } = toListResult(list, input.select, selectableAlert)
    const used = new Set(items.flatMap((alert) => [watchedId(alert), ...webhookIds(alert)]))
    const silenced = items.flatMap((alert) => {
      const untilMs = startMsOf(alert)
      return untilMs !== undefined && untilMs > clock.now() ? [[alert.id, toStart(untilMs)] as const] : []
    })
    return {
      ...result,
      alerts: items,
      names: Object.fromEntries([...names].filter(([id]) => used.has(id))),
      ...(failure !== undefined && { namesFailure: failure }),
      owners: toOwners(items, readAlertMarker, input.select),
      silencedUntil: Object.fromEntries(silenced),
    }
  },
  judge: judgeCutList,
  report: (result) => ({ headline: say`${counted(result.alerts.length, 'alert')}`, blocks: [alertTable(result), ...missingNames(result)] }),
})

export const getAlert = defineOperation({
  summary: 'Reads one alert.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({ alertId }),
  output: alertOutput,
  details: alertDetails,
  example: { alertId: '65f5e4a35eedc0de0000001f' },
  async run({ api, service }, input) {
    return outputsOf(await alertCollection.get(api, service, input.alertId), false)
  },
  report: ({ alert }) => ({
    headline: say`Alert ${nameOrId(alert)} is ${untrusted(alert.state || 'in no known state')}`,
    blocks: [alertFacts(alert), executionErrorTable(alert)],
  }),
})

export const deleteAlert = defineOperation({
  summary: 'Deletes one alert. Succeeds if the alert does not exist.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: z.strictObject({ alertId }),
  output: z.object({
    alertId: z.string().describe('Id of the alert.'),
    changed: z.boolean().describe('Whether the alert existed.'),
  }),
  details: noDetails,
  example: { alertId: '65f5e4a35eedc0de0000001f' },
  async run({ api, service, confirm }, { alertId: id }) {
    const alert = confirm && (await alertCollection.find(api, service, id))
    if (alert !== undefined) refuseUnknownForm(alert, 'deleted')
    if (alert !== undefined) await confirm?.({ blocks: [alertFacts(alert)], question: 'Delete this alert?' })
    const check = (current: Alert): void => refuseUnknownForm(current, 'deleted')
    return { alertId: id, changed: await alertCollection.remove(api, service, id, { check }) }
  },
  report: (result) => ({
    headline: result.changed ? say`Deleted alert ${untrusted(result.alertId)}` : say`Alert ${untrusted(result.alertId)} did not exist`,
    blocks: [],
  }),
})

const ifExists = choice(
  ['create', 'skip', 'update', 'fail'],
  'What to do if an alert with the same name, dashboard and tile exists. `create` does not check and creates another one.',
)

export const createAlert = defineOperation({
  summary: 'Creates one alert. The request is not repeated once the server may have applied it.',
  effect: 'write',
  scope: 'service-or-server',
  // For `if-exists: update`.
  asksFirst: true,
  input: alertInput.extend({ ifExists: ifExists.default('create') }),
  output: alertOutput,
  details: alertDetails.extend({
    outcome: z.enum(['created', 'updated', 'unchanged', 'skipped']).describe('What the operation did.'),
  }),
  example: {
    dashboardId: '65f5e4a35eedc0de0000000c',
    tileId: '65f5e4a35eedc0de0000000e',
    threshold: 5,
    interval: '1h',
    webhookId: '65f5e4a35eedc0de00000009',
    name: 'Checkout errors',
    message: 'At least 5 errors in an hour',
  },
  check: (given) => [...checkAlertInput(given), ...checkNewAlert(given)],
  async run({ api, service, profile, files, clock, confirm }, input) {
    const declared = await readAlertInput(input, profile, files.read)
    const body = toNewAlert(declared)
    if (input.ifExists !== 'create') {
      if (!body.name) throw new InputError([declared.diagnosticFor('name', 'is missing: if-exists searches by name')])
      const { similar, readAtMs } = await findSimilar(api, service, body)
      const [existing, second] = similar
      const writer = { api, service, profile, clock, confirm }
      if (existing !== undefined) return handleExisting({ writer, body, existing, readAtMs, second, ifExists: input.ifExists })
    }
    return { ...outputsOf(await createOnce(api, service, body), true), outcome: 'created' as const }
  },
  report: ({ alert, outcome }) => ({
    headline:
      outcome === 'skipped'
        ? say`Alert ${nameOrId(alert)} already exists and was not changed`
        : say`Alert ${nameOrId(alert)} ${verbs[outcome]}`,
    blocks: [alertFacts(alert)],
  }),
})

const updateInput = z.strictObject({ alertId, ...alertInput.shape })

export const updateAlert = defineOperation({
  summary: 'Changes one alert. Fields that are not given keep their values. A null in a document clears a field.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: updateInput,
  output: alertOutput,
  details: alertDetails,
  example: { alertId: '65f5e4a35eedc0de0000001f', threshold: 10 },
  check: (given) => [...checkAlertInput(given), ...checkChange(given)],
  async run({ api, service, profile, files, clock, confirm }, { alertId: id, ...rest }) {
    const { fields } = await readAlertInput(rest, profile, files.read)
    const { object, isWritten } = await changeAlert({ api, service, profile, clock, confirm }, id, () => fields)
    return outputsOf(object, isWritten)
  },
  report: ({ alert, changed }) => ({
    headline: say`Alert ${nameOrId(alert)} ${trusted(changed ? 'updated' : 'is up to date')}`,
    blocks: [alertFacts(alert)],
  }),
})

/** An alert is given as a document or as single fields, never both. */
function checkAlertInput({ names }: Pick<Given<typeof alertInput>, 'names'>): readonly Diagnostic[] {
  const singles = Object.keys(singleFields).filter((name) => names.has(name))
  const documents = ['alert', 'alertFile'].filter((name) => names.has(name))
  if (documents.length === 2) return [inputDiagnostic('alert', 'cannot be given together with alert-file')]
  const [document] = documents
  if (document !== undefined)
    return singles.map((name) => inputDiagnostic(toKebab(name), `cannot be given together with ${toKebab(document)}`))
  return names.has('channelType') && !names.has('webhookId')
    ? [inputDiagnostic('webhook-id', 'is missing: channel-type needs the webhook to call')]
    : []
}

/** The inputs that a new alert needs when it is given as single fields. */
function checkNewAlert(given: Given<typeof alertInput>): readonly Diagnostic[] {
  const { names, values } = given
  if (names.has('alert') || names.has('alertFile')) return []
  if (values.source === 'saved_search')
    return [inputDiagnostic('source', 'saved_search needs fields that have no input of their own; use alert or alert-file')]
  if (values.channelType === 'email')
    return [inputDiagnostic('channel-type', 'email needs recipients, which have no input of their own; use alert or alert-file')]
  if (values.thresholdType?.endsWith('between')) {
    return [
      inputDiagnostic('threshold-type', `${values.thresholdType} needs a second threshold; use alert or alert-file with thresholdMax`),
    ]
  }
  const needed = ['dashboardId', 'tileId', 'threshold', 'interval', 'webhookId'].filter((name) => !names.has(name))
  return needed.map((name) => inputDiagnostic(toKebab(name), 'is missing: a new alert needs it, unless alert or alert-file is given'))
}

const checkChange = ({ names }: Given<typeof updateInput>) =>
  [...names].some((name) => name !== 'alertId')
    ? []
    : [inputDiagnostic('alert', 'is missing: give alert, alert-file, or the single fields to change')]

type ReadFile = (path: string, input: string) => Promise<string>

interface DeclaredAlert {
  /** The fields that the user gave, without defaults. */
  readonly fields: AlertFields
  /** An error about a field, at its place in the document, or about its input. */
  diagnosticFor(field: string, message: string): Diagnostic
}

async function readAlertInput(input: AlertInput, profile: Profile, readFile: ReadFile): Promise<DeclaredAlert> {
  const { alert, alertFile } = input
  if (alert !== undefined) return writtenAlert(alert, 'alert', profile)
  if (alertFile !== undefined) return writtenAlert(await readFile(alertFile, 'alert-file'), alertFile, profile)
  const { channelType, webhookId, alert: _, alertFile: __, ...fields } = input
  const declared = Object.entries(fields).filter(([name, value]) => Object.hasOwn(singleFields, name) && value !== undefined)
  const channel = webhookId === undefined ? [] : [['channel', { type: 'webhook', webhookId }]]
  return {
    fields: alertBodySchema.parse(Object.fromEntries([...declared, ...channel])),
    diagnosticFor: (field, message) => inputDiagnostic(toKebab(field), message),
  }
}

function writtenAlert(written: string, name: string, profile: Profile): DeclaredAlert {
  const { value: fields, document } = parseWithLocations(written, name, alertBodySchema)
  const known = alertFieldsOf(profile)
  const diagnosticFor = (field: string, message: string): Diagnostic => ({
    ...inputDiagnostic(name, `${field}: ${message}`),
    location: document.locationOfKey([field]),
  })
  const beyond = Object.keys(fields).filter((field) => !known.has(field))
  if (beyond.length === 0) return { fields, diagnosticFor }
  throw new InputError(
    beyond.map((field) => diagnosticFor(field, 'is not a field of the neutral contract; set the profile of a server that has it')),
  )
}

/** The body of a new alert, with the documented defaults. Throws an InputError when the document lacks something. */
function toNewAlert({ fields, diagnosticFor }: DeclaredAlert): AlertFields {
  const body: AlertFields = { source: 'tile', thresholdType: 'above', ...fields }
  const missing = missingInAlert(body)
  if (missing.length > 0) throw new InputError(missing.map((field) => diagnosticFor(field, 'is missing')))
  return body
}

const verbs = { created: say`created`, updated: say`updated`, unchanged: say`is up to date` } as const

interface ExistingAlert {
  readonly writer: AlertWriter
  readonly body: AlertFields
  readonly existing: Alert
  /** When the list with it was answered. */
  readonly readAtMs: number
  readonly second: Alert | undefined
  readonly ifExists: 'skip' | 'update' | 'fail'
}

async function handleExisting({ writer, body, existing, readAtMs, second, ifExists: policy }: ExistingAlert) {
  if (policy === 'skip') return { ...outputsOf(existing, false), outcome: 'skipped' as const }
  if (policy === 'fail') throw new WatchkeeperError('conflict', `The alert already exists: ${existing.id}. No alert was created.`)
  if (second !== undefined) {
    throw new WatchkeeperError(
      'conflict',
      `Several alerts have this name, dashboard and tile (${existing.id}, ${second.id}), so the alert to update is ambiguous. Change one of them with update-alert and its alert-id, or delete one.`,
    )
  }
  const { object, isWritten } = await changeAlert(writer, { object: existing, readAtMs }, () => body)
  return { ...outputsOf(object, isWritten), outcome: isWritten ? ('updated' as const) : ('unchanged' as const) }
}

/** Throws when the list may be incomplete: an existing alert that is not listed would be created a second time. */
async function findSimilar(
  api: WriteApi,
  service: Target,
  body: AlertFields,
): Promise<{ readonly similar: readonly Alert[]; readonly readAtMs: number }> {
  const { items, mayBeCut, readAtMs } = await alertCollection.list(api, service)
  const similar = items.filter((alert) => isSimilar(alert, body))
  if (similar.length === 0 && mayBeCut)
    throw new WatchkeeperError(
      'conflict',
      'The list of alerts may be incomplete, so it is unknown whether this alert exists. No alert was created.',
    )
  return { similar, readAtMs }
}

const isSimilar = (alert: Alert, body: AlertFields): boolean =>
  (['name', 'dashboardId', 'tileId', 'savedSearchId'] as const).every((field) => (alert[field] ?? '') === (body[field] ?? ''))

// A new alert has no marker by which it could be found again, so the user decides after a lost answer.
async function createOnce(api: WriteApi, service: Target, body: AlertFields): Promise<Alert> {
  try {
    return await alertCollection.create(api, service, toAlertRequest(body))
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.kind !== 'may-exist') throw thrown
    throw new WatchkeeperError('may-exist', `${thrown.message}\n${await describeSimilar(api, service, body)}`, { cause: thrown })
  }
}

async function describeSimilar(api: WriteApi, service: Target, body: AlertFields): Promise<string> {
  try {
    const { items } = await alertCollection.list(api, service)
    const similar = items.filter((alert) => isSimilar(alert, body)).map(({ id }) => quote(id))
    return similar.length === 0
      ? 'Currently, no alert matches it.'
      : `Currently, these alerts match it: ${similar.slice(0, 10).join(', ')}.`
  } catch {
    return 'The list of alerts could not be read, so it is unknown whether an alert matches it.'
  }
}

const outputsOf = (alert: Alert, changed: boolean) => ({
  alertId: alert.id,
  ...(alert.state && { alertState: alert.state }),
  changed,
  alert,
})
