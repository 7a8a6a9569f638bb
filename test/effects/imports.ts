// Dashboards of the web app, imported there and by `import` and `apply`. What is stored must be the same, except for what `import` names.

import { createKinds } from '../../src/kinds/kinds.ts'
import { type ProfileName, profileNamed } from '../../src/platform/api/profiles.ts'
import { type DashboardOutcome, translateDashboard } from '../../src/tools/import/web-app.ts'
import type { Site } from '../support/site.ts'
import type { Json } from './product.ts'
import { differencesOf, listOf, meaningOfDashboard } from './stored.ts'

/** The same document, stored in both ways, with names in place of ids. */
export interface StoredTwice {
  readonly declared: Json
  readonly webApp: Json
  readonly applied: Json
}

/** Parts of a document that somebody decides, with names in place of ids. */
export function withNames(stored: Json, nameOf: ReadonlyMap<string, string>): Json {
  const fields = ['name', 'tags', 'tiles', 'filters', 'containers', 'savedQuery', 'savedQueryLanguage', 'savedFilterValues']
  const withoutIds = (list: unknown): readonly Json[] => listOf(list).map(({ id: _, ...rest }) => rest)
  const replaced = JSON.parse(JSON.stringify(stored), (_, value: unknown) =>
    typeof value === 'string' ? (nameOf.get(value) ?? value) : value,
  ) as Json
  const kept = Object.fromEntries(Object.entries(replaced).filter(([field]) => fields.includes(field)))
  return { ...kept, tiles: withoutIds(replaced.tiles), filters: withoutIds(replaced.filters) }
}

/** Words of a loss, for fields whose names it does not have. */
const words: Readonly<Record<string, RegExp>> = {
  whereLanguage: /where|language/,
  aggCondition: /aggCondition|condition of each series/,
  aggConditionLanguage: /language|condition of each series/,
  onClick: /click/,
  tabId: /containerId/,
}

const isLeftOut = (loss: string): boolean => loss.startsWith('the tile is left out')

interface Pair {
  readonly label: string
  readonly losses: readonly string[]
  readonly webApp: Json
  readonly applied: Json | undefined
}

type Losses = DashboardOutcome['losses']

const lossesOf = (all: Losses, tile: string | undefined): readonly string[] => all.flatMap((one) => (one.tile === tile ? [one.loss] : []))

/** The tiles that both have, in the order of the document. */
function pairTiles({ webApp, applied }: Omit<StoredTwice, 'declared'>, all: Losses): readonly Pair[] {
  const labelled = listOf(webApp.tiles).map((tile, i) => {
    const label = String((tile.config as Json).name || `Tile ${i + 1}`)
    return { label, losses: lossesOf(all, label), webApp: tile }
  })
  return labelled.filter(({ losses }) => !losses.some(isLeftOut)).map((one, i) => ({ ...one, applied: listOf(applied.tiles)[i] }))
}

/** Differences that no loss names, and losses without a difference. */
export function unexplained({ webApp, applied }: Omit<StoredTwice, 'declared'>, losses: Losses): readonly string[] {
  const [one = {}, other = {}] = [webApp, applied].map(meaningOfDashboard)
  const pairs = pairTiles({ webApp: one, applied: other }, losses)
  if (pairs.length !== listOf(other.tiles).length) return [`${pairs.length} tiles / ${listOf(other.tiles).length}`]
  const rest = ({ tiles: _, ...document }: Json): Json => document
  const parts = [{ label: 'dashboard', losses: lossesOf(losses, undefined), webApp: rest(one), applied: rest(other) }, ...pairs]
  return parts.flatMap((part) => {
    const named = part.losses.join('\n')
    const differences = differencesOf(part.webApp, part.applied)
    const unnamed = differences.filter((difference) => !isNamed(difference, named))
    const lacking = differences.length === 0 && named !== '' ? [`no difference for: ${named}`] : []
    return [...unnamed, ...lacking].map((text) => `${part.label}: ${text}`)
  })
}

