// Owns the verdict over all results of a fleet: as bad as the worst of them, and never green where something is missing.
import { data, join, type Line, ours, say } from '../../report/line.ts'
import { pass, type Verdict } from '../operation.ts'
import { type MergedResult, type MergedStatus, nameOf } from './merged-result.ts'

export function judgeMerged({ results, unreadable }: MergedResult): Verdict {
  const having = (status: MergedStatus): readonly string[] => results.filter((one) => one.status === status).map(nameOf)
  const failures = [
    told(having('fail'), 'failed'),
    told(having('error'), 'could not be done'),
    told(having('missing'), 'without a result'),
    told(
      unreadable.map(({ file }) => file),
      'unreadable',
    ),
  ].flat()
  const warnings = [
    told(having('warn'), 'with a warning'),
    told(results.filter(({ isStranger }) => isStranger).map(nameOf), 'not in the fleet'),
  ]
  if (failures.length > 0) return { status: 'fail', reasons: failures }
  const reasons = warnings.flat()
  return reasons.length > 0 ? { status: 'warn', reasons } : pass
}

/** More names than this are no sentence. */
const mostNames = 3

function told(names: readonly string[], words: string): readonly Line[] {
  if (names.length === 0) return []
  const rest = names.length - mostNames
  const named = join(
    names.slice(0, mostNames).map((name) => [data(name)]),
    ', ',
  )
  return [say`${names.length} ${ours(words)} (${named}${rest > 0 ? say` and ${rest} more` : []})`]
}
