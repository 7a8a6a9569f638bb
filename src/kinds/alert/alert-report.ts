import { formatMoment } from '../../core/dates.ts'
import { type Line, say, sentence, textOrDash, trusted, untrusted } from '../../core/line.ts'
import { type Selectable, selectInput } from '../../operation/select.ts'
import type { Block } from '../../report/blocks.ts'
import { readTextMarker, textStyle } from '../marker.ts'
import { type Owners, ownerCell, selectableOwner } from '../owner.ts'
import { type Alert, alertStates, describeThreshold } from './alert.ts'

/** `≥ 5 over 5m`, `between 5 and 9 over 5m`. */
const conditionOf = (alert: Alert): Line => say`${describeThreshold(alert)} over ${textOrDash(alert.interval)}`

export const alertFacts = (alert: Alert): Block => ({
  kind: 'facts',
  facts: [
    { label: 'Name', value: [textOrDash(alert.name)] },
    { label: 'State', value: [textOrDash(alert.state)] },
    { label: 'Condition', value: conditionOf(alert) },
    { label: 'Dashboard', value: [textOrDash(alert.dashboardId)] },
    { label: 'Tile', value: [textOrDash(alert.tileId)] },
    { label: 'Id', value: [untrusted(alert.id)] },
  ],
})

type Names = Readonly<Record<string, string>>

interface ListedAlerts {
  readonly alerts: readonly Alert[]
  readonly names: Names
  readonly namesFailure?: string | undefined
  readonly owners: Owners
  readonly silencedUntil: Readonly<Record<string, string>>
}

export const selectAlerts = (description: string) =>
  selectInput(description, ['name', 'key', 'state', 'project', 'managed', 'unmanaged'], { state: alertStates })

export const selectableAlert = (alert: Alert): Selectable => ({
  name: alert.name,
  state: alert.state,
  ...selectableOwner(readAlertMarker(alert), textStyle),
})

/** Without a profile, the marker is in the message. */
export const readAlertMarker = ({ note, message }: Alert) => readTextMarker(note) ?? readTextMarker(message)

const silenceCell = ({ id }: Alert, silencedUntil: ListedAlerts['silencedUntil']): Line => {
  const until = silencedUntil[id]
  return [trusted(until === undefined ? '–' : formatMoment(until))]
}

/** Once, where ids are shown in place of names. */
export function missingNames({ alerts, names, namesFailure }: ListedAlerts): readonly Block[] {
  const isShown = alerts.flatMap((alert) => [watchedId(alert), ...webhookIds(alert)]).some((id) => id !== '' && names[id] === undefined)
  if (namesFailure === undefined || !isShown) return []
  return [{ kind: 'paragraph', line: say`Ids are shown in place of names that could not be read: ${sentence(namesFailure)}` }]
}

/** A column that is empty for every alert is left out. */
export function alertTable({ alerts, names, owners, silencedUntil }: ListedAlerts): Block {
  const isSilenced = Object.keys(silencedUntil).length > 0
  const hasErrors = alerts.some(({ executionErrors }) => executionErrors?.length)
  return {
    kind: 'table',
    columns: [
      ...['Name', 'State', 'Condition', 'On', 'Channel', 'Owner'],
      ...(isSilenced ? ['Silenced until'] : []),
      ...(hasErrors ? ['Last error'] : []),
      'Id',
    ].map((title) => ({ title })),
    rows: alerts.map((alert) => [
      [textOrDash(alert.name)],
      [textOrDash(alert.state)],
      conditionOf(alert),
      [textOrDash(nameOrId(watchedId(alert), names))],
      [
        textOrDash(
          channelsIn(alert)
            .map(({ webhookId, type }) => nameOrId(webhookId, names) ?? type)
            .join(', '),
        ),
      ],
      ownerCell(alert, owners),
      ...(isSilenced ? [silenceCell(alert, silencedUntil)] : []),
      ...(hasErrors ? [lastErrorOf(alert)] : []),
      [untrusted(alert.id)],
    ]),
  }
}

const nameOrId = (id: string | null | undefined, names: Names): string | null | undefined => (id ? (names[id] ?? id) : id)

/** The dashboard or the saved search that the alert is on. */
export const watchedId = ({ dashboardId, savedSearchId }: Alert): string =>
  typeof savedSearchId === 'string' ? savedSearchId : (dashboardId ?? '')

/** Servers before 2.36 answer a single channel. */
const channelsIn = ({ channel, channels }: Alert) => channels ?? (channel ? [channel] : [])

export const webhookIds = (alert: Alert): readonly string[] => channelsIn(alert).flatMap(({ webhookId }) => webhookId ?? [])

const lastErrorOf = ({ executionErrors }: Alert): Line => {
  const last = executionErrors?.at(-1)
  return last ? say`${textOrDash(last.type)}: ${textOrDash(last.message)}` : [trusted('–')]
}

export const executionErrorTable = ({ executionErrors }: Alert): Block => ({
  kind: 'table',
  title: 'Errors of the last evaluation',
  columns: [{ title: 'Time' }, { title: 'Type' }, { title: 'Message' }],
  rows: (executionErrors ?? []).map(({ timestamp, type, message }) => [
    [textOrDash(timestamp)],
    [textOrDash(type)],
    message ? sentence(message) : [trusted('–')],
  ]),
})
