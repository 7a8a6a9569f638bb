import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sumSavings } from '../../../../src/cost/idling/audit-costs.ts'
import { type AuditResult, judgeAudit, reportAudit } from '../../../../src/cost/idling/audit-report.ts'
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
    const findings = names.map((name) => ({ ...finding('', 0, 0), severity: 'error' as const, name }))
    const { cause = [] } = judgeAudit({ ...audited, maxSavings: undefined, findings, errorCount: names.length })
    return toPlainText(cause)
  }
  expect(causeOf('a', 'b')).toBe('a: rarely-sleeps, b: rarely-sleeps')
  expect(causeOf('a', 'b', 'c')).toBe('a: rarely-sleeps, b: rarely-sleeps and others')
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
