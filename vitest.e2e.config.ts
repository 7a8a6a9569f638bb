// The slow tests, for `npm run check`: the bundle and the command line in processes of their own (`e2e`), and every fault at every
// request, random services and random files in process (`exhaustive`), and the files of `npm run effects` (`effects`).
import { defineConfig, mergeConfig } from 'vitest/config'
import { common } from './vitest.config.ts'

export default mergeConfig(
  common,
  defineConfig({ test: { include: ['test/{e2e,exhaustive,effects}/**/*.test.ts'], testTimeout: 120_000 } }),
)
