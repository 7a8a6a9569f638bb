// The bundlers drop a call that they take for pure and whose result nothing uses, with the exception that it would throw.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { expect, it } from 'vitest'

const src = new URL('../../src', import.meta.url).pathname

interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

const childrenOf = (node: Node): readonly Node[] =>
  Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)

const pureFunctions = new Set([
  'decodeURI',
  'decodeURIComponent',
  'encodeURI',
  'encodeURIComponent',
  'parseFloat',
  'parseInt',
  'structuredClone',
])

/** Their functions compute a value, but those that change their argument. */
const pureObjects = new Set(['Array', 'BigInt', 'Boolean', 'Date', 'Intl', 'JSON', 'Math', 'Number', 'RegExp', 'String', 'Symbol', 'URL'])

/** `new URL(text)` and `JSON.parse(text)` as statements. */
function isUnusedResult({ type, expression }: Node): boolean {
  if (type !== 'ExpressionStatement' || !isNode(expression)) return false
  if (expression.type === 'NewExpression') return true
  const { callee } = expression
  if (expression.type !== 'CallExpression' || !isNode(callee)) return false
  const root = callee.type === 'MemberExpression' && isNode(callee.object) ? callee.object.name : callee.name
  return callee.type === 'Identifier' ? pureFunctions.has(String(root)) || pureObjects.has(String(root)) : pureObjects.has(String(root))
}

function findUnused(text: string): readonly string[] {
  const found: string[] = []
  const walk = (node: Node): void => {
    if (isUnusedResult(node))
      found.push(`line ${text.slice(0, node.start).split('\n').length}: ${text.slice(node.start).split('\n', 1)[0]}`)
    for (const child of childrenOf(node)) walk(child)
  }
  const { program } = parseSync('module.ts', text)
  if (isNode(program)) walk(program)
  return found
}

it('finds calls without a use of their result', () => {
  const text = [
    'decodeURIComponent(a)',
    'new URL(a)',
    'JSON.parse(a)',
    'String(a)',
    'use(String(a))',
    'const b = JSON.parse(a)',
    'a.push(b)',
  ].join('\n')
  expect(findUnused(text).map((line) => line.split(':')[0])).toEqual(['line 1', 'line 2', 'line 3', 'line 4'])
  expect(text.split('\n').map((line) => mayBeUnused.test(line))).toEqual([true, true, true, true, false, false, false])
})

/** A line of formatted code that may be such a statement: most files have none, and parsing takes long. */
const mayBeUnused = new RegExp(`(?:^|\\)|else) *(?:new [A-Z]|(?:${[...pureFunctions, ...pureObjects].join('|')})[.(])`, 'm')

it('uses the result of every call that may be dropped without one', { tags: 'slow' }, () => {
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  expect(paths.length).toBeGreaterThan(100)
  const texts = paths.map((path) => ({ path, text: readFileSync(join(src, path), 'utf8') })).filter(({ text }) => mayBeUnused.test(text))
  expect(texts.flatMap(({ path, text }) => findUnused(text).map((line) => `${path}, ${line}`))).toEqual([])
})
