import { expect, it } from 'vitest'
import { addDays, dayOf } from '../../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const today = dayOf(Date.now())
const period = { period: `${addDays(today, -10)}..${today}` }

const run = (inputs: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', ...period, ...inputs }, files })

/** A budget of which the usage up to the last complete day is a little more than `percent`, and that up to the day before is less. */
async function budgetAt(percent: number): Promise<string> {
  const { document } = await run({})
  const days = document.byDay as readonly { readonly date: string; readonly total: string }[]
  const used = days.filter(({ date }) => date < addDays(today, -1)).reduce((sum, { total }) => sum + Number(total), 0)
  return ((used * 100) / (percent + 1)).toFixed(2)
}

it('reports the steps of the budget and of each budget of a file, by name', async () => {
  const budgets = JSON.stringify({
    budgets: [
      { name: '<!here>', limit: Number(await budgetAt(90)) },
      { name: 'large', limit: 1_000_000 },
    ],
  })
  const inputs = { budget: await budgetAt(50), budgets: 'budgets.json', 'on-missing': 'ignore' }
  const { milestones, document } = await run(inputs, { 'budgets.json': budgets })
  expect(milestones.map(toPlainText)).toEqual([
    expect.stringMatching(/^Usage reached 50% of the budget on \d+ \w+ \d{4}: [\d.,]+ of [\d.,]+ CHC\.$/),
    expect.stringMatching(/^Usage reached 90% of budget <!here> on /),
  ])
  expect(document).toMatchObject({ budgetStep: { percent: 50 }, budgets: [{ budgetStep: { percent: 90 } }, { budgetStep: undefined }] })
})

it('reports no step for a period that moves with every run', async () => {
  const { milestones } = await run({ period: 'last-7-days', budget: '100' })
  expect(milestones).toEqual([])
})
