import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { promiseIdsIn, promiseTable, promiseTestsIn, readPromiseTests } from '../../scripts/reference/promises.ts'

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(`${root}/docs/trust.md`, 'utf8')

describe('the promises in docs/trust.md', () => {
  it('every promise has a test whose title begins with its id, and every id in a title is that of a promise', { tags: 'slow' }, () => {
    expect(() => promiseTable(page, readPromiseTests(root))).not.toThrow()
  })

  it('a promise without a test, and a test without a promise, are errors that name them', () => {
    const two = '- **V1. Exact.** Text.\n- **W12. Once.** Text.\n'
    const tests = (text: string) => promiseTestsIn('test/a.test.ts', text)
    const kept = [...tests("it('V1, W12: adds up', () => {})"), ...promiseTestsIn('test/b.test.ts', "it('V1: a', f); it('V1: b', f)")]
    expect(promiseTable(two, kept)).toContain('| V1 | [a](../test/a.test.ts), [b](../test/b.test.ts) |\n| W12 | [a](../test/a.test.ts) |')
    expect(() => promiseTable(two, tests("it('V1: adds up', () => {})"))).toThrow('no title of a test begins with "W12: "')
    expect(() => promiseTable(two, tests("it('V1, W12, V2: adds up', () => {})"))).toThrow('test/a.test.ts: there is no promise V2')
  })

  it('finds tests of promises in tables and groups, and neither skipped tests nor comments', () => {
    const idsIn = (text: string) => promiseTestsIn('a.test.ts', text).flatMap(({ ids }) => ids)
    expect(idsIn("it.each([\n  1,\n])(\n  'V1: adds %s up; $name',\n  () => {},\n)")).toEqual(['V1'])
    expect(idsIn("describe.concurrent('V1: group', { timeout: 1 }, () => { it('V2: it\\'s exact', () => {}) })")).toEqual(['V1', 'V2'])
    expect(idsIn("// it('V1: comment')\nit.skip('V1: a', () => {})\ndescribe.todo('V1: b')\ncheck('V1: c')")).toEqual([])
  })

  it('numbers the promises of each chapter from 1 without a gap', () => {
    for (const [letter, ids] of Map.groupBy(promiseIdsIn(page), (id) => id.charAt(0)))
      expect(ids).toEqual(ids.map((_, i) => `${letter}${i + 1}`))
    expect([...new Set(promiseIdsIn(page).map((id) => id.charAt(0)))]).toEqual(['V', 'S', 'W', 'F', 'R'])
  })
})
