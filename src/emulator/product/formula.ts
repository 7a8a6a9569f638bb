/** Maximum depth of parentheses and signs. */
const maxNesting = 64
const maxLength = 1024

interface Token {
  readonly kind: 'number' | 'series' | 'operator' | 'open' | 'close'
  readonly text: string
}

class FormulaError extends Error {}

/** The problems of a tile's formula, in the product's words. `A` refers to the first item of the tile's select, `B` to the second. */
export function findFormulaProblems(expression: string, seriesCount: number): readonly string[] {
  if (expression.trim() === '') return ['Expression is empty']
  if (expression.length > maxLength) return [`Expression is too long (${expression.length} characters, max ${maxLength})`]
  try {
    return findReferenceProblems(parseFormula(tokenize(expression)), seriesCount)
  } catch (cause) {
    if (cause instanceof FormulaError) return [cause.message]
    throw cause
  }
}

function findReferenceProblems(letters: readonly string[], seriesCount: number) {
  if (letters.length === 0) return ['Expression must reference at least one series (A, B, C, ...)']
  const last = String.fromCharCode('A'.charCodeAt(0) + seriesCount - 1)
  const known = seriesCount > 0 ? `this chart only has series A through ${last}` : 'this chart has no series'
  const unknown = new Set(letters.filter((letter) => letter.charCodeAt(0) - 'A'.charCodeAt(0) >= seriesCount))
  return [...unknown].map((letter) => `Unknown series "${letter}" — ${known}`)
}

const formulaGrammar =
  /(?<blank>\s+)|(?<operator>[-+*/])|(?<open>\()|(?<close>\))|(?<number>\d+(?:\.\d*)?|\.\d+)|(?<series>[A-Z][A-Za-z]*)|(?<word>[a-z][A-Za-z]*)|(?<other>[\s\S])/gy

function tokenize(expression: string): readonly Token[] {
  const tokens: Token[] = []
  for (const { 0: text, groups = {} } of expression.matchAll(formulaGrammar)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined)
    if (kind === 'blank') continue
    if (kind === 'word') throw new FormulaError(`Unexpected "${text}" — series references are uppercase letters (A, B, C, ...)`)
    if (kind === 'other') throw new FormulaError(`Unexpected character "${text}"`)
    if (kind === 'series' && text.length > 1)
      throw new FormulaError(`Unexpected "${text}" — series references are single letters (A, B, C, ...) and functions are not supported`)
    if (kind === 'number' && !Number.isFinite(Number(text))) throw new FormulaError(`Invalid number "${text}"`)
    tokens.push({ kind: kind as Token['kind'], text }) // The other groups of the grammar were handled above.
  }
  return tokens
}

/** The letters of the referenced series, in order. Throws a FormulaError for a syntax error. */
function parseFormula(tokens: readonly Token[]) {
  const letters: string[] = []
  let at = 0
  let depth = 0
  const isOperator = (texts: string): boolean => {
    const token = tokens[at]
    return token?.kind === 'operator' && texts.includes(token.text)
  }
  const nest = (inner: () => void): void => {
    if (++depth > maxNesting) throw new FormulaError(`Expression is nested too deeply (max ${maxNesting} levels)`)
    inner()
    depth--
  }
  const sum = (): void => {
    for (product(); isOperator('+-'); product()) at++
  }
  const product = (): void => {
    for (factor(); isOperator('*/'); factor()) at++
  }
  const factor = (): void => {
    if (isOperator('-')) {
      at++
      nest(factor)
    } else operand()
  }
  const operand = (): void => {
    const token = tokens[at++]
    if (token === undefined) throw new FormulaError('Unexpected end of expression')
    if (token.kind === 'series') letters.push(token.text)
    else if (token.kind === 'open') nest(group)
    else if (token.kind !== 'number') throw new FormulaError(`Unexpected ${nameToken(token)}`)
  }
  const group = (): void => {
    sum()
    if (tokens[at++]?.kind !== 'close') throw new FormulaError('Missing closing parenthesis')
  }
  sum()
  const rest = tokens[at]
  if (rest !== undefined) throw new FormulaError(rest.kind === 'close' ? 'Unmatched closing parenthesis' : `Unexpected ${nameToken(rest)}`)
  return letters
}

function nameToken({ kind, text }: Token) {
  if (kind === 'open') return 'opening parenthesis'
  if (kind === 'close') return 'closing parenthesis'
  return `${kind === 'series' ? 'series reference' : kind} "${text}"`
}
