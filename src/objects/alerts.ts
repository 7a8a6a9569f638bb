import { type Alert, alertCollection, alertStates, describeCondition, toAlertBody, unknownFormOf } from '../kinds/alert/alert.ts'
import { createAlertKind } from '../kinds/alert/alert-kind.ts'
import { isAtBorder, omitStart } from '../kinds/alert/schedule.ts'
import { diffSides } from '../kinds/base.ts'
import { composeUpdate, requireUnchanged, sidesOf } from '../kinds/compare.ts'
import { type Body, describeStored, storedLabelOf, withWatchedNames } from '../kinds/kind.ts'
import { alertMarkers, keepTextMarkers, withoutMarkerTags } from '../kinds/marker.ts'
import type { WriteApi } from '../platform/api/client.ts'
import type { Reading } from '../platform/api/collection.ts'
import type { Target } from '../platform/api/path.ts'
import type { Profile } from '../platform/api/profiles.ts'
import type { Clock } from '../platform/core/clock.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { type Line, say, textOrDash, trusted, untrusted, untrustedSentence } from '../platform/core/line.ts'
import type { Context } from '../platform/operation/operation.ts'
import { type Selectable, selectInput } from '../platform/operation/select.ts'
import type { Block } from '../platform/report/blocks.ts'
import { toDiffLines } from '../platform/report/diff-lines.ts'
import { facts, shown, table } from '../platform/report/table.ts'
import { type Owners, ownerCell, ownerFields, selectableOwned, tagsCell } from './list-operation.ts'

const conditionOf = (alert: Alert): Line => [untrusted(describeCondition(alert, 'over'))]

export const alertFacts = (alert: Alert): Block =>
  facts({
    Name: textOrDash(alert.name),
    State: textOrDash(alert.state),
    Condition: conditionOf(alert),
    Dashboard: textOrDash(alert.dashboardId),
    Tile: textOrDash(alert.tileId),
    Id: untrusted(alert.id),
  })

type Names = Readonly<Record<string, string>>

interface ListedAlerts {
  readonly items: readonly Alert[]
  readonly names: Names
  readonly namesFailure?: string | undefined
  readonly owners: Owners
  readonly silencedUntil: Readonly<Record<string, string>>
}

export const selectAlerts = (note?: string) =>
  selectInput(['name', 'state', 'tag', ...ownerFields], { choices: { state: alertStates }, note })

export const selectableAlert = (alert: Alert): Selectable => ({
  ...selectableOwned(alert, alertMarkers),
  state: alert.state,
  tags: withoutMarkerTags(alert.tags),
})

export function missingNames({ items: alerts, names, namesFailure }: ListedAlerts): readonly Block[] {
  const isShown = alerts.flatMap((alert) => [watchedId(alert), ...webhookIds(alert)]).some((id) => id !== '' && names[id] === undefined)
  if (namesFailure === undefined || !isShown) return []
  return [{ kind: 'paragraph', line: say`Ids are shown in place of names that could not be read: ${untrustedSentence(namesFailure)}` }]
}

export function alertTable({ items: alerts, names, owners, silencedUntil }: ListedAlerts): Block {
  const isSilenced = Object.keys(silencedUntil).length > 0
  const hasTags = alerts.some(({ tags }) => withoutMarkerTags(tags).length > 0)
  const hasErrors = alerts.some(({ executionErrors }) => executionErrors?.length)
  const channelNames = (alert: Alert): readonly unknown[] =>
    channelsIn(alert).map(({ webhookId, type }) => nameOrId(webhookId, names) ?? type)
  return table(undefined, withNames(alerts, names), {
    Name: (alert) => textOrDash(storedLabelOf(alert)),
    State: ({ state }) => textOrDash(state),
    Condition: conditionOf,
    On: (alert) => textOrDash(nameOrId(watchedId(alert), names)),
    Channel: (alert) => textOrDash(channelNames(alert).join(', ')),
    ...(hasTags && { Tags: tagsCell }),
    Owner: (alert) => ownerCell(alert, owners),
    ...(isSilenced && { 'Silenced until': ({ id }: Alert) => shown(silencedUntil[id], formatMoment) }),
    ...(hasErrors && { 'Last error': lastErrorOf }),
    Id: ({ id }) => untrusted(id),
  })
}

export const withNames = (alerts: readonly Alert[], names: Names): readonly Alert[] =>
  withWatchedNames(alerts, new Map(Object.entries(names)))

const nameOrId = (id: string | null | undefined, names: Names): string | null | undefined => (id ? (names[id] ?? id) : id)

