import * as z from 'zod'
import { ApiError } from '../platform/api/api-error.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { type Diagnostic, diagnosticSchema } from '../platform/core/diagnostics.ts'
import { errorKinds, exitCodes, InputError, type WatchkeeperError } from '../platform/core/errors.ts'
import { join, type Line, say, toPlainText, trusted, untrustedSentence } from '../platform/core/line.ts'
import { toKebab } from '../platform/core/names.ts'
import type { OutputFile } from '../platform/operation/files.ts'
import type { Operation } from '../platform/operation/operation.ts'
import type { WantedReport } from '../platform/operation/reports.ts'
import type { ResultDocument, ResultError, RunResult, RunSubject } from '../platform/operation/result.ts'
import { type Block, composeBlocks, type Status } from '../platform/report/blocks.ts'
import type { Report, Verdict } from '../platform/report/report.ts'
import { causeOfError, causeOfVerdict, toCauseText } from './cause.ts'

export function withNextCommand<R extends RunResult>(result: R, commandFor: (error: ResultError) => string | undefined): R {
  const { error } = result.document
  const nextCommand = error && commandFor(error)
  return nextCommand === undefined ? result : { ...result, document: { ...result.document, error: { ...error, nextCommand } } }
}

interface CompletedOperation {
  readonly name: string
  readonly operation: Operation
  readonly input: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>>
  readonly resultForFiles: CompletedOperation['result']
  readonly verdict: Verdict
  readonly report: Report
  readonly isWarnOnly: boolean
  readonly reports: readonly WantedReport[]
  readonly subject: RunSubject
  readonly startedAtMs: number
}

export async function toRunResult(run: CompletedOperation): Promise<RunResult> {
  const { name, operation, input, result, verdict, report, subject, startedAtMs } = run
  const isLenient = verdict.status === 'fail' && run.isWarnOnly
  const status = isLenient ? 'warn' : verdict.status
  const described = describeVerdict(status, verdict, report.headline, isLenient)
  const failureReason = verdict.status === 'pass' ? '' : toPlainText(described.line)
  const fields: Readonly<Record<string, unknown>> = operation.toDocument?.(result) ?? result
  const error = status === 'error' ? { error: incompleteError(failureReason, verdict) } : {}
  const document = { operation: name, status, failureReason, ...subject, ...error, ...fields }
  const blocks = [...described.blocks, ...composeBlocks(report.blocks), footerOf(subject, startedAtMs, report.services)]
  const own = Object.keys(operation.output.shape).filter((key) => fields[key] !== undefined)
  return {
    document,
    outputs: {
      ...outputsOfAll(document),
      ...Object.fromEntries(
        own.map((key) => [toKebab(key), typeof fields[key] === 'object' ? JSON.stringify(fields[key]) : String(fields[key])]),
      ),
    },
    blocks,
    files: [...(operation.files?.(run.resultForFiles, input) ?? []), ...(await ownReports())],
    annotations: report.annotations ?? [],
    cause: toCauseText(causeOfVerdict(verdict, diagnosticsOf(fields))),
    keyLines: () => operation.keyLines?.(result, input) ?? [],
    milestones: report.milestones ?? [],
    hasFailed: verdict.status === 'fail' || verdict.status === 'error',
    exitCode: exitCodeFor(status, verdict.exit),
  }

  async function ownReports(): Promise<readonly OutputFile[]> {
    const written = run.reports.map(async ({ format, path }) => {
      const content = await operation.reports?.[format]?.(result, input, blocks)
      return content === undefined ? [] : [{ input: 'reports', path, content }]
    })
    return (await Promise.all(written)).flat()
  }
}

const diagnosticsOf = ({ diagnostics }: Readonly<Record<string, unknown>>): readonly Diagnostic[] =>
  z.array(diagnosticSchema).safeParse(diagnostics).data ?? []

function incompleteError(message: string, { exit }: Verdict): ResultError {
  const kind = exit === 'denied' ? 'permission' : exit === 'canceled' ? 'canceled' : 'incomplete'
  return { kind, message, diagnostics: [], retryable: false }
}

