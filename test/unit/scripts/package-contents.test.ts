import { expect, it } from 'vitest'
import { misplacedIn, pointsToMap } from '../../../scripts/package-contents.ts'

const sources = ['npm/cli.js', 'npm/index.d.ts', 'schemas/alert.schema.json', 'examples/workflows/drift.yml']
const packed = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/licenses.txt',
  'schemas/alert.schema.json',
  'examples/workflows/drift.yml',
  'npm/cli.js',
  'npm/index.d.ts',
]

it('accepts a package of what was bundled', () => {
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
  ['the types of a module', 'lib/api/page.d.ts'],
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
