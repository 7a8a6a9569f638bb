import * as z from 'zod'
import { type Alert, alertCollection, alertFromApi, alertSchema, type DeclaredAlert, declaredAlert } from '../kinds/alert/alert.ts'
import { createAlertKind } from '../kinds/alert/alert-kind.ts'
import { startMsOf, toStart } from '../kinds/alert/schedule.ts'
import { findNames } from '../kinds/collections.ts'
import { composeCreate } from '../kinds/compare.ts'
import { referenceOf } from '../kinds/derive.ts'
import { type Body, type KindWire, watchedPlaceOf, withWatchedNames } from '../kinds/kind.ts'
import { alertMarkers } from '../kinds/marker.ts'
import { ApiError } from '../platform/api/api-error.ts'
import type { WriteApi } from '../platform/api/client.ts'
import type { Reading } from '../platform/api/collection.ts'
import type { Target } from '../platform/api/path.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { counted, nameOrId, say, trusted, untrusted } from '../platform/core/line.ts'
import { quoteLong } from '../platform/core/text.ts'
import { isInForm, ownValue, type Schema } from '../platform/documents/schema.ts'
import { choice } from '../platform/operation/inputs.ts'
import { judgeCutList, listDetails, listOutput, toListResult, withUnmet } from '../platform/operation/listing.ts'
import { defineOperation, noFields } from '../platform/operation/operation.ts'
import {
  type AlertWriter,
  alertFacts,
  alertTable,
  changeAlert,
  executionErrorTable,
  missingNames,
  refuseUnknownForm,
  selectAlerts,
  selectableAlert,
  watchedId,
  webhookIds,
} from './alerts.ts'
import { ownersDetail, toOwners } from './list-operation.ts'
import {
  declarationDetail,
  deletedOutput,
  documentInput,
  droppedFields,
  explainRefusal,
  findDropped,
  headlineOfDelete,
  idInput,
  judgeDropped,
  partialSchema,
  readObject,
  resolveObject,
  singleOutput,
  toDocument,
  withoutAdoption,
} from './single-object.ts'

const input = { alert: documentInput('alert') }

const alertDetails = z.object({ alert: alertSchema.describe('The alert as the API returned it.') })

const writtenAlert = alertDetails.extend({ dropped: droppedFields })

export const listAlerts = defineOperation({
  summary: 'Lists the alerts of a service.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({ select: selectAlerts().optional() }),
  output: listOutput,
  details: z.object({
    items: z.array(alertSchema).describe('The alerts as the API returned them.'),
    names: z
      .record(z.string(), z.string())
      .describe('Names of the dashboards, saved searches and webhooks of these alerts, by id, and of tiles, by `DASHBOARD/TILE`.'),
    namesFailure: z.string().optional().describe('Why names are missing, where a list could not be read.'),
    owners: ownersDetail,
    silencedUntil: z.record(z.string(), z.string()).describe('End of the silence of each alert that is silenced now, by id.'),
    ...listDetails,
  }),
  example: { select: ['state=ALERT'] },
  async run({ api, service, clock }, input) {
    const [list, { names, failure }] = await Promise.all([alertCollection.list(api, service), findNames(api, service)])
    const named = withWatchedNames(list.items, names)
    const result = toListResult({ ...list, items: named }, input.select, selectableAlert)
    const { items } = result
    const used = new Set(items.flatMap((alert) => [watchedId(alert), alert.name ? undefined : watchedPlaceOf(alert), ...webhookIds(alert)]))
    const silenced = items.flatMap((alert) => {
      const untilMs = startMsOf(alert)
      return untilMs !== undefined && untilMs > clock.now() ? [[alert.id, toStart(untilMs)] as const] : []
    })
    return {
      ...result,
      names: Object.fromEntries([...names].filter(([id]) => used.has(id))),
      ...(failure !== undefined && { namesFailure: failure }),
      owners: toOwners(items, alertMarkers),
      silencedUntil: Object.fromEntries(silenced),
    }
  },
  judge: judgeCutList,
  report: (result) => ({
    headline: say`${counted(result.count, 'alert')}${withUnmet(result.unmet)}`,
    blocks: [alertTable(result), ...missingNames(result)],
  }),
})

