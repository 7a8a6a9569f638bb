// The tests of the single executable, for `npm run executable:check`, which builds it first.
import { defineConfig, mergeConfig } from 'vitest/config'
import { common } from './vitest.config.ts'

export default mergeConfig(
  common,
  defineConfig({ test: { include: ['test/executable/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 } }),
)
