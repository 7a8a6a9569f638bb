import { expect, it } from 'vitest'
import { forEachEntry } from '../../support/corpus.ts'
import { runWithFailure } from '../../support/faults.ts'

it('V5: a period is whole UTC days, whatever the time zone of the runner, and a run over midnight has one today', async () => {
  const inputs = { budget: '', 'on-missing': 'ignore' }
  await forEachEntry<[string, string, string, string]>(
    [
      ['2026-03-01T00:00:00.100Z', 'America/Sao_Paulo', 'today', '2026-03-01 2026-03-01'],
      ['2027-12-31T23:59:59.900Z', 'Pacific/Kiritimati', 'month-to-date', '2027-12-01 2027-12-31'],
    ],
    async (startAt, zone, period, days) => {
      const { outcome, ran } = await runWithFailure('read a cost', undefined, {
        preload: { startAt, standsStill: true },
        env: { TZ: zone },
        inputs: { ...inputs, period },
        api: { now: () => Date.parse(startAt) },
      })
      expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
      expect(`${ran.result?.fromDate} ${ran.result?.toDate}`).toBe(days)
    },
    { atOnce: 2 },
  )
  const { ran, testApi } = await runWithFailure(
    'read a cost',
    { effect: { kind: 'delay', ms: 300 } },
    { preload: { startAt: '2026-02-28T23:59:59.800Z' }, inputs: { ...inputs, period: 'last-3-days' } },
  )
  expect(ran.result).toMatchObject({ days: 3 })
  const [first] = testApi.emulator.requests
  expect(new URL(first?.path ?? '', 'http://x').searchParams.get('to_date')).toBe(ran.result?.toDate)
})
