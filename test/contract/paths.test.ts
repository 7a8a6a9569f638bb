// A configuration that names a folder which has moved fails silently: its rule has no files, or its tests do not run.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../support/corpus.ts'

const root = new URL('../..', import.meta.url).pathname
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))
const paths = new Set(files.flatMap((path) => path.split('/').map((_, i, names) => names.slice(0, i + 1).join('/'))))
const folders = new Set(files.filter((path) => path.includes('/')).map((path) => path.split('/')[0] ?? ''))

/** The compiler finds the imports of code and tests, and a test that reads a missing file fails. */
const isConfiguration = (path: string): boolean =>
  !/^(?:src|test|examples|dist|schemas)\/|\.md$|package-lock\.json$/.test(path) || path.endsWith('/tsconfig.json')

interface NamedPath {
  readonly path: string
  /** The rest of the name is computed, or a part of a regular expression. */
  readonly isStart: boolean
}

function alternatives(pattern: string): readonly string[] {
  const [, before = '', inBraces, after = ''] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern) ?? []
  return inBraces === undefined ? [pattern] : inBraces.split(',').flatMap((one) => alternatives(before + one + after))
}

/** A path begins with a folder of the root that exists. One that starts with `../` is relative to its file. */
const pathsFromRoot = new RegExp(
  `(?<![\\w@$}*.-]|[\\w$}*]/)(?:\\.{0,2}/)*((?:${[...folders].map(RegExp.escape).join('|')})/[\\w./*{,}-]*)`,
  'g',
)
const relativePaths = /(?<=")(\.\.\/[\w./*-]*)/g

/** In `.gitattributes`, CODEOWNERS and settings of Dependabot, a slash is the root of the repository. */
const anchoredPaths = /(?<=^|directory: )\/([\w.-][\w./-]*)/gm

function pathsIn(file: string, text: string): readonly NamedPath[] {
  const plain = text.replaceAll(/\\(?=[/.])/g, '')
  const matches = [
    ...[...plain.matchAll(pathsFromRoot)].map((match) => ({ match, from: '' })),
    ...(file.endsWith('.json') ? [...plain.matchAll(relativePaths)] : []).map((match) => ({ match, from: dirname(file) })),
    ...(/^\.git/.test(file) ? [...plain.matchAll(anchoredPaths)] : []).map((match) => ({ match, from: '' })),
  ]
  return matches.flatMap(({ match: { index, 0: whole, 1: named = '' }, from }) => {
    const isStart = /[$[(]/.test(plain.charAt(index + whole.length)) && !named.endsWith('/')
    return alternatives(named.replace(/[.,]+$/, '')).map((one) => ({ path: join(from, one).replace(/\/$/, ''), isStart }))
  })
}

function isPresent({ path, isStart }: NamedPath): boolean {
  if (path.includes('*')) return [...paths].some((one) => matchesGlob(one, path))
  return paths.has(path) || (isStart && files.some((one) => one.startsWith(path)))
}

/** What a command of this repository writes. */
const isIgnored = (path: string): boolean => spawnSync('git', ['check-ignore', '--quiet', `${path}/`], { cwd: root }).status === 0

const missingIn = (file: string, text: string): readonly string[] =>
  pathsIn(file, text)
    .filter((one) => !isPresent(one) && !isIgnored(one.path))
    .map(({ path }) => path)

describe('a path of the repository', () => {
  it('exists where a configuration, a workflow, a script, a benchmark or the site names it', () =>
    forEachEntry(files.filter(isConfiguration), (file) => {
      expect(missingIn(file, readFileSync(join(root, file), 'utf8'))).toEqual([])
    }))

  it('exists where a document names it as code, also without its folder', () =>
    forEachEntry(
      files.filter((path) => path.endsWith('.md')).filter((path) => path !== 'CHANGELOG.md'),
      (document) => {
        const spans = [...readFileSync(join(root, document), 'utf8').matchAll(/`([\w./-]+)`/g)].map(([, span = '']) => span)
        const isSource = (span: string): boolean => span.endsWith('.ts') && !files.some((path) => `/${path}`.endsWith(`/${span}`))
        expect(spans.filter((span) => isSource(span) || missingIn(document, span).length > 0)).toEqual([])
      },
    ))

  it('is found in a glob, a regular expression, a template and a setting, and is missing where one alternative has no files', () =>
    forEachEntry<[file: string, text: string, missing: readonly string[]]>(
      [
        ['vitest.config.ts', "'test/{unit,integration/gone}/**/*.test.ts'", ['test/integration/gone/**/*.test.ts']],
        [
          'scripts/a.ts',
          String.raw`/^src\/gone\/page-assets\.ts$/, /^src\/platform\/report\/page-assets\.ts$/`,
          ['src/gone/page-assets.ts'],
        ],
        ['scripts/a.ts', `'../../src/gone-\${name}.ts', 'docs/st\${rest}', 'node_modules/a/dist/b.js'`, ['src/gone-']],
        ['test/tsconfig.json', '"include": ["../src", "../gone"]', ['gone']],
        ['package.json', '"test": "node scripts/gone.ts && node scripts/check.ts"', ['scripts/gone.ts']],
        ['biome.json', '"!test/unit/*.gone", "!test/*/support"', ['test/unit/*.gone', 'test/*/support']],
        ['.github/CODEOWNERS', '/gone/ @a\n/src/ @a/docs', ['gone']],
        ['.github/dependabot.yml', 'directory: /gone\ndirectory: /site\ndirectory: /', ['gone']],
        ['.github/workflows/a.yml', 'path: site/build # and src/gone.', ['src/gone']],
        ['scripts/a.ts', "lib/x, npm/x, /usr/src/x, own/src, @a/docs/x, 'src' / 2", []],
      ],
      (file, text, missing) => expect(missingIn(file, text)).toEqual(missing),
    ))
})
