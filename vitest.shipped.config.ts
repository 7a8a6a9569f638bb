// The tests of pure modules once more, against code as it ships: bundled like npm/ and then minified like dist/. Both steps drop calls
// that they take for pure, such as `decodeURIComponent(text)` without a use of its result.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import { bundlePackage } from './scripts/bundle-package.ts'
import { minifyFiles } from './scripts/minify.ts'
import { common } from './vitest.config.ts'

const src = new URL('./src', import.meta.url).pathname
const built = mkdtempSync(join(tmpdir(), 'watchkeeper-shipped-'))
process.on('exit', () => rmSync(built, { recursive: true, force: true }))

const modules = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
await bundlePackage(built, Object.fromEntries(modules.map((path) => [path.replace(/\.ts$/, ''), `src/${path}`])))
minifyFiles(built)

const importFromBuilt = {
  name: 'import-from-built',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined) {
    const path = importer === undefined || !source.startsWith('.') ? '' : resolve(importer, '..', source)
    return path.startsWith(`${src}/`) ? join(built, relative(src, path).replace(/\.ts$/, '.js')) : undefined
  },
}

export default mergeConfig(
  common,
  defineConfig({
    plugins: [importFromBuilt],
    test: { include: ['test/unit/**/*.test.ts', 'test/integration/http/*.test.ts'] },
  }),
)
