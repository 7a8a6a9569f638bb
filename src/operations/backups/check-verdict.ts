// Owns what the outcomes of check-backups mean for the gate.

import { data, type Line, say } from '../../report/line.ts'
import { byWorst } from '../../rules/freshness.ts'
import type { Verdict } from '../operation.ts'
import type { CheckResult, ServiceCheck } from './check-result.ts'
import { reasonOf, stateWords, warningsOf } from './check-words.ts'

/** Most services that a sentence names. */
const mostNamed = 10

export function judgeCheck({ services, minSizeRatio }: CheckResult): Verdict {
  const failed = worstFirst(services.filter(({ passes }) => !passes))
  const failures = failed.map(
    (check): Line => (services.length === 1 ? reasonOf(check) : say`${lowerFirst(stateWords(check))}: ${reasonOf(check)}`),
  )
  const warnings = services.flatMap((check) =>
    warningsOf(check, minSizeRatio).map((line): Line => (services.length === 1 ? line : say`service ${data(check.serviceId)}: ${line}`)),
  )
  const reasons = [...cut(failures, 'services'), ...cut(warnings, 'warnings')]
  return { status: failed.length > 0 ? 'fail' : warnings.length > 0 ? 'warn' : 'pass', reasons }
}

export const worstFirst = (services: readonly ServiceCheck[]): readonly ServiceCheck[] =>
  services.toSorted((a, b) => byWorst({ ageMs: undefined, ...a }, { ageMs: undefined, ...b }))

const cut = (lines: readonly Line[], noun: string): readonly Line[] =>
  lines.length <= mostNamed ? lines : [...lines.slice(0, mostNamed), say`${lines.length - mostNamed} more ${{ kind: 'ours', text: noun }}`]

/** In the middle of a sentence. */
const lowerFirst = ([first, ...rest]: Line): Line =>
  first === undefined ? [] : [{ ...first, text: first.text.charAt(0).toLowerCase() + first.text.slice(1) }, ...rest]
