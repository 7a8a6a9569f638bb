import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { refuseSql } from '../../src/platform/core/sql.ts'
import { hostileForms, legalForms, unseenForms } from './cases/sql-forms.ts'
import { createRandomSql } from './random-sql.ts'

const help = `Usage: node test/conformance/sql-trees.ts --target URL [--texts 30000] [--seed 1] [--record]

Asks ClickHouse 26.8 or newer for the trees of random SQL, and compares what is in them with the check of SQL: no text that the check accepts
may have what it must refuse. Nothing of the SQL is run.

  --target URL  HTTP interface of the server, such as http://127.0.0.1:8123
  --texts N     how many texts
  --seed N      another seed has other texts
  --record      writes the texts and what is in them to recorded/clickhouse-sql-trees.json
`

const recordedTreesPath = new URL('recorded/clickhouse-sql-trees.json', import.meta.url).pathname

/** The sorted contents of texts that are SQL: `call lower`, `table numbers`, `applied file`, `reads system.users`, `has settings`. */
export interface RecordedTrees {
  readonly version: string
  readonly trees: readonly (readonly [text: string, contents: string])[]
}

export const readRecordedTrees = (): RecordedTrees => JSON.parse(readFileSync(recordedTreesPath, 'utf8')) as RecordedTrees

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly Tree[] => (Array.isArray(value) ? value.filter(isTree) : [])

const argumentsOf = (tree: Tree): readonly Tree[] => listOf(isTree(tree.arguments) ? tree.arguments.children : undefined)

/** What a function that takes others has as its first argument, where that is a name. */
const higherOrder = /^(?:array(?:All|Count|Exists|Filter|First|Fold|Last|Map|Max|Min|Sort|Sum)|map(?:Apply|Filter))/i

/** What is in a tree, as the server has read the text. `functions`: names of functions and keywords that are no table functions, and run nothing as one. */
export function contentsOf(root: unknown, functions: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>()
  const walk = (value: unknown, isTable = false): void => {
    if (Array.isArray(value)) for (const one of value) walk(one)
    if (!isTree(value)) return
    for (const one of value.type === 'Function' ? ofFunction(value, isTable && !functions.has(String(value.name))) : ofPart(value))
      found.add(one)
    if (isTable) for (const one of tablesIn(value)) walk(one, true)
    for (const [key, part] of Object.entries(value)) walk(part, key === 'table_function')
  }
  walk(root)
  return found
}

/** A cluster has its table as the second argument. */
const tablesIn = (tree: Tree): readonly Tree[] =>
  /^cluster/i.test(String(tree.name))
    ? argumentsOf(tree)
        .slice(1)
        .filter(({ type }) => type === 'Function')
    : []

function ofFunction(tree: Tree, isTable: boolean): readonly string[] {
  const name = String(tree.name)
  const [first, ...others] = argumentsOf(tree)
  if (isTable) return [`table ${name}`, ...(name === 'merge' ? argumentsOf(tree).map((one) => `merges ${describe(one)}`) : [])]
  const isApplied = first?.type === 'Identifier' && others.length > 0 && higherOrder.test(name)
  return [`call ${name}`, ...(isApplied ? [`applied ${first.name}`] : [])]
}

function ofPart({ type, func_name: applied, name_parts: parts, ...clauses }: Tree): readonly string[] {
  const has = ['settings', 'settings_ast', 'format_ast', 'out_file']
    .filter((key) => clauses[key])
    .map((key) => `has ${key.split('_ast')[0]}`)
  if (type === 'ColumnsApplyTransformer' && applied) return [...has, `applied ${applied}`]
  if (Array.isArray(parts) && parts[0] === 'system') return [...has, `reads ${parts.join('.')}`]
  return typeof type === 'string' && !type.startsWith('Select') ? [...has, `is ${type}`] : has
}

const describe = ({ type, name, value }: Tree): string =>
  type === 'Literal' && isTree(value) ? `'${value.value}'` : `${type} ${type === 'Function' ? name : ''}`.trim()

type Ask = (sql: string) => Promise<readonly (readonly unknown[])[] | undefined>

const askAt =
  (target: string): Ask =>
  async (sql) => {
    const response = await fetch(`${target}/?default_format=JSONCompact&max_query_size=100000000`, { method: 'POST', body: sql })
    return response.ok ? ((await response.json()) as { readonly data: readonly (readonly unknown[])[] }).data : undefined
  }

