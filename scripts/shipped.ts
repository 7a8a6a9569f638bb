// The packages that are shipped: those that a run needs, and those whose code is embedded in a source file. Read from the lock file.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ownRoot = join(import.meta.dirname, '..')

/** Packages whose published code `npm run generate` copies into src/platform/report/page-assets.ts: no import says so. */
export const embeddedPackages = ['uplot', 'sortable-tablesort'] as const

export interface LockedPackage {
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dev?: boolean
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** The package.json of a package. */
export const readManifest = (root = ownRoot): Manifest => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest // npm has checked it.

export const readLock = (root = ownRoot): Lock => JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock // npm has written it.

/** The version of Node that `npm ci` installs, that the tests run on, and that is in the executable. */
export function lockedNode(root = ownRoot): string {
  const node = readLock(root).packages['node_modules/node']
  if (node === undefined) throw new Error('package-lock.json lacks the package node.')
  return node.version
}

/** Shipped packages by their path in the lock file; the project itself has the path ''. */
export function shippedIn({ packages }: Lock): ReadonlyMap<string, LockedPackage> {
  const embedded = embeddedPackages.map((name) => `node_modules/${name}`)
  return new Map(Object.entries(packages).filter(([path, { dev }]) => path !== '' && (dev !== true || embedded.includes(path))))
}
