// `npm run bundle:package` builds npm/, the JavaScript that npm publishes, from src/. A command loads some thirty files instead of hundreds.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { standIns } from './stand-ins.ts'

const root = new URL('..', import.meta.url).pathname

/** The published entry points, by the name of their file in npm/. */
export const packageEntries = { cli: 'src/cli.ts', index: 'src/index.ts', emulator: 'src/emulator/index.ts' }

/** Replaces the same files of packages as in the action's bundle. */
const replaceByStandIns: Plugin = {
  name: 'stand-ins',
  load: (id) => standIns[id.slice(join(root, 'node_modules/').length)],
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

export async function bundlePackage(directory: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: packageEntries,
    platform: 'node',
    checks: { ineffectiveDynamicImport: false },
    plugins: [replaceByStandIns, getBuiltins],
  })
  rmSync(directory, { recursive: true, force: true })
  await bundle.write({ dir: directory, chunkFileNames: '[name].js' })
}

if (import.meta.main) await bundlePackage(join(root, 'npm'))
