// What takes its time: faults at every request, promises under hostile input, and convergence of any state. `npm run check` runs it
// after the other tests, `npm test` leaves it out.
import { defineConfig, mergeConfig } from 'vitest/config'
import { common } from './vitest.config.ts'

export default mergeConfig(
  common,
  defineConfig({ test: { include: ['test/{faults,promises,provisioning}/**/*.test.ts'], testTimeout: 120_000 } }),
)
