// For `npm run test:browser`: needs a Chromium on the machine, which `npm test` does not.
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['test/e2e/browser/**/*.browser.ts'], testTimeout: 60_000, hookTimeout: 60_000 } })
