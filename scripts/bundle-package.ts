// Builds npm/, what npm publishes: the JavaScript from src/, of which a command loads some thirty files instead of hundreds, and a file of types for
// each entry point of the library, from the declarations in lib/.
import { rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { standIns } from './stand-ins.ts'

const root = join(import.meta.dirname, '..')

/** The published entry points, by the name of their file in npm/. */
export const packageEntries = { cli: 'src/cli.ts', index: 'src/index.ts', emulator: 'src/emulator/index.ts' }

/** The entry points that programs import, by the name of their file. */
const { cli: _, ...libraryEntries } = packageEntries

/** Replaces the same files of packages as in the action's bundle. */
const replaced = new Set<string>()

export const replaceByStandIns: Plugin = {
  name: 'stand-ins',
  load(id) {
    const path = relative(join(root, 'node_modules'), id).replaceAll(sep, '/')
    const text = standIns[path]
    if (text !== undefined) replaced.add(path)
    return text
  },
  buildEnd(error) {
    if (error === undefined && replaced.size === 0) throw new Error('The bundle has no file that scripts/stand-ins.ts replaces.')
  },
}

/** `import` reads every export of a built-in module, and so loads parts that nothing uses, such as WebCrypto of `node:crypto`. */
const getBuiltins: Plugin = {
  name: 'get-builtins',
  renderChunk: (code) =>
    code.replaceAll(/^import (?:(\w+)|\{ (.+) \}) from ("node:.+");$/gm, (_, name: string | undefined, names: string, module) => {
      const pattern = name ?? `{ ${names.replaceAll(' as ', ': ')} }`
      return `const ${pattern} = globalThis.process.getBuiltinModule(${module});`
    }),
}

/** `entries` are source files by the name of what is built from them. */
export async function bundlePackage(directory: string, entries: Readonly<Record<string, string>> = packageEntries): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    checks: { ineffectiveDynamicImport: false },
    plugins: [replaceByStandIns, getBuiltins],
  })
  rmSync(directory, { recursive: true, force: true })
  await bundle.write({ dir: directory, chunkFileNames: '[name].js' })
}

/** Adds the types of the library. */
async function bundleTypes(directory: string): Promise<void> {
  const declarations = Object.entries(libraryEntries).map(([name, path]) => [`${name}.d`, path.replace(/^src\/(.*)\.ts$/, './lib/$1.d.ts')])
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(declarations),
    external: (id) => !/^[./]/.test(id),
    plugins: [dts({ emitDtsOnly: true, generator: 'oxc', tsconfig: false })],
  })
  await bundle.write({ dir: directory, chunkFileNames: '[name].js' })
}

if (import.meta.main) {
  const directory = join(root, 'npm')
  await bundlePackage(directory)
  await bundleTypes(directory)
}
