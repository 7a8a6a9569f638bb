import * as z from 'zod/v3'
import { isJsonObject, type JsonObject } from '../store.ts'
import { patchDashboard, patchSchema } from './dashboards.ts'
import { isObjectId } from './request.ts'
import { evaluateSql, type SqlContext, toJsonFormat } from './sql.ts'

const toolCall = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.string()]),
  method: z.literal('tools/call'),
  params: z.object({ name: z.string(), arguments: z.unknown() }),
})

const list = toolCall.pick({ jsonrpc: true, id: true }).extend({ method: z.literal('tools/list') })

/** Whether a body is a message of JSON-RPC. */
export const isRpcMessage = (body: unknown): boolean => isJsonObject(body) && body.jsonrpc === '2.0' && typeof body.method === 'string'

const queryArguments = z.object({
  connectionId: z.string(),
  sql: z.string(),
  startTime: z.string().optional(),
  endTime: z.string().optional(),
})

/** The answer of `POST /mcp` to a call of a tool, and to the question which tools there are; undefined for what is neither. */
export function callTool(body: unknown, context: SqlContext): JsonObject | undefined {
  const listed = list.safeParse(body)
  if (listed.success) return { result: { tools: Object.keys(tools).map((name) => ({ name })) }, jsonrpc: '2.0', id: listed.data.id }
  const parsed = toolCall.safeParse(body)
  if (!parsed.success) return undefined
  const { id, params } = parsed.data
  return { result: runTool(params.name, params.arguments, context), jsonrpc: '2.0', id }
}

const tools: Readonly<Record<string, (given: unknown, context: SqlContext) => JsonObject>> = {
  clickstack_patch_dashboard: (given, { service }) => {
    const answer = patchDashboard(service, patchSchema.parse(given))
    return typeof answer === 'string' ? toolError(answer) : textAnswer(answer)
  },
  clickstack_sql: (given, context) => runQuery(queryArguments.parse(given), context),
}

function runTool(name: string, given: unknown, context: SqlContext): JsonObject {
  try {
    return tools[name]?.(given, context) ?? toolError(`MCP error -32602: Tool ${name} not found`)
  } catch (thrown) {
    if (!(thrown instanceof z.ZodError)) throw thrown
    const issues = JSON.stringify(thrown.issues.map(asIssueOfType), null, 2)
    return toolError(`MCP error -32602: Input validation error: Invalid arguments for tool ${name}: ${issues}`)
  }
}

/** The product tries each type of tile, and has the problems with all of them. Here it is one other type. */
function asIssueOfType(issue: z.ZodIssue): unknown {
  if (issue.path[0] !== 'tile') return issue
  const ofOther = { code: 'invalid_literal', path: ['tile', 'config', 'displayType'], message: 'Invalid literal value, expected "pie"' }
  const unionErrors = [[ofOther, issue], [issue]].map((issues) => ({ issues, name: 'ZodError' }))
  return { code: 'invalid_union', unionErrors, path: ['tile'], message: 'Invalid input' }
}

function runQuery({ connectionId, sql, startTime, endTime }: z.output<typeof queryArguments>, context: SqlContext): JsonObject {
  const endMs = endTime === undefined ? context.nowMs : Date.parse(endTime)
  const startMs = startTime === undefined ? endMs - 900_000 : Date.parse(startTime)
  if (Number.isNaN(startMs) || Number.isNaN(endMs)) return toolError('Invalid startTime or endTime: must be valid ISO 8601 strings')
  if (startMs >= endMs) return toolError('endTime must be greater than startTime')
  if (!isObjectId(connectionId))
    return toolError(JSON.stringify([{ code: 'custom', message: 'Invalid ObjectId', path: ['config', 'connectionId'] }], null, 2))
  if (!context.service.connections.some((one) => one.id === connectionId))
    return toolError(`Connection not found: ${connectionId}. Call clickstack_list_sources to discover available connection IDs.`)
  const evaluated = evaluateSql({ sql, startMs, endMs }, context)
  if ('error' in evaluated) {
    const hint = '\n\nHINT: Call clickstack_describe_source to discover available columns and map attribute keys before retrying.'
    return toolError(evaluated.error + (evaluated.error.startsWith('Unknown expression identifier') ? hint : ''))
  }
  const result = toJsonFormat(evaluated)
  const isTrimmed = jsonLength(result) > maxResultLength
  return textAnswer({
    result: isTrimmed ? trimObject(result, maxResultLength) : result,
    ...(isTrimmed && { note: 'Result was trimmed for context size. Narrow the time range or add filters to reduce data.' }),
    ...(result.rows === 0 && {
      hints: [
        'No data found in the queried time range. Try setting startTime to a wider window (e.g. 24 hours ago) or check that filters match existing data.',
      ],
    }),
  })
}

const toolError = (text: string) => ({ content: [{ type: 'text', text }], isError: true })

const textAnswer = (answer: JsonObject) => ({ content: [{ type: 'text', text: JSON.stringify(answer, null, 2) }] })

const maxResultLength = 50_000

const jsonLength = (value: unknown) => JSON.stringify(value).length

/** Each field gets an equal share of the length. A text over its share is replaced, a list is cut. */
function trimObject(object: JsonObject, limit: number): JsonObject {
  const share = Math.floor(limit / Object.keys(object).length)
  const fields = Object.entries(object).map(([name, value]) => [name, jsonLength(value) <= share ? value : trimValue(value, share)])
  const isTrimmed = Object.values(object).some((value) => jsonLength(value) > share)
  return { ...Object.fromEntries(fields), ...(isTrimmed && { __hdx_trimmed: true }) }
}

function trimValue(value: unknown, limit: number): unknown {
  if (Array.isArray(value)) return trimList(value, limit)
  return isJsonObject(value) ? trimObject(value, limit) : { __hdx_trimmed: true, originalSize: jsonLength(value) }
}

/** Cuts a list by 30% at a time, down to ten items. Items that are still too long are shortened. */
function trimList(list: readonly unknown[], limit: number): readonly unknown[] {
  let kept = list
  while (jsonLength(kept) > limit && kept.length > 10) kept = kept.slice(0, Math.max(10, Math.floor(kept.length * 0.7)))
  return jsonLength(kept) <= limit ? kept : kept.map((item) => (jsonLength(item) <= limit ? item : trimValue(item, limit)))
}
