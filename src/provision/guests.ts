// Owns the alerts that came onto something that is about to go: the server would delete them with it, without a word.
import type { Alert } from '../api/alerts.ts'
import { quote } from '../kernel/text.ts'
import type { Change } from './change.ts'

/** Who would go with the tiles that an update takes away, although the plan did not see them there. */
export function guestOnTiles({ takes }: Change, alerts: readonly Alert[]): string | undefined {
  const guest = alerts.find(({ id, tileId }) => takes?.tiles.includes(tileId ?? '') && !takes.alerts.includes(id))
  return guest && `the alert ${wordsFor(guest)} was put onto a tile that would go, and would go with it`
}

/** Who would go with a dashboard or saved search. */
export function guestOn({ section, id }: Change, alerts: readonly Alert[]): string | undefined {
  if (section === 'alerts') return undefined
  const guest = alerts.find((alert) => alert.dashboardId === id || alert.savedSearchId === id)
  return guest && `the alert ${wordsFor(guest)} hangs on it and would go with it`
}

const wordsFor = ({ id, name }: Alert): string => `"${quote(name ?? '', 60)}" (${id})`
