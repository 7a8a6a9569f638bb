import { isClosed, isComment, toTokens } from '../../platform/core/sql.ts'

// A condition is a part of queries, in brackets. These rules make sure that it ends where it ends, and that names and rows of the rest stay
// what they are. They refuse more than is necessary.

/** Brackets and commas are checked apart. */
const signs = /^(?:[ \t\r\n]+|\|\||[.+\-*/%=<>!()[\],])$/

/** An alias names a value for the whole query, and some functions multiply its rows. */
const refusedWords: Readonly<Record<string, string>> = {
  as: "must not contain AS, because an alias is visible in the whole query; to convert, use CAST(x, 'Type') or x::Type",
  select: 'must not contain a subquery',
  arrayjoin: 'must not contain arrayJoin, because it multiplies rows; use arrayExists or has',
  unnest: 'must not contain unnest, because it multiplies rows; use arrayExists or has',
}

export const namePrefix = 'slo__'

/** HyperDX replaces such references before ClickHouse sees the query, in texts, too. */
const reference = /\$[A-Za-z_{]/

/** Why the text cannot be a condition or an expression in the query of an SLO; undefined where it can be. */
export function refuseCondition(text: string): string | undefined {
  if (text.trim() === '') return 'is empty'
  const parts = toTokens(text)
  for (const [i, part] of parts.entries()) {
    // Two of them convert, and one after a dot names the type of a column in JSON.
    const isOfType = part === ':' && (parts[i + 1] === ':' || [':', '.'].includes(parts[i - 1] ?? ''))
    const reason = isOfType ? undefined : refusePart(part)
    if (reason !== undefined) return reason
  }
  return refuseBrackets(parts) ?? refuseQuotedFunctions(parts)
}

function refusePart(part: string) {
  if (/^\w/.test(part)) return refuseWord(part.toLowerCase())
  if (/^['"`]/.test(part)) return refuseQuoted(part)
  if (signs.test(part)) return undefined
  if (isComment(part))
    return `must not contain comments (${part.slice(0, 2)}); to subtract a negative number, write a blank between the signs`
  if (part === ':')
    return "contains a colon, as Lucene does; write SQL, such as ServiceName = 'cart', because the server translates no Lucene in SQL tiles"
  const [sign = ''] = part
  return `must not contain ${sign > ' ' && sign <= '~' ? sign : 'characters that are not ASCII'} outside of quotation marks`
}

function refuseWord(word: string) {
  if (word.startsWith(namePrefix)) return `must not contain names that start with ${namePrefix}`
  return Object.hasOwn(refusedWords, word) ? refusedWords[word] : undefined
}

function refuseQuoted(part: string) {
  if (!isClosed(part)) return `has a quotation mark (${part.charAt(0)}) that is not closed`
  if (reference.test(part)) return 'must not contain $ before a letter or a brace, because the server replaces it, in texts, too'
  if (part.slice(1).startsWith(namePrefix)) return `must not contain names that start with ${namePrefix}`
  return [...part].some((one) => one < ' ' || one === '\u007f')
    ? 'has a control character in a text; write it as an escape, such as \\n'
    : undefined
}

/** Any name can be written with escapes in quotation marks, so that of a function that multiplies rows, too. */
function refuseQuotedFunctions(parts: readonly string[]) {
  const words = parts.filter((part) => part.trim() !== '')
  return words.some((part, i) => /^["`]/.test(part) && words[i + 1] === '(')
    ? 'must not contain the name of a function in quotation marks'
    : undefined
}

const closing: Readonly<Record<string, string>> = { ')': '(', ']': '[' }

function refuseBrackets(parts: readonly string[]) {
  const open: string[] = []
  for (const part of parts) {
    if (part === ',' && open.length === 0) return 'has a comma outside of brackets; give one condition or expression'
    if (part === '(' || part === '[') open.push(part)
    if (Object.hasOwn(closing, part) && open.pop() !== closing[part]) return `has a bracket (${part}) that is not opened`
  }
  return open.length > 0 ? `has a bracket (${open.at(-1)}) that is not closed` : undefined
}
