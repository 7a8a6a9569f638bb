// The server deletes the alerts of a tile, dashboard or saved search together with it, without a warning. Alerts that the files do not
// declare must not be lost in this way.

import type { Alert } from '../../../kinds/alert/alert.ts'
import { composeUpdate } from '../../../kinds/compare.ts'
import { describeStored, type KindWire, listOf, type TargetRemoval } from '../../../kinds/kind.ts'
import { addressOf, kindLabels } from '../../../kinds/kind-names.ts'
import { findLostAlerts, findLostTiles, type LostTile } from '../../../kinds/lost-alerts.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../../platform/core/diagnostics.ts'
import { spellInput } from '../../../platform/core/input-spelling.ts'
import { quote } from '../../../platform/core/text.ts'
import { type Change, changesOf, type Held, isHeld, isPlanned, isWrite, slotOf } from '../change.ts'
import type { Assumed, Guard, Step, Verdict } from '../facts.ts'
import { holdFor, holdStep, pruneLocation } from '../hold.ts'
import type { Hold } from '../identify.ts'

export const alertProtectionRules = {
  'hidden-tile': {
    severity: 'warning',
    description: 'An alert is on a tile that the API does not list, such as a PromQL tile. An update of the dashboard deletes such tiles.',
  },
} as const satisfies Rules

/** A declared alert that the server deletes with what it watches, and that must be created again, is a replacement. */
export const keepAlerts: Guard = ({ steps, assumed }, { storedObjects }) => {
  const changes = steps.map(({ change }) => change)
  const alertsOf = indexByTarget(storedObjects.alert)
  const removals = steps.flatMap((step) => plannedRemoval(step, alertsOf) ?? [])
  const losses = removals.flatMap((removal) => removal.losses)
  const planned = new Map(changesOf(changes, 'alert').map((change) => [change.id, change]))
  const deletesHeld = losses.flatMap(({ alert, cause }) => {
    const change = planned.get(alert.id)
    return change !== undefined && isHeld(change) ? [[cause, change] as const] : []
  })
  const more = assumeMoreHeld(steps, new Map(deletesHeld), assumed)
  if (more !== undefined) return more
  const lossByAlert = new Map(losses.map((loss) => [loss.alert.id, loss]))
  const lostTargets = new Set<unknown>([
    ...removals.flatMap(({ removal: { id }, lostTiles }) => [id, ...lostTiles.map(({ tile }) => tileKey(id, tile.id))]),
    ...losses.map(({ alert, cause }) => tileKey(cause.id, alert.tileId)),
  ])
  const isProtected = ({ alert }: Loss): boolean => {
    const change = planned.get(alert.id)
    if (change === undefined || isHeld(change)) return false
    const { dashboardId, tileId, savedSearchId } = change.desired ?? {}
    return ![tileKey(dashboardId, tileId), savedSearchId].some((target) => lostTargets.has(target))
  }
  const unprotected = losses.filter((loss) => !isProtected(loss))
  const harmful = steps.flatMap(({ change, pair }) => {
    const loss = unprotected.find(({ cause }) => cause === change)
    return loss === undefined || isHeld(change) ? [] : [holdStep({ change, pair }, explainHold(loss, planned.get(loss.alert.id)))]
  })
  if (harmful.length > 0) return { holds: harmful }
  const removalByChange = new Map(removals.map((removal) => [removal.change, removal]))
  return {
    steps: steps.map((step) => {
      const { change, kind } = step
      const loss = planned.get(change.id) === change ? lossByAlert.get(change.id ?? '') : undefined
      return {
        ...step,
        change: loss === undefined ? withRemovedTiles(change, removalByChange.get(change)) : replaceLost(change, loss, kind),
      }
    }),
    diagnostics: changes.flatMap((change) => warnAboutHiddenTiles(change, alertsOf)),
  }
}

/** Undefined where this draft leaves all held alerts as they are. */
function assumeMoreHeld(steps: readonly Step[], deletesHeld: ReadonlyMap<Change, Held>, assumed: Assumed): Verdict | undefined {
  const pairs = new Map(steps.map(({ change, pair }) => [change, pair]))
  const found = [...deletesHeld].map(([cause, alert]) => {
    if (!assumed.held.has(addressOf(alert))) return [addressOf(alert), alert] as const
    const reason = `would delete ${addressOf(alert)}, which is held`
    return [slotOf(cause), isPlanned(cause) ? holdFor({ change: cause, pair: pairs.get(cause) }, alert, reason)[1] : alert] as const
  })
  const more = found.filter(([slot]) => !assumed.held.has(slot))
  return more.length === 0 ? undefined : { holds: more }
}

interface PlannedRemoval {
  readonly change: Change
  readonly removal: TargetRemoval
  readonly lostTiles: readonly LostTile[]
  readonly losses: readonly Loss[]
}

