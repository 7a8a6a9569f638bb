import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toKebab } from '../../src/platform/core/names.ts'
import { renderMarkdown } from '../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../support/clocks.ts'
import { forEachEntry } from '../support/corpus.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { allOperations, placeFor, sqlKeyOf, useExampleDirectory } from '../support/examples.ts'
import { invokeText } from '../support/invoke.ts'
import { titleIn } from '../support/output-oracle.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const root = useExampleDirectory()

it('no report has a date in the form of machines, or a title of more than 80 characters', async () => {
  const entries = await readdir(root(), { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files = Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(root().length + 1), await readFile(path, 'utf8')])),
  )
  await forEachEntry(allOperations, async ({ name, operation }) => {
    const example = Object.fromEntries(Object.entries(operation.example).map(([key, value]) => [toKebab(key), [value].flat().join('\n')]))
    const inputs = {
      ...inputsFor(emulator()),
      ...sqlKeyOf(emulator()),
      ...placeFor(operation, emulator()),
      operation: name,
      ...example,
    }
    const { blocks, document } = await invokeText({ inputs, files })
    expect(document).not.toHaveProperty('error')
    const markdown = renderMarkdown(blocks)
    expect(titleIn(markdown).length, titleIn(markdown)).toBeLessThanOrEqual(80)
    const text = [...renderTerminal(blocks, { color: false }), markdown, document.failureReason].join('\n')
    // The emulator's backups have names with days.
    expect(text.replace(/checkout-20\S+/g, '').match(/.*\d{4}-\d{2}-\d{2}.*/g)).toBeNull()
  })
})

it('an error of the rate limit names the time in the same form', async () => {
  emulator().addFault({ effect: { kind: 'status', status: 429, headers: { 'retry-after': '1000000' } } })
  const { reason } = await invokeText({
    inputs: { ...inputsFor(emulator()), operation: 'list-alerts' },
    clock: createVirtualClock(Date.parse('2026-03-01T10:00:00Z')),
  })
  expect(reason).toContain('Try again after 12 Mar 2026 23:46 UTC (in 1000000 s).')
})