export const getAlert = defineOperation({
  summary: 'Reads one alert.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({ id: idInput }),
  positional: 'id',
  output: singleOutput('alert'),
  details: alertDetails.extend({ declaration: declarationDetail('alert') }),
  example: { id: '65f5e4a35eedc0de0000001f' },
  async run({ api, service, profile, clock }, given) {
    const alert = await alertCollection.get(api, service, given.id)
    return { ...outputsOf(alert, false), declaration: toDocument(createAlertKind(profile, clock.now()), alert) }
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
  input: z.strictObject({ id: idInput }),
  positional: 'id',
  output: deletedOutput('alert'),
  details: noFields,
  example: { id: '65f5e4a35eedc0de0000001f' },
  async run({ api, service, confirm }, given) {
    const alert = confirm && (await alertCollection.find(api, service, given.id))
    if (alert !== undefined) refuseUnknownForm(alert, 'deleted')
    if (alert !== undefined) await confirm?.({ blocks: [alertFacts(alert)], question: 'Delete this alert?' })
    const check = (current: Alert): void => refuseUnknownForm(current, 'deleted')
    return { id: given.id, changed: await alertCollection.remove(api, service, given.id, { check }) }
  },
  report: (result) => ({ headline: headlineOfDelete('alert', result), blocks: [] }),
})

export const createAlert = defineOperation({
  summary: 'Creates one alert. The request is not repeated once the server may have applied it.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: { ifExists: 'update' },
  input: z.strictObject({
    ...input,
    ifExists: choice(
      ['create', 'skip', 'update', 'fail'],
      'Decides what happens if an alert with the same name, dashboard and tile exists. `create` does not check and creates another one.',
    ).default('create'),
  }),
  output: singleOutput('alert'),
  details: writtenAlert.extend({
    outcome: z.enum(['created', 'updated', 'unchanged', 'skipped']).describe('What the operation did.'),
  }),
  example: {
    alert:
      '{ name: Checkout errors, dashboard: 65f5e4a35eedc0de0000000c, tile: 65f5e4a35eedc0de0000000e, threshold: 5, interval: 1h, channel: { type: webhook, webhookId: 65f5e4a35eedc0de00000009 } }',
  },
  async run({ api, service, profile, files, clock, confirm }, given) {
    const kind = createAlertKind(profile, clock.now())
    const read = await readObject(given.alert, 'alert', { schema: newAlert, fromApi: (document) => fromApi(document, true) }, files)
    // An answer of the API can have the marker of another alert.
    const body = kind.withoutMarker(await resolveObject(kind, { ...read, value: declaredAlert.parse(read.value) }, { api, service }))
    if (given.ifExists !== 'create') {
      const { similar, readAtMs } = await findSimilar(api, service, body)
      const [existing, second] = similar
      const writer = { api, service, profile, clock, confirm }
      if (existing !== undefined)
        return explainRefusal(read, handleExisting({ object: existing, readAtMs }, second, { kind, writer, body }, given.ifExists))
    }
    const created = await explainRefusal(read, createOnce(api, service, kind, body))
    return { ...writtenOutputs(kind, created, body, true), outcome: 'created' as const }
  },
  judge: ({ alert, dropped, outcome }) => judgeDropped('alert', alert, dropped, outcome),
  report: ({ alert, outcome }) => ({
    headline:
      outcome === 'skipped'
        ? say`Alert ${nameOrId(alert)} already exists and was not changed`
        : say`Alert ${nameOrId(alert)} ${verbs[outcome]}`,
    blocks: [alertFacts(alert)],
  }),
})

export const updateAlert = defineOperation({
  summary: 'Changes one alert. Fields that are not given keep their values, and null clears a field.',
  effect: 'write',
  scope: 'service-or-server',
  asksFirst: true,
  input: z.strictObject({ id: idInput, ...input }),
  positional: 'id',
  output: singleOutput('alert'),
  details: writtenAlert,
  example: { id: '65f5e4a35eedc0de0000001f', alert: '{ threshold: 10 }' },
  async run({ api, service, profile, files, clock, confirm }, given) {
    const kind = createAlertKind(profile, clock.now())
    const read = await readObject(given.alert, 'alert', { schema: changedAlert, fromApi: (document) => fromApi(document, false) }, files)
    const { source, ...fields } = await resolveObject(kind, { ...read, value: read.value as DeclaredAlert }, { api, service }) // Some of its fields.
    const target = ['dashboard', 'savedSearch'].some((name) => ownValue(read.value, name) != null) ? { source } : {}
    const cleared = Object.entries(read.value).flatMap(([name, value]) => (value === null ? [wireNameOf(name)] : []))
    const change = { ...fields, ...target, ...Object.fromEntries(cleared.map((name) => [name, null])) }
    const writer = { api, service, profile, clock, confirm }
    const { object, isWritten } = await explainRefusal(
      read,
      changeAlert(writer, given.id, () => change),
    )
    return writtenOutputs(kind, object, change, isWritten)
  },
  judge: ({ alert, dropped, changed }) => judgeDropped('alert', alert, dropped, changed ? 'updated' : 'unchanged'),
  report: ({ alert, changed }) => ({
    headline: say`Alert ${nameOrId(alert)} ${trusted(changed ? 'updated' : 'is up to date')}`,
    blocks: [alertFacts(alert)],
  }),
})

const wireNameOf = (field: string): string => referenceOf(ownValue(declaredAlert.shape, field) as Schema)?.wire ?? field // The schema accepted the field.

const changedAlert = partialSchema(declaredAlert)

function fromApi(document: Body, isNew: boolean) {
  const alert = alertFromApi(document)
  if (alert === undefined) return undefined
  const fields = isNew ? Object.fromEntries(Object.entries(alert).filter(([, value]) => value !== null)) : alert
  const [known = [], unknown = []] = [true, false].map((isKnown) =>
    Object.entries(fields).filter(([field]) => isInForm(declaredAlert, field) === isKnown),
  )
  return { fields, value: { ...Object.fromEntries(known), ...(unknown.length > 0 && { raw: Object.fromEntries(unknown) }) } }
}

const newAlert = withoutAdoption(declaredAlert).superRefine((alert, context) => {
  const refuse = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } })
  const has = (field: string): boolean => ownValue(alert, field) != null
  if (!has('savedSearch') && !(has('dashboard') && has('tile'))) refuse('dashboard', 'is missing: give dashboard and tile, or savedSearch')
  if (has('savedSearch') && (has('dashboard') || has('tile'))) refuse('savedSearch', 'cannot be combined with dashboard and tile')
  if (has('channel') === has('channels')) refuse('channel', 'is missing: give either channel or channels')
  if (String(ownValue(alert, 'thresholdType')).endsWith('between') && !has('thresholdMax'))
    refuse('thresholdMax', 'is missing: a range needs it')
})

