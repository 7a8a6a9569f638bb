// Owns the directory in which the bundle is built: what the action needs and nothing else, with the stand-ins in their places. It is
// laid out afresh each time, so that neither links nor leftovers of a checkout can show in the bytes.
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLock, shippedIn } from './shipped.ts'
import { standIns } from './stand-ins.ts'

const isReadByBundler = (path: string): boolean => !/\.(?:map|[cm]?ts)$/.test(path)

/** Copies lib/ and the shipped packages of a checkout into an empty directory. */
export function layOut(root: string, directory: string): void {
  for (const path of ['package.json', 'lib', ...shippedIn(readLock()).keys()])
    cpSync(join(root, path), join(directory, path), { recursive: true, dereference: true, filter: isReadByBundler })
}

/** Throws when there is nothing that a stand-in could stand in for. */
export function standIn(directory: string): void {
  for (const [path, text] of Object.entries(standIns)) {
    const place = join(directory, 'node_modules', path)
    if (!existsSync(place)) throw new Error(`scripts/stand-ins.ts replaces ${path}, which is no file of that package any more`)
    writeFileSync(place, text)
  }
}
