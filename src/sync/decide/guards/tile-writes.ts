// A PUT of a dashboard stores every tile again from what the API shows, without the parts that it hides. An alert on such a tile may then count
// something else. A patch, which some servers have, leaves every tile that it does not name.

import { toAdoptedId } from '../../../kinds/base.ts'
import { compareBodies, composeUpdate, withWrittenDefaults } from '../../../kinds/compare.ts'
import { canPatchTile } from '../../../kinds/dashboard/patch-dashboard.ts'
import { type Body, describeStored, type Kind, type KindWire, listOf, type StoredObject } from '../../../kinds/kind.ts'
import { type Diagnostic, diagnosticOf, type Location, type Rules } from '../../../platform/core/diagnostics.ts'
import { isSame } from '../../../platform/core/equality.ts'
import { spellInput, spellVariable } from '../../../platform/core/input-spelling.ts'
import { capitalize, namesAtMost, plural, quote } from '../../../platform/core/text.ts'
import { type Change, changesOf, isHeld, isTakeover, isWrite, type Plan, type Write } from '../change.ts'
import type { Guard } from '../facts.ts'
import { holdStep } from '../hold.ts'
import type { Hold } from '../identify.ts'

export const tileWriteRules = {
  'rewrites-tiles': {
    severity: 'warning',
    description:
      'A tile would be written again in a dashboard that existed before, without the parts that the API does not return. While an alert is on such a tile, the dashboard is held. A decision in `adopt` accepts this.',
  },
  'hidden-parts': {
    severity: 'note',
    description:
      'A dashboard is written that only these files are known to change. If someone else gave it parts that the API does not return, they are lost.',
  },
  'missing-language': {
    severity: 'warning',
    description: 'A tile of an adopted dashboard has no language for a condition. An adoption that writes only the marker does not add it.',
  },
} as const satisfies Rules

const page = 'https://github.com/watchkeeper/watchkeeper/blob/main/docs/self-hosted.md#what-the-api-does-not-show'
const hiddenParts = `the filter (where), granularity and limit of a chart, colors of table columns, PromQL tiles where all tiles are written, and others. See ${page}`

const maxNamedTiles = 20

interface TileWriteOptions {
  readonly kind: Kind
  readonly canPatch: boolean
  readonly rewrite: boolean
}

export const keepHiddenParts: Guard = ({ steps, assumed }, { storedObjects, kinds, rewrite = false }) => {
  const { canPatch } = assumed
  const options = { kind: kinds.dashboard, canPatch, rewrite }
  const planned = steps.map((step) => (isDashboardWrite(step.change) ? { ...step, change: planTileWrite(step.change, options) } : step))
  const changes = planned.map(({ change }) => change)
  const declared = changesOf(changes, 'alert').flatMap(({ id = 'new', name, desired }): readonly StoredObject[] =>
    desired === undefined ? [] : [{ ...desired, id, name }],
  )
  const alertsByTile = Map.groupBy([...storedObjects.alert, ...declared], ({ tileId }) => tileId)
  const written = changes.filter(isDashboardWrite)
  const refused = planned.flatMap(({ change, pair }) => {
    if (pair === undefined || !isDashboardWrite(change) || change.action === 'release') return []
    if (!isOfOthers(change, options) || isDecided(change)) return []
    const hold = findLosses(change, alertsByTile, options.kind)
    return hold === undefined ? [] : [holdStep({ change, pair }, hold)]
  })
  if (refused.length > 0) return { holds: refused }
  const diagnostics = written.flatMap((change) =>
    isAdoption(change) && change.patchedTileIds?.length === 0 ? missingLanguage(change, options.kind) : [],
  )
  const unaccepted = written.filter((change) => writtenTiles(change, options.kind).length > 0 && !isDecided(change))
  return { steps: planned, diagnostics: [...diagnostics, ...reportLosses(unaccepted)] }
}

