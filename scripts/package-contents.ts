// Owns what the npm package holds: what the sources make, and what a package must have. Nothing is missing, nothing is there besides.

const alwaysThere = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/licenses.txt']

/** Shipped as they are: schemas for editors, examples for `watchkeeper init`. */
const shippedFolders = /^(?:schemas|examples)\//

/** `sources` are the repository's files under src, schemas and examples, `packed` the package's, both from their roots. */
export function misplacedIn(packed: readonly string[], sources: readonly string[]): readonly string[] {
  const modules = sources.filter((path) => /^src\/.*\.ts$/.test(path)).map((path) => path.slice('src/'.length, -'.ts'.length))
  const expected = new Set([
    ...alwaysThere,
    ...sources.filter((path) => shippedFolders.test(path)),
    ...modules.flatMap((name) => [`lib/${name}.js`, `lib/${name}.d.ts`]),
  ])
  const there = new Set(packed)
  return [
    ...[...expected].filter((path) => !there.has(path)).map((path) => `${path} is missing`),
    ...packed.filter((path) => !expected.has(path)).map((path) => `${path} comes from nothing in the repository`),
  ]
}

/** A map that is not shipped is a warning in every debugger. */
export const pointsToMap = (text: string): boolean => /^\/\/# sourceMappingURL=/m.test(text)
