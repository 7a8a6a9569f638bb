// Adopted dashboards with parts that the API does not show: the product's templates, and one made by hand. Their stored documents are read
// before and after an adoption, a changed tile and an added tile. Only what the documents name may be lost, in the tiles that the plan names.
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Site, SiteFiles } from '../support/site.ts'
import type { References } from './as-declared.ts'
import type { Json } from './product.ts'
import { differencesOf, listOf, meaningOfDashboard } from './stored.ts'

interface Adopting {
  readonly site: Site
  readonly references: Pick<References, 'sources' | 'connection'>
  /** A checkout of the product. */
  readonly checkout: string
  /** Whether the server can patch dashboards. */
  readonly canPatch: boolean
  /** Stores a dashboard as the web app does. Returns its id. */
  create(dashboard: Json): Promise<string>
  dump(): Promise<readonly Json[]>
}

/** Differences, and how many hidden parts were lost where the plan says so. */
interface Findings {
  lost: number
  readonly differences: string[]
}

const inputs = { project: 'watchkeeper/effects-hidden' }

/** The fields that the document for users names. */
const documentedParts: ReadonlySet<string> = new Set(
  (
    /\n## What the API does not show\n([\s\S]*?)\n## /.exec(
      readFileSync(new URL('../../docs/self-hosted.md', import.meta.url), 'utf8'),
    )?.[1] ?? ''
  )
    .matchAll(/`(\w+)`/g)
    .map(([, field = '']) => field),
)

export async function checkHiddenParts(adopting: Adopting): Promise<Findings & { readonly ids: readonly string[] }> {
  const { site, canPatch } = adopting
  const ids: string[] = []
  for (const dashboard of [...templatesOf(adopting), madeByHand(adopting)]) ids.push(await adopting.create(dashboard))
  const { writtenFiles } = await site.pull({}, undefined, inputs)
  const files = Object.fromEntries(writtenFiles.map(({ path, content }) => [path, parse(content) as Json]))
  const findings: Findings = { lost: 0, differences: [] }
  const check = (
    name: string,
    change: (tiles: readonly Json[]) => readonly Json[],
    { rewrites, written = rewrites }: Pick<Step, 'rewrites'> & Partial<Step>,
  ) => checkStep({ name, files: withTiles(files, change), rewrites, written }, adopting, findings)
  const none: TileNames = () => []
  const all: TileNames = (tiles) => tiles
  const renamed = ([first, ...others]: readonly Json[]): readonly Json[] => [{ ...first, name: `${first?.name} (renamed)` }, ...others]
  // A server that cannot patch gets no marker for what is as the file has it.
  await check('adopted', (tiles) => tiles, { rewrites: none })
  await check('a tile changed', renamed, { rewrites: canPatch ? (tiles) => tiles.slice(0, 1) : all })
  const added: Json = { name: 'Added', config: { displayType: 'markdown', markdown: 'Added' } }
  // What an earlier write of all tiles has lost needs no name.
  await check('a tile added', (tiles) => [...renamed(tiles), added], { rewrites: canPatch ? all : none, written: all })
  return { ids, ...findings }
}

const withTiles = (files: Readonly<Record<string, Json>>, change: (tiles: readonly Json[]) => readonly Json[]): SiteFiles =>
  Object.fromEntries(
    Object.entries(files).map(([path, content]) => {
      const dashboards = Object.entries(content.dashboards as Readonly<Record<string, Json>>)
      const edited = dashboards.map(([key, one]) => [key, { ...one, tiles: change(listOf(one.tiles)) }] as const)
      return [path, { ...content, dashboards: Object.fromEntries(edited) }]
    }),
  )

/** The names of some tiles, of all that the API shows. */
type TileNames = (tiles: readonly string[]) => readonly string[]

interface Step {
  readonly name: string
  readonly files: SiteFiles
  /** The tiles that the plan must name as written again. */
  readonly rewrites: TileNames
  /** The tiles that may be written. */
  readonly written: TileNames
}

