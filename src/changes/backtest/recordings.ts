import { intervalMs } from '../../kinds/alert/schedule.ts'
import { dayOf } from '../../platform/core/dates.ts'
import { type Diagnostic, diagnosticOf, type Location } from '../../platform/core/diagnostics.ts'
import { hourMs } from '../../platform/core/durations.ts'
import { inputError } from '../../platform/core/errors.ts'
import { quote, shellQuote } from '../../platform/core/text.ts'
import { filePath } from '../../platform/operation/inputs.ts'
import { evaluate, type TimeRange } from '../../signals/backtest/evaluate.ts'
import type { BacktestQuery } from '../../signals/backtest/query.ts'
import type { Refusal } from '../../signals/backtest/read-rows.ts'
import { addUpRows, type Recording, readRecording, recordingRules, writeRecording } from '../../signals/backtest/recording.ts'
import { fileOptions } from '../../sync/declarations/find-declarations.ts'
import type { Incident } from '../../sync/declarations/incidents.ts'
import type { DeclaredQuery } from './declared-queries.ts'
import type { EvaluatedAlert } from './incidents.ts'

// Which values a recording has, and whether it can serve an alert.

export const recordingsInput = filePath(
  'Names the directory with recordings of incidents. backtest writes them, and replay reads them.',
  'a directory inside the workspace',
)

/** Paths must be equal to those that a file search returns. Throws an InputError for a directory that it does not search. */
export function readDirectory(text: string): string {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  if (text.startsWith('/') || parts.length === 0 || parts.includes('..'))
    throw inputError('recordings', `"${quote(text, 80)}" is not a directory inside the workspace; use a path such as recordings`)
  return parts.join('/')
}

export const recordingPath = (directory: string, incident: string, alert: string): string => `${directory}/${incident}/${alert}.json`

/** A recording begins this long before its incident and ends this long after it, but at least this number of windows: for consecutive windows, and for notifications outside. */
const marginMs = 2 * hourMs
const marginWindows = 6

/** Counts are recorded in steps of five minutes, so that an alert can have another interval later. */
export const recordedStep = ({ isAdditive, step }: BacktestQuery) => (isAdditive && intervalMs[step] > intervalMs['5m'] ? '5m' : step)

/** Whole hours, or whole windows of longer intervals, around the incident and the time that the alert looks back. */
export function recordedRange({ startMs, endMs }: Incident, { condition, lookbackMs }: BacktestQuery, nowMs: number): TimeRange {
  const lengthMs = intervalMs[condition.interval]
  const alignMs = Math.max(hourMs, lengthMs)
  const margin = Math.max(marginMs, marginWindows * lengthMs)
  const last = Math.floor(nowMs / lengthMs) * lengthMs
  return {
    fromMs: Math.floor((startMs - margin) / alignMs) * alignMs - lookbackMs,
    untilMs: Math.min(Math.ceil((endMs + margin) / alignMs) * alignMs, last),
  }
}

/** The values that an alert needs of an incident, or why there are none. */
export interface IncidentRows {
  readonly incident: Incident
  readonly alert: string
  readonly values: (Pick<Recording, 'step' | 'isAdditive' | 'rows'> & TimeRange) | Refusal
}

interface RecordOptions {
  readonly directory: string
  readonly keepsNames: boolean
  readonly queries: ReadonlyMap<string, DeclaredQuery | Refusal>
}

export interface WrittenRecording {
  readonly incident: string
  readonly alert: string
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** Empty for a recording that is not written. */
  readonly content: string
  readonly reason?: string | undefined
}

export const toRecordings = (read: readonly IncidentRows[], { directory, keepsNames, queries }: RecordOptions) =>
  read.map(({ incident: { key }, alert, values }): WrittenRecording => {
    const common = { incident: key, alert, path: recordingPath(directory, key, alert) }
    const refuse = (reason: string) => ({ ...common, content: '', size: 0, reason })
    const declared = queries.get(alert) ?? { reason: 'it is not declared' }
    if ('reason' in values) return refuse(values.reason)
    if ('reason' in declared) return refuse(declared.reason)
    const written = writeRecording({ incident: key, alert, query: declared.digest, ...values }, { keepsNames })
    return 'reason' in written ? refuse(written.reason) : { ...common, ...written, size: Buffer.byteLength(written.content) }
  })

