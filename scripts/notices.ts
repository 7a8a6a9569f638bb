// dist/licenses.txt: the notice of every package that is shipped, in the bundle or beside it. The bundler's own list is incomplete: it
// leaves out packages that it merged into a module of another one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLock, readManifest, shippedIn } from './shipped.ts'

const isLicense = (file: string): boolean => /^licen[cs]e(?:-mit)?(?:\.(?:md|txt))?$/i.test(file)

/** The name, the license and the license text of each package. Throws on a package without a license file. */
export function noticesIn(root: string): string {
  const notices = [...shippedIn(readLock(root)).keys()].map((path) => noticeOf(join(root, path)))
  // A package may be installed twice.
  return [...new Set(notices)].sort().join('\n')
}

function noticeOf(directory: string): string {
  const read = (file: string): string => readFileSync(join(directory, file), 'utf8')
  const { name, license } = readManifest(directory)
  const file = readdirSync(directory).find(isLicense)
  if (file === undefined) throw new Error(`${name} ships no license file`)
  return `${name}\n${license}\n${read(file).trim()}\n`
}