/** Applies the files, and compares each dashboard before and after. */
async function checkStep({ name, files, rewrites, written }: Step, { site, dump }: Adopting, findings: Findings): Promise<void> {
  const before = await dump()
  const { objects, diagnostics } = await site.plan(files, inputs)
  const applied = await site.apply(files, inputs)
  const again = await site.plan(files, inputs)
  const after = new Map((await dump()).map((one) => [one._id, one]))
  const isWarned = diagnostics.some(({ rule }) => rule === 'rewrites-tiles')
  const found = before.map((one) => {
    const shown = listOf(one.tiles).filter(isShown).map(nameOf)
    const expected = rewrites(shown)
    const named = objects.find(({ id }) => id === String(one._id))?.rewrites ?? []
    const { lost, unsaid } = compare(one, after.get(one._id) ?? {}, written(shown))
    findings.lost += lost.length
    const wrong = JSON.stringify(named) === JSON.stringify(expected) ? [] : [`the plan names the tiles ${named}, and not ${expected}`]
    const unnamed = lost.filter((part) => !documentedParts.has(part)).map((part) => `the document does not name ${part}`)
    if (lost.length > 0 && !isWarned) unnamed.push('the plan does not warn')
    return [...wrong, ...unnamed, ...unsaid].map((text) => `${one.name}: ${text}`)
  })
  const failed = applied.objects.flatMap(({ key, message }) => (message === undefined ? [] : [`${key}: ${message}`]))
  const problems = [...failed, ...(again.changed ? ['a plan after apply is not empty'] : []), ...found.flat()]
  findings.differences.push(...problems.map((text) => `${name}, ${text}`))
}

const nameOf = ({ config }: Json): string => String((config as Json).name ?? '')

/** The API lists no PromQL tiles. */
const isShown = ({ config }: Json): boolean => (config as Json).configType !== 'promql'

interface Comparison {
  /** The fields that tiles have lost that were written again; `promql` for a tile that is gone. */
  readonly lost: readonly string[]
  readonly unsaid: readonly string[]
}

/** Compares stored documents. A tile that was not written must stay as it is, to the letter. */
function compare(before: Json, after: Json, written: readonly string[]): Comparison {
  const lost: string[] = []
  const unsaid: string[] = []
  const writesAll = written.length > 1
  const afterById = new Map(listOf(after.tiles).map((tile) => [tile.id, tile]))
  for (const tile of listOf(before.tiles)) {
    const other = afterById.get(tile.id)
    if (other === undefined) {
      if (writesAll && !isShown(tile)) lost.push('promql')
      else unsaid.push(`the tile ${nameOf(tile)} is gone`)
    } else if (!written.includes(nameOf(tile))) unsaid.push(...differencesOf(tile, other, `tile ${nameOf(tile)}`))
    else {
      const fields = lostFields(tile.config as Json, other.config as Json)
      lost.push(...fields.all)
      const [one, two] = [tile, other].map((document) => withoutFields(document, fields))
      unsaid.push(...differencesOf(meaningOfTile(one), meaningOfTile(two), `tile ${nameOf(tile)}`).filter((text) => !isAddition(text)))
    }
  }
  const rest = ({ tiles: _, ...document }: Json): Json => meaningOfDashboard({ ...document, tiles: [] })
  return { lost, unsaid: [...unsaid, ...differencesOf(rest(before), rest(after))] }
}

const isEmpty = (value: unknown): boolean => value === undefined || value === ''

const lostOf = (before: Json, after: Json): readonly string[] =>
  Object.keys(before).filter((field) => field !== 'whereLanguage' && !isEmpty(before[field]) && isEmpty(after[field]))

interface LostFields {
  readonly ofTile: readonly string[]
  readonly ofItems: readonly string[]
  readonly all: readonly string[]
}

function lostFields(before: Json, after: Json): LostFields {
  const ofTile = lostOf(meaningOfConfig(before), meaningOfConfig(after))
  const ofItems = listOf(before.select).flatMap((item, i) => lostOf(item, listOf(after.select)[i] ?? {}))
  return { ofTile, ofItems, all: [...ofTile, ...ofItems] }
}

