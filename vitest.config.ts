import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { bundlePackage } from './scripts/bundle-package.ts'
import { minifyFiles } from './scripts/minify.ts'

// Two workers use both cores, so that V8's own threads would only compete with them; and few functions of a test run for so long that
// the slowest compiler is worth its time. A worker loads each module once, and has garbage of thousands of runs: its heap starts large.
// Together 14% less time.
setFlagsFromString('--single-threaded')
setFlagsFromString('--no-opt')
setFlagsFromString('--no-parallel-scavenge')
setFlagsFromString('--initial-heap-size=1500')

const project = (name: string, include: string, timeout = 60_000): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [include], testTimeout: timeout, hookTimeout: timeout },
})

const src = new URL('./src', import.meta.url).pathname

/** Replaces modules by the same code as it ships: bundled like npm/ and then minified like dist/. */
function importShipped() {
  const build = async (): Promise<string> => {
    const built = mkdtempSync(join(tmpdir(), 'watchkeeper-shipped-'))
    process.on('exit', () => rmSync(built, { recursive: true, force: true }))
    const modules = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    await bundlePackage(built, Object.fromEntries(modules.map((path) => [path.replace(/\.ts$/, ''), `src/${path}`])))
    minifyFiles(built)
    return built
  }
  let built: Promise<string> | undefined
  return {
    name: 'import-shipped',
    enforce: 'pre' as const,
    async resolveId(source: string, importer: string | undefined) {
      const path = importer === undefined || !source.startsWith('.') ? '' : resolve(importer, '..', source)
      if (!path.startsWith(`${src}/`)) return undefined
      built ??= build()
      return join(await built, relative(src, path).replace(/\.ts$/, '.js'))
    },
  }
}

/** The same tests with modules as they ship, which Vite puts in the place of the sources. */
const shipped: TestProjectInlineConfiguration = {
  extends: true,
  plugins: [importShipped()],
  test: {
    name: 'shipped',
    // One test ticks the clock of the undici that it imports, and what ships has a copy.
    include: ['test/{unit,integration/platform/http}/**/!(connect-timeout).test.ts'],
    testTimeout: 60_000,
    experimental: { viteModuleRunner: true },
  },
}

const exhaustive = project('exhaustive', 'test/exhaustive/**/*.test.ts', 120_000)

export default defineConfig({
  // Vite warns about each package that publishes source maps without the sources.
  logLevel: 'error',
  test: {
    // Every test starts its own servers and child processes; nothing is shared between files.
    pool: 'threads',
    // By default one core is left idle, although most tests wait for processes of their own.
    maxWorkers: '100%',
    // Nothing happens on import and no module is mocked, so that files can share their modules.
    isolate: false,
    setupFiles: ['test/support/setup.ts'],
    // Tests that run side by side in one file; two files run at once.
    maxConcurrency: 4,
    // A process that is started may need seconds on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // Node itself loads the modules, as it does outside of tests: nothing is transformed, and an import is not a call of a getter.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A test that takes about a quarter of a second or more: most have many objects, many runs, a long text or a deadline.
    tags: [{ name: 'slow', description: 'left out by `npm test`, run by `npm run check`' }],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'json-summary'] },
    projects: [
      // `npm test`
      project('fast', 'test/{unit,integration,contract,conformance}/**/*.test.ts'),
      // The bundle and the command line in processes of their own, and the files of `npm run effects`. They need `npm run prepack`.
      project('e2e', 'test/{e2e,effects}/**/*.test.ts', 120_000),
      // Every fault at every request, random services and random files.
      // Vite loads the modules for each file again: some of these tests put random values into what a module keeps.
      { ...exhaustive, test: { ...exhaustive.test, experimental: { viteModuleRunner: true } } },
      // The bundler and the minifier drop calls that they take for pure, such as `decodeURIComponent(text)` without a use of its result.
      shipped,
      // After `npm run build:executable`.
      project('executable', 'test/executable/**/*.test.ts', 120_000),
      // Both need a Chromium on the machine.
      project('browser', 'test/e2e/browser/*.browser.ts'),
      project('site', 'test/e2e/site/*.browser.ts'),
    ],
  },
})
