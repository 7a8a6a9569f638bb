// The names in the template of a webhook's body, which is Handlebars. The server makes an empty text of a variable that it does not have.

/** What HyperDX 2.36 knows (packages/api/src/tasks/checkAlerts/transports/generic.ts). */
export const bodyVariables = ['title', 'body', 'link', 'state', 'startTime', 'endTime', 'eventId'] as const

/** What only newer servers know (hyperdx#3057 of September 2026, and docs/alert-webhook-template-variables.md there). */
export const newerBodyVariables = [
  'alertId',
  'status',
  'alertType',
  'comparator',
  'threshold',
  'thresholdMax',
  'value',
  'groupKey',
  'sourceQuery',
  'teamId',
  'note',
  'startTimeISO',
  'endTimeISO',
] as const

/** `eq` is the server's, the others are those of Handlebars. */
export const bodyHelpers = ['eq', 'if', 'unless', 'each', 'with', 'lookup', 'log'] as const

interface NamesInBody {
  readonly variables: ReadonlySet<string>
  readonly helpers: ReadonlySet<string>
}

/** A comment, or an expression, whose texts in quotes may have braces. `\{{` is a text. */
const mustache = /(?<!(?<!\\)\\)\{\{\{?~?(?:!--.*?--|!.*?|((?:"[^"]*"|'[^']*'|[^"'{}])*?))~?\}\}/gs

const token = /"[^"]*"|'[^']*'|\[[^\]]*\]|[()=|]|[^\s()=|"']+/g

const literal = /^(?:["']|-?\d|(?:true|false|null|undefined)$)/

/** The names that a template uses. What does not compile is not explained. */
export function namesInBody(template: string): NamesInBody {
  const names = { variables: new Set<string>(), helpers: new Set<string>() }
  for (const [, inner = ''] of template.matchAll(mustache)) {
    const expression = inner.trim().replace(/^(?:[#^&]\s*)?(?:else(?=\s|$))?/, '')
    if (!/^[/>]/.test(expression)) collect(expression.match(token) ?? [], names)
  }
  return names
}

function collect(tokens: readonly string[], { variables, helpers }: { variables: Set<string>; helpers: Set<string> }): void {
  for (const [i, one] of tokens.entries()) {
    const [before, after] = [tokens[i - 1], tokens[i + 1]]
    if (one === 'as' && after === '|') return
    if (/^[()=|]$/.test(one) || literal.test(one) || after === '=') continue
    const isFirst = before === undefined || before === '('
    if (isFirst && (before === '(' || (after !== undefined && after !== ')'))) helpers.add(one)
    else addVariable(one, variables)
  }
}

/** `title.length` and `this.title` are about `title`. */
function addVariable(path: string, variables: Set<string>): void {
  const [name = ''] = path.replace(/^(?:(?:this|\.\.?)[./])+/, '').split(/[./]/)
  if (!/^(?:this|@.*|)$/.test(name)) variables.add(name.replace(/^\[|\]$/g, ''))
}
