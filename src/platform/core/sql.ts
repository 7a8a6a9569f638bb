import { quote } from './text.ts'

// Takes SQL apart as ClickHouse does, as far as that is needed to see which functions it calls. Compared with the function tokenizeQuery of
// ClickHouse 26.9 on random texts. test/conformance/cases/sql-forms.ts has what ClickHouse 25.5 and 26.9 did with hostile queries.

/** Comments, quoted texts and names, parameters, macros, blanks, words and signs. */
const tokens =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`\\]|\\[\s\S]|``)*`|\{\s*\w+\s*:[^{}]*\}|\$__\w+|\s+|\w+|[\s\S]/g

export const toTokens = (text: string): readonly string[] => text.match(tokens) ?? []

export const isComment = (token: string): boolean => token.startsWith('--') || token.startsWith('/*')

/** Table functions that read the database's own data, or none. Any other name may be one that connects to other hosts or reads files. */
const ownTableFunctions: ReadonlySet<string> = new Set([
  ...['merge', 'mergeTreeIndex', 'mergeTreeProjection', 'cluster', 'clusterAllReplicas', 'dictionary', 'view', 'null', 'values'],
  ...['numbers', 'numbers_mt', 'zeros', 'zeros_mt', 'generateSeries', 'generate_series', 'generateRandom'],
])

/** Table functions that connect to other hosts, read files or run programs, wherever they are. The server has no other functions with these names. */
const reachingTableFunction =
  /^(?:(?:azureBlobStorage|deltaLake|file|hdfs|hudi|iceberg|paimon|s3|url)(?:Azure|HDFS|Local|S3)?(?:Cluster)?|remote(?:Secure)?|arrowstream|bigquery|cosn|eval|executable|filesystem|gcs|input|jdbc|loop|mongodb|mysql|odbc|oss|postgresql|python|redis|sqlite|ytsaurus)$/

/** Functions that read files, call a model or another host, write to the log of the server or to its coordination, or make a query wait. */
const reachingFunction =
  /^(?:file|sleep|sleepEachRow|logTrace|generateSerialID|hasColumnInTable|reverseDNSQuery|catboostEvaluate|modelEvaluate|(?:ai|AI)[A-Z]\w*)$/

/** Functions whose first argument can be the name of another one. */
const higherOrder =
  /^(?:array(?:All|Avg|BottomK|Compact|Count|CumSum|Difference|Exists|Fill|Filter|First|Fold|Last|Map|Max|Min|Partial|Product|Reverse|Sort|Split|Sum|TopK)|map(?:All|Apply|Exists|Filter|Partial|Reverse|Sort))\w*$/

/**
 * Why a server must not run this SQL of a file, a query or a part of one; undefined where it may. A table function follows FROM, JOIN,
 * or a comma between tables or in `cluster`. More is refused than is necessary.
 */
export function refuseSql(text: string): string | undefined {
  const all = toTokens(text)
  const unreadable = all.find((token, i) => isUnreadable(token) || isUnreadableThere(all, i))
  if (unreadable !== undefined) return `its SQL has ${quote(unreadable, 40)}, and may mean something else to the server`
  if (all.includes(';')) return 'its SQL has several statements'
  // What the server puts after it would be a part of the comment.
  if (all.at(-1)?.startsWith('--')) return 'its SQL ends with a comment; write a line after it'
  const words = all.filter((token) => token.trim() !== '' && !isComment(token))
  if (words.some((word, i) => /^into$/i.test(word) && /^outfile$/i.test(words[i + 1] ?? ''))) return 'its SQL writes a file'
  const called = findCalls(words)
  const names = [...called.map(({ name }) => name), ...findApplied(words), ...findFirstArguments(words)]
  const found = names.find((name) => reachingFunction.test(name))
  if (found !== undefined) return `its SQL uses the function ${quote(found, 60)}, which does more than read the data of the database`
  const table = called.find(({ name, isTable }) => reachingTableFunction.test(name) || (isTable && !ownTableFunctions.has(name)))
  return table && `its SQL uses the table function ${quote(table.name, 60)}, which may read other data than that of the database`
}

