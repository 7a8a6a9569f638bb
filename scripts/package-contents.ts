// What the npm package has to contain: the bundled code and types, the required files, and nothing else.

const requiredFiles = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/licenses.txt']

/** Schemas for editors, examples for `watchkeeper init`, the skill for agents, and what `scripts/bundle-package.ts` wrote. */
const shippedFolders = /^(?:schemas|examples|skills|npm)\//

/** `sources` are the repository's files under npm, schemas, examples and skills, `packed` the package's, both from their roots. */
export function misplacedIn(packed: readonly string[], sources: readonly string[]): readonly string[] {
  const expected = new Set([...requiredFiles, ...sources.filter((path) => shippedFolders.test(path))])
  const there = new Set(packed)
  return [
    ...[...expected].filter((path) => !there.has(path)).map((path) => `${path} is missing`),
    ...packed.filter((path) => !expected.has(path)).map((path) => `${path} comes from nothing in the repository`),
  ]
}

/** A map that is not shipped is a warning in every debugger. */
export const pointsToMap = (text: string): boolean => /^\/\/# sourceMappingURL=/m.test(text)