export interface CommandInput {
  readonly files: readonly string[]
  readonly env?: string | undefined
  readonly recordings: string
}

/** The command that records an incident, quoted for a shell. */
export function recordCommand({ startMs, endMs }: Incident, input: CommandInput): string {
  const [from, to] = [dayOf(startMs), dayOf(endMs - 1)]
  return `watchkeeper backtest${fileOptions(input)} --period ${from === to ? from : `${from}..${to}`} --recordings ${shellQuote(input.recordings)}`
}

interface Recorded {
  readonly incident: Incident
  readonly alert: string
  readonly path: string
  /** Undefined for a file that does not exist. */
  readonly text: string | undefined
  readonly query: DeclaredQuery | Refusal | undefined
  /** The place of the alert. */
  readonly location: Location
  readonly command: string
}

/** Evaluates an alert with its recording of an incident, or explains what is wrong, and how to record it again. */
export function evaluateRecorded(recorded: Recorded): EvaluatedAlert | { readonly diagnostic: Diagnostic } {
  const { incident, alert, path, text, query, location, command } = recorded
  const refuse = (rule: keyof typeof recordingRules, at: Location, message: string) => ({
    diagnostic: diagnosticOf(recordingRules, rule, at, message),
  })
  if (query === undefined || 'reason' in query)
    return refuse('not-replayable', location, `alerts.${alert}: cannot be replayed: ${query?.reason ?? 'it is not declared'}`)
  if (text === undefined)
    return refuse('recording-missing', incident.location, `incidents.${incident.key}: ${path} is missing; record it: ${command}`)
  const recording = readRecording(text, path)
  if ('diagnostic' in recording)
    return { diagnostic: { ...recording.diagnostic, message: `${recording.diagnostic.message}; record it again: ${command}` } }
  const reason =
    recording.query === query.digest ? explainUnserved(recording, incident, query.query) : `the query of alert ${alert} has changed`
  if (reason !== undefined)
    return refuse('recording-outdated', { file: path, line: 1, column: 1 }, `${reason}; record it again: ${command}`)
  const evaluated = evaluateRecording(recording, query.query)
  return 'reason' in evaluated ? refuse('not-replayable', location, `alerts.${alert}: cannot be replayed: ${evaluated.reason}`) : evaluated
}

/** Why the recording has not the windows that the alert compares now; undefined where it has them. */
function explainUnserved(
  recording: Recording,
  { startMs, endMs }: Incident,
  { condition, step, isAdditive, lookbackMs }: BacktestQuery,
): string | undefined {
  const lengthMs = intervalMs[condition.interval]
  const isServed = recording.step === step || (recording.isAdditive && isAdditive && intervalMs[step] % intervalMs[recording.step] === 0)
  if (!isServed) return `an interval of ${condition.interval} needs other values than those of ${recording.step} that were recorded`
  const [firstMs, lastMs] = [Math.floor(startMs / lengthMs) * lengthMs, Math.ceil(endMs / lengthMs) * lengthMs]
  return firstMs - lookbackMs < recording.fromMs || lastMs > recording.untilMs
    ? `the windows of ${condition.interval} of this incident are not in the recorded time`
    : undefined
}

function evaluateRecording(recording: Recording, { condition, step, lookbackMs, read }: BacktestQuery): EvaluatedAlert {
  const rows = recording.step === step ? recording.rows : addUpRows(recording.rows, intervalMs[step])
  const range = { fromMs: recording.fromMs + lookbackMs, untilMs: recording.untilMs }
  const values = read(rows, range)
  if ('reason' in values) return values
  return { windows: evaluate(condition, values.values, range), lengthMs: intervalMs[condition.interval] }
}
