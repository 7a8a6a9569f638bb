// The API does not show all that is stored of a tile, and a PUT of a dashboard stores every tile again from what the API shows. Where
// someone else made the tiles, this loses parts of them, and an alert on such a tile may count something else.
import { type Diagnostic, diagnosticOf, exceptionOf, type Location, type Rules } from '../../core/diagnostics.ts'
import { nameFirst, plural, quote } from '../../core/text.ts'
import { listOf, type RemoteObject } from '../../resources/resource-type.ts'
import { type Declared, isOf } from '../../resources/resource-types.ts'
import type { Change, Plan } from './change.ts'
import { unmanagedAdoption } from './match.ts'
import { describeAlert } from './protect-alerts.ts'

export const tileWriteRules = {
  'rewrites-tiles': {
    severity: 'error',
    exception: 'warning',
    description:
      'An adoption would write a tile with an alert again, without the parts that the API does not return. `adopt: rewrite` accepts this. `pull` warns of it, and of all tiles that an adoption writes again.',
  },
} as const satisfies Rules

/** Parts of a dashboard that the API does not return, so that a PUT cannot keep them. */
export const hiddenParts =
  'PromQL tiles, and in other tiles the filter (where), limit, granularity, alternateRowBackground and ratioMode that were set in the web app'

const maxNamedTiles = 20

/** Adoptions of dashboards as updates, with the tiles that they write again. */
export const planTileWrites = (changes: readonly Change[]): readonly Change[] =>
  changes.map((change) => {
    const { section, notes, actual } = change
    if (section !== 'dashboards' || actual === undefined || !notes.includes(unmanagedAdoption)) return change
    const rewrites = listOf(actual.tiles).map(({ name }) => quote(String(name ?? ''), 60))
    const named = rewrites.length === 0 ? '' : ` (${nameFirst(rewrites, maxNamedTiles)})`
    const note = `writes ${plural(rewrites.length, 'tile')} again${named}, and loses the parts that the API does not return`
    return { ...change, action: 'update', notes: [...notes, note], rewrites }
  })

/** An error for each dashboard with an alert on a tile that is written again, unless its declaration accepts that. */
export function reviewTileWrites(
  changes: readonly Change[],
  alerts: readonly RemoteObject[],
  objects: readonly Declared[],
): readonly Diagnostic[] {
  const accepted = new Set(objects.filter(isOf('dashboards')).flatMap(({ key, value }) => (value.adopt === 'rewrite' ? [key] : [])))
  const planned = changes.flatMap(({ section, id = 'new', name, desired }): readonly RemoteObject[] =>
    section === 'alerts' && desired !== undefined ? [{ ...desired, id, name }] : [],
  )
  return changes.flatMap(({ key, name, actual, rewrites, location = noLocation }): readonly Diagnostic[] => {
    if (actual === undefined || rewrites === undefined || accepted.has(key)) return []
    const tiles = new Map(listOf(actual.tiles).map((tile) => [tile.id, tile]))
    const found = [...alerts, ...planned].find(
      ({ dashboardId, tileId }: RemoteObject) => tiles.has(tileId) && (dashboardId ?? actual.id) === actual.id,
    )
    if (found === undefined) return []
    const tile = quote(String(tiles.get(found.tileId)?.name), 60)
    const message = `dashboards.${key}: the alert ${describeAlert(found)} is on the tile "${tile}", which this adoption writes again, without the parts that the API does not return (${hiddenParts}). The alert may then count something else. To keep the tile as it is, remove the dashboard from the files and declare only its alerts, with dashboard: { name: ${JSON.stringify(quote(name, 60))} }. To accept the loss, set adopt: rewrite`
    return [diagnosticOf(tileWriteRules, 'rewrites-tiles', location, message)]
  })
}

const noLocation: Location = { file: 'files' }

export const isAboutTileWrites = ({ rule }: Diagnostic): boolean => rule === 'rewrites-tiles'

/** For `pull`, which writes the adoptions into files and leaves the decision to their reader. */
export function warnOfTileWrites({ changes, diagnostics }: Pick<Plan, 'changes' | 'diagnostics'>): readonly Diagnostic[] {
  const keys = changes.flatMap(({ key, rewrites }) => (rewrites === undefined ? [] : [key]))
  if (keys.length === 0) return []
  const message = `apply adopts ${plural(keys.length, 'dashboard')} (${nameFirst(keys, maxNamedTiles)}) and writes their tiles again, without the parts that the API does not return: ${hiddenParts}`
  return [
    exceptionOf(tileWriteRules, 'rewrites-tiles', { file: 'dashboards' }, message),
    ...diagnostics.filter(isAboutTileWrites).map((one) => ({ ...one, severity: 'warning' as const })),
  ]
}
