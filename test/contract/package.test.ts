import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageEntries } from '../../scripts/bundle-package.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

interface Entry {
  readonly types: string
  readonly default: string
}

const manifest = JSON.parse(read('package.json')) as {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, Entry | string>>
  readonly files: readonly string[]
}

const modules = Object.values(manifest.exports).filter((entry) => typeof entry === 'object')
const scripts = [...Object.values(manifest.bin), ...modules.map((entry) => entry.default.replace('./', ''))]

const isPublished = (path: string): boolean =>
  manifest.files.some((pattern) => path === pattern || path.startsWith(`${pattern}/`) || matchesGlob(path, pattern))

describe('package.json', () => {
  it('points to the files that `scripts/bundle-package.ts` writes, and to all of its entries', () => {
    expect(scripts.toSorted()).toEqual(
      Object.keys(packageEntries)
        .map((name) => `npm/${name}.js`)
        .toSorted(),
    )
  })

  it('gives every module the types that are bundled with it', () => {
    for (const entry of modules) expect(entry.types).toBe(entry.default.replace('.js', '.d.ts'))
  })

  it('publishes everything that it points to, and no compiled module', () => {
    const paths = [...scripts, ...modules.map((entry) => entry.types.replace('./', ''))]
    expect(paths.filter((path) => !isPublished(path))).toEqual([])
    expect(isPublished('lib/index.js')).toBe(false)
  })

  it('makes a program of the command line', () => {
    expect(read(packageEntries.cli)).toMatch(/^#!\/usr\/bin\/env node\n/)
  })
})
