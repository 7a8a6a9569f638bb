import { quote } from './text.ts'

// Takes SQL apart as ClickHouse does, as far as that is needed to see which functions it calls. Tried on ClickHouse 26.9.

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

/**
 * Why a server must not run this SQL of a file, a query or a part of one; undefined where it may. A table function follows FROM, JOIN, IN,
 * or a comma between tables or in `cluster`. More is refused than is necessary.
 */
export function refuseSql(text: string): string | undefined {
  const all = toTokens(text)
  const unreadable = all.find(isUnreadable)
  if (unreadable !== undefined) return `its SQL has ${quote(unreadable, 40)}, and may mean something else to the server`
  const words = all.filter((token) => token.trim() !== '' && !isComment(token))
  const called = findNames(words).find(({ name, isTable }) => (isTable ? !ownTableFunctions.has(name) : name === 'file'))
  if (called === undefined) return undefined
  return called.isTable
    ? `its SQL uses the table function ${quote(called.name, 60)}, which may read other data than that of the database`
    : 'its SQL uses the function file, which reads files of the server'
}

/** A select list, or that of GROUP BY or ORDER BY. One of these words can be a name, and both only as a table with its alias. */
const startsList = /^(?:(?:group|order) by|(?:union|all|distinct|except|intersect) select)$/i

/** The names of functions, and of those that are passed to another one. */
function findNames(words: readonly string[]): readonly { readonly name: string; readonly isTable: boolean }[] {
  /** Says for each open bracket whether its commas are between tables. */
  const areTables = [false]
  return words.flatMap((word, i) => {
    const [first = '', before = '', after = ''] = [words[i - 2], words[i - 1], words[i + 1]]
    const isTable = /^(?:from|join|in)$/i.test(before) || (before === ',' && areTables.at(-1) === true)
    if (word === '(') areTables.push(/^["`]?cluster/.test(before))
    if (word === ')') areTables.pop()
    if (/^(?:from|join)$/i.test(word)) areTables.splice(-1, 1, true)
    if (startsList.test(`${before} ${word}`) && !/^(?:from|join|[,.])$/i.test(first)) areTables.splice(-1, 1, false)
    const name = word.replace(/^["`](.*)["`]$/s, '$1')
    return after === '(' || `${before}${after}` === '(,' ? [{ name, isTable: isTable && /^\w/.test(name) }] : []
  })
}

/**
 * What ClickHouse reads in another way: $texts$, typographic quotation marks, comments in comments and with #, and escapes in names, except
 * that of a backslash, which `quoteName` writes.
 */
const isUnreadable = (token: string): boolean =>
  /^[$#'"`]$/.test(token) ||
  (/^[^\s\w]$/.test(token) && token > '~') ||
  /^\/\*[\s\S]*\/\*/.test(token) ||
  /^["`](?:[^\\]|\\\\)*\\[^\\]/.test(token)

/** A column, a table or a database as SQL names it. Doubled backticks are no escapes, which `refuseSql` refuses. */
export const quoteName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '``')}\``

export const nameOfTable = ({ database, table }: { readonly database: string; readonly table: string }): string =>
  `${quoteName(database)}.${quoteName(table)}`
