import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sumSavings } from '../../../../src/cost/idling/audit-costs.ts'
import { type AuditResult, findingLines, judgeAudit, reportAudit } from '../../../../src/cost/idling/audit-report.ts'
import type { Finding } from '../../../../src/cost/idling/findings.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { composeBlocks } from '../../../../src/platform/report/blocks.ts'
import { renderMarkdown } from '../../../../src/platform/report/markdown.ts'
import { decimal } from '../../../support/usage.ts'

const finding = (about: string, low: number, high: number): Finding => ({
  rule: 'rarely-sleeps',
  severity: 'warning',
  name: 'search',
  evidence: '',
  estimate: { low, high },
  about,
})

const findings = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(100), fc.nat(100)).map(([about, low, more]) => finding(about, low, low + more)),
)

const audited: AuditResult = {
  ...{ findingCount: 1, errorCount: 0, warningCount: 1, noteCount: 0, unit: 'CHC', auditedAt: '2026-03-01T00:00:00Z' },
  ...{ savingsLow: decimal('15.0012'), savingsHigh: decimal('20'), maxSavings: decimal('15') },
  services: [{ id: 's', name: 'search', state: 'running', idling: 'off', alwaysOn: false, knownDays: 0 }],
  ...{ findings: [], awakeByDay: [], unchecked: [] },
}

it('a limit of savings differs from the savings that exceed it, also when both round to the same amount', () => {
  const { sentence = [] } = judgeAudit(audited)
  expect(toPlainText(sentence)).toBe('Savings of at least 15.0012 CHC a month exceed max-savings of 15 CHC.')
})

it('the cause of errors names two of them', () => {
  const causeOf = (...names: readonly string[]) => {
    const findings = names.map((name) => ({ rule: 'rarely-sleeps' as const, severity: 'error' as const, name, evidence: '' }))
    const { cause = [] } = judgeAudit({ ...audited, maxSavings: undefined, findings, errorCount: names.length })
    return toPlainText(cause)
  }
  expect(causeOf('a', 'b')).toBe('a: rarely-sleeps, b: rarely-sleeps')
  expect(causeOf('a', 'b', 'c')).toBe('a: rarely-sleeps, b: rarely-sleeps and others')
})

const found = (name: string, more: Partial<AuditResult['findings'][number]> = {}) => ({
  ...{ severity: 'warning' as const, rule: 'idling-off' as const, name, evidence: 'Idling is off', ...more },
})

it('the headline names two services, and the range that their findings save', () => {
  const headlineOf = (names: readonly string[], more: Partial<AuditResult> = {}) =>
    toPlainText(reportAudit({ ...audited, findings: names.map((name) => found(name)), findingCount: names.length, ...more }).headline)
  expect(headlineOf(['a', 'b', 'a'])).toBe('3 findings on a, b could save 15.0–20.0 CHC a month.')
  expect(headlineOf(['a', 'b', 'c'], { savingsLow: decimal(0) })).toBe('3 findings on a, b and 1 more could save up to 20.00 CHC a month.')
  expect(headlineOf(['a'], { savingsLow: decimal(0), savingsHigh: decimal(0) })).toBe('1 finding on a.')
  expect(headlineOf([])).toBe('No findings on 1 service.')
})

it('a message has the first three findings, each with the first three names of what it is about', () => {
  const findings = [found('a', { names: ['x', 'y', 'z'] }), found('b', { names: ['x', 'y', 'z', 'zz'] }), found('c'), found('d')]
  expect(findingLines({ ...audited, findings }).map(toPlainText)).toEqual([
    'a: Idling is off: x, y, z.',
    'b: Idling is off: x, y, z and 1 more.',
    'c: Idling is off.',
  ])
})

it('what to change about services alike is said once, with ten of their names, except where it saves an amount', () => {
  const changesOf = (findings: AuditResult['findings']) =>
    composeBlocks(reportAudit({ ...audited, findings }).blocks)
      .flatMap((block) => (block.kind === 'paragraph' ? toPlainText(block.line) : []))
      .filter((line) => line.includes('(idling-off)'))
  const names = [...'abcdefghijk']
  const alike = names.map((name) => found(name, { serviceId: name, advice: 'Turn it on.' }))
  expect(changesOf(alike)).toEqual(['a, b, c, d, e, f, g, h, i, j and 1 more (idling-off): Turn it on.'])
  expect(changesOf(alike.slice(0, 2).map((one) => ({ ...one, low: decimal(1), high: decimal(2) })))).toEqual([
    'a (idling-off): Turn it on.',
    'b (idling-off): Turn it on.',
  ])
  expect(changesOf([found('a', { notEstimable: 'it is new' }), found('b')])).toEqual(['a (idling-off): Not estimable: it is new.'])
})

it('a chart is about the services whose awake share is known', () => {
  const chartsOf = (days: readonly string[], more: readonly number[] = []) => {
    const [service] = audited.services
    const services = [40, undefined, ...more].flatMap((awakePercent) => (service ? [{ ...service, awakePercent }] : []))
    const { blocks } = reportAudit({ ...audited, services, awakeByDay: days.map((day) => ({ day, hours: 3 })) })
    return composeBlocks(blocks).flatMap((block) => (block.kind === 'chart' ? [[block.title, block.points.length]] : []))
  }
  expect(chartsOf(['2026-03-01'])).toEqual([])
  expect(chartsOf(['2026-03-01', '2026-03-02'])).toEqual([['Awake hours per day (1 service)', 2]])
  expect(chartsOf(['2026-03-01', '2026-03-02'], [0])).toEqual([['Awake hours per day (2 services together)', 2]])
})

it('a report shows what to change about ten services, and folds the others', () => {
  const findings = Array.from({ length: 12 }, (_, i): AuditResult['findings'][number] => ({
    ...{ severity: 'warning', name: `service ${i}`, evidence: 'Idling is off.' },
    ...{ rule: 'idling-off', high: decimal('2'), advice: `Advice ${i}.` },
  }))
  const text = renderMarkdown(composeBlocks(reportAudit({ ...audited, findings }).blocks))
  const [open = '', folded] = text.split('<summary>2 more changes</summary>')
  const adviceIn = (part = ''): number => part.match(/Advice \d+\./g)?.length ?? 0
  expect([adviceIn(open), adviceIn(folded)]).toEqual([10, 2])
  expect(text).toContain('Estimates in CHC')
})

describe('the sum of savings', () => {
  it('counts findings about the same awake hours once', () => {
    expect(sumSavings([finding('a', 0, 80), finding('a', 20, 30), finding('b', 5, 7)])).toEqual({ low: 25, high: 87 })
    expect(sumSavings([{ ...finding('a', 0, 0), estimate: { reason: 'unknown' } }])).toEqual({ low: 0, high: 0 })
  })

  it('is never more than the sum of all, and never less than any finding', () => {
    fc.assert(
      fc.property(findings, (some) => {
        const { low, high } = sumSavings(some)
        const amounts = some.flatMap(({ estimate }) => (estimate !== undefined && 'low' in estimate ? [estimate] : []))
        expect(low).toBeLessThanOrEqual(high)
        expect(low).toBeLessThanOrEqual(amounts.reduce((sum, one) => sum + one.low, 0))
        for (const one of amounts) expect(high).toBeGreaterThanOrEqual(one.high)
      }),
    )
  })
})