/** Without values that every reader assumes for an absent field. */
const meaningOfConfig = (config: Json): Json => (meaningOfTile({ config }) as { readonly config: Json }).config

/** A write adds defaults, and leaves out empty texts. */
const isAddition = (difference: string): boolean => /: (?:undefined \/|"" \/ undefined$)/.test(difference)

const omit = (from: Json, fields: readonly string[]): Json =>
  Object.fromEntries(Object.entries(from).filter(([field]) => !fields.includes(field)))

function withoutFields(tile: Json, { ofTile, ofItems }: LostFields): Json {
  const config = omit(tile.config as Json, [...ofTile, 'name'])
  return {
    ...tile,
    config: Array.isArray(config.select) ? { ...config, select: listOf(config.select).map((item) => omit(item, ofItems)) } : config,
  }
}

const meaningOfTile = (tile: Json | undefined): unknown => tile && listOf(meaningOfDashboard({ tiles: [tile] }).tiles)[0]

/** The product's templates, with the sources of this server, as its import page writes them. */
function templatesOf({ checkout, references: { sources, connection } }: Adopting): readonly Json[] {
  const directory = `${checkout}/packages/app/src/dashboardTemplates`
  const idOf = new Map([
    ['Logs', sources.log],
    ['Traces', sources.trace],
    ['Metrics', sources.metric],
  ])
  const replace = (key: string, value: unknown): unknown =>
    key === 'connection' ? connection : key === 'name' ? value : (idOf.get(String(value)) ?? value)
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { version: _, description: __, ...template } = JSON.parse(readFileSync(`${directory}/${name}`, 'utf8')) as Json
      const parts = (list: unknown): unknown => JSON.parse(JSON.stringify(list ?? []), replace)
      return { ...template, tiles: parts(template.tiles), filters: parts(template.filters) }
    })
}

function madeByHand({ references: { sources, connection } }: Adopting): Json {
  const item = { aggFn: 'count', aggCondition: 'ServiceName:cart', aggConditionLanguage: 'lucene', valueExpression: '' }
  const line = { displayType: 'line', source: sources.log, select: [item], where: '', whereLanguage: 'lucene' }
  const rule = { operator: 'gt', value: 3, color: 'chart-green' }
  const onClick = { type: 'external', urlTemplate: 'https://example.com' }
  const filters = [{ type: 'sql', condition: "ServiceName = 'cart'" }]
  const clause = { name: 'one', sql: { sql: '1', params: {} }, isSubquery: false }
  const configs: readonly Json[] = [
    { ...line, name: 'First', where: 'SeverityText:"fatal"', granularity: '5 minute' },
    { ...line, name: 'Fatal', where: 'SeverityText:"fatal"', granularity: '1 hour', limit: { limit: 5 } },
    { ...line, name: 'Ratio', select: [item, item], seriesReturnType: 'ratio', ratioMode: 'share_of_total' },
    { ...line, name: 'Table', displayType: 'table', groupBy: 'ServiceName', limit: { limit: 7 }, alternateRowBackground: true },
    { ...line, name: 'Colors', displayType: 'table', select: [{ ...item, color: 'chart-red', colorRules: [rule] }] },
    // The API shows it under another name.
    { ...line, name: 'Delta', select: [{ ...item, isDelta: true }] },
    // What the editor of the web app leaves out, and an import does not.
    { ...line, name: 'Imported', having: 'count() > 1', havingLanguage: 'sql', orderBy: 'ServiceName', onClick, filters, with: [clause] },
    { configType: 'promql', name: 'PromQL', displayType: 'line', promqlExpression: 'up', connection, source: sources.metric },
  ]
  const tiles = configs.map((config, i) => ({ id: `hand-${i}`, x: 0, y: 4 * i, w: 12, h: 4, config }))
  return { name: 'Made by hand', tags: ['hand'], tiles, filters: [] }
}
