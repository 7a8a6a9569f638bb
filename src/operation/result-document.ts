import { ApiError } from '../api/api-error.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { exitCodeOfKind, exitCodes, type WatchkeeperError } from '../core/errors.ts'
import { toKebab } from '../core/names.ts'
import { type Block, join, type Line, type Status, say, toPlainText } from '../report/blocks.ts'
import type { Operation, OutputFile, Report, Verdict } from './operation.ts'

/** The full result: what every operation says, and the fields of its own beside it. */
export interface ResultDocument {
  readonly operation: string
  readonly status: Status
  /** Why it is no pass, in one line; empty for a pass. */
  readonly failureReason: string
  /** The API's id of the last answer. */
  readonly requestId?: string
  /** What the run was about, as far as the operation has something of the kind: a report over many results goes by it. */
  readonly organizationId?: string
  readonly serviceId?: string
  /** For `error`: kind and, where there was an answer, its status. */
  readonly error?: { readonly kind: string; readonly httpStatus?: number }
  readonly [field: string]: unknown
}

export interface RunResult {
  readonly document: ResultDocument
  /** Outputs of the action by their kebab-case names, without `result` and `result-file`. */
  readonly outputs: Readonly<Record<string, string>>
  readonly blocks: readonly Block[]
  /** What the user asked to be written besides. */
  readonly files: readonly OutputFile[]
  readonly annotations: readonly Diagnostic[]
  /** A gate failed, or nothing could be judged; also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  /** As the command line exits. */
  readonly exitCode: number
  /** What was thrown, for the library to throw again. */
  readonly error?: WatchkeeperError
}

/** The result document's own words; no operation may call an output like one. */
export const reservedNames: readonly string[] = ['operation', 'status', 'failureReason', 'requestId', 'error', 'result', 'resultFile']

/** What a result says besides what came of the operation. */
export type RunSubject = Pick<ResultDocument, 'requestId' | 'organizationId' | 'serviceId'>

interface CompletedOperation {
  readonly name: string
  readonly operation: Operation
  readonly input: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>>
  readonly verdict: Verdict
  readonly report: Report
  /** What makes a failed gate a warning, as messages name it; undefined where nothing does. */
  readonly warnOnlySource: Line | undefined
  readonly subject: RunSubject
}

export async function toRunResult({
  name,
  operation,
  input,
  result,
  verdict,
  report,
  warnOnlySource,
  subject,
}: CompletedOperation): Promise<RunResult> {
  const isForgiven = verdict.status === 'fail' && warnOnlySource !== undefined
  const status = isForgiven ? 'warn' : verdict.status
  const reasons = isForgiven ? [...verdict.reasons, say`a warning alone, by ${warnOnlySource}`] : verdict.reasons
  const failureReason = verdict.status === 'pass' ? '' : toPlainText(withReasons(report.headline, reasons))
  const fields: Readonly<Record<string, unknown>> = operation.toDocument?.(result) ?? result
  const document = { operation: name, status, failureReason, ...subject, ...fields }
  const blocks: readonly Block[] = [...verdictBlocks(status, report.headline, reasons), ...report.blocks]
  const own = Object.keys(operation.output.shape).filter((key) => fields[key] !== undefined)
  return {
    document,
    outputs: { ...commonOutputs(document), ...Object.fromEntries(own.map((key) => [toKebab(key), toText(fields[key])])) },
    blocks,
    files: (await operation.files?.(result, input, blocks)) ?? [],
    annotations: report.annotations ?? [],
    hasFailed: verdict.status === 'fail' || verdict.status === 'error',
    exitCode: exitCodeFor(status, verdict.exit),
  }
}

function exitCodeFor(status: Status, exit: Verdict['exit']): number {
  if (status === 'pass' || status === 'warn') return exitCodes.ok
  return exit === undefined ? (status === 'fail' ? exitCodes.gateFailed : exitCodes.error) : exitCodes[exit]
}

/** Reasons that still read as one sentence. */
const mostInLine = 2

function verdictBlocks(status: Status, headline: Line, reasons: readonly Line[]): readonly Block[] {
  if (reasons.length <= mostInLine) return [{ kind: 'verdict', status, line: withReasons(headline, reasons) }]
  return [
    { kind: 'verdict', status, line: headline },
    { kind: 'list', items: reasons },
  ]
}

const withReasons = (headline: Line, reasons: readonly Line[]): Line =>
  reasons.length === 0 ? headline : say`${headline}: ${join(reasons, '; ')}`

export function toErrorResult(name: string, error: WatchkeeperError, subject: RunSubject = {}): RunResult {
  const httpStatus = error instanceof ApiError ? error.status : undefined
  const document: ResultDocument = {
    operation: name,
    status: 'error',
    failureReason: error.message,
    ...subject,
    error: { kind: error.kind, ...(httpStatus !== undefined && { httpStatus }) },
  }
  return {
    document,
    outputs: commonOutputs(document),
    blocks: [
      { kind: 'verdict', status: 'error', line: say`${name === '' ? 'watchkeeper' : name} could not be done` },
      { kind: 'preformatted', text: error.message },
    ],
    files: [],
    annotations: [],
    hasFailed: true,
    exitCode: exitCodeOfKind[error.kind],
    error,
  }
}

const commonOutputs = ({ status, failureReason, requestId }: ResultDocument): Readonly<Record<string, string>> => ({
  status,
  'failure-reason': failureReason,
  'request-id': requestId ?? '',
})

const toText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))
