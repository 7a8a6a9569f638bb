// A process that plans, over and over, where nothing is to be done: tells how long each time took, and the most memory that it had.
import { systemClock } from '../src/platform/core/clock.ts'
import { perform } from './in-process.ts'
import { type Planned, planInputs } from './plans.ts'

const [url = '', directory = '', size, rounds] = process.argv.slice(2)
const times: number[] = []
// The first one is the compiler's.
for (let i = 0; i <= Number(rounds); i++) {
  const startedMs = performance.now()
  const { document } = await perform('plan', planInputs, { url, directory, clock: systemClock })
  if (i > 0) times.push(performance.now() - startedMs)
  if (document.unchanged !== Number(size)) throw new Error(`the plan of ${size} objects found ${document.unchanged} as declared`)
}
process.send?.({ times, peakBytes: process.resourceUsage().maxRSS * 1024 } satisfies Planned)
