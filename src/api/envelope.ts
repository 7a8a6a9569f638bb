// Owns the wrapping of answers: `{status, requestId, result}`, `{data}`, or nothing at all. Accepts all three.

export interface Unwrapped {
  readonly payload: unknown
  /** Where the payload stands in the answer, for messages: `result`, `data`, or empty. */
  readonly prefix: string
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function unwrap(json: unknown): Unwrapped {
  if (!isObject(json)) return { payload: json, prefix: '' }
  if (Object.hasOwn(json, 'result')) return unwrapOnceMore(json.result)
  if (Object.hasOwn(json, 'data')) return { payload: json.data, prefix: 'data' }
  return { payload: json, prefix: '' }
}

function unwrapOnceMore(result: unknown): Unwrapped {
  const isWrapping = isObject(result) && isObject(result.data) && Object.keys(result).length === 1
  return isWrapping ? { payload: result.data, prefix: 'result.data' } : { payload: result, prefix: 'result' }
}

/** Lists come bare, or once more inside `{data: []}`. */
export function unwrapList(json: unknown): Unwrapped {
  const outer = unwrap(json)
  if (!isObject(outer.payload) || !Array.isArray(outer.payload.data)) return outer
  return { payload: outer.payload.data, prefix: [outer.prefix, 'data'].filter(Boolean).join('.') }
}

// A request id goes into outputs and messages: a word, or it is none.
const requestIdGrammar = /^\w[\w.-]{0,127}$/

export function requestIdOf(json: unknown, header: string | undefined): string | undefined {
  const candidates = [isObject(json) ? json.requestId : undefined, header]
  return candidates.find((id) => typeof id === 'string' && requestIdGrammar.test(id)) as string | undefined
}

/** The API's own words about an error, wherever this dialect puts them. */
export function errorMessageOf(json: unknown): string | undefined {
  if (!isObject(json)) return undefined
  const candidates = [json.error, json.message, isObject(json.error) ? json.error.message : undefined]
  return candidates.find((text): text is string => typeof text === 'string' && text.trim() !== '')
}
