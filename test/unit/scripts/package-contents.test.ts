import { expect, it } from 'vitest'
import { misplacedIn, pointsToMap } from '../../../scripts/package-contents.ts'

const sources = [
  'src/index.ts',
  'src/api/page.ts',
  'src/report/page/page.css',
  'npm/cli.js',
  'schemas/alert.schema.json',
  'examples/workflows/drift.yml',
]
const packed = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/licenses.txt',
  'schemas/alert.schema.json',
  'examples/workflows/drift.yml',
  'npm/cli.js',
  'lib/index.d.ts',
  'lib/api/page.d.ts',
]

it('accepts a package of the compiled sources', () => {
  expect(misplacedIn(packed, sources)).toEqual([])
})

it.each(packed)('rejects a package without %s', (path) => {
  expect(
    misplacedIn(
      packed.filter((other) => other !== path),
      sources,
    ),
  ).toEqual([`${path} is missing`])
})

it.each([
  ['what is left of a module that is gone', 'lib/api/pages.d.ts'],
  ['a compiled module', 'lib/index.js'],
  ['a test', 'test/integration/api/page.test.ts'],
  ['what the compiler remembers', 'lib/tsconfig.tsbuildinfo'],
  ['a source map', 'npm/cli.js.map'],
  ['a source', 'src/index.ts'],
  ['the bundle', 'dist/index.js'],
  ['somebody’s environment', '.env'],
])('rejects a package with %s', (_, path) => {
  expect(misplacedIn([...packed, path], sources)).toEqual([`${path} comes from nothing in the repository`])
})

it('a reference to a source map is found, and one in the middle of a text is not', () => {
  expect(pointsToMap('export {}\n//# sourceMappingURL=index.js.map')).toBe(true)
  expect(pointsToMap('const text = "//# sourceMappingURL="')).toBe(false)
})
