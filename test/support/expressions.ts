// Owns evaluating the expressions of workflows, with the evaluator that GitHub publishes.
import { data, Evaluator, Lexer, Parser } from '@actions/expressions'

export interface Contexts {
  /** By name: `inputs`, `github`, `steps` and so on. */
  readonly values: Readonly<Record<string, object>>
  /** What `hashFiles` says of a path. */
  readonly hashFiles?: (path: string) => string
}

const toData = (value: unknown): data.ExpressionData => JSON.parse(JSON.stringify(value), data.reviver) as data.ExpressionData

function evaluate(expression: string, { values, hashFiles = () => '' }: Contexts): data.ExpressionData {
  const hash = {
    name: 'hashFiles',
    minArgs: 1,
    maxArgs: 1,
    call: (path: data.ExpressionData) => new data.StringData(hashFiles(path.coerceString())),
  }
  const { tokens } = new Lexer(expression).lex()
  const parsed = new Parser(tokens, Object.keys(values), [hash]).parse()
  const context = new data.Dictionary(...Object.entries(values).map(([key, value]) => ({ key, value: toData(value) })))
  return new Evaluator(parsed, context, new Map([['hashfiles', hash]])).evaluate()
}

/** A text with its expressions filled in. */
export const fill = (text: string, contexts: Contexts): string =>
  text.replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => evaluate(expression.trim(), contexts).coerceString())

/** What an `if` says; the brackets may be left out there. */
export function isTrue(condition: string, contexts: Contexts): boolean {
  const result = evaluate(condition.replace(/^\$\{\{(.*)\}\}$/s, '$1').trim(), contexts)
  return !['', 'false', '0'].includes(result.coerceString())
}