/** A select list, or that of GROUP BY, ORDER BY or ARRAY JOIN. One of these words can be a name, and both only as a table with its alias. */
const startsList = /^(?:(?:group|order) by|array join|(?:union|all|distinct|except|intersect) select)$/i

/** The names of functions. */
function findCalls(words: readonly string[]): readonly { readonly name: string; readonly isTable: boolean }[] {
  /** Says for each open bracket whether its commas are between tables. */
  const areTables = [false]
  const isList = (i: number): boolean =>
    startsList.test(`${words[i - 1] ?? ''} ${words[i] ?? ''}`) && !/^(?:from|join|as|[,.])$/i.test(words[i - 2] ?? '')
  return words.flatMap((word, i) => {
    const before = words[i - 1] ?? ''
    const isTable = (/^(?:from|join)$/i.test(before) && !isList(i - 1)) || (before === ',' && areTables.at(-1) === true)
    if (word === '(') areTables.push(/^["`]?cluster/.test(before))
    if (word === ')') areTables.pop()
    if (/^(?:from|join)$/i.test(word)) areTables.splice(-1, 1, true)
    if (isList(i)) areTables.splice(-1, 1, false)
    const name = toName(word)
    return words[i + 1] === '(' ? [{ name, isTable: isTable && /^\w/.test(name) }] : []
  })
}

const hasArrow = (words: readonly string[]): boolean => words.some((word, i) => word === '-' && words[i + 1] === '>')

/** The words after `APPLY`, where no lambda follows it. */
const findApplied = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, i) => {
    if (!/^apply$/i.test(word)) return []
    const [name = '', ...next] = words.slice(words[i + 1] === '(' ? i + 2 : i + 1, i + 5)
    return hasArrow(next) ? [] : [toName(name)]
  })

/** The words of the first arguments of functions that can call them, unless these are lambdas or the only arguments. */
function findFirstArguments(words: readonly string[]): readonly string[] {
  const open: { argument: string[] | undefined; readonly isCaller: boolean }[] = []
  let isCaller = false
  return words.flatMap((word) => {
    const inside = open.at(-1)
    inside?.argument?.push(toName(word))
    // The arguments may follow empty parameters: `arrayMap()(file, …)`.
    if (word === ')') isCaller = open.pop()?.isCaller ?? false
    else if (word !== '(') isCaller = higherOrder.test(toName(word))
    else {
      open.push({ isCaller, argument: isCaller ? [] : inside?.argument })
      isCaller = false
    }
    if (word !== ',' || !inside?.isCaller) return []
    const { argument = [] } = inside
    inside.argument = undefined
    return hasArrow(argument) ? [] : argument
  })
}

const toName = (word: string): string => word.replace(/^["`](.*)["`]$/s, '$1')

/**
 * What ClickHouse reads in another way: $texts$, typographic quotation marks, comments in comments and with #, and escapes in names, except
 * that of a backslash, which `quoteName` writes. HyperDX replaces macros also in quoted texts and comments.
 */
const isUnreadable = (token: string): boolean =>
  /^(?:[$#]|['"`]$)/.test(token) ||
  token.includes('$__') ||
  (/^[^\s\w]$/.test(token) && token > '~') ||
  /^\/\*[\s\S]*\/\*/.test(token) ||
  /^["`](?:[^\\]|\\\\)*\\[^\\]/.test(token) ||
  (/^\{./s.test(token) && !/^\{\s*\w+\s*:\s*\w+\s*\}$/.test(token))

/** A comment that is not closed, one with //, and a number that ends in a word: ` .5FROM` is .5 and FROM. */
const isUnreadableThere = (all: readonly string[], i: number): boolean => {
  const [before = '', token = '', after = ''] = [all[i - 1], all[i], all[i + 1]]
  return (token === '/' && /^[*/]/.test(after)) || (token === '.' && /^\d*[a-z_]/i.test(after) && !/[\w)\]"`]$/.test(before))
}

/** A column, a table or a database as SQL names it. Doubled backticks are no escapes, which `refuseSql` refuses. */
export const quoteName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '``')}\``

export const nameOfTable = ({ database, table }: { readonly database: string; readonly table: string }): string =>
  `${quoteName(database)}.${quoteName(table)}`
