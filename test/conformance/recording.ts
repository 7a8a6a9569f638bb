import type { Case, Dialect } from './case.ts'
import { valueAt } from './placeholders.ts'
import type { Answer, Target } from './targets.ts'

export const recordedPath = new URL('recorded/hyperdx-2.36.json', import.meta.url).pathname

/** Answers to the request of each case and to those after it, by the name of the case. */
export type Recording = Readonly<Record<string, readonly RecordedAnswer[]>>

/** An answer in which ids and times have names, so that two runs record the same. */
export interface RecordedAnswer {
  readonly status: number
  /** Absent for JSON. `web-app` for what is not an answer of the API. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, unknown>>
  /** Of the header `X-Total-Count`. */
  readonly total?: number
  readonly body: unknown
}

export interface Names {
  readonly nameIds: (text: string) => string
  /** Ids of objects that the suite created. Other objects are left out of recorded lists. */
  readonly own: ReadonlySet<string>
  /** The number of other objects in a list. */
  readonly otherCount: number
  /** Whether the order of a list has no meaning: that of ids, or of the database. */
  readonly isUnordered: boolean
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export function toRecorded(answer: Answer, { showHeaders, show }: Pick<Case, 'showHeaders' | 'show'>, names: Names): RecordedAnswer {
  const { status, headers, text } = answer
  const type = (headers['content-type'] ?? '').split(';')[0] ?? ''
  const total = headers['x-total-count']
  const isJson = type === 'application/json'
  const recordText = (): unknown => (type === eventsType ? shorten(readEvent(text), names) : names.nameIds(text))
  return {
    status,
    ...(!isJson && { type }),
    ...(showHeaders && { headers: Object.fromEntries(showHeaders.map((name) => [name, headers[name] ?? null])) }),
    ...(total !== undefined && { total: Number(total) - names.otherCount }),
    body: isJson && text !== '' ? toRecordedBody(JSON.parse(text), names, show) : recordText(),
  }
}

const eventsType = 'text/event-stream'

interface ToolList {
  readonly result: { readonly tools: readonly { readonly name: string }[] }
}

interface ToolAnswer {
  readonly result: { readonly content: readonly [{ readonly text: string }]; readonly isError?: boolean }
}

/** Tools that the emulator has. */
const usedTools = ['clickstack_patch_dashboard', 'clickstack_sql']

/** The names of tools, or the answer of one: one event, and in its text the rows or a dashboard. */
function readEvent(text: string): unknown {
  const { result, ...rest } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as ToolAnswer | ToolList
  if ('tools' in result)
    return { ...rest, result: { tools: result.tools.map(({ name }) => name).filter((name) => usedTools.includes(name)) } }
  const [{ text: content, ...more }, ...others] = result.content
  // An error is recorded whole.
  const shown = result.isError ? { error: toStableError(content) } : { text: readRows(content) }
  return { ...rest, result: { ...result, content: [{ ...more, ...shown }, ...others] } }
}

/** Without the types of columns, the time that the query took, the address of the server and its advice, which no client reads. */
function readRows(content: string): unknown {
  const { result, url: _url, warnings: _warnings, ...rest } = JSON.parse(content) as Json
  if (!isObject(result)) return rest
  const { meta: _types, statistics: _times, ...shown } = result
  return { result: shown, ...rest }
}

/** Versions of ClickHouse go on differently after the name of a column, and the tool for patches has problems for each type of tile. */
const toStableError = (content: string): string =>
  content
    .replace(/(?<=^[^\n]*`\w+`)[^\n]*/, '…')
    .replace(/(?<=Invalid arguments for tool clickstack_patch_dashboard: ).*/s, (issues) => problemsIn(JSON.parse(issues)).join('; '))

interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly unionErrors?: readonly { readonly issues: readonly Issue[] }[]
}

/** The problems that are not of another type of tile. */
function problemsIn(issues: readonly Issue[]): readonly string[] {
  const isOfType = ({ path }: Issue): boolean => path.at(-1) === 'displayType' || path.at(-1) === 'configType'
  return issues.flatMap(({ path, message, unionErrors = [] }) => {
    const own = unionErrors.find((one) => !one.issues.some(isOfType))
    return own === undefined ? [`${path.join('.')}: ${message}`] : problemsIn(own.issues)
  })
}

function toRecordedBody(body: unknown, names: Names, show: readonly string[] | undefined): unknown {
  if (!isObject(body)) return shorten(body, names)
  const data = dataOf(body)
  const own = Array.isArray(data) ? data.filter((item) => !isObject(item) || item.id === undefined || names.own.has(String(item.id))) : data
  const meta = isObject(body.meta) ? { meta: { ...body.meta, total: Number(body.meta.total) - names.otherCount } } : {}
  const envelope = { ...body, ...meta, ...(data !== undefined && { [keyOfData(body)]: names.isUnordered ? sort(own) : own }) }
  return shorten(show === undefined || data === undefined ? envelope : { ...envelope, [keyOfData(body)]: pick(own, show) }, names)
}

