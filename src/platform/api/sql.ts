// A self-hosted server has a tool for SQL beside its API, recorded on HyperDX 2.36. ClickHouse Cloud has query endpoints with a key of
// their own, written from the vendor's documentation and never tried.

import * as z from 'zod'
import type { Clock } from '../core/clock.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { isMapping } from '../core/keys.ts'
import { refuseSql } from '../core/sql.ts'
import { quote } from '../core/text.ts'
import { ApiError } from './api-error.ts'
import type { Call } from './call.ts'
import { callTool, readTool } from './mcp.ts'
import { isServer, path, type Service, servicePath, type Target, under } from './path.ts'
import { maxQueryMs, type SqlAnswer, type SqlQuery } from './sql-query.ts'
import { mismatchAt, readOne } from './wire.ts'

/** The answer about the limit comes after it. */
export const sqlTimeoutMs = maxQueryMs + 5_000

interface SqlOptions {
  readonly clock: Clock
  read<T>(call: Call<T>): Promise<T>
  request<T>(call: Call<T>): Promise<T>
  readonly mayWake: boolean
  readonly sqlFunctions: readonly string[]
}

/** Throws an ApiError when there is no answer, and kind `not-served` where the server has no SQL access. */
export type RunSql = (target: Target, query: SqlQuery) => Promise<SqlAnswer>

export function createSqlAccess(options: SqlOptions): RunSql {
  const isAwake = createSleepCheck(options)
  return async (target, { isOwn, settings, ...given }) => {
    const reason = isOwn ? undefined : await refuseSql(given.sql, false, options.sqlFunctions)
    if (reason !== undefined) return { kind: 'unsent', reason }
    const query = settings ? { ...given, sql: `${given.sql}\nSETTINGS ${spellSettings(settings)}` } : given
    if (isServer(target)) return runOnServer(options, query)
    return query.mayWake || (await isAwake(target)) ? runInCloud(options, target, query) : { kind: 'asleep' }
  }
}

function spellSettings({ emptyTables = [], ...numbers }: NonNullable<SqlQuery['settings']>): string {
  const spelled = Object.entries(numbers).map(([name, value]) => `${name} = ${value}`)
  const filters = emptyTables.map((name) => `'${name.replace(/['\\]/g, '\\$&')}': '0'`)
  return [...spelled, ...(filters.length === 0 ? [] : [`additional_table_filters = {${filters.join(', ')}}`])].join(', ')
}

/** The format JSON of ClickHouse. Numbers of 64 bits may be numbers or texts. */
const rowsSchema = z.looseObject({
  meta: z.array(z.looseObject({ name: z.string(), type: z.string() })).catch([]),
  data: z.array(z.record(z.string(), z.unknown())),
  rows: z.coerce.number(),
  statistics: z.looseObject({ elapsed: z.number(), rows_read: z.coerce.number().optional() }).optional().catch(undefined),
})

/** The server shortens what is longer than 50,000 characters, and marks the object around it. */
const isTrimmed = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isTrimmed) : isMapping(value) && ('__hdx_trimmed' in value || Object.values(value).some(isTrimmed))

function toAnswer(json: unknown): SqlAnswer | undefined {
  const failed = z.looseObject({ exception: z.string() }).safeParse(json)
  if (failed.success) return { kind: 'refused', reason: quote(failed.data.exception, 300) }
  const parsed = rowsSchema.safeParse(json)
  if (!parsed.success) return isTrimmed(json) ? { kind: 'too-large', columns: [] } : undefined
  const { meta, data, rows, statistics } = parsed.data
  if (isTrimmed(json) || data.length !== rows) return { kind: 'too-large', columns: isTrimmed(meta) ? [] : meta }
  const elapsedMs = statistics === undefined ? undefined : statistics.elapsed * 1000
  return { kind: 'rows', columns: meta, rows: data, elapsedMs, rowsRead: statistics?.rows_read }
}

const mismatch = (reason: string) => mismatchAt('', [], reason)

const readToolAnswer = readTool<SqlAnswer>((text, isError) => {
  if (isError) return { value: refusalOf(text) }
  try {
    const body = parseJson(text)
    const answer = isMapping(body) ? toAnswer(body.result) : undefined
    return answer === undefined ? mismatch('has no rows') : { value: answer }
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof RangeError) return mismatch(`is ${thrown.message}`)
    throw thrown
  }
})