export const watchedId = ({ dashboardId, savedSearchId }: Alert): string =>
  typeof savedSearchId === 'string' ? savedSearchId : (dashboardId ?? '')

/** Servers before 2.36 answer a single channel. */
const channelsIn = ({ channel, channels }: Alert) => channels ?? (channel ? [channel] : [])

export const webhookIds = (alert: Alert): readonly string[] => channelsIn(alert).flatMap(({ webhookId }) => webhookId ?? [])

const lastErrorOf = ({ executionErrors }: Alert): Line => {
  const last = executionErrors?.at(-1)
  return last ? say`${textOrDash(last.type)}: ${textOrDash(last.message)}` : [trusted('–')]
}

export const executionErrorTable = ({ executionErrors }: Alert): Block =>
  table('Errors of the last evaluation', executionErrors ?? [], {
    Time: ({ timestamp }) => textOrDash(timestamp),
    Type: ({ type }) => textOrDash(type),
    Message: ({ message }) => (message ? untrustedSentence(message) : undefined),
  })

export interface AlertWriter {
  readonly api: WriteApi
  readonly service: Target
  readonly profile: Profile
  readonly clock: Clock
  readonly confirm?: Context<'write', 'service-or-server'>['confirm']
}

/** Sets the fields that `declare` returns. Throws kind `conflict` when the alert changed while a person was asked. */
export async function changeAlert(
  { api, service, profile, clock, confirm }: AlertWriter,
  alert: string | Reading<Alert>,
  declare: (current: Alert) => Body | undefined,
): Promise<{ readonly object: Alert; readonly isWritten: boolean }> {
  const kind = createAlertKind(profile, clock.now())
  const review = (current: Alert) => {
    refuseUnknownForm(current, 'written')
    const declared = declare(current)
    if (declared === undefined) return undefined
    const desired = mergeDeclared(toAlertBody(current), declared)
    const fields = diffSides(kind, sidesOf(kind, desired, current))
    return fields.length === 0 ? undefined : { fields, body: composeUpdate(kind, desired, current) }
  }
  const found = typeof alert === 'string' ? { id: alert } : { id: alert.object.id, reading: alert }
  if (confirm === undefined) return alertCollection.update(api, service, { ...found, compose: (current) => review(current)?.body })
  const shown = found.reading?.object ?? (await alertCollection.get(api, service, found.id))
  const reviewed = review(shown)
  if (reviewed === undefined) return { object: shown, isWritten: false }
  await confirm({ blocks: [alertFacts(shown), { kind: 'diff', lines: toDiffLines(reviewed.fields) }], question: 'Change this alert?' })
  const compose = (current: Alert): Body | undefined => {
    requireUnchanged(kind, shown, current)
    return review(current)?.body
  }
  return alertCollection.update(api, service, { id: found.id, compose })
}

/** It is unknown what a write of such an alert would change. */
export function refuseUnknownForm(alert: Alert, outcome: 'written' | 'deleted'): void {
  const form = unknownFormOf(alert)
  if (form === undefined) return
  throw new WatchkeeperError(
    'refused',
    `The alert ${describeStored(alert)} was not ${outcome}, because it has ${form}, which this version does not know. ${outcome === 'deleted' ? 'Delete' : 'Change'} it in the web app.`,
  )
}

const withoutNulls = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined))

/** Null clears a field. The note keeps its markers, and a target replaces the other one. */
function mergeDeclared(before: Body, declared: Body): Body {
  const { source, ...own } = declared
  // A start at a border is left to the server: it is omitted, and moves with the interval.
  // Left to the service where they are not declared.
  const { channel, channels, displayName: _, tags: __, ...others } = isAtBorder(before) ? omitStart(before) : before
  const hasChannel = declared.channel !== undefined || declared.channels !== undefined
  const otherTarget = source === undefined ? [] : source === 'tile' ? ['savedSearchId', 'groupBy'] : ['dashboardId', 'tileId']
  const kept = Object.entries({ ...others, ...(!hasChannel && { channel, channels }) }).filter(([field]) => !otherTarget.includes(field))
  const merged = withoutNulls({
    ...Object.fromEntries(kept),
    ...own,
    ...(source !== undefined && { source }),
    ...(Object.hasOwn(declared, 'note') && { note: keepTextMarkers(String(declared.note ?? ''), before.note) || null }),
  })
  // An update that leaves the start out keeps it.
  return declared.scheduleStartAt === null ? { ...merged, scheduleStartAt: null } : merged
}
