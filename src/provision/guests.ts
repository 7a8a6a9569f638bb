// Owns the alerts that came onto something that is about to go: the server would delete them with it, without a word.
import type { Alert } from '../api/alerts.ts'
import type { List } from '../api/collection.ts'
import { quote } from '../kernel/text.ts'
import type { Change } from './change.ts'

const unseen = 'there may be alerts that nobody sees, because their list is as long as a page can be'

/** Who would go with the tiles that an update takes away, although the plan did not see them there. */
export function guestOnTiles({ takes }: Change, { items, mayBeCut }: List<Alert>): string | undefined {
  if (mayBeCut) return unseen
  const guest = items.find(({ id, tileId }) => takes?.tiles.includes(tileId ?? '') && !takes.alerts.includes(id))
  return guest && `the alert ${wordsFor(guest)} was put onto a tile that would go, and would go with it`
}

/** Who would go with a dashboard or saved search. */
export function guestOn({ section, id }: Change, { items, mayBeCut }: List<Alert>): string | undefined {
  if (section === 'alerts') return undefined
  if (mayBeCut) return unseen
  const guest = items.find((alert) => alert.dashboardId === id || alert.savedSearchId === id)
  return guest && `the alert ${wordsFor(guest)} hangs on it and would go with it`
}

const wordsFor = ({ id, name }: Alert): string => `"${quote(name ?? '', 60)}" (${id})`