function exitCodeFor(status: Status, exit: Verdict['exit']) {
  if (status === 'pass' || status === 'warn') return exitCodes.ok
  return exit === undefined ? (status === 'fail' ? exitCodes.gateFailed : exitCodes.error) : exitCodes[exit]
}

/** `isLenient`: warn-only turned a failure into this warning. */
function describeVerdict(status: Status, verdict: Verdict, headline: Line, isLenient: boolean): { line: Line; blocks: readonly Block[] } {
  const { reasons, sentence: whole } = verdict
  if (whole === undefined || status === 'pass') {
    const all = isLenient ? [...reasons, say`reported as a warning because of warn-only`] : reasons
    return { line: withReasons(headline, all), blocks: verdictBlocks(status, headline, all) }
  }
  const line = isLenient ? say`${whole} The setting warn-only makes this failure a warning.` : whole
  const items: readonly Block[] = reasons.length === 0 ? [] : [{ kind: 'list', items: reasons }]
  return { line: join([line, ...reasons], ' '), blocks: [{ kind: 'verdict', status, line }, ...items] }
}

const maxInLine = 2

function verdictBlocks(status: Status, headline: Line, reasons: readonly Line[]): readonly Block[] {
  if (reasons.length <= maxInLine) return [{ kind: 'verdict', status, line: withReasons(headline, reasons) }]
  return [
    { kind: 'verdict', status, line: headline },
    { kind: 'list', items: reasons },
  ]
}

const withReasons = (headline: Line, reasons: readonly Line[]) =>
  reasons.length === 0 ? headline : say`${headline}: ${join(reasons, '; ')}`

/** `startedAtMs`: milliseconds since the epoch. */
export function footerOf({ organizationId, serviceId, serverUrl }: RunSubject, startedAtMs: number, services?: Line): Block {
  const service = services ?? (serviceId === undefined ? undefined : say`service ${serviceId}`)
  const parts = [
    ...(organizationId === undefined ? [] : [say`Organization ${organizationId}`]),
    ...(serverUrl === undefined ? [] : [say`Server ${serverUrl}`]),
    ...(service === undefined ? [] : [service]),
    [trusted(formatMoment(startedAtMs))],
  ]
  return { kind: 'footer', line: join(parts, ' · ') }
}

/** Most errors have at most five lines. */
const maxKeyLines = 5

export function toErrorResult(name: string, error: WatchkeeperError, subject: RunSubject, footers: readonly Block[]): RunResult {
  const httpStatus = error instanceof ApiError ? error.status : undefined
  const diagnostics = error instanceof InputError ? error.diagnostics : []
  // The others are about inputs.
  const inFiles = diagnostics.filter(({ location }) => location.line !== undefined)
  const document: ResultDocument = {
    operation: name,
    status: 'error',
    failureReason: error.message,
    ...subject,
    error: {
      kind: error.kind,
      message: error.message,
      diagnostics,
      retryable: errorKinds[error.kind].cure === 'time',
      ...(httpStatus !== undefined && { httpStatus }),
    },
  }
  return {
    document,
    outputs: outputsOfAll(document),
    blocks: [
      {
        kind: 'verdict',
        status: 'error',
        line: say`${name === '' ? 'watchkeeper' : name} ${trusted(error.kind === 'canceled' ? 'was canceled' : 'did not complete')}`,
      },
      { kind: 'message', text: error.message, locations: inFiles.map(({ location }) => location) },
      ...footers,
    ],
    files: [],
    annotations: inFiles,
    cause: toCauseText(causeOfError(error)),
    keyLines: () =>
      error.message
        .split('\n')
        .slice(0, maxKeyLines)
        .map((line) => untrustedSentence(line.replace(/^- /, ''))),
    milestones: [],
    hasFailed: true,
    exitCode: errorKinds[error.kind].exit ?? exitCodes.error,
    error,
  }
}

const outputsOfAll = ({ status, failureReason }: ResultDocument) => ({
  status,
  'failure-reason': failureReason,
})

export const unfinished = (operation: string): ResultDocument => ({
  operation,
  status: 'error',
  failureReason: 'The run ended before its report. This is the last progress.',
})
