// `npm run check`: everything that must hold before a merge. `--all` adds what has a job of its own in check.yml, and all seeds.
import { spawn } from 'node:child_process'

const all = process.argv.includes('--all')

/** Lanes run side by side, and the steps of a lane one after the other: the second lane reads what its first step compiles. */
const lanes: readonly (readonly string[])[] = [
  ['biome check', 'tsc -p test', 'node scripts/generate.ts --check'],
  ['tsc -b && node scripts/bundle-package.ts', 'node scripts/bundle.ts --check', 'node scripts/pack-check.ts'],
]

/** Each has both cores. The tests are last, so that the output ends with their closing lines. */
const steps: readonly string[] = [
  ...(all
    ? [
        'vitest run --project shipped',
        'node scripts/lint-install.ts',
        'node scripts/build-executable.ts',
        'vitest run --project executable',
      ]
    : []),
  'vitest run --project fast --project e2e --project exhaustive',
]

/** Resolves when the step has passed. Ends the check when it fails. */
async function run(step: string): Promise<void> {
  const startedMs = Date.now()
  const env = { SEED_SHARE: all ? '1' : '0.03', ...process.env }
  const status = await new Promise((resolve) => {
    spawn(step, { shell: true, stdio: 'inherit', env }).on('close', resolve)
  })
  console.log(`› ${step}: ${status === 0 ? '' : 'failed after '}${Math.round((Date.now() - startedMs) / 1000)} s`)
  if (status !== 0) process.exit(1)
}

async function runInOrder(lane: readonly string[]): Promise<void> {
  for (const step of lane) await run(step)
}

await Promise.all(lanes.map(runInOrder))
await runInOrder(steps)