/** Whether the losses have the name of the field that differs. */
function isNamed(difference: string, losses: string): boolean {
  const path = (/^[^:]*/.exec(difference)?.[0] ?? '').split('.')
  // A whole series.
  if (/^\d+$/.test(path.at(-1) ?? '')) return losses.includes('series') || losses.includes(path[0] ?? '')
  return path.some((part) => !/^(?:\d+|config|select|filters)$/.test(part) && (words[part]?.test(losses) ?? losses.includes(part)))
}

interface Importing {
  readonly site: Site
  readonly profile: ProfileName
  readonly documents: readonly Json[]
  /** Ids by name. */
  readonly ids: Readonly<Record<'sources' | 'connections', Readonly<Record<string, string>>>>
  /** Imports the documents in the web app. Returns the ids of the dashboards. */
  importInWebApp(documents: readonly Json[]): Promise<readonly string[]>
  dump(): Promise<readonly Json[]>
  /** The SQL of the tiles. */
  render(configs: readonly Json[]): Promise<readonly string[]>
}

interface Findings {
  readonly exact: number
  readonly changed: number
  readonly queries: number
  readonly differences: readonly string[]
  readonly stored: Readonly<Record<string, StoredTwice>>
}

const isChart = ({ configType, displayType }: Json): boolean => configType === undefined && displayType !== 'markdown'

/** Imports the documents in both ways, and compares what is stored, and the queries of tiles without a loss. */
export async function checkImports({ site, profile, documents, ids, ...server }: Importing): Promise<Findings> {
  const kind = createKinds(profileNamed(profile), 0).dashboard
  // ClickHouse Cloud has no names of connections.
  const connections = new Map(profile === 'hyperdx' ? [] : Object.entries(ids.connections))
  const outcomes = documents.map((document) => translateDashboard(document, 'a.json', { kind, connections, webhooks: new Map() }))
  const webIds = await server.importInWebApp(documents)
  // The web app has made dashboards of the same names.
  const dashboards = Object.fromEntries(outcomes.map(({ declared }, i) => [`d${i}`, { ...declared, adopt: false }]))
  const { objects, diagnostics } = await site.apply({ 'a.json': { dashboards } }, { project: 'watchkeeper/effects-imports' })
  const failed = [...diagnostics.filter(({ severity }) => severity === 'error'), ...objects].flatMap(({ message }) => message ?? [])
  if (failed.length > 0) throw new Error(failed.join('\n'))
  const dumped = new Map((await server.dump()).map((one) => [String(one._id), one]))
  const all = outcomes.map(({ title, result, losses, declared = {} }, i) => {
    const find = (id = ''): Json => dumped.get(id) ?? {}
    return { title, result, losses, declared, webApp: find(webIds[i]), applied: find(objects.find(({ key }) => key === `d${i}`)?.id) }
  })
  const charts = all
    .flatMap(({ losses, ...both }) => pairTiles(both, losses))
    .filter(({ losses, webApp }) => losses.length === 0 && isChart(webApp.config as Json))
  const [before = [], after = []] = await Promise.all(
    (['webApp', 'applied'] as const).map((writer) => server.render(charts.map((one) => one[writer]?.config as Json))),
  )
  const names = [...Object.entries(ids.sources), ...Object.entries(ids.connections)].map(([name, id]) => [id, name] as const)
  const nameOf = new Map([...[...dumped].map(([id, { name }]) => [id, String(name)] as const), ...names])
  const stored = Object.fromEntries(
    all.map(({ title, declared, webApp, applied }) => [
      title,
      { declared, webApp: withNames(webApp, nameOf), applied: withNames(applied, nameOf) },
    ]),
  )
  return {
    exact: all.filter(({ result }) => result === 'exact').length,
    changed: all.filter(({ result }) => result === 'changed').length,
    queries: before.length,
    differences: [
      ...all.flatMap(({ title, losses, ...both }) => unexplained(both, losses).map((text) => `${title}: ${text}`)),
      ...before.flatMap((query, i) => (query === after[i] ? [] : [`${charts[i]?.label}: ${query} / ${after[i]}`])),
    ],
    stored,
  }
}
