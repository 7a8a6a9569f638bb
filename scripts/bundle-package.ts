// Builds npm/, the JavaScript that npm publishes, from src/. A command loads some thirty files instead of hundreds.
import { rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { standIns } from './stand-ins.ts'

const root = join(import.meta.dirname, '..')

/** The published entry points, by the name of their file in npm/. */
export const packageEntries = { cli: 'src/cli.ts', index: 'src/index.ts', emulator: 'src/emulator/index.ts' }

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

if (import.meta.main) await bundlePackage(join(root, 'npm'))
