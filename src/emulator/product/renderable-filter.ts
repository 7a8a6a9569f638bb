import type { JsonObject } from '../store.ts'

/**
 * Whether the side bar of the web app can show a filter of a saved search: one column with `IN`, `NOT IN` or `BETWEEN`, and nothing beside
 * it. Only such filters can be stored, unless an update leaves one as it is.
 */
export function isRenderable({ type, condition }: JsonObject): boolean {
  if (type !== 'sql' || typeof condition !== 'string') return false
  const range = hasTopLevel(condition, ' BETWEEN ') ? /^(.+?)\s+BETWEEN\s+(.+?)\s+AND\s+(.+?)$/i.exec(condition) : null
  if (range !== null) {
    const [, column = '', from = '', to = ''] = range
    return isColumn(column) && isNumeric(from) && isNumeric(to) && countTopLevel(condition, ' AND ') === 1
  }
  if (countTopLevel(condition, ' AND ') > 0) return false
  const list = condition.trim()
  if (['=', '<', '>', ' OR '].some((operator) => hasTopLevel(list, operator))) return false
  const operator = hasTopLevel(list, ' NOT IN ') ? ' NOT IN ' : ' IN '
  const [at] = findTopLevel(list, operator)
  if (at === undefined) return false
  return isColumn(list.slice(0, at)) && hasValue(list.slice(at + operator.length).trim())
}

const isColumn = (text: string): boolean => !/\b(?:NOT|AND|OR)\b/i.test(text)

const isNumeric = (text: string): boolean => Number.isFinite(Number(text.trim()))

function hasValue(list: string): boolean {
  const values = list.startsWith('(') && list.endsWith(')') ? list.slice(1, -1) : list
  return values.split(',').some((value) => value.trim() !== '')
}

const hasTopLevel = (text: string, wanted: string): boolean => findTopLevel(text, wanted).length > 0

function countTopLevel(text: string, wanted: string): number {
  let end = 0
  return findTopLevel(text, wanted).filter((at) => {
    if (at < end) return false
    end = at + wanted.length
    return true
  }).length
}

/** Where the text begins outside of quotes and parentheses. */
function findTopLevel(text: string, wanted: string): readonly number[] {
  const upper = text.toUpperCase()
  const found: number[] = []
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "'") at = endOfQuote(text, at)
    else if (text[at] === '(') depth++
    else if (text[at] === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0 && upper.startsWith(wanted, at)) found.push(at)
  }
  return found
}

/** A quote in a quoted text is doubled or has a backslash before it. */
function endOfQuote(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && (text[at] !== "'" || text[at + 1] === "'")) at += text[at] === '\\' || text[at] === "'" ? 2 : 1
  return at
}
