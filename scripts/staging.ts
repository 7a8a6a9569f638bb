// The directory in which the bundle is built: only what the action needs, with the stand-ins. It is created for each build, so that links
// and old files of a checkout cannot change the result.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { chunkImports } from './chunks.ts'
import { withoutDescriptions } from './descriptions.ts'
import { readLock, shippedIn } from './shipped.ts'
import { actionStandIns } from './stand-ins.ts'

const isReadByBundler = (path: string): boolean => !/\.(?:map|[cm]?ts)$/.test(path)

/** The bundler names modules by their path relative to its own files, so it has to be in the same directory. */
const bundler = 'node_modules/@vercel/ncc'

export const bundlerIn = (directory: string): string => join(directory, `${bundler}/dist/ncc/cli.js`)

/** Copies lib/, cut into chunks and without descriptions of results, the shipped packages and the bundler of a checkout into an empty directory. */
export function layOut(root: string, directory: string): void {
  for (const path of ['package.json', 'lib', bundler, ...shippedIn(readLock(root)).keys()]) {
    const from = join(root, path)
    // Nested packages have their own entries in the lock file.
    const isIts = (file: string): boolean => isReadByBundler(file) && !relative(from, file).split('/').includes('node_modules')
    cpSync(from, join(directory, path), { recursive: true, dereference: true, filter: isIts })
  }
  const modules = readdirSync(join(directory, 'lib'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))
  for (const path of modules.map((path) => join(directory, 'lib', path)))
    writeFileSync(path, withoutDescriptions(chunkImports(readFileSync(path, 'utf8'))))
}

/** Throws when there is nothing that a stand-in could stand in for, or a second copy that would come into the bundle as it is. */
export function standIn(directory: string): void {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  for (const [path, text] of Object.entries(actionStandIns)) {
    const place = join('node_modules', path)
    const copies = files.filter((file) => file === place || file.endsWith(`/${place}`))
    if (!existsSync(join(directory, place)))
      throw new Error(`scripts/stand-ins.ts replaces ${path}, which is no file of that package any more`)
    if (copies.length > 1) throw new Error(`scripts/stand-ins.ts replaces ${path}, of which there are several: ${copies.join(', ')}`)
    writeFileSync(join(directory, place), text)
  }
}
