/** Null where the product has no value. */
export type Formula = (operands: readonly number[]) => number | null

/**
 * Reads a tile's formula: numbers, the letters of the tile's series, `+ - * /` and parentheses. Undefined for another text. A division by
 * zero has no value, and nothing that is computed from it has one.
 */
export function parseFormula(expression: string): Formula | undefined {
  const tokens = expression.match(/\d+(?:\.\d*)?|\.\d+|[A-Z](?![A-Za-z])|[-+*/()]|\S/g) ?? []
  // Deeper ones could end the run.
  if (tokens.length > 1000) return undefined
  let at = 0
  const take = (...texts: readonly string[]) => (texts.includes(tokens[at] ?? '') ? tokens[at++] : undefined)

  const operand = (): Formula | undefined => {
    if (take('-')) return combine('-', () => 0, operand())
    if (take('(')) {
      const inner = sum()
      return take(')') ? inner : undefined
    }
    const token = tokens[at++] ?? ''
    if (/^[A-Z]$/.test(token)) return (values) => values[token.charCodeAt(0) - 65] ?? null
    return /^[\d.]/.test(token) ? () => Number(token) : undefined
  }
  const chain = (next: () => Formula | undefined, ...operators: readonly string[]): Formula | undefined => {
    let left = next()
    for (let operator = take(...operators); operator !== undefined && left !== undefined; operator = take(...operators))
      left = combine(operator, left, next())
    return left
  }
  const product = (): Formula | undefined => chain(operand, '*', '/')
  const sum = (): Formula | undefined => chain(product, '+', '-')

  const formula = sum()
  return at === tokens.length ? formula : undefined
}

function combine(operator: string, left: Formula, right: Formula | undefined): Formula | undefined {
  if (right === undefined) return undefined
  return (values) => {
    const [a, b] = [left(values), right(values)]
    if (a === null || b === null) return null
    if (operator === '/') return b === 0 ? null : a / b
    return operator === '*' ? a * b : operator === '+' ? a + b : a - b
  }
}
