import { readFileSync } from 'node:fs'
import type { Dialect } from './case.ts'
import { cases } from './cases/index.ts'
import { describeDifferences, findDifferences } from './compare.ts'
import { type Recording, runCases } from './run-cases.ts'
import { startEmulatorTarget } from './targets.ts'

export const recordedText = readFileSync(new URL('recorded/hyperdx-2.36.json', import.meta.url), 'utf8')

export const recording = JSON.parse(recordedText) as Recording

/** What the emulator answers differently from the product, as a text; empty when it is nothing. */
export async function compareEmulator(dialect: Dialect): Promise<{ readonly count: number; readonly differences: string }> {
  const target = await startEmulatorTarget(dialect)
  try {
    const answers = await runCases(target, cases)
    return { count: Object.keys(answers).length, differences: describeDifferences(findDifferences(cases, recording, answers, target)) }
  } finally {
    await target.close()
  }
}
