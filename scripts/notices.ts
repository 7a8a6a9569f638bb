// Owns dist/licenses.txt: the notice of every package that is shipped, be it in the bundle or beside it. The bundler's own list leaves out
// what it has merged into a module of another.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLock, shippedIn } from './shipped.ts'

const isLicense = (file: string): boolean => /^licen[cs]e(?:-mit)?(?:\.(?:md|txt))?$/i.test(file)

/** A name alone in its line, then the license's, then its words. Throws on a package that ships none. */
export function noticesIn(root: string): string {
  const notices = [...shippedIn(readLock(root)).keys()].map((path) => noticeOf(join(root, path)))
  // A package that is there twice has one notice.
  return [...new Set(notices)].sort().join('\n')
}

function noticeOf(directory: string): string {
  const read = (file: string): string => readFileSync(join(directory, file), 'utf8')
  const { name, license } = JSON.parse(read('package.json')) as { name: string; license: string }
  const file = readdirSync(directory).find(isLicense)
  if (file === undefined) throw new Error(`${name} ships no license that dist/licenses.txt could hold`)
  return `${name}\n${license}\n${read(file).trim()}\n`
}
