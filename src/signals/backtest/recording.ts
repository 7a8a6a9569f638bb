import * as z from 'zod'
import { type AlertInterval, alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { digestOfText } from '../../platform/core/digest.ts'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { readDocument } from '../../platform/documents/document.ts'
import { schemaDiagnostics } from '../../platform/documents/validate.ts'
import type { TimeRange } from './evaluate.ts'
import type { SeriesRow } from './series-api.ts'

// A recording has the values that an alert needs around an incident, as text for review in a pull request. The same values give the same
// bytes. What is read back may have been edited by anyone.

export const recordingRules = {
  'recording-missing': { severity: 'error', description: 'An incident has no recording for an alert.' },
  'recording-invalid': { severity: 'error', description: 'A recording is damaged, or was edited.' },
  'recording-outdated': { severity: 'error', description: 'The query, the interval or the incident has changed since it was recorded.' },
  'recording-unused': { severity: 'warning', description: 'No incident of the files needs a recording.' },
  'not-replayable': { severity: 'error', description: 'The files do not show what an alert compares.' },
} as const satisfies Rules

/** The most characters in a file. All of them are ASCII. */
const maxRecordingSize = 1_000_000

const maxSteps = 100_000

/** Values of all groups and series together, missing ones included. Two million values take seconds, and more than 100 MB. */
const maxValues = 2_000_000

/** `-` for a series without rows, `~` for NULL. `0*3` are three zeros. */
const run = /^(-|~|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)(?:\*([1-9]\d{0,5}))?$/

const digest = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`))

/** Fields in the order of the file. */
const recordingSchema = z.strictObject({
  recording: z.literal(1),
  incident: z.string().max(200),
  alert: z.string().max(200),
  query: digest(16),
  values: z.enum(['counts', 'windows']),
  step: z.enum(alertIntervals),
  from: z.iso.datetime(),
  until: z.iso.datetime(),
  groups: z.enum(['hashed', 'named']),
  rows: z.record(z.string().max(2000), z.array(z.string()).min(1).max(100)),
  checksum: digest(64),
})

type Content = z.output<typeof recordingSchema>

export interface Recording extends TimeRange {
  readonly incident: string
  readonly alert: string
  /** Identifies what was requested. */
  readonly query: string
  /** Counts can be added up to longer windows. */
  readonly isAdditive: boolean
  readonly step: AlertInterval
  readonly rows: readonly SeriesRow[]
}

interface WriteOptions {
  /** Names of groups are production data: addresses, customers, hosts. */
  readonly keepsNames: boolean
}

/** The content of a file, or why there is none. */
export function writeRecording(
  recording: Recording,
  { keepsNames }: WriteOptions,
): { readonly content: string } | { readonly reason: string } {
  const { incident, alert, query, isAdditive, step, fromMs, untilMs } = recording
  const content = {
    recording: 1 as const,
    incident,
    alert,
    query,
    values: isAdditive ? ('counts' as const) : ('windows' as const),
    step,
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    groups: keepsNames ? ('named' as const) : ('hashed' as const),
    rows: encodeRows(recording, keepsNames),
  }
  if (countValues(content) > maxValues)
    return {
      reason: `it has ${countValues(content)} values, and a recording has at most ${maxValues}; record a shorter incident, or an alert with fewer groups`,
    }
  const text = toAscii(JSON.stringify({ ...content, checksum: checksumOf(content) }, null, 1))
  return text.length < maxRecordingSize
    ? { content: `${text}\n` }
    : {
        reason: `its values take ${(text.length / 1e6).toFixed(1)} MB, and a recording has at most 1 MB; record a shorter incident, or an alert with fewer groups`,
      }
}

/** Runs make a file small that has many values. */
const countValues = ({ rows, step, from, until }: Omit<Content, 'checksum'>): number =>
  Object.values(rows).reduce((sum, texts) => sum + texts.length, 0) * ((Date.parse(until) - Date.parse(from)) / intervalMs[step])

/** Characters that could hide or reorder text in a review are escaped. */
const toAscii = (text: string): string =>
  text.replaceAll(/[^\n -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Finds edits. It does not protect against someone who computes it again. */
const checksumOf = (content: Omit<Content, 'checksum'>): string => digestOfText(JSON.stringify(content), 64)

function encodeRows(
  { rows, step, fromMs, untilMs }: Pick<Recording, 'rows' | 'step' | keyof TimeRange>,
  keepsNames: boolean,
): Content['rows'] {
  const lengthMs = intervalMs[step]
  const count = Math.round((untilMs - fromMs) / lengthMs)
  const groups = new Map<string, string[][]>()
  const seriesCount = rows.reduce((most, { numbers }) => Math.max(most, ...numbers.keys().map((i) => i + 1)), 1)
  for (const { startMs, group, numbers } of rows) {
    const at = (startMs - fromMs) / lengthMs
    if (!Number.isInteger(at) || at < 0 || at >= count) continue
    const name = group === '' || keepsNames ? group : digestOfText(group, 16)
    const texts = groups.get(name) ?? Array.from({ length: seriesCount }, () => Array.from({ length: count }, () => '-'))
    groups.set(name, texts)
    for (const [i, number] of numbers) texts[i]?.splice(at, 1, number === null ? '~' : String(number))
  }
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, texts]) => [name, texts.map(toRuns)]))
}

function toRuns(tokens: readonly string[]): string {
  const runs: { token: string; count: number }[] = []
  for (const token of tokens) {
    const last = runs.at(-1)
    if (last?.token === token) last.count++
    else runs.push({ token, count: 1 })
  }
  return runs.map(({ token, count }) => (count === 1 ? token : `${token}*${count}`)).join(' ')
}

/** Reads a file, or explains with a place why it is not a recording. */
export function readRecording(text: string, path: string): Recording | { readonly diagnostic: Diagnostic } {
  const content = parse(text)
  if (content === undefined) return { diagnostic: explainForm(text, path) }
  const refuse = (field: readonly PropertyKey[], message: string) => ({ diagnostic: locate(text, path, field, message) })
  const { checksum, ...rest } = content
  if (checksumOf(rest) !== checksum) return refuse(['checksum'], 'checksum: does not match the content, so the file was edited or damaged')
  const { incident, alert, query, values, step, from, until, rows } = content
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)]
  const count = (untilMs - fromMs) / intervalMs[step]
  if (!Number.isInteger(count) || count <= 0 || count > maxSteps || fromMs % intervalMs[step] !== 0)
    return refuse(['until'], `until: from and until are not the borders of whole windows of ${step}`)
  if (countValues(content) > maxValues) return refuse(['rows'], `rows: has more than ${maxValues} values`)
  const read: SeriesRow[] = []
  for (const [group, texts] of Object.entries(rows)) {
    const wrong = decodeGroup({ group, texts, count, fromMs, lengthMs: intervalMs[step] }, read)
    if (wrong !== undefined)
      return refuse(['rows', group, wrong], `rows: the values of a group are not ${count} numbers, one for each window of ${step}`)
  }
  return { incident, alert, query, isAdditive: values === 'counts', step, fromMs, untilMs, rows: read }
}

interface Group {
  readonly group: string
  readonly texts: readonly string[]
  readonly count: number
  readonly fromMs: number
  readonly lengthMs: number
}

/** Adds the rows of a group. Returns the index of a text that has not exactly `count` values. */
function decodeGroup({ group, texts, count, fromMs, lengthMs }: Group, rows: SeriesRow[]): number | undefined {
  const columns = texts.map((text) => fromRuns(text, count))
  const wrong = columns.indexOf(undefined)
  if (wrong >= 0) return wrong
  for (let at = 0; at < count; at++) {
    const numbers = new Map<number, number | null>()
    for (const [i, column] of columns.entries()) {
      const value = column?.[at]
      if (value !== undefined) numbers.set(i, value)
    }
    if (numbers.size > 0) rows.push({ startMs: fromMs + at * lengthMs, group, groupValues: [group], hasNumericGroup: false, numbers })
  }
  return undefined
}

/** The values of all windows, undefined for one without rows. Undefined for a text with another number of values. */
function fromRuns(text: string, count: number): readonly (number | null | undefined)[] | undefined {
  const values: (number | null | undefined)[] = []
  for (const part of text.split(' ')) {
    const [matched, token = '', times = '1'] = run.exec(part) ?? []
    if (matched === undefined || values.length + Number(times) > count) return undefined
    const value = token === '-' ? undefined : token === '~' ? null : Number(token)
    for (let i = 0; i < Number(times); i++) values.push(value)
  }
  return values.length === count ? values : undefined
}

/** Undefined for anything that is not a recording. JSON.parse is many times faster than a parser that knows places. */
const parse = (text: string): Content | undefined =>
  text.length > maxRecordingSize + 1 ? undefined : recordingSchema.safeParse(parseJsonOrUndefined(text)).data

function explainForm(text: string, path: string): Diagnostic {
  if (text.length > maxRecordingSize + 1) return invalid({ file: path }, 'is larger than 1 MB')
  const document = readDocument(text, path)
  if ('diagnostics' in document) {
    const [first] = document.diagnostics
    return invalid(first?.location ?? { file: path }, `is not a whole recording: ${first?.message ?? 'it is not JSON'}`)
  }
  const { error } = recordingSchema.safeParse(document.value)
  const [first] = error === undefined ? [] : schemaDiagnostics(error, document, recordingSchema)
  return first === undefined
    ? invalid({ file: path, line: 1, column: 1 }, 'is not JSON')
    : invalid(first.location, `is not a recording: ${first.message}`)
}

function locate(text: string, path: string, field: readonly PropertyKey[], message: string): Diagnostic {
  const document = readDocument(text, path)
  return invalid('diagnostics' in document ? { file: path } : document.locationOf(field), message)
}

const invalid = (location: Diagnostic['location'], message: string): Diagnostic =>
  diagnosticOf(recordingRules, 'recording-invalid', location, message)

/** The rows of longer windows, from counts. */
export function addUpRows(rows: readonly SeriesRow[], lengthMs: number): readonly SeriesRow[] {
  const sums = new Map<string, SeriesRow & { readonly numbers: Map<number, number | null> }>()
  for (const row of rows) {
    const startMs = Math.floor(row.startMs / lengthMs) * lengthMs
    const key = `${startMs} ${row.group}`
    const sum = sums.get(key) ?? { ...row, startMs, numbers: new Map<number, number | null>() }
    sums.set(key, sum)
    for (const [i, number] of row.numbers) sum.numbers.set(i, (sum.numbers.get(i) ?? 0) + (number ?? 0))
  }
  return [...sums.values()]
}
