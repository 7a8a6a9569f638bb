import { once } from './concurrency.ts'
import { nearestName } from './names.ts'
import { quote } from './text.ts'

// Users may have one SELECT of known signs, functions, table functions and system tables. Everything else is refused. A bracket after a
// name is a call, wherever it is, so that this file need not know the places of table functions. APPLY, and the first argument of functions
// such as arrayMap, run without a bracket. test/conformance/sql-forms.test.ts compares this with ClickHouse.

/** Comments, quoted texts and names, parameters, macros, blanks, words and signs. What is not closed goes up to the end of the text. */
const tokens =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^'\\]+|\\[\s\S]|'')*(?:'|\\?$)|"(?:[^"\\]+|\\[\s\S]|"")*(?:"|\\?$)|`(?:[^`\\]+|\\[\s\S]|``)*(?:`|\\?$)|\{\s*\w+\s*:[^{}]*\}|\$__\w+|\|\||\s+|\w+|[\s\S]/g

export const toTokens = (text: string): readonly string[] => text.match(tokens) ?? []

export const isComment = (token: string): boolean => token.startsWith('--') || token.startsWith('/*')

const opening: Readonly<Record<string, string>> = { ')': '(', ']': '[' }

/** Why ClickHouse could read the text otherwise than this file, or a part of a query as more than a part; undefined where it cannot. */
export function refuseForm(text: string, isPart = true): string | undefined {
  const all = toTokens(text)
  const open: string[] = []
  for (const [i, token] of all.entries()) {
    if (token === ';') return 'its SQL has a semicolon; write one SELECT without it'
    if (isUnreadable(token) || isUnreadableThere(all, i)) return `its SQL has ${quote(token)}, and may mean something else to the server`
    if (token === '(' || token === '[') open.push(token)
    if (isPart && Object.hasOwn(opening, token) && open.pop() !== opening[token]) return 'its SQL has a bracket that is not opened'
  }
  if (isPart && open.length > 0) return 'its SQL has a bracket that is not closed'
  // What the server puts after it would be a part of the comment.
  return isPart && all.at(-1)?.startsWith('--') ? 'its SQL ends with a comment; write a line after it' : undefined
}

/** Not closed, or read in several ways, such as $texts$ and typographic quotation marks. HyperDX replaces macros in quoted texts, too. */
function isUnreadable(token: string) {
  if (token.includes('$__')) return true
  if (token.startsWith('--')) return false
  if (!isClosed(token)) return true
  if (token.startsWith('/*')) return token.includes('/*', 2)
  if (/^['"`]/.test(token)) return !token.startsWith("'") && token.replaceAll('\\\\', '').includes('\\')
  return !/^(?:\{\s*\w+\s*:[\w(), ]+\}|\w+|[ \t\n\v\f\r]+|\|\||[()[\],.+\-*/%=<>!?:^])$/.test(token)
}

/** Tokens of other kinds have their end. */
export function isClosed(token: string): boolean {
  if (token.startsWith('/*')) return token.length > 3 && token.endsWith('*/')
  const mark = token.charAt(0)
  if (!/['"`]/.test(mark)) return true
  return token
    .slice(1)
    .replaceAll(/\\[\s\S]/g, '')
    .replaceAll(mark + mark, '')
    .endsWith(mark)
}

/** What ClickHouse ends elsewhere: ` .5FROM` is .5 and FROM, `1e--` is a number and a sign, and `x'\'` has no escape. */
function isUnreadableThere(all: readonly string[], i: number) {
  const [token = '', before = ''] = [all[i], all[i - 1]]
  if (token.startsWith('/')) return before === '/'
  if (token.startsWith('--')) return /[ep]$/i.test(before) && (/^\d/.test(before) || all[i - 2] === '.')
  if (token.startsWith("'")) return /^[bx]$/i.test(before) && /\\|''/.test(token.slice(1, -1))
  if (i === 0) return token === '.'
  const isFraction = before === '.' || (/^[-+]$/.test(before) && all[i - 3] === '.')
  return isFraction && /^\d/.test(token) && !/^\d+(?:e\d*)?$/i.test(token)
}

/** No two functions of ClickHouse differ in case only. Loaded here, because few runs check SQL. */
const loadNames = once(async () => {
  const { default: names } = await import('./sql-names.json', { with: { type: 'json' } })
  const lower = (...lists: readonly (readonly string[])[]) => new Set(lists.flat().map((name) => name.toLowerCase()))
  return {
    ...{ functions: lower(names.functions, names.types, names.tableFunctions), spelled: [...names.functions, ...names.aggregates] },
    ...{ aggregates: lower(names.aggregates), combinators: [...lower(names.combinators)], keywords: new Set(names.keywords) },
    ...{ higherOrder: lower(names.higherOrder), leftOut: lower(names.leftOut), ofTextOrTable: lower(names.ofTextOrTable) },
  }
})

type SqlNames = Awaited<ReturnType<typeof loadNames>>

const isCombined = (name: string, names: SqlNames): boolean =>
  names.aggregates.has(name) || names.combinators.some((one) => name.endsWith(one) && isCombined(name.slice(0, -one.length), names))

/** Small letters; undefined for texts, signs and the end. */
const nameInToken = (word = '') => (/^["`]/.test(word) ? word.slice(1, -1) : /^\w/.test(word) ? word : undefined)?.toLowerCase()

const isNameWord = (word = '', ...names: readonly string[]) => names.includes(word.toLowerCase())

/**
 * The reason as a sentence without its end. `isPart`: a condition or an expression. `own`: functions of the user, which `sql-functions`
 * allows.
 */
export async function refuseSql(text: string, isPart = false, own: readonly string[] = []): Promise<string | undefined> {
  const form = refuseForm(text, isPart)
  if (form !== undefined) return form
  const words = toTokens(text).filter((token) => token.trim() !== '' && !isComment(token))
  if (!isPart && !isNameWord(words[0], 'select', 'with', '(')) return 'its SQL is not a SELECT'
  const known = await loadNames()
  const names = { ...known, ofTextOrTable: known.ofTextOrTable.union(new Set(own.map((name) => name.toLowerCase()))) }
  let hasTables = false
  for (const [i, word] of words.entries()) {
    hasTables ||= isNameWord(word, 'from')
    const reason = refuseClause(words, i) ?? refuseSystem(words, i) ?? refuseCall(words, i, names, hasTables)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** No setting and no format has such a name. */
const afterColumn =
  /^(?:[()[\],.+\-*/%=<>!?:^]|\|\||and|as|asc|between|desc|else|end|from|group|having|i?like|in|is|not|or|order|then|union|when|where)$/i

function refuseClause(words: readonly string[], i: number) {
  const [word = '', before, after = ''] = [words[i], words[i - 1], words[i + 1]]
  if (
    (isNameWord(word, 'explain') && before === '(') ||
    isNameWord(word, 'insert') ||
    (isNameWord(word, 'parallel') && isNameWord(after, 'with'))
  )
    return `its SQL has ${word.toUpperCase()}; write one SELECT without it`
  if (!isNameWord(word, 'settings', 'format', 'into', 'outfile') || afterColumn.test(after)) return undefined
  return `its SQL has ${quote(`${word} ${after}`.trim())}; leave that out, or write \`${word}\` in backticks where it is a name`
}

/** By the form of each word: `s` is a plain text, `t` another one, `n` a name. The rest are themselves. */
const tableArguments = {
  merge: /^(?:(?:s|currentdatabase\(\)),)?[st]\)/,
  cluster: /^[nst],(?:n\.n[,)]|view\(|merge\()/,
}

function argumentForm(word: string) {
  if (word.startsWith("'")) return /^'(?!system')[\w-]+'$/.test(word) ? 's' : 't'
  const name = nameInToken(word)
  return name === undefined || ['currentdatabase', 'view', 'merge'].includes(name) ? (name ?? word) : 'n'
}

const systemTables = ['tables', 'columns', 'parts', 'functions']

/** Tables of the server, and tables whose names expressions could make. */
function refuseSystem(words: readonly string[], i: number) {
  const [name = '', after] = [nameInToken(words[i]), words[i + 1]]
  const isOfColumn = words[i - 1] === '.' && /^["`a-z_]/i.test(words[i - 2] ?? '')
  if (name === 'system' && after === '.' && !isOfColumn && !systemTables.includes(nameInToken(words[i + 2]) ?? ''))
    return `its SQL has ${quote(`system.${words[i + 2]}`)}; of system, it may read ${systemTables.join(', ')}`
  const needed = after === '(' && (name === 'merge' ? 'merge' : /^cluster(?:allreplicas)?$/.test(name) && 'cluster')
  if (!needed || tableArguments[needed].test(Array.from({ length: 7 }, (_, j) => argumentForm(words[i + 2 + j] ?? '')).join('')))
    return undefined
  return `its SQL does not name the tables of ${name}; write ${needed === 'merge' ? "merge('database', 'pattern')" : `${words[i]}('name', database.table)`}`
}

/** A call is before a bracket, after APPLY, or where arrayMap and others take a function. */
function isCalled(words: readonly string[], i: number, { keywords, higherOrder }: SqlNames) {
  const [word = '', before, after] = [words[i], words[i - 1], words[i + 1]]
  if (keywords.has(word.toLowerCase())) return false
  if (after === '(' && !/^[([,.+\-*/%=<>!?:^|)]/.test(word)) return true
  const isApplied = isNameWord(before, 'apply') ? nameInToken(word) !== undefined : before === '(' && isNameWord(words[i - 2], 'apply')
  return isApplied ? !(after === '-' && words[i + 2] === '>') : /^["`a-z_]/i.test(word) && isFunction(words, i, higherOrder)
}

/** True for the first argument of a function that takes others, if another one follows. ClickHouse ignores brackets and signs. */
function isFunction(words: readonly string[], i: number, higherOrder: ReadonlySet<string>) {
  let [at, depth] = [i - 1, 0]
  // The arguments may follow empty parameters: `arrayMap()(file, …)`.
  const isOpened = (): boolean => higherOrder.has(nameInToken(words[words[at - 1] === ')' ? at - 3 : at - 1]) ?? '')
  for (; words[at] !== '(' || !isOpened(); at--) {
    if (words[at] === '(') depth++
    else if (!isNameWord(words[at], '+', 'all', 'distinct')) return false
  }
  for (at = i + 1; words[at] === ')' ? depth-- > 0 : nameInToken(words[at]) !== undefined; at++);
  return depth === 0 && words[at] === ','
}

function refuseCall(words: readonly string[], i: number, names: SqlNames, hasTables: boolean) {
  const [name, shown] = [nameInToken(words[i]) ?? words[i] ?? '', quote(words[i] ?? '')]
  if (!isCalled(words, i, names) || names.functions.has(name) || (name.length <= 128 && isCombined(name, names))) return undefined
  if (names.leftOut.has(name)) return `its SQL uses ${shown}, which does more than read the data of the database`
  if (names.ofTextOrTable.has(name)) {
    let at = i - 1
    while (words[at] === '(') at--
    const mayBeTable = isNameWord(words[at], 'from', 'join', 'lateral', 'in') || (hasTables && words[at] === ',')
    return mayBeTable ? `its SQL has ${shown} where a table can be; write identity(${shown}(…))` : undefined
  }
  const nearest = nearestName(name, names.spelled)
  return `its SQL uses ${shown}, which is not a function of ClickHouse${nearest === undefined ? '' : `, as ${nearest} is`}; add your own functions to sql-functions in .watchkeeper.yml`
}

/** Doubled backticks are no escapes, which `refuseForm` refuses. */
export const quoteName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '``')}\``

export const nameOfTable = ({ database, table }: { readonly database: string; readonly table: string }): string =>
  `${quoteName(database)}.${quoteName(table)}`
