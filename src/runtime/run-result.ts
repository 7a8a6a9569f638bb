import * as z from 'zod'
import { ApiError } from '../platform/api/api-error.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { type Diagnostic, diagnosticSchema, errorsIn, isAboutInput } from '../platform/core/diagnostics.ts'
import { causeOf, errorKinds, exitCodes, InputError, type WatchkeeperError } from '../platform/core/errors.ts'
import { join, type Line, ownText, say, sliceLine, toPlainText, trusted, untrustedSentence } from '../platform/core/line.ts'
import { toKebab } from '../platform/core/names.ts'
import type { OutputFile } from '../platform/operation/files.ts'
import type { Operation } from '../platform/operation/operation.ts'
import type { WantedReport } from '../platform/operation/reports.ts'
import type { ResultDocument, ResultError, RunResult, RunSubject } from '../platform/operation/result.ts'
import { type Block, composeBlocks, type Status, verdictLine } from '../platform/report/blocks.ts'
import type { Report, Verdict } from '../platform/report/report.ts'
import { emptyVariable } from './read-input.ts'

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
  const kind = verdict.exit === 'denied' ? 'permission' : verdict.exit === 'canceled' ? 'canceled' : 'incomplete'
  const error = status === 'error' && { error: { kind, message: failureReason, diagnostics: [], retryable: false } as const }
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
    cause: toCauseText(causeOfVerdict(verdict, z.array(diagnosticSchema).safeParse(fields.diagnostics).data)),
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

function exitCodeFor(status: Status, exit: Verdict['exit']) {
  if (status === 'pass' || status === 'warn') return exitCodes.ok
  return exit === undefined ? (status === 'fail' ? exitCodes.gateFailed : exitCodes.error) : exitCodes[exit]
}

/** `isLenient`: warn-only turned a failure into this warning. */
function describeVerdict(status: Status, verdict: Verdict, headline: Line, isLenient: boolean): { line: Line; blocks: readonly Block[] } {
  const { reasons, sentence: whole } = verdict
  if (whole === undefined || status === 'pass') {
    const all = isLenient ? [...reasons, say`reported as a warning because of warn-only`] : reasons
    const verdictBlock = { kind: 'verdict', status, line: headline, ...(all.length > 0 && { reason: join(all, '; ') }) } as const
    return { line: verdictLine(verdictBlock), blocks: all.length <= 2 ? [verdictBlock] : verdictBlocks(status, headline, all) }
  }
  const line = isLenient ? say`${whole} The setting warn-only makes this failure a warning.` : whole
  return { line: join([line, ...reasons], ' '), blocks: verdictBlocks(status, line, reasons) }
}

const verdictBlocks = (status: Status, line: Line, reasons: readonly Line[]): readonly Block[] => [
  { kind: 'verdict', status, line },
  ...(reasons.length === 0 ? [] : [{ kind: 'list', items: reasons } as const]),
]

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

export function toErrorResult(name: string, error: WatchkeeperError, subject: RunSubject, footers: readonly Block[]): RunResult {
  const httpStatus = error instanceof ApiError ? error.status : undefined
  const diagnostics = error instanceof InputError ? error.diagnostics : []
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
        // Most errors have at most five lines.
        .slice(0, 5)
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

// Why a run fails, in a few words, for titles. Figures change from run to run, so a title has none.

/** The errors of the files say more than their number. */
export function causeOfVerdict({ status, cause, sentence: whole, reasons }: Verdict, diagnostics: readonly Diagnostic[] = []): Line {
  if (status !== 'fail' && status !== 'error') return []
  if (cause !== undefined) return cause
  const [error] = errorsIn(diagnostics)
  if (error !== undefined) return causeOfDiagnostic(error)
  const line = whole ?? reasons[0] ?? []
  const first = firstSentenceOf(line)
  const own = ownText(first)
  const figure = own.search(/\d/)
  const found = figure === -1 ? first : sliceLine(first, 0, own.slice(0, figure).search(/[:,(][^:,(]*$/))
  return found.length > 0 ? found : [trusted(status === 'fail' ? 'failed' : 'did not complete')]
}

export function causeOfError(error: WatchkeeperError): Line {
  const [first] = error instanceof InputError ? error.diagnostics : []
  return first === undefined ? firstSentenceOf(untrustedSentence(causeOf(error))) : causeOfDiagnostic(first)
}

/** `budget is not a number`, `observability/checkout.yml: unknown field treshold`. */
function causeOfDiagnostic({ rule, message: text, location: { file, line } }: Diagnostic) {
  const variable = emptyVariable(text)
  if (variable !== undefined) return say`${variable} is empty`
  const isInput = line === undefined && /^[a-z-]+$/.test(file)
  // Amounts and ids of a message about objects: `alerts.slow: 2 alerts have this marker (65f…, 66a…)`.
  const message = text.replace(/^(\S+: )?\d+ (?=\p{Ll})/u, '$1several ').replaceAll(/ \((?=[^()]*\d)[^()]*\)/g, '')
  if (isInput && !isAboutInput({ rule })) return firstSentenceOf(untrustedSentence(message))
  // An input has advice after a colon, and an object of a file its name before one.
  return isInput
    ? firstSentenceOf(say`${file} ${untrustedSentence(message)}`, /[.:;](?:\s|$)/)
    : firstSentenceOf(say`${file}: ${untrustedSentence(message)}`)
}

function firstSentenceOf(line: Line, ends = /[.;](?:\s|$)/) {
  const end = ownText(line).search(ends)
  return end === -1 ? line : sliceLine(line, 0, end)
}

/** The cause within a sentence: `Budget exceeded` becomes `budget exceeded`. */
export function toCauseText([first, ...rest]: Line): string {
  if (first === undefined) return ''
  const isWord = first.kind === 'trusted' && /^[A-Z][a-z ]/.test(first.text)
  const start = isWord ? first.text.charAt(0).toLowerCase() + first.text.slice(1) : first.text
  return toPlainText([{ ...first, text: start }, ...rest]).trim()
}
