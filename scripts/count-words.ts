// `node scripts/count-words.ts` prints how many words of the documents are written by hand: those of all Markdown files but tests, examples,
// the site and change notes, without the changelog, the reference and generated parts. The aim is at most 31,000.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const isCounted = (path: string): boolean =>
  !/^(?:test|examples|site|\.changes)\//.test(path) && !['CHANGELOG.md', 'docs/operations.md'].includes(path)

const generated = /<!-- generated:([\w-]+) -->[\s\S]*?<!-- \/generated:\1 -->/g

/** Words between white space, as `wc -w` counts them. */
export const countWords = (text: string): number => text.replaceAll(generated, '').split(/\s+/).filter(Boolean).length

if (import.meta.main) {
  const root = new URL('..', import.meta.url).pathname
  const paths = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n').filter(isCounted)
  const counts = paths.map((path) => [countWords(readFileSync(join(root, path), 'utf8')), path] as const)
  for (const [count, path] of counts.toSorted(([a], [b]) => b - a)) console.log(`${String(count).padStart(6)} ${path}`)
  console.log(`${String(counts.reduce((sum, [count]) => sum + count, 0)).padStart(6)} words by hand`)
}