const keyOfData = (body: Json): string => ('result' in body ? 'result' : 'data')

const dataOf = (body: Json): unknown => body[keyOfData(body)]

function sort(data: unknown): unknown {
  if (!Array.isArray(data)) return data
  const textOf = ({ name, threshold, kind }: Json): string => JSON.stringify([name, threshold, kind])
  return (data as readonly Json[]).toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
}

const pick = (data: unknown, paths: readonly string[]): unknown =>
  Object.fromEntries(paths.map((path) => [path, valueAt(data, path.split('.'))]))

const maxTextLength = 400
const maxListLength = 30

function shorten(value: unknown, names: Names, key = ''): unknown {
  if (typeof value === 'string') return shortenText(value, names, key)
  if (Array.isArray(value)) {
    if (value.length <= maxListLength) return value.map((item) => shorten(item, names))
    return [shorten(value[0], names), `… (${value.length} items)`]
  }
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shorten(item, names, name)]))
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function shortenText(text: string, { nameIds }: Names, key: string): string {
  if ((key === 'createdAt' || key === 'updatedAt') && time.test(text)) return '$time'
  if (key === 'teamId') return '$team'
  // Messages are recorded whole.
  const isMessage = key === 'message' || key === 'error'
  return text.length > maxTextLength && !isMessage ? `${text.slice(0, 20)}… (${text.length} characters)` : nameIds(text)
}

/**
 * The common part of the answers of all gateways. The cloud has an envelope of its own, puts a code before messages, and shows no `meta`.
 */
function toComparable({ status, type, headers, total, body }: RecordedAnswer, dialect: Dialect, compared: Dialect): unknown {
  if (compared === 'hyperdx' || type === 'web-app') return { status, type, headers, total, body }
  return { status, total, ...(dialect === 'hyperdx' ? fromProduct(status, body) : fromCloud(body)) }
}

function fromProduct(status: number, body: unknown): Json {
  if (status >= 400) return { message: isObject(body) ? body.message : body }
  if (!isObject(body) || Object.keys(body).length === 0) return { data: undefined }
  return { data: 'data' in body ? body.data : body }
}

function fromCloud(body: unknown): Json {
  if (!isObject(body)) return { data: body }
  if ('error' in body) return { message: String(body.error).replace(/^[A-Z_]+: /, '') }
  return { data: body.result }
}

/** A field whose value is not the expected one. */
export interface Difference {
  readonly name: string
  /** `body.data.tiles.0.x`, of the second answer `after.1.body.data.name`. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

type ComparedTarget = Pick<Target, 'dialect' | 'isStrictGateway'>

export function findDifferences(
  cases: readonly Case[],
  recorded: Recording,
  actual: Recording,
  target: ComparedTarget,
): readonly Difference[] {
  return cases.flatMap((one) => {
    const answers = actual[one.name]
    if (answers === undefined) return []
    const expected = recorded[one.name]
    if (expected === undefined) return [{ name: one.name, path: '', expected: 'a recorded answer', actual: 'none' }]
    return findInCase(one, expected, answers, target)
  })
}

function findInCase(
  one: Case,
  expected: readonly RecordedAnswer[],
  actual: readonly RecordedAnswer[],
  target: ComparedTarget,
): readonly Difference[] {
  const { dialect, isStrictGateway } = target
  const isRejected = isStrictGateway && one.gateway !== undefined
  // After a rejection, later answers cannot be compared with those after a success.
  const count = isRejected ? 1 : Math.max(expected.length, actual.length)
  return Array.from({ length: count }).flatMap((_, index) => {
    const [wanted, got] = [expected[index], actual[index]]
    const prefix = index === 0 ? '' : `after.${index}.`
    const comparable = isRejected
      ? { status: one.gateway?.status, total: undefined, message: one.gateway?.message }
      : wanted && toComparable(wanted, 'hyperdx', dialect)
    return findFields(comparable, got && toComparable(got, dialect, dialect)).map(([path, a, b]) => ({
      name: one.name,
      path: `${prefix}${path}`,
      expected: a,
      actual: b,
    }))
  })
}

type Field = readonly [path: string, expected: unknown, actual: unknown]

function findFields(expected: unknown, actual: unknown, path: readonly string[] = []): readonly Field[] {
  if (Object.is(expected, actual)) return []
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual))
    return [[path.join('.'), expected, actual]]
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...keys].flatMap((key) => findFields(expected[key], actual[key], [...path, key]))
}

const isContainer = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

export function describeDifferences(differences: readonly Difference[]): string {
  const byName = Map.groupBy(differences, ({ name }) => name)
  return [...byName]
    .map(([name, fields]) =>
      [name, ...fields.map(({ path, expected, actual }) => `  ${path}: ${show(expected)} / ${show(actual)}`)].join('\n'),
    )
    .join('\n')
}

const show = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value))
