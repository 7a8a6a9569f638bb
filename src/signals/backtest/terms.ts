import { isComment, toTokens } from '../../platform/core/sql.ts'
import type { SeriesItem } from './series-api.ts'

// The parts of a condition, as far as its form is simple.

type Language = SeriesItem['whereLanguage']

const luceneTokens = /"(?:[^"\\]|\\.)*"|\\.|\s+|[()[\]{}]|[^\s"\\()[\]{}]+|./gs

const tokensOf = (condition: string, language: Language): readonly string[] =>
  language === 'sql' ? toTokens(condition) : (condition.match(luceneTokens) ?? [])

/** Words that join terms, and words beside which AND does not. */
const words: Readonly<Record<Language, { readonly joining: RegExp; readonly other: RegExp }>> = {
  lucene: { joining: /^(?:AND|&&|\s+)$/, other: /^(?:OR|\|\|)$/ },
  sql: { joining: /^and$/i, other: /^(?:or|between|case)$/i },
}

/** Each level of brackets is read again. */
const maxBrackets = 20

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
    const isSplit = brackets < maxBrackets && isInBrackets(text, language)
    return isSplit ? splitTerms(text.slice(1, -1), language, brackets + 1) : [text]
  })
}

/** Whether one pair of brackets is around all of it. */
function isInBrackets(term: string, language: Language): boolean {
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

/** The columns of a condition in Lucene. */
export const luceneColumns = (condition: string): readonly string[] => [
  ...new Set(tokensOf(condition, 'lucene').flatMap((token) => /^[-+!]?([A-Za-z_]\w*)(?:\.[^:]+)?:/.exec(token)?.[1] ?? [])),
]
