// The table of docs/trust.md: which tests keep which promise. A test keeps the promises whose ids its title begins with, such as
// `R1, W1: a create is sent once`.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'

/** A test, or a group of tests, whose title begins with ids of promises. */
export interface PromiseTest {
  /** The path from the root of the repository. */
  readonly file: string
  readonly ids: readonly string[]
}

const titleGrammar = /^((?:[A-Z]\d+, )*[A-Z]\d+): ./s

/** The tests of promises in a file. Skipped tests and comments keep nothing. */
export function promiseTestsIn(file: string, text: string): readonly PromiseTest[] {
  const found: PromiseTest[] = []
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      const called = text.slice(callee.start, callee.end)
      if (first === undefined || !/^(?:describe|it)\b/.test(called) || /\.(?:skip|todo|fails)\b/.test(called)) return
      const [, ids] = titleGrammar.exec(text.slice(first.start + 1, first.end - 1)) ?? []
      if (ids !== undefined) found.push({ file, ids: ids.split(', ') })
    },
  }).visit(parseSync(file, text).program)
  return found
}

/** The tests of promises in `test`, ordered by file. */
export function readPromiseTests(root: string): readonly PromiseTest[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted()
    .flatMap((name) => {
      const text = readFileSync(join(root, 'test', name), 'utf8')
      return /['"`][A-Z]\d+[:,] /.test(text) ? promiseTestsIn(`test/${name}`, text) : []
    })
}

/** The ids of the promises on the page, which begin as `- **V1. `. */
export const promiseIdsIn = (page: string): readonly string[] => [...page.matchAll(/^- \*\*([A-Z]\d+)\. /gm)].map(([, id = '']) => id)

/** Throws where a promise has no test, or a test has an id that no promise has. */
export function promiseTable(page: string, tests: readonly PromiseTest[]): string {
  const ids = promiseIdsIn(page)
  const problems = [
    ...ids.filter((id) => !tests.some((test) => test.ids.includes(id))).map((id) => `no title of a test begins with "${id}: "`),
    ...tests.flatMap(({ file, ids: named }) => named.filter((id) => !ids.includes(id)).map((id) => `${file}: there is no promise ${id}`)),
  ]
  if (problems.length > 0) throw new Error(`Promises of docs/trust.md and their tests differ:\n${problems.join('\n')}`)
  const rows = ids.map((id) => {
    const files = new Set(tests.filter((test) => test.ids.includes(id)).map(({ file }) => file))
    return `| ${id} | ${[...files].map((file) => `[${basename(file, '.test.ts')}](../${file})`).join(', ')} |`
  })
  return ['| promise | tests |', '| --- | --- |', ...rows].join('\n')
}
