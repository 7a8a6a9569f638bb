import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../support/corpus.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))

const documents = ['.', 'docs', 'docs/decisions'].flatMap(markdownIn)

const withoutCode = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/<!--[\s\S]*?-->/g, '')

/** As GitHub makes them. */
const anchorsIn = (text: string): readonly string[] =>
  [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it('every link in the documents leads to a file and a heading that exist', () =>
  forEachEntry(documents, (document) => {
    const links = [...withoutCode(read(document)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? document : join(dirname(document), path)
      expect(existsSync(join(root, target)), `${document}: ${link}`).toBe(true)
      if (anchor !== undefined) expect(anchorsIn(read(target)), `${document}: ${link}`).toContain(anchor)
    }
  }))

describe('README.md', () => {
  it('README.md has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  })

  it('leads to every document in docs', () => {
    expect(markdownIn('docs').filter((path) => !read('README.md').includes(`(${path})`))).toEqual([])
  })
})
