import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { chunkImports } from '../../../scripts/chunks.ts'
import { plan } from '../../../src/changes/plan.ts'
import { usageCost } from '../../../src/cost/usage/usage-cost.ts'

const root = new URL('../../..', import.meta.url).pathname

describe('the files that the bundle is cut into', () => {
  it.each([
    ["const { plan } = await import('./changes/plan.js')", 'webpackChunkName: "changes"'],
    ["(await import('../notify-github.js')).notifyGitHub", 'webpackChunkName: "github"'],
    ["const { diffLines } = await import('diff')", 'webpackChunkName: "diff"'],
    ["const { exportRows } = await import('./exports.js')", 'webpackChunkName: "exports"'],
    ["const usageCost = () => import('./cost/usage/usage-cost.js')", 'webpackMode: "eager"'],
    ["const { runAction } = await import('./runtime/action/run-action.js')", 'webpackMode: "eager"'],
  ])('%s', (text, comment) => {
    expect(chunkImports(text)).toBe(text.replace(/import\((.*?)\)/, `import(/* ${comment} */ $1)`))
  })

  it.each(["await import('undici')", "await import('node:zlib')", "import { a } from './a.js'", 'import(path)'])(
    'leaves %s alone',
    (text) => {
      expect(chunkImports(text)).toBe(text)
    },
  )

  const textOf = (name: string): string => readFileSync(join(root, 'dist', name), 'utf8')
  const chunks = readdirSync(join(root, 'dist')).filter((name) => /^\d+\.index\.js$/.test(name))
  const holding = (words: string): readonly string[] => ['index.js', ...chunks].filter((name) => textOf(name).includes(words))

  it.each([
    ['the cost gate', usageCost.summary],
    ['a plan', plan.summary],
    ['YAML', 'resolveBlockMap'],
    ['undici', 'HTTPParserError'],
    ['Octokit', 'octokit-core.js'],
  ])('%s stands in one of them, and only the cost gate in the one that every step reads', (what, words) => {
    const files = holding(words)
    expect(files).toHaveLength(1)
    expect(files.includes('index.js')).toBe(what === 'the cost gate')
  })
})
