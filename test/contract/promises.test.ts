import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../support/corpus.ts'

const root = new URL('../..', import.meta.url).pathname
const promises = readFileSync(`${root}/docs/promises.md`, 'utf8')

/** `file › name of the test`, wherever one is named. */
const named = [...promises.matchAll(/`(test\/[\w/.-]+\.test\.ts) › ([^`]+)`/g)].map((match) => ({
  file: match[1] ?? '',
  name: (match[2] ?? '').replace(/\s+/g, ' '),
}))

/** Each begins with a bold sentence, and ends where the next one begins. */
const items = promises.split(/^(?=- \*\*|## )/m).filter((item) => item.startsWith('- **'))

describe('docs/promises.md', () => {
  it('names only tests that exist', () =>
    forEachEntry(named, ({ file, name }) => {
      expect(existsSync(`${root}/${file}`), `${file} does not exist`).toBe(true)
      const titles = [...readFileSync(`${root}/${file}`, 'utf8').matchAll(/(?:describe|it)[^'"`]*?\(\s*(['"`])(.*?)\1/gs)].map(
        (match) => match[2],
      )
      // A name stands at the beginning of its title: what follows is the row of a table.
      expect(titles.filter((title) => title?.replaceAll("\\'", "'").startsWith(name))).not.toEqual([])
    }))

  it('keeps every promise by a test', () => {
    expect(items.filter((item) => !item.includes('Kept by `test/')).map((item) => item.split('\n')[0])).toEqual([])
  })

  it('leaves out none that can be shown, and numbers none twice', () => {
    const numbers = items.flatMap((item) => /^- \*\*([VSWR]\d)\. /.exec(item)?.[1] ?? [])
    expect(new Set(numbers).size).toBe(numbers.length)
    const wanted = ['V1', 'V2', 'V3', 'V4', 'V5', 'V6', ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((i) => [`S${i}`, `R${i}`, `W${i}`])]
    expect(wanted.filter((number) => !numbers.includes(number))).toEqual([])
  })
})
