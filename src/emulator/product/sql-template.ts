// Macros of SQL tiles, as far as they matter for alerts: an alert on a line or a stacked bar needs a query in buckets of its interval.

const argumentCounts: Readonly<Record<string, number>> = {
  timeFilter: 1,
  timeFilter_ms: 1,
  dateFilter: 1,
  dateTimeFilter: 2,
  dt: 2,
  timeInterval: 1,
  timeInterval_ms: 1,
}

const quotedForm = /'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"/.source
const comment = /(?:--|#)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/.source
const names = 'fromTime|toTime|fromTime_ms|toTime_ms|interval_s|filters|sourceTable|'
const macro = `\\$__(?<name>${names}${Object.keys(argumentCounts).join('|')})(?!\\w)`

class ExpansionError extends Error {}

/** Whether the product accepts the query for an alert on a line or a stacked bar. It accepts what it cannot expand. */
export function isUsableOverTime(template: string): boolean {
  try {
    return mentionsInterval(template)
  } catch (cause) {
    if (cause instanceof ExpansionError) return true
    throw cause
  }
}

/** Macros are expanded in quotes too, but not in comments. Parameters count anywhere. */
function mentionsInterval(template: string): boolean {
  const tokens = new RegExp(`(?<quoted>${quotedForm})|(?<comment>${comment})|${macro}`, 'g')
  let found = false
  let plain = ''
  let end = 0
  for (let match = tokens.exec(template); match !== null; match = tokens.exec(template)) {
    plain += template.slice(end, match.index)
    end = tokens.lastIndex
    const { name, quoted: text, comment: remark } = match.groups ?? {}
    if (remark !== undefined) plain += remark
    if (text !== undefined) found = mentionsInterval(text.slice(1, -1)) || found
    if (name === undefined) continue
    const close = closingParenthesis(template, end)
    found = expandMacro(name, close === undefined ? [] : argumentsIn(template.slice(end + 1, close))) || found
    end = (close ?? end - 1) + 1
    tokens.lastIndex = end
  }
  return found || /intervalSeconds|intervalMilliseconds/.test(plain + template.slice(end))
}

function expandMacro(name: string, args: readonly string[]) {
  const inArguments = args.map(mentionsInterval).includes(true)
  // The product has no source to look up here.
  if (name === 'sourceTable') throw new ExpansionError()
  const count = argumentCounts[name]
  if (count !== undefined && count !== args.length) throw new ExpansionError()
  return ['timeInterval', 'timeInterval_ms', 'interval_s'].includes(name) || (count !== undefined && inArguments)
}

/** The position of the parenthesis that closes the one at `open`; undefined when none opens there. */
function closingParenthesis(text: string, open: number) {
  if (text[open] !== '(') return undefined
  const marks = new RegExp(`${quotedForm}|[()]`, 'g')
  marks.lastIndex = open
  let depth = 0
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    if (match[0] === '(') depth++
    if (match[0] === ')' && --depth === 0) return match.index
  }
  throw new ExpansionError()
}

function argumentsIn(text: string) {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (const { 0: mark, index } of text.matchAll(new RegExp(`${quotedForm}|[()[\\],]`, 'g'))) {
    if (mark === '(' || mark === '[') depth++
    if (mark === ')' || mark === ']') depth--
    if (mark !== ',' || depth > 0) continue
    parts.push(text.slice(start, index))
    start = index + 1
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== '')
}