const verbs = { created: say`created`, updated: say`updated`, unchanged: say`is up to date` } as const

async function handleExisting(
  { object: existing, readAtMs }: Reading<Alert>,
  second: Alert | undefined,
  { kind, writer, body }: { readonly kind: KindWire; readonly writer: AlertWriter; readonly body: Body },
  policy: 'skip' | 'update' | 'fail',
) {
  if (policy === 'skip') return { ...outputsOf(existing, false), dropped: [], outcome: 'skipped' as const }
  if (policy === 'fail') throw new WatchkeeperError('conflict', `The alert already exists: ${existing.id}. No alert was created.`)
  if (second !== undefined) {
    throw new WatchkeeperError(
      'conflict',
      `Several alerts have this name, dashboard and tile (${existing.id}, ${second.id}), so the alert to update is ambiguous. Change one of them with update-alert and its id, or delete one.`,
    )
  }
  const { object, isWritten } = await changeAlert(writer, { object: existing, readAtMs }, () => body)
  return { ...writtenOutputs(kind, object, body, isWritten), outcome: isWritten ? ('updated' as const) : ('unchanged' as const) }
}

/** Throws when the list may be incomplete: an alert that is not listed would be created a second time. */
async function findSimilar(api: WriteApi, service: Target, body: Body) {
  const { items, mayBeCut, readAtMs } = await alertCollection.list(api, service)
  const similar = items.filter((alert) => isSimilar(alert, body))
  if (similar.length === 0 && mayBeCut)
    throw new WatchkeeperError(
      'conflict',
      'The list of alerts may be incomplete, so it is unknown whether this alert exists. No alert was created.',
    )
  return { similar, readAtMs }
}

const isSimilar = (alert: Alert, body: Body): boolean =>
  (['name', 'dashboardId', 'tileId', 'savedSearchId'] as const).every((field) => (alert[field] ?? '') === (body[field] ?? ''))

// A new alert has no marker by which it could be found again, so the user decides after a lost answer.
async function createOnce(api: WriteApi, service: Target, kind: KindWire, body: Body): Promise<Alert> {
  try {
    return await alertCollection.create(api, service, composeCreate(kind, body))
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.kind !== 'may-exist') throw thrown
    throw new WatchkeeperError('may-exist', `${thrown.message}\n${await describeSimilar(api, service, body)}`, { cause: thrown })
  }
}

async function describeSimilar(api: WriteApi, service: Target, body: Body): Promise<string> {
  try {
    const { items } = await alertCollection.list(api, service)
    const similar = items.filter((alert) => isSimilar(alert, body)).map(({ id }) => quoteLong(id))
    return similar.length === 0
      ? 'Currently, no alert matches it.'
      : `Currently, these alerts match it: ${similar.slice(0, 10).join(', ')}.`
  } catch {
    return 'The list of alerts could not be read, so it is unknown whether an alert matches it.'
  }
}

const outputsOf = (alert: Alert, changed: boolean) => ({ id: alert.id, changed, alert })

/** `sent` is what the server was asked to store. It sets itself which service a webhook belongs to. */
const writtenOutputs = (kind: KindWire, alert: Alert, sent: Body, changed: boolean) => ({
  ...outputsOf(alert, changed),
  dropped: findDropped(kind, sent, alert, (path) => path.at(-1) === 'webhookService'),
})
