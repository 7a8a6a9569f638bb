import * as z from 'zod'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import { type FaultQueue, faultSchema } from './faults.ts'
import { type HttpRequest, type HttpResponse, isJsonType, jsonResponse, pathnameOf } from './http.ts'
import type { EmulatorContext } from './options.ts'
import { restoreBackup, restoreSchema } from './restore.ts'

/** A request, and what was answered. */
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

/** What `/_emulator/…` on the emulator's own port controls, without a key and outside of the log. */
export interface ControlContext {
  readonly context: EmulatorContext
  readonly requests: readonly LoggedRequest[]
  readonly faults: FaultQueue
  readonly reset: () => void
}

const controlPath = '/_emulator'

export const isControl = (path: string): boolean => pathnameOf(path) === controlPath || path.startsWith(`${controlPath}/`)

class ControlError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function handleControl(control: ControlContext, request: HttpRequest): HttpResponse {
  const name = `${request.method} ${pathnameOf(request.path).replace(/\/$/, '')}`
  try {
    const handle = handlers[name]
    if (handle === undefined) throw new ControlError(404, `NOT_FOUND: unknown control request ${name}`)
    return jsonResponse(200, handle(control, request))
  } catch (cause) {
    if (!(cause instanceof ControlError)) throw cause
    return jsonResponse(cause.status, { status: cause.status, error: cause.message })
  }
}

const handlers: Readonly<Record<string, (control: ControlContext, request: HttpRequest) => unknown>> = {
  [`GET ${controlPath}`]: ({ context }) => context.store,
  [`GET ${controlPath}/requests`]: ({ requests }) => requests,
  [`POST ${controlPath}/restores`]: ({ context }, request) => restoreBackup(context, parseControl(restoreSchema, request)),
  [`POST ${controlPath}/faults`]: ({ faults }, request) => {
    faults.add(parseControl(faultSchema, request))
    return { faults: faults.size }
  },
  [`DELETE ${controlPath}/faults`]: ({ faults }) => {
    faults.clear()
    return { faults: 0 }
  },
  [`POST ${controlPath}/reset`]: ({ reset }) => {
    reset()
    return { reset: true }
  },
}

function parseControl<S extends z.ZodType>(schema: S, request: HttpRequest): z.output<S> {
  if (!isJsonType(request)) throw new ControlError(400, 'BAD_REQUEST: request body must be sent as application/json')
  const value = parseJsonOrUndefined(request.text)
  if (value === undefined) throw new ControlError(400, 'BAD_REQUEST: request body is not valid JSON')
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new ControlError(400, `BAD_REQUEST: ${z.prettifyError(parsed.error)}`)
}