/** Undefined where the change keeps everything that an alert can watch. */
function plannedRemoval({ change, kind }: Step, alertsOf: AlertsOf): PlannedRemoval | undefined {
  if (kind.removal === undefined || change.action === 'create' || change.action === 'held' || change.action === 'unchanged')
    return undefined
  const { stored, desired } = change
  const after = desired && composeUpdate(kind, desired, stored)
  const removal = kind.removal(stored, after, isWrite(change) && change.patchedTileIds !== undefined)
  if (removal === undefined) return undefined
  const lostTiles = findLostTiles(removal.tiles, removal.tilesAfter ?? [])
  const losses = findLostAlerts(removal, alertsOf(removal.id)).map((alert) => toLoss(alert, change, lostTiles))
  return { change, removal, lostTiles, losses }
}

/** A copy of a dashboard, which the web app imports, has the same ids of tiles. */
const tileKey = (dashboardId: unknown, tileId: unknown): string => `${String(dashboardId)} ${String(tileId)}`

interface Loss {
  readonly alert: Alert
  readonly cause: Change
  /** `tile "Error rate" of dashboard "Checkout" is deleted`. */
  readonly reason: string
  /** Whether the API does not list the tile, so that no file can declare an alert on it. */
  readonly isHidden: boolean
}

type AlertsOf = (targetId: string) => readonly Alert[]

/** There may be thousands of alerts and of removals. An alert without a target is found by its tile only. */
function indexByTarget(alerts: readonly Alert[]): AlertsOf {
  const targetsOf = ({ dashboardId, savedSearchId }: Alert) =>
    [dashboardId, savedSearchId].filter((id) => typeof id === 'string' && id !== '')
  const entries = alerts.flatMap((alert) => targetsOf(alert).map((target) => ({ target, alert })))
  const index = Map.groupBy(entries, ({ target }) => target)
  const withoutTarget = alerts.filter((alert) => targetsOf(alert).length === 0)
  return (id) => [...(index.get(id) ?? []).map(({ alert }) => alert), ...withoutTarget]
}

function toLoss(alert: Alert, cause: Change, lostTiles: readonly LostTile[]): Loss {
  const { tileId, savedSearchId } = alert
  const name = quote(cause.name)
  const loss = { alert, cause, isHidden: false }
  if (!tileId || savedSearchId === cause.id) return { ...loss, reason: `${kindLabels[cause.kind]} "${name}" is deleted` }
  const lost = lostTiles.find(({ tile }) => tile.id === tileId)
  if (lost === undefined) return { ...loss, reason: `${hiddenTileOf(cause)} is deleted by every update`, isHidden: true }
  return { ...loss, reason: `tile "${quote(lost.label)}" of dashboard "${name}" ${lost.reason}` }
}

const hiddenTileOf = ({ name }: Change): string => `a tile of dashboard "${quote(name)}" that the API does not list`

/** Deletes come last: the alert has moved before. */
function replaceLost(change: Change, { cause, reason }: Loss, { recreate }: KindWire): Change {
  if (!isWrite(change) || change.action === 'release' || cause.action === 'delete') return change
  const { stored, notes } = change
  const note = `${reason}, and the server deletes the alert with it, so apply creates the alert again`
  return { ...change, action: 'replace', desired: recreate?.(change.desired, stored) ?? change.desired, notes: [...notes, note] }
}

/** Apply notices a new alert by them. */
function withRemovedTiles(change: Change, removal: PlannedRemoval | undefined): Change {
  if (removal === undefined || !isWrite(change)) return change
  const { lostTiles, losses } = removal
  const tiles = lostTiles.flatMap(({ tile }) => (typeof tile.id === 'string' ? [tile.id] : []))
  return tiles.length === 0 ? change : { ...change, removes: { tiles, alerts: losses.map(({ alert }) => alert.id) } }
}

function explainHold({ alert, cause, reason, isHidden }: Loss, change: Change | undefined): Hold {
  const undeclared = isHidden ? 'move it to another tile, or delete it first' : 'declare the alert, or move or delete it first'
  return {
    reason: `${reason}, and with it the alert ${describeStored(alert)}${isHidden ? ', which no file can declare there' : ''}`,
    remedies: [
      change === undefined ? undeclared : 'move it to another tile',
      ...(cause.action === 'delete' ? [`${spellInput('prune', 'forget')} keeps both, and only removes the marker`] : []),
    ],
  }
}

function warnAboutHiddenTiles(change: Change, alertsOf: AlertsOf): readonly Diagnostic[] {
  if (change.action !== 'unchanged') return []
  const { stored, location = pruneLocation } = change
  const listed = new Set(listOf(stored.tiles).map(({ id }) => id))
  return alertsOf(stored.id).flatMap((alert): readonly Diagnostic[] => {
    if (alert.dashboardId !== stored.id || !alert.tileId || listed.has(alert.tileId)) return []
    const message = `${addressOf(change)}: the alert ${describeStored(alert)} is on ${hiddenTileOf(change)}; the dashboard may have more such tiles, and an update would delete them`
    return [diagnosticOf(alertProtectionRules, 'hidden-tile', location, message)]
  })
}
