// `npm run check`: everything that must hold before a merge, with the tests of `npm test` last. `--all` adds what has a job of its own in
// check.yml, and all seeds.
import { spawnSync } from 'node:child_process'

const all = process.argv.includes('--all')

const steps: readonly string[] = [
  'biome check',
  'npm run --silent prepack',
  'tsc -p test',
  'node scripts/generate.ts --check',
  'node scripts/bundle.ts --check',
  'node scripts/pack-check.ts',
  'vitest run --project e2e --project exhaustive',
  ...(all
    ? [
        'vitest run --project shipped',
        'node scripts/lint-install.ts',
        'node scripts/build-executable.ts',
        'vitest run --project executable',
      ]
    : []),
  'npm test --silent',
]

for (const step of steps) {
  console.log(`\n› ${step}`)
  const startedMs = Date.now()
  const { status } = spawnSync(step, { shell: true, stdio: 'inherit', env: { SEED_SHARE: all ? '1' : '0.2', ...process.env } })
  if (status !== 0) {
    console.error(`${step} failed.`)
    process.exit(1)
  }
  console.log(`  ${Math.round((Date.now() - startedMs) / 1000)} s`)
}
