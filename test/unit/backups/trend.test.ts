import { describe, expect, it } from 'vitest'
import { judgeSize, type Measured, trendOf, usualDurationMs } from '../../../src/backups/trend.ts'

const measured = (sizeBytes?: number, durationMs?: number, type?: string): Measured => ({ sizeBytes, durationMs, type })

const ofSizes = (latest: number | undefined, ...earlier: (number | undefined)[]) =>
  trendOf([measured(latest), ...earlier.map((size) => measured(size))])

describe('trendOf', () => {
  it('compares with the median, which one wild value does not move', () => {
    expect(ofSizes(90, 100, 1, 100, 100).size).toEqual({ latest: 90, usual: 100, ratio: 0.9, values: [100, 100, 1, 100, 90] })
  })

  it('takes the middle of two', () => {
    expect(ofSizes(100, 80, 120).size.usual).toBe(100)
  })

  it('compares full backups with full ones, and those of no type with their like', () => {
    const list = [measured(5, 1, 'incremental'), measured(800, 60, 'full'), measured(10, 2, 'incremental'), measured(7, 9)] as const
    expect(trendOf(list)).toMatchObject({ size: { usual: 10, ratio: 0.5 }, duration: { usual: 2, ratio: 0.5 }, earlier: 1 })
    expect(trendOf([measured(7), ...list]).size.usual).toBe(7)
  })

  it.each([
    ['nothing earlier', ofSizes(100)],
    ['earlier ones of nothing', ofSizes(100, 0, 0)],
    ['earlier ones that do not tell', ofSizes(100, undefined)],
    ['a latest that does not tell', ofSizes(undefined, 100)],
  ])('has no ratio with %s', (_, { size }) => {
    expect(size.ratio).toBeUndefined()
  })
})

describe('judgeSize', () => {
  it.each([
    ['a share that is enough', ofSizes(60, 100), 0.5, 'ok'],
    ['just the share', ofSizes(50, 100), 0.5, 'ok'],
    ['just a share that doubles miss by a hair', ofSizes(7, 100), 0.07, 'ok'],
    ['a byte less', ofSizes(49, 100), 0.5, 'small'],
    ['a byte less than a tebibyte', ofSizes(2 ** 40 - 1, 2 ** 40), 1, 'small'],
    ['nothing at all', ofSizes(0, 100), 0.5, 'small'],
    ['nothing, as ever', ofSizes(0, 0, 0), 0.5, 'ok'],
    ['no size', ofSizes(undefined, 100), 0.5, 'size-unknown'],
    ['no earlier size', ofSizes(100, undefined), 0.5, 'earlier-unknown'],
    ['nothing earlier', ofSizes(100), 0.5, 'nothing-earlier'],
  ])('%s', (_, trend, ratio, verdict) => {
    expect(judgeSize(trend, ratio)).toBe(verdict)
  })
})

describe('usualDurationMs', () => {
  it('is the median of the kind that takes longest', () => {
    const full = [40, 60, 50].map((ms) => measured(1, ms, 'full'))
    const incremental = [5, 900, 6, 7].map((ms) => measured(1, ms, 'incremental'))
    expect(usualDurationMs([...full, ...incremental, measured(1, undefined, 'full')])).toBe(50)
  })

  it('is nothing where nothing is known', () => {
    expect(usualDurationMs([])).toBe(0)
    expect(usualDurationMs([measured(1)])).toBe(0)
  })
})
