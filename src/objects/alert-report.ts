import { type Alert, alertStates, describeCondition } from '../kinds/alert/alert.ts'
import { storedLabelOf, withWatchedNames } from '../kinds/kind.ts'
import { alertMarkers, withoutMarkerTags } from '../kinds/marker.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { type Line, say, textOrDash, trusted, untrusted, untrustedSentence } from '../platform/core/line.ts'
import { type Selectable, selectInput } from '../platform/operation/select.ts'
import type { Block } from '../platform/report/blocks.ts'
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