/** Trees of texts, undefined for what the server cannot parse. */
async function parse(ask: Ask, texts: readonly string[]): Promise<readonly unknown[]> {
  const listed = (some: readonly string[]) =>
    `(SELECT arrayJoin([${some.map((text) => `unhex('${Buffer.from(text).toString('hex')}')`).join(',')}]) AS x)`
  const parsable = await ask(`SELECT formatQueryOrNull(x) IS NOT NULL FROM ${listed(texts)}`)
  if (parsable === undefined) throw new Error('The server has no formatQueryOrNull.')
  const treesOf = async (some: readonly string[]): Promise<readonly unknown[]> => {
    if (some.length === 0) return []
    const rows = await ask(`SELECT parseQueryToJSON(x) FROM ${listed(some)}`)
    if (rows !== undefined) return rows.map(([text]) => JSON.parse(String(text)))
    // A single text that has no tree makes the whole query fail.
    if (some.length === 1) return [undefined]
    return [...(await treesOf(some.slice(0, some.length >> 1))), ...(await treesOf(some.slice(some.length >> 1)))]
  }
  const trees = (await treesOf(texts.filter((_, i) => Number(parsable[i]?.[0]) === 1))).values()
  return texts.map((_, i) => (Number(parsable[i]?.[0]) === 1 ? trees.next().value : undefined))
}

/** Random texts, and changed ones: a third each of SELECTs, of changed SELECTs, and of changed forms. */
export function makeTexts(count: number, seed: number): readonly string[] {
  const random = createRandomSql(seed)
  const forms = [...hostileForms, ...legalForms, ...unseenForms]
  return Array.from({ length: count }, (_, i) => {
    const text = i % 3 === 0 ? random.mutate(forms[(seed + i) % forms.length] ?? '') : random.select()
    return (i % 3 === 1 ? random.mutate(text) : text).toWellFormed()
  })
}

const harmlessTable = /^(?:cluster|clusterAllReplicas|dictionary|generate_?series|merge|numbers(?:_mt)?|primes|view|zeros(?:_mt)?)$/i

const dangerous =
  /^(?:file|sleep|sleepEachRow|logTrace|generateSerialID|hasColumnInTable|reverseDNSQuery|getSetting|url|aFunction|ai[A-Z]\w*)$/i

/** Parts of trees that read nothing by themselves. */
const plainNodes =
  /^(?:Identifier|Literal|Asterisk|(?:Qualified)?(?:Asterisk|Columns(?:Regexp|List)Matcher)|ExpressionList|Subquery|Tables?\w*|ArrayJoin|WithElement|QueryParameter|OrderByElement|Window\w*|Columns\w*Transformer\w*|SampleRatio|InterpolateElement|DataType|NameTypePair|ObjectTypeArgument)$/

/** What the check must not accept, of the contents of a tree. */
export const isRefusable = (content: string): boolean => {
  const space = content.indexOf(' ')
  const [verb, name] = [content.slice(0, space), content.slice(space + 1)]
  if (verb === 'call' || verb === 'applied') return dangerous.test(name)
  if (verb === 'table') return !harmlessTable.test(name)
  if (verb === 'merges') return name === "'system'" || !/^(?:'.*'|Function currentDatabase)$/s.test(name)
  if (verb === 'reads') return !/^system\.(?:tables|columns|parts|functions)\b/i.test(name)
  return verb === 'has' || !plainNodes.test(name)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      target: { type: 'string' },
      texts: { type: 'string', default: '30000' },
      seed: { type: 'string', default: '1' },
      record: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { target, record } = values
  if (values.help || target === undefined) {
    process.stdout.write(help)
    process.exitCode = values.help ? 0 : 2
  } else {
    const ask = askAt(target)
    const [[version] = []] = (await ask('SELECT version()')) ?? []
    const words = "SELECT name FROM system.functions UNION ALL SELECT arrayJoin(splitByChar(' ', lower(keyword))) FROM system.keywords"
    const names = await ask(`SELECT name FROM (${words}) WHERE name NOT IN (SELECT name FROM system.table_functions)`)
    const functions = new Set(names?.map(([name]) => String(name)))
    const trees: (readonly [string, string])[] = []
    const count = { texts: 0, trees: 0, refusable: 0, accepted: 0, lost: 0 }
    for (let from = 0; from < Number(values.texts); from += 300) {
      const texts = makeTexts(300, Number(values.seed) * 1_000_000 + from)
      for (const [i, tree] of (await parse(ask, texts)).entries()) {
        const text = texts[i] ?? ''
        count.texts++
        if (tree === undefined) continue
        const found = [...contentsOf(tree, functions)].sort()
        const [isBad, reason] = [found.some(isRefusable), await refuseSql(text)]
        count.trees++
        if (isBad) count.refusable++
        if (reason === undefined) count.accepted++
        if (!isBad && reason !== undefined) count.lost++
        if (isBad && reason === undefined) {
          process.exitCode = 1
          process.stdout.write(`accepted: ${JSON.stringify(text)}: ${found.filter(isRefusable).join(', ')}\n`)
        }
        if (text.length < 200) trees.push([text, found.join('; ')])
      }
    }
    process.stdout.write(
      `${Object.entries(count)
        .map(([name, n]) => `${n} ${name}`)
        .join(', ')}\n`,
    )
    if (record) writeFileSync(recordedTreesPath, `${JSON.stringify({ version, trees })}\n`)
  }
}
