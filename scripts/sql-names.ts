// Writes src/platform/core/sql-names.json: the names that SQL of users may have, from servers of ClickHouse that it asks.
// usage: node scripts/sql-names.ts URL…     the HTTP interface of each server, the newest last
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const path = join(import.meta.dirname, '../src/platform/core/sql-names.json')

/** A row of `system.functions`. Older servers describe few functions. */
interface SqlFunction {
  readonly name: string
  readonly alias_to: string
  readonly is_aggregate: number
  readonly categories: string
  readonly arguments: string
  readonly higher_order?: number | null
}

/** Functions that call models, read the program or the log of the server, or that only the server itself calls. */
const leftOutCategories = ['AI', 'Internal', 'Introspection', 'Machine Learning']

/** Arguments that name files, disks, ports, models and settings. Many functions have the path of a key in JSON. */
const leftOutArguments = /^- `(?:path|disk_name|port_name|setting_name|model)`/im

/** What neither the category nor an argument tells. */
const leftOutNames = [
  ...['catboostEvaluate', 'modelEvaluate', 'evalMLMethod', 'chdb'], // call a model, or other code
  ...['hasColumnInTable', 'reverseDNSQuery'], // connect to a host
  ...['getMacro', 'globalVariable', 'getClientHTTPHeader', 'currentRequestURL', 'showCertificate'], // settings of the server, headers of the request
  ...['sleep', 'sleepEachRow', 'generateSerialID'], // wait, write to the coordination
]

/** A function that servers do not list, and those of the official builds that chDB does not have: https://clickhouse.com/docs/sql-reference. */
const notListed = [
  ...['untuple', 'generateULID', 'ULIDStringToDateTime', 'seriesPeriodDetectFFT'],
  ...['BLAKE3', 'bech32Encode', 'bech32Decode', 'idnaEncode', 'tryIdnaEncode', 'idnaDecode', 'punycodeEncode', 'punycodeDecode'],
  ...['tryPunycodeDecode', 'detectCharset', 'detectLanguage', 'detectLanguageMixed', 'detectLanguageUnknown', 'detectProgrammingLanguage'],
  ...['detectTonality', 'lemmatize', 'stem', 'geoToS2', 's2ToGeo', 's2GetNeighbors', 's2CellsIntersect', 's2CapContains', 's2CapUnion'],
  ...['s2RectAdd', 's2RectContains', 's2RectUnion', 's2RectIntersection', 'uniqThetaUnion', 'uniqThetaIntersect', 'uniqThetaNot'],
]

/**
 * Table functions that read the data of the database, or none. The server reaches a cluster only by a name of its settings. None has a text
 * that is read as SQL, such as the columns of `values`, whose defaults are expressions.
 */
const keptTableFunctions = [
  ...['cluster', 'clusterAllReplicas', 'dictionary', 'generateSeries', 'generate_series', 'merge', 'numbers', 'numbers_mt', 'primes'],
  ...['prometheusQuery', 'prometheusQueryRange', 'timeSeriesData', 'timeSeriesMetricFamilies', 'timeSeriesMetrics', 'timeSeriesSamples'],
  ...['timeSeriesSelector', 'timeSeriesTags', 'view', 'zeros', 'zeros_mt'],
]

/** Words before a bracket that call nothing, and words that can follow a column with the name `apply`. No function to leave out has such a name. */
const keywords = `all and any apply array as asc between by case columns cube date_add date_sub dateadd datesub desc distinct div else end except exists filter
  final from grouping group having ilike in interpolate intersect interval is join like limit materialized mod not offset on or over prewhere
  qualify regexp rollup sample select sets step then timestamp_add timestamp_sub timestampadd timestampsub to union using when where with`

const isLeftOut = ({ name, categories, arguments: named, is_aggregate }: SqlFunction): boolean =>
  is_aggregate === 0 &&
  (leftOutNames.includes(name) || leftOutCategories.includes(categories) || (categories === 'Other' && leftOutArguments.test(named)))

async function ask<Row>(target: string, sql: string): Promise<readonly Row[]> {
  const response = await fetch(`${target}/?default_format=JSON&output_format_json_quote_64bit_integers=0`, { method: 'POST', body: sql })
  if (!response.ok) throw new Error(`${target}: ${await response.text()}`)
  // Each query names its columns.
  return ((await response.json()) as { readonly data: readonly Row[] }).data
}

const namesOf = (target: string, table: string): Promise<readonly { readonly name: string }[]> => ask(target, `SELECT name FROM ${table}`)

const targets = process.argv.slice(2)
if (targets.length === 0) throw new Error('usage: node scripts/sql-names.ts URL…')

const functions = new Map<string, SqlFunction>()
const types = new Set<string>()
const tableFunctions = new Set<string>()
const combinators = new Set<string>()
const versions: string[] = []
for (const target of targets) {
  for (const { version } of await ask<{ version: string }>(target, 'SELECT version() AS version')) versions.push(version)
  // Functions that somebody added are those of this server alone.
  for (const one of await ask<SqlFunction>(target, "SELECT * FROM system.functions WHERE origin = 'System'")) functions.set(one.name, one)
  for (const { name } of await namesOf(target, 'system.data_type_families')) types.add(name)
  for (const { name } of await namesOf(target, 'system.table_functions')) tableFunctions.add(name)
  for (const { name } of await namesOf(target, 'system.aggregate_function_combinators WHERE NOT is_internal')) combinators.add(name)
}

const all = [...functions.values()]
const targetOf = (one: SqlFunction): SqlFunction => functions.get(one.alias_to) ?? one
const leftOut = all.filter((one) => isLeftOut(one) || isLeftOut(targetOf(one)))
const kept = all.filter((one) => !leftOut.includes(one))
const reaching = [...tableFunctions].filter((name) => !keptTableFunctions.includes(name))
const isOfTable = (name: string): boolean => reaching.some((one) => one.toLowerCase() === name.toLowerCase())
const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort()
const content = {
  versions,
  functions: sorted(
    [...kept.filter((one) => one.is_aggregate === 0).map(({ name }) => name), ...notListed].filter((name) => !isOfTable(name)),
  ),
  // What they are depends on their place.
  ofTextOrTable: sorted(kept.map(({ name }) => name).filter(isOfTable)),
  aggregates: sorted([...kept.filter((one) => one.is_aggregate === 1).map(({ name }) => name), 'uniqTheta']),
  combinators: sorted(combinators),
  higherOrder: sorted(kept.filter(({ higher_order }) => higher_order === 1).map(({ name }) => name)),
  types: sorted(types),
  tableFunctions: keptTableFunctions,
  keywords: keywords.split(/\s+/),
  leftOut: sorted([
    ...[...leftOut.map(({ name }) => name), ...leftOutNames],
    ...reaching.filter((name) => !kept.some((one) => one.name.toLowerCase() === name.toLowerCase())),
  ]),
}
writeFileSync(path, `${JSON.stringify(content, undefined, 1)}\n`)
console.log(
  `ClickHouse ${versions.join(', ')}: ${Object.entries(content)
    .map(([name, list]) => `${list.length} ${name}`)
    .join(', ')}`,
)
console.log(`left out: ${content.leftOut.join(' ')}`)
