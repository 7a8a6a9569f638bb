// The example of every operation, run by the built action, which has files of its own for most.
// test/contract/operations.test.ts runs them in the library.
import { describe, expect, it } from 'vitest'
import { toKebab } from '../../src/platform/core/names.ts'
import type { Operation } from '../../src/platform/operation/operation.ts'
import { forEachEntry } from '../support/corpus.ts'
import { inputsFor, secrets, useEmulator } from '../support/emulator.ts'
import { allOperations as all, placeFor, sqlKeyOf, useExampleDirectory } from '../support/examples.ts'
import { commandsOf, runAction } from '../support/run-process.ts'

const texts = (example: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(example).map(([key, value]) => [toKebab(key), String(value)]))

const root = useExampleDirectory()

const fast = { rateLimit: { limit: 1000, windowMs: 1000 } }

describe('every example works on the emulator', () => {
  const emulator = useEmulator(fast)
  const commonInputs = (operation: Operation): Record<string, string> => ({
    ...inputsFor(emulator()),
    ...sqlKeyOf(emulator()),
    ...placeFor(operation, emulator()),
  })

  const inAction = all.filter(({ operation }) => !operation.isOutsideOfAction)

  it('runs the example of every operation as an action', () =>
    forEachEntry(
      inAction.map(({ name, operation }): [string, Operation] => [name, operation]),
      async (name, operation) => {
        const inputs = { ...commonInputs(operation), operation: name, ...texts(operation.example) }
        const ran = await runAction({
          inputs,
          env:
            'files' in operation.example || 'checks' in operation.example || operation.scope === 'none' ? { GITHUB_WORKSPACE: root() } : {},
          secrets,
        })
        expect(['pass', 'warn']).toContain(ran.outputs.get('status'))
        expect(ran.exitCode).toBe(0)
        expect(ran.result).toEqual(JSON.parse(ran.outputs.get('result') ?? '{}'))
        expect(ran.summary).toMatch(/^### (?:✅|⚠️) /)
        expect(commandsOf(ran).filter((command) => !['warning', 'group', 'endgroup'].includes(command))).toEqual([])
        const declared = Object.keys(operation.output.shape).map(toKebab)
        const known = ['status', 'failure-reason', 'result', 'result-file', ...declared]
        expect([...ran.outputs.keys()].filter((key) => !known.includes(key))).toEqual([])
      },
      {
        before: () => emulator().reset(),
      },
    ))
})
