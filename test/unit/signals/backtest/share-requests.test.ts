import { expect, it } from 'vitest'
import { rowsOf, type SeriesRequest, shareRequests } from '../../../../src/signals/backtest/series-api.ts'

const request = (sourceId: string, fromMs = 0): SeriesRequest => ({
  ...{ series: [rowsOf(sourceId)], fromMs, untilMs: fromMs + 60_000, granularity: '1m' },
})

it('sends at most four requests at once, and queries for the same windows as one of at most two series', async () => {
  const sent: (readonly string[])[] = []
  let [underWay, most] = [0, 0]
  const read = shareRequests(
    async ({ series, fromMs }) => {
      sent.push(series.map(({ sourceId }) => sourceId))
      most = Math.max(most, ++underWay)
      await new Promise(setImmediate)
      underWay--
      return [{ startMs: fromMs, group: '', groupValues: [], numbers: new Map(series.map((_, i) => [i, i])) }]
    },
    { maxItems: 2, hasOneSource: false, refuse: () => undefined },
  )
  const others = Array.from({ length: 9 }, (_, i) => request('x', (i + 1) * 60_000))
  const answers = await Promise.all([request('a'), request('b'), request('c'), ...others].map(read))
  expect(most).toBe(4)
  expect(sent.slice(0, 3)).toEqual([['a', 'b'], ['c'], ['x']])
  const values = answers.map((answer) => ('reason' in answer ? answer : answer.map(({ numbers }) => [...numbers])))
  expect(values.slice(0, 3)).toEqual([[[[0, 0]]], [[[0, 1]]], [[[0, 0]]]])
})

it('shares no request between groups, nor between sources where a request has one', async () => {
  const packsWith = async (hasOneSource: boolean, requests: readonly SeriesRequest[]) => {
    const sent: number[] = []
    const answer = async ({ series }: SeriesRequest) => {
      sent.push(series.length)
      return []
    }
    await Promise.all(requests.map(shareRequests(answer, { maxItems: 9, hasOneSource, refuse: () => undefined })))
    return sent
  }
  const [a, b] = [request('a'), request('b')]
  const grouped = { ...a, series: [{ ...rowsOf('a'), groupBy: ['Pod'] }] }
  expect([await packsWith(false, [a, b, a]), await packsWith(true, [a, b, a])]).toEqual([[3], [2, 1]])
  expect(await packsWith(false, [a, grouped, b])).toEqual([2, 1])
})
