// The slow tests, for `npm run check`: the bundle and the command line in processes of their own (`e2e`), and every fault at every
// request, random services and random files in process (`exhaustive`).
import { defineConfig, mergeConfig } from 'vitest/config'
import { common } from './vitest.config.ts'

export default mergeConfig(common, defineConfig({ test: { include: ['test/{e2e,exhaustive}/**/*.test.ts'], testTimeout: 120_000 } }))
