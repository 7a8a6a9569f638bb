import { expect, it } from 'vitest'
import { demo } from '../../../../src/emulator/index.ts'
import { profileNamed } from '../../../../src/platform/api/profiles.ts'
import { requestSeries } from '../../../../src/signals/backtest/series-api.ts'
import { useEmulator } from '../../../support/emulator.ts'
import { withSession } from '../../../support/session.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const hourMs = 3_600_000

// Observed on HyperDX 2.36: the end is included, and gauges have one bucket more beyond an aligned end.
it('has the windows of a range without the one that begins at its end, and a first one that is a part', async () => {
  const untilMs = Date.parse('2026-11-10T12:00:00Z')
  const data = [-4, -3, -2, -1, 0, 1].map((hours) => ({
    __hdx_time_bucket: new Date(untilMs + hours * hourMs).toISOString(),
    series_0: '1',
  }))
  emulator().addFault({
    match: { path: '/charts/series' },
    times: 2,
    effect: { kind: 'body', text: JSON.stringify({ data }) },
  })
  const connection = {
    profile: profileNamed('hyperdx'),
    credentials: { accessKey: demo.apiKeySecret },
    baseUrl: new URL(`${emulator().url}/api/v2`),
  }
  const series = [{ sourceId: 'a', aggFn: 'count', where: '', whereLanguage: 'lucene' as const, groupBy: [] }]
  for (const hours of [3, 2.5])
    await withSession(
      emulator(),
      async ({ api }) => {
        const range = { fromMs: untilMs - hours * hourMs, untilMs }
        const rows = await requestSeries(api, { serverUrl: emulator().url }, { series, granularity: '1h', ...range })
        expect('reason' in rows ? rows : rows.map(({ startMs }) => (startMs - untilMs) / hourMs)).toEqual([-3, -2, -1])
      },
      { connection },
    )
})
