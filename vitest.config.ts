import { setFlagsFromString } from 'node:v8'
import { defineConfig, mergeConfig } from 'vitest/config'

// Two workers use both cores, so that V8's own threads would only compete with them; and few functions of a test run for so long that
// the slowest compiler is worth its time. Together 7% less time.
setFlagsFromString('--single-threaded')
setFlagsFromString('--no-opt')

/** What all tests have in common, wherever they run. */
export const common = defineConfig({
  // Vite warns about each package that publishes source maps without the sources.
  logLevel: 'error',
  test: {
    // Every test starts its own servers and child processes; nothing is shared between files.
    pool: 'threads',
    // By default one core is left idle, although most tests wait for processes of their own.
    maxWorkers: '100%',
    // Nothing happens on import and no module is mocked, so that files can share their modules.
    isolate: false,
    // Most tests take milliseconds; those with processes of their own share the machine with everything else.
    testTimeout: 60_000,
    // Tests that run side by side in one file; two files run at once.
    maxConcurrency: 4,
    // A process that is started may need seconds on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // Published for bundlers: they import JSON without saying so, which Node refuses.
    server: { deps: { inline: [/@actions\/(?:languageservice|workflow-parser|expressions)/] } },
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'json-summary'] },
  },
})

export default mergeConfig(
  common,
  defineConfig({
    test: {
      // `test/e2e` and `test/exhaustive` have a run of their own: see vitest.e2e.config.ts.
      include: ['test/{unit,integration,contract,conformance}/**/*.test.ts'],
    },
  }),
)
