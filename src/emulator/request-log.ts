import type { IncomingMessage } from 'node:http'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import type { Credentials } from './gateways/gateway.ts'
import { type HttpRequest, headersOf } from './http.ts'

export interface LoggedRequest {
  readonly method: string
  readonly path: string
  /** Lower-case names. `authorization` holds `valid`, `absent` or `wrong`, never what was sent. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly text: string
  /** Undefined when no response was begun. */
  readonly status: number | undefined
  /** When the headers had arrived, by the server's clock. */
  readonly arrivedAtMs: number
}

export interface LogEntry {
  receive(request: HttpRequest): void
  respond(status: number): void
}

export interface RequestLog {
  readonly requests: readonly LoggedRequest[]
  open(request: IncomingMessage, credentials: Credentials, arrivedAtMs: number): LogEntry
  reset(): void
}

export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = []
  return {
    requests,
    open(request, credentials, arrivedAtMs) {
      const headers = { ...headersOf(request), authorization: credentials }
      const entry = { method: request.method ?? '', path: request.url ?? '', headers, text: '', arrivedAtMs }
      const logged: { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] } = { ...entry, body: undefined, status: undefined }
      requests.push(logged)
      return {
        receive({ text }) {
          logged.text = text
          logged.body = text === '' ? undefined : parseJsonOrUndefined(text)
        },
        respond(status) {
          logged.status = status
        },
      }
    },
    reset() {
      requests.length = 0
    },
  }
}
