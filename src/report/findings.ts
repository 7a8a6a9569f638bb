// Owns what is found wrong in files, as a report shows it.
import type { Block, FindingLine } from './blocks.ts'
import { data, ours, sentence } from './line.ts'

type Findings = Extract<Block, { kind: 'findings' }>

const words: Readonly<Record<FindingLine['severity'], string>> = { error: '❌ error', warning: '⚠️ warning', note: 'ℹ️ note' }

/** The worst of them, as many as there is room for, in the order that they had. */
export function worstOf<F extends Pick<FindingLine, 'severity'>>(findings: readonly F[], most: number): readonly F[] {
  if (findings.length <= most) return findings
  const order = Object.keys(words)
  const kept = new Set(findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)).slice(0, most))
  return findings.filter((one) => kept.has(one))
}

/** For places that have tables. */
export const toTable = ({ findings }: Findings): Extract<Block, { kind: 'table' }> => ({
  kind: 'table',
  columns: [{ title: 'Severity' }, { title: 'Place' }, { title: 'Finding' }, { title: 'Rule' }],
  rows: findings.map(({ severity, place, message, rule }) => [[ours(words[severity])], [data(place)], [sentence(message)], [ours(rule)]]),
})
