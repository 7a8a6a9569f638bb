// For `npm run test:browser` and `npm run test:site`: both need a Chromium on the machine, which `npm test` does not.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/e2e/{browser,site}/**/*.browser.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