export const dependsOnPatches = ({ changes, diagnostics }: Plan): boolean =>
  diagnostics.some(({ rule }) => rule === 'kept-duplicate') ||
  changes.some((change) => isDashboardWrite(change) || (change.kind === 'dashboard' && (isHeld(change) || isTracked(change))))

const isDecided = (change: Write): boolean => 'isDecided' in change && change.isDecided === true

const isTracked = (change: Change): boolean => 'isTracked' in change && change.isTracked === true

const isDashboardWrite = (change: Change): change is Write =>
  change.kind === 'dashboard' && isWrite(change) && change.action !== 'unchanged'

const isAdoption = (change: Change): boolean => isTakeover(change) && change.takeover === 'unmanaged'

/** A server without patches stores all tiles again with the adoption. */
const isOfOthers = (change: Write, { kind, canPatch }: TileWriteOptions): boolean =>
  isAdoption(change) || (canPatch && kind.readMarker(kind.toBody(change.stored))?.isAdopted === true)

function planTileWrite(change: Write, options: TileWriteOptions): Write {
  const { action, notes, keptTiles } = change
  const isRewritten = options.rewrite && action !== 'release'
  const patchedTileIds = options.canPatch && !isRewritten ? tilesToPatch(change, options.kind) : undefined
  const result: Write = patchedTileIds === undefined ? change : { ...change, patchedTileIds }
  const keeps = patchedTileIds === undefined && keptTiles?.haveOthers === true
  const mayLose = isOfOthers(change, options) || keeps || action === 'mark' || change.action === 'release' || change.origin === 'service'
  if (patchedTileIds?.length === 0 || !mayLose) return result
  const rewrites = writtenTiles(result, options.kind).map(nameTile)
  // A dashboard without tiles has nothing that the API does not return.
  if (rewrites.length === 0) return result
  if (!isOfOthers(change, options)) return { ...result, rewrites }
  const note = `writes ${plural(rewrites.length, 'tile')} again (${namesAtMost(maxNamedTiles, rewrites)}), and loses the parts that the API does not return`
  const written = { ...result, notes: [...notes, note], rewrites }
  return written.action === 'adopt' ? { ...written, action: 'update' } : written
}

const nameTile = ({ name }: Body): string => quote(String(name || 'a tile without a name'))

function writtenTiles({ stored, desired, patchedTileIds }: Write, kind: KindWire): readonly Body[] {
  const ids: readonly unknown[] = patchedTileIds ?? [...tilesById(composeUpdate(kind, desired, stored)).keys()]
  return listOf(stored.tiles).filter(({ id }) => ids.includes(id))
}

/** Undefined for a change that needs a PUT. */
function tilesToPatch({ stored, desired, fields }: Write, kind: KindWire): readonly string[] | undefined {
  if (fields.some(({ path }) => !/^(?:name|tags|tiles)(?!\w)/.test(path))) return undefined
  if (!fields.some(({ path }) => path.startsWith('tiles'))) return []
  const { before, after } = compareBodies(kind, desired, stored)
  const storedTiles = tilesById(before)
  const declared = tilesById(after)
  const ids = [...declared.keys()]
  const areUnique = storedTiles.size === listOf(stored.tiles).length && declared.size === listOf(after.tiles).length
  if (!areUnique || storedTiles.size !== declared.size || !ids.every((id) => storedTiles.has(id))) return undefined
  const bodies = tilesById(composeUpdate(kind, desired, stored))
  const differing = ids.filter((id) => !isSame(storedTiles.get(id), declared.get(id)))
  // The tool keeps a container that a patch leaves out.
  const isInContainer = (id: unknown): boolean =>
    ['containerId', 'tabId'].every((field) => storedTiles.get(id)?.[field] === undefined || declared.get(id)?.[field] !== undefined)
  return differing.every((id) => isInContainer(id) && canPatchTile(bodies.get(id) ?? {})) ? differing.map(String) : undefined
}

