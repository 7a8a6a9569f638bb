// Writes files into a repository. Never overwrites a file, and never writes through a link.
import { lstat, mkdir, open, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inputDiagnostic } from '../../../core/diagnostics.ts'
import { InputError, WatchkeeperError } from '../../../core/errors.ts'
import { quote } from '../../../core/text.ts'

interface NewFile {
  /** Path in the repository. */
  readonly target: string
  readonly text: string
}

/** `same`: it existed with this content. */
export type WriteOutcome = 'written' | 'kept' | 'same'

/** Throws an InputError before any file is written. */
export async function requirePlaces(root: string, files: readonly Pick<NewFile, 'target'>[]): Promise<void> {
  const places = await Promise.all(files.map(async ({ target }) => ({ target, place: await placeOf(root, target) })))
  const refused = places.flatMap(({ target, place }) => (typeof place === 'object' ? [inputDiagnostic(target, place.refused)] : []))
  if (refused.length > 0) throw new InputError(refused)
}

/** Throws a WatchkeeperError when the file cannot be written. */
export async function writeNewFile(root: string, { target, text }: NewFile): Promise<WriteOutcome> {
  try {
    if (await makeFile(root, target, text)) return 'written'
  } catch (thrown) {
    const reason = thrown instanceof Error ? quote(thrown.message) : String(thrown)
    throw new WatchkeeperError('refused', `${target} could not be written: ${reason}. The files before it are complete. Run init again.`)
  }
  return (await hasContent(root, target, text)) ? 'same' : 'kept'
}

/** Whether a file can be created at a path, and why not. */
export type Place = 'free' | 'taken' | { readonly refused: string }

const statOf = (path: string) => lstat(path).catch(() => undefined)

/** Checks every part of a path below `root`, without following links. */
export async function placeOf(root: string, path: string): Promise<Place> {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const part = parts.slice(0, length).join('/')
    const stats = await statOf(join(root, part))
    if (stats === undefined) return 'free'
    if (length === parts.length) return 'taken'
    if (stats.isSymbolicLink()) return { refused: `${part} is a link, and init does not write through links` }
    if (!stats.isDirectory()) return { refused: `${part} is not a directory` }
  }
  return 'taken'
}

/** Never overwrites a file and never writes through a link. False when the file exists by now; a file that could not be completed is removed. */
export async function makeFile(root: string, path: string, content: string): Promise<boolean> {
  const target = join(await realpath(root), path)
  await mkdir(dirname(target), { recursive: true })
  // Checked again: a directory may have become a link since.
  if ((await realpath(dirname(target))) !== dirname(target)) throw new Error('its directory is a link')
  const handle = await open(target, 'wx').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'EEXIST') return undefined
    throw thrown
  })
  if (handle === undefined) return false
  try {
    await handle.writeFile(content)
    return true
  } catch (thrown) {
    await rm(target, { force: true })
    throw thrown
  } finally {
    await handle.close()
  }
}

/** Whether a regular file has this content. */
async function hasContent(root: string, path: string, content: string): Promise<boolean> {
  const target = join(root, path)
  const stats = await statOf(target)
  // Other sizes, and files without an end, are not read.
  if (stats?.isFile() !== true || stats.size !== Buffer.byteLength(content)) return false
  return (await readFile(target, 'utf8')) === content
}
