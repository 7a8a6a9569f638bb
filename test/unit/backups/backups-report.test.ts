import { expect, it } from 'vitest'
import { judgeChecks, reportChecks } from '../../../src/backups/backups-report.ts'
import type { BackupsResult, JudgedService } from '../../../src/backups/service-check.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { composeBlocks } from '../../../src/platform/report/blocks.ts'
import { factsIn, tablesIn } from '../../support/report-texts.ts'

const hours = (limit: number): JudgedService['limit'] => ({ hours: limit, source: 'input' })

const resultOf = (services: readonly Partial<JudgedService>[]): BackupsResult => ({
  ...{ organizationId: 'o', checkedAt: '2026-03-31T12:00:00Z', worstServiceId: 's0', drills: [] },
  services: services.map((service, i) => ({
    ...{ serviceId: `s${i}`, outcome: 'fresh', passes: true, limit: hours(26), ageMs: 0, dataQualityIssues: [], backups: [], problems: [] },
    ...service,
  })),
})

const blocksOf = (services: readonly Partial<JudgedService>[]) => composeBlocks(reportChecks(resultOf(services)).blocks)

it('the facts name three limits at most, of the services whose backups were read', () => {
  const limitsOf = (...limits: readonly number[]) =>
    factsIn(
      blocksOf(limits.map((limit) => ({ limit: hours(limit), ...(limit === 1 && { failure: { kind: 'server', message: 'x' } }) }))),
    ).filter((fact) => fact.startsWith('Limit'))
  expect(limitsOf(26, 26, 1)).toEqual(['Limit: 1 d 2 h (from max-age-hours)'])
  expect(limitsOf(2, 3, 4, 1)).toEqual(['Limits: 2 h (from max-age-hours); 3 h (from max-age-hours); 4 h (from max-age-hours)'])
  expect(limitsOf(2, 3, 4, 5)).toEqual(['Limits: 4 different limits, see the table'])
})

it('a trend shows the newest 20 values, and none of one', () => {
  const trendOf = (count: number) => {
    const trend = { latest: 1, median: 1, ratio: 1, values: Array.from({ length: count }, (_, i) => (i < count - 20 ? 8 : 1)) }
    const row = tablesIn(blocksOf([{ size: trend, duration: trend }])).find((cells) => cells.length === 8 && cells[0] === 's0')
    return [row?.[4], row?.[7]]
  }
  expect(trendOf(1)).toEqual(['–', '–'])
  expect(trendOf(2)).toEqual(['██', '██'])
  expect(trendOf(25)).toEqual(['█'.repeat(20), '█'.repeat(20)])
})

it('five different failures have a message each, with the number of other services that have the same', () => {
  const failures = Array.from({ length: 8 }, (_, i) => ({
    outcome: 'unknown' as const,
    ...{ passes: false, failure: { kind: 'server', message: `The API answered 50${Math.max(0, i - 2)} for s${i}.` } },
  }))
  expect(blocksOf(failures).flatMap((block) => (block.kind === 'message' ? block.text : []))).toEqual([
    'The API answered 500 for s0.\nThe same for 2 more services.',
    ...[3, 4, 5, 6].map((i) => `The API answered 50${i - 2} for s${i}.`),
  ])
})

it('the table has the problems, where one of the services has any', () => {
  const cellsOf = (problems: string[]) => tablesIn(blocksOf([{}, { problems, passes: problems.length === 0 }])).map((row) => row.at(-1))
  expect(cellsOf(['no restore', 'no policy'])).toEqual(['Problems', 'no restore; no policy', '–'])
  expect(cellsOf([])[0]).toBe('Backups')
})

it('the worst service comes first in the table and in the reasons', () => {
  const inProgress = { id: 'b', ageMs: 3_600_000 }
  const services = [{}, { outcome: 'stale', passes: false, inProgress }, { outcome: 'failed', passes: false }, { ageMs: 7 }] as const
  const [, ...rows] = tablesIn(blocksOf(services))
  expect(rows.map(([label]) => label)).toEqual(['s2', 's1', 's3', 's0'])
  const { reasons = [] } = judgeChecks(resultOf(services))
  expect(reasons.map(toPlainText)).toEqual([
    'Service s2: the last backup failed. It started 0 s ago. There is no successful backup.',
    'Service s1: the last successful backup is 0 s old, limit 1 d 2 h. Another backup has been in progress for 1 h.',
  ])
})
