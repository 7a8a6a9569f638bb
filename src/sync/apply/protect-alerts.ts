// These checks come right before a write, for alerts that did not exist when the plan was made.

import type { Alert } from '../../kinds/alert/alert.ts'
import { describeStored, type KindRules, listOf } from '../../kinds/kind.ts'
import { findLostAlerts } from '../../kinds/lost-alerts.ts'
import type { List } from '../../platform/api/collection.ts'
import type { Delete, Write } from '../decide/change.ts'
import { describeUsers } from '../decide/guards/uses.ts'

/** Undefined without a reason against removing the tiles. */
export function whyTilesStay({ stored, removes, patchedTileIds }: Write, { items, mayBeCut }: List<Alert>): string | undefined {
  if (mayBeCut) return incompleteList
  if (removes === undefined) return undefined
  const tiles = listOf(stored.tiles)
  const tilesAfter = tiles.filter(({ id }) => typeof id !== 'string' || !removes.tiles.includes(id))
  const lost = findLostAlerts({ id: stored.id, tiles, tilesAfter, isPatch: patchedTileIds !== undefined }, items)
  const alert = lost.find(({ id }) => !removes.alerts.includes(id))
  return alert && `the alert ${describeStored(alert)} was added to a tile that the update deletes, and would be deleted with it`
}

export const mayHoldAlerts = ({ removal, findUse }: KindRules): boolean => removal !== undefined || findUse !== undefined

/** Undefined without a reason against it. */
export function whyNotDeleted(change: Delete, { items, mayBeCut }: List<Alert>, kind: KindRules): string | undefined {
  if (!mayHoldAlerts(kind)) return undefined
  if (mayBeCut) return incompleteList
  if (kind.findUse !== undefined) return describeUsers(change, items, kind)
  const removal = kind.removal?.(change.stored, undefined, false)
  const [alert] = removal === undefined ? [] : findLostAlerts(removal, items)
  return alert && `the alert ${describeStored(alert)} is on it and would be deleted with it`
}

const incompleteList = 'the list of alerts may be incomplete, because it is as long as a page'