const tilesById = ({ tiles }: Body): ReadonlyMap<unknown, Body> => new Map(listOf(tiles).map((tile) => [tile.id, tile]))

/** Undefined where no alert is on the tiles. */
function findLosses(change: Write, alertsByTile: ReadonlyMap<unknown, readonly StoredObject[]>, kind: Kind): Hold | undefined {
  const { name, stored, rewrites } = change
  const tiles = rewrites === undefined ? [] : writtenTiles(change, kind)
  const names = new Map(tiles.map((tile) => [tile.id, tile.name ? `the tile "${nameTile(tile)}"` : nameTile(tile)]))
  const found = [...names.keys()]
    .flatMap((id) => alertsByTile.get(id) ?? [])
    .filter(({ dashboardId }) => (dashboardId ?? stored.id) === stored.id)
  if (found.length === 0) return undefined
  // A declared alert that exists is in both lists. New ones have no id yet.
  const once = [...new Map(found.map((one) => [one.id === 'new' ? one : one.id, one])).values()]
  const described = once.map((one) => `${describeStored(one)} on ${names.get(one.tileId)}`)
  return {
    reason: `apply would write tiles with alerts again, without the parts that the API does not return, and the alerts may then count something else: ${namesAtMost(10, described)}`,
    remedies: [
      `to accept the loss, set adopt to ${toAdoptedId(kind, stored, change.desired, 'files')}`,
      toLoseNothing(),
      `to keep the tiles as they are, remove the dashboard from the files and declare only its alerts, with dashboard: { name: ${JSON.stringify(quote(name))} }`,
    ],
  }
}

const toLoseNothing = () => `to lose nothing, make the change in the web app, then run pull with ${spellInput('only', 'declared')}`

/** The API does not show a language that a series lacks, but that of a link. */
function missingLanguage({ key, stored, location = noLocation }: Write, kind: KindWire): readonly Diagnostic[] {
  const body = kind.toBody(stored)
  const stated = tilesById(withWrittenDefaults(body, kind.schema))
  const lacking = listOf(body.tiles).find((tile) => !isSame(tile, stated.get(tile.id) ?? tile))
  if (lacking === undefined) return []
  const message = `dashboards.${key}: the tile "${quote(String(lacking.name))}" has no language for a condition, and readers of the dashboard assume different ones. To add it, run apply once with ${spellVariable('repair', 'rewrite')}, which writes all tiles again`
  return [diagnosticOf(tileWriteRules, 'missing-language', location, message)]
}

const noLocation: Location = { file: 'files' }

/** A warning for all dashboards that someone else may have changed, and a note for the others, because the parts are the same. */
function reportLosses(changes: readonly Write[]): readonly Diagnostic[] {
  const [likely = [], others = []] = [true, false].map((isLikely) =>
    changes.filter(({ rewrites }) => isLikely === (rewrites !== undefined)),
  )
  const keysOf = (list: readonly Write[]): string =>
    namesAtMost(
      maxNamedTiles,
      // No file has the key of a dashboard that was made.
      list.map((one) => (('madeFrom' in one && one.madeFrom) || one.key === '' ? quote(one.name) : one.key)),
    )
  const warning = `apply writes tiles of ${plural(likely.length, 'existing dashboard')} again (${keysOf(likely)}), without the parts that the API does not return. ${capitalize(toLoseNothing())}. These parts are ${hiddenParts}`
  const note = `apply writes tiles of ${plural(others.length, 'dashboard')} again (${keysOf(others)}). Parts that someone added in the web app, and that the API does not return, are lost: ${hiddenParts}`
  return [
    ...likely.slice(0, 1).map(({ location = noLocation }) => diagnosticOf(tileWriteRules, 'rewrites-tiles', location, warning)),
    ...others.slice(0, 1).map(({ location = noLocation }) => diagnosticOf(tileWriteRules, 'hidden-parts', location, note)),
  ].map((one) => ({ ...one, page }))
}
