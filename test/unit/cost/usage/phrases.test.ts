import { expect, it } from 'vitest'
import { describeIssue } from '../../../../src/cost/usage/phrases.ts'
import { type Day, eachDay } from '../../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'

const missing = (...days: string[]): string => toPlainText(describeIssue({ kind: 'missing-days', days: days as Day[] }, 'CHC'))

it('days that follow each other are listed as a range', () => {
  const half = [...eachDay('2026-01-01' as Day, '2026-08-24' as Day)]
  expect(missing(...half)).toBe('No usage records for 1 Jan – 24 Aug 2026.')
  expect(missing('2025-12-31', '2026-01-01', '2026-01-03')).toBe('No usage records for 31 Dec 2025 – 1 Jan 2026, 3 Jan 2026.')
})

it('the days after five ranges are counted', () => {
  const days = ['2026-01-01', '2026-01-03', '2026-01-05', '2026-01-07', '2026-01-09', '2026-01-11', '2026-01-12', '2026-01-14']
  expect(missing(...days)).toMatch(/, 9 Jan 2026 and 3 more\.$/)
  expect(missing(...days.slice(0, 5))).toMatch(/, 9 Jan 2026\.$/)
})
