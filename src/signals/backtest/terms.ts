import { type Body, listOf } from '../../kinds/kind.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { isComment, toTokens } from '../../platform/core/sql.ts'
import type { SeriesItem } from './series-api.ts'

type Language = SeriesItem['whereLanguage']

const tokensOf = (condition: string, language: Language) =>
  language === 'sql' ? toTokens(condition) : (condition.match(/"(?:[^"\\]|\\.)*"|\\.|\s+|[()[\]{}]|[^\s"\\()[\]{}]+|./gs) ?? [])

/** Words that join terms, and words beside which AND joins none. */
const words: Readonly<Record<Language, { readonly joining: RegExp; readonly other: RegExp }>> = {
  lucene: { joining: /^(?:AND|&&|\s+)$/, other: /^(?:OR|\|\|)$/ },
  sql: { joining: /^and$/i, other: /^(?:or|between|case)$/i },
}

/** The terms that AND joins at the top level, and in brackets; the whole condition where it has another form. */
export function splitTerms(condition: string, language: Language, brackets = 0): readonly string[] {
  const { joining, other } = words[language]
  const terms: string[][] = [[]]
  let depth = 0
  for (const token of tokensOf(condition, language)) {
    if (/^[([{]$/.test(token)) depth++
    if (/^[)\]}]$/.test(token)) depth--
    const last = terms.at(-1) ?? []
    if (depth === 0 && (other.test(token) || isComment(token))) return [condition.trim()]
    // A blank after NOT belongs to the term.
    const isJoined = token.trim() === '' && last.length === 1 && /^(?:NOT|!)$/.test(last[0] ?? '')
    if (depth === 0 && joining.test(token) && !isJoined) terms.push([])
    else last.push(token)
  }
  return terms.flatMap((term) => {
    const text = term.join('').trim()
    if (text === '') return []
    const isSplit = brackets < 20 && isInBrackets(text, language)
    return isSplit ? splitTerms(text.slice(1, -1), language, brackets + 1) : [text]
  })
}

function isInBrackets(term: string, language: Language) {
  let depth = 0
  const tokens = tokensOf(term, language)
  return tokens.every((token, i) => {
    depth += token === '(' ? 1 : token === ')' ? -1 : 0
    return depth > 0 || (i > 0 && i === tokens.length - 1)
  })
}