/** The text of the server ends with a hint about its tools. */
function refusalOf(text: string): SqlAnswer {
  if (/^Timeout (?:exceeded|error)\b/i.test(text)) return { kind: 'too-slow' }
  return { kind: 'refused', reason: quote(text.split('\n\nHINT:')[0]?.trim() ?? '', 300) }
}

async function runOnServer(options: SqlOptions, { sql, connectionId, startMs, endMs, isRepeated }: SqlQuery): Promise<SqlAnswer> {
  const call: Call<SqlAnswer> = {
    request: {
      ...callTool('clickstack_sql', {
        connectionId,
        sql,
        startTime: new Date(startMs).toISOString(),
        endTime: new Date(endMs).toISOString(),
      }),
      isSafe: true,
    },
    read: readToolAnswer,
    about: { noun: 'query', permission: 'observability' },
  }
  try {
    return await postQuery(options, call, isRepeated)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.kind !== 'not-served') throw thrown
    throw new WatchkeeperError(
      'not-served',
      `This server cannot run SQL: it has no ${thrown.path}.\nUpgrade HyperDX to a release with an MCP server, and let proxies in front of it pass that path.`,
      { cause: thrown },
    )
  }
}

async function runInCloud(options: SqlOptions, { serviceId }: Service, query: SqlQuery): Promise<SqlAnswer> {
  const { sql, startMs, endMs, isRepeated } = query
  const call: Call<SqlAnswer> = {
    request: {
      method: 'POST',
      isSafe: true,
      path: under(path`/service/${serviceId}`, 'run'),
      query: new URLSearchParams({ format: 'JSON' }),
      body: { sql, queryVariables: { startDateMilliseconds: String(startMs), endDateMilliseconds: String(endMs) } },
    },
    read: (json) => {
      const answer = toAnswer(json)
      return answer === undefined ? mismatch('has no rows') : { value: answer }
    },
    about: { noun: 'query', missing: 'query endpoint', permission: 'queries' },
  }
  try {
    return await postQuery(options, call, isRepeated)
  } catch (thrown) {
    // The vendor's documentation says that this status asks for a confirmation to wake the service.
    if (thrown instanceof ApiError && thrown.status === 206) return { kind: 'asleep' }
    if (thrown instanceof ApiError && thrown.kind === 'refused') return { kind: 'refused', reason: thrown.message.split('\n')[0] ?? '' }
    throw thrown
  }
}

async function postQuery({ clock, request }: SqlOptions, call: Call<SqlAnswer>, isRepeated = false): Promise<SqlAnswer> {
  let sentAtMs = clock.monotonicMs()
  const onRejected = (): void => {
    sentAtMs = clock.monotonicMs()
  }
  try {
    // Most runs go on without the answer, and a slow query would burden the server again.
    return await request({ ...call, rules: { isOptional: !isRepeated, isHeavy: true, onRejected } })
  } catch (thrown) {
    const isSlow = thrown instanceof ApiError && thrown.kind === 'timeout' && clock.monotonicMs() - sentAtMs >= maxQueryMs
    if (isSlow) return { kind: 'too-slow' }
    throw thrown
  }
}

/** A query wakes an idle service without a question, so its state is read once before, which wakes nothing. */
function createSleepCheck({ read, mayWake }: SqlOptions): (service: Service) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>()
  const ask = async (service: Service): Promise<boolean> => {
    const { state } = await read({
      request: { method: 'GET', path: servicePath(service) },
      read: readOne(z.looseObject({ state: z.string() })),
      about: { noun: 'service', permission: 'services' },
    })
    // A query would wake the service, or fail. Source: the vendor's OpenAPI document of 2026-07-31.
    return !['idle', 'idling', 'stopped', 'stopping', 'awaking', 'starting'].includes(state)
  }
  return (service) => {
    const answer = asked.get(service.serviceId) ?? (mayWake ? Promise.resolve(true) : ask(service))
    asked.set(service.serviceId, answer)
    return answer
  }
}
