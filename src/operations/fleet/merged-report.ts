// Owns the report over all results of a fleet: what is not all right first, so that nothing of it is lost where room is short.
import type { Block } from '../../report/blocks.ts'
import { counted, data, join, type Line, ours, say, sentence } from '../../report/line.ts'
import type { Report } from '../operation.ts'
import { type Merged, type MergedResult, type MergedStatus, mergedStatuses } from './merged-result.ts'

export function reportMerged(result: MergedResult): Report {
  const { resultCount, serviceCount, results, unreadable } = result
  const isWrong = ({ status, isStranger }: Merged): boolean => status !== 'pass' || isStranger
  const right = results.filter((one) => !isWrong(one))
  return {
    headline: say`${counted(serviceCount, 'service')}, ${counted(resultCount, 'result file')}`,
    blocks: [
      { kind: 'facts', facts: factsOf(result) },
      tableOf('Not all right', results.filter(isWrong)),
      {
        kind: 'table',
        title: 'Files that are no results',
        columns: [{ title: 'File' }, { title: 'What is wrong' }],
        rows: unreadable.map(({ file, reason }) => [[data(file)], [sentence(reason)]]),
      },
      organizationTable(results),
      {
        kind: 'details',
        title: `What passed (${right.length})`,
        blocks: [tableOf(undefined, right)],
      },
    ],
  }
}

const factsOf = ({ passCount, warnCount, failCount, errorCount, missingCount, unreadableCount }: MergedResult) =>
  (
    [
      ['Passed', passCount],
      ['Warning', warnCount],
      ['Failed', failCount],
      ['Not done', errorCount],
      ['Missing', missingCount],
      ['Unreadable', unreadableCount],
    ] as const
  ).map(([label, count]) => ({ label, value: say`${count}` }))

const words: Readonly<Record<MergedStatus, string>> = {
  fail: '❌ failed',
  error: '🛑 not done',
  missing: '❔ missing',
  warn: '⚠️ warning',
  pass: '✅ passed',
}

type Table = Extract<Block, { kind: 'table' }>

function tableOf(title: string | undefined, results: readonly Merged[]): Table {
  return {
    kind: 'table',
    ...(title !== undefined && { title }),
    columns: [
      { title: 'Status' },
      { title: 'Organization' },
      { title: 'Service' },
      { title: 'Operation' },
      { title: 'Told' },
      { title: 'File' },
    ],
    rows: results.map((one) => [
      [ours(words[one.status])],
      orNothing(one.organization ?? one.organizationId),
      orNothing(one.service ?? one.serviceId),
      orNothing(one.operation),
      whatIsTold(one),
      orNothing(one.file),
    ]),
  }
}

const orNothing = (text: string | undefined): Line => (text ? [data(text)] : [ours('–')])

function whatIsTold({ reason, figure, isStranger }: Merged): Line {
  const parts = [
    ...(isStranger ? [say`not in the fleet`] : []),
    ...(reason === '' ? [] : [[sentence(reason)]]),
    ...(figure === undefined ? [] : [[data(figure)]]),
  ]
  return parts.length === 0 ? [ours('–')] : join(parts, ', ')
}

/** Says where it goes wrong; with one organization, the figures above say it already. */
function organizationTable(results: readonly Merged[]): Table {
  const byOrganization = Map.groupBy(results, ({ organization, organizationId }) => organization ?? organizationId ?? '')
  const columns = [{ title: 'Organization' }, ...mergedStatuses.map((status) => ({ title: words[status], align: 'right' as const }))]
  if (byOrganization.size < 2) return { kind: 'table', columns, rows: [] }
  const count = (ofOne: readonly Merged[], status: MergedStatus): Line => say`${ofOne.filter((one) => one.status === status).length}`
  return {
    kind: 'table',
    title: 'By organization',
    columns,
    rows: [...byOrganization].map(([name, ofOne]) => [orNothing(name), ...mergedStatuses.map((status) => count(ofOne, status))]),
  }
}
