// Owns files that are made for somebody in their repository: never over what is there, and never through a link.
import { lstat, mkdir, open, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** `free`, `taken`, or why nothing can be made there. */
export type Place = 'free' | 'taken' | { readonly refused: string }

const statOf = (path: string) => lstat(path).catch(() => undefined)

/** Looks along a path below `root`, with slashes, without following a link. */
export async function placeOf(root: string, path: string): Promise<Place> {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const part = parts.slice(0, length).join('/')
    const stats = await statOf(join(root, part))
    if (stats === undefined) return 'free'
    if (length === parts.length) return 'taken'
    if (stats.isSymbolicLink()) return { refused: `${part} is a link, and nothing is written through one` }
    if (!stats.isDirectory()) return { refused: `${part} is no directory` }
  }
  return 'taken'
}

/** Resolves to whether it was made: false when something has come to be there. What was begun and failed is taken away again. */
export async function makeFile(root: string, path: string, content: string): Promise<boolean> {
  const target = join(await realpath(root), path)
  await mkdir(dirname(target), { recursive: true })
  // Looked at once more: a directory may have become a link since.
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

/** Whether a file, and no link to one, has this content. */
export async function holds(root: string, path: string, content: string): Promise<boolean> {
  const target = join(root, path)
  const stats = await statOf(target)
  // What is longer, and what never ends, is not read.
  if (stats?.isFile() !== true || stats.size !== Buffer.byteLength(content)) return false
  return (await readFile(target, 'utf8')) === content
}