const comparisons: Readonly<Record<Language, RegExp>> = {
  lucene: /^([A-Za-z_][\w.]*):(?:"([^"\\]+)"|([^\s"\\()[\]{}<>*?~^]+))$/,
  sql: /^([A-Za-z_]\w*(?:\['[^'\\]+'\])?)\s*=\s*'([^'\\]+)'$/,
}

/** The column, in SQL, and the text that a term compares it with; undefined for any other term. */
export function comparisonOf(term: string, language: Language): { readonly column: string; readonly value: string } | undefined {
  const [, field, quoted, value = quoted] = comparisons[language].exec(term) ?? []
  if (field === undefined || value === undefined) return undefined
  // The key of a map follows a dot in Lucene.
  return { column: language === 'sql' ? field : field.replace(/^(\w+)\.(.+)$/, "$1['$2']"), value }
}

export const luceneColumns = (condition: string): readonly string[] => [
  ...new Set(tokensOf(condition, 'lucene').flatMap((token) => /^[-+!]?([A-Za-z_]\w*)(?:\.[^:]+)?:/.exec(token)?.[1] ?? [])),
]

/** Columns of OpenTelemetry's tables of logs and traces, in small letters. */
const columns: ReadonlySet<string> = new Set(
  'timestamp traceid spanid traceflags severitytext severitynumber servicename body resourceschemaurl resourceattributes scopeschemaurl scopename scopeversion scopeattributes logattributes eventname spanname spankind duration statuscode statusmessage spanattributes parentspanid'.split(
    ' ',
  ),
)

/** A column before an operator of SQL, as the first argument of a function, and with the key of a map. */
const sqlForms = [
  /(?<![\w:.$])[`"]?(?:\w+\.)?([A-Za-z_]\w*)[`"]?(?:\['[^']*'\])?\)?(?:\s*(?:==?|!=|<>|>=?|<=?)\s*(?=['"\w(])|\s+(?:NOT\s+)?(?:I?LIKE\s*'|IN\s*\(|BETWEEN\s+\S+\s+AND\b)|\s+IS\s+(?:NOT\s+)?NULL\b)/gi,
  /(?<![\w:.])[A-Za-z]\w*\(\s*[`"]?([A-Za-z_]\w*)[`"]?(?:\['[^']*'\])?\s*[,)]/g,
  /(?<![\w:.])([A-Za-z_]\w*)\['[^']*'\]/g,
]

/**
 * The part of a condition in Lucene that is SQL, which the server searches as words. On HyperDX 2.36, it finds all of 35 forms of SQL, and
 * takes 3 of 79 conditions for SQL.
 */
export function sqlInLucene(condition: string): string | undefined {
  // A phrase is a text, unless an operator stands before it.
  const isValue = (at: number): boolean => /[=<>]$/.test(condition.slice(0, at).trimEnd().slice(-1))
  const text = condition.replace(/\\.|"(?:[^"\\]|\\.)*"/gs, (token, at: number) =>
    token.startsWith('"') ? (isValue(at) ? "'x'" : ' "" ') : token,
  )
  const found = sqlForms.flatMap((form) => [...text.matchAll(form)])
  return found.find(([, column = '']) => columns.has(column.toLowerCase()))?.[0].trim()
}

// Variables of a dashboard in the query of an alert, for which nothing is selected. Tried on HyperDX 2.36 with 14 forms.

/** What a variable without a value becomes, by the format of its reference. */
const empty: Readonly<Record<string, string>> = { sqlstring: 'NULL', regex: '.*', csv: '', lucene: '("")' }

const derivedName = (name: string) =>
  name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/\W+/g, '')
    .replace(/^(?=[0-9_])/, 'v')

const conditions = /\$__(?:filter|conditionalAll)\((?:[^()]|\([^()]*\))*\)/g

const references = /\$\{([A-Za-z]\w*)(?::(\w+))?\}|\$([A-Za-z]\w*)/g

const variablesOf = (filters: unknown) =>
  new Set(
    listOf(filters).flatMap(({ isVariableEnabled, variableName, name }) =>
      isVariableEnabled === true ? [String(variableName ?? '').trim() || derivedName(String(name))] : [],
    ),
  )

/** A tile as the alert task reads it; the tile itself where it uses no variable that the dashboard has. */
export function withoutVariables(tile: Body, filters: unknown): Body {
  const names = variablesOf(filters)
  let isChanged = false
  const expand = (text: string, format: string): string => {
    const expanded = (format === 'lucene' ? text : text.replace(conditions, '(1=1)')).replace(references, (all, braced, given, bare) =>
      names.has(braced ?? bare) ? (empty[given ?? format] ?? all) : all,
    )
    isChanged ||= expanded !== text
    return expanded
  }
  const expandIn = (value: unknown, format: string): unknown => {
    if (typeof value === 'string') return expand(value, format)
    if (Array.isArray(value)) return value.map((one) => expandIn(one, format))
    if (!isMapping(value)) return value
    const isLucene = (value.whereLanguage ?? 'lucene') === 'lucene'
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, expandIn(one, key === 'where' && isLucene ? 'lucene' : 'sqlstring')]),
    )
  }
  const config = names.size === 0 ? tile.config : expandIn(tile.config, 'sqlstring')
  return isChanged ? { ...tile, config } : tile
}

/** The variable that an alert compares with, so that it matches no row; undefined without one, and where the query allows for none. */
export function comparedVariable(text: string, filters: unknown): string | undefined {
  const rest = text.replace(conditions, '')
  const [, braced, name = braced] =
    /(?:[=<>]|:"|\bI?LIKE|\bIN\s*\()\s*'?\$(?:\{([A-Za-z]\w*)(?::sqlstring)?\}|([A-Za-z]\w*))/i.exec(rest) ?? []
  if (name === undefined || !variablesOf(filters).has(name)) return undefined
  return /\bIS\s+NULL\b/i.test(rest.slice(rest.indexOf(`$${name}`))) ? undefined : name
}
