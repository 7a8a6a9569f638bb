import type { Method } from '../http/retry.ts'
import type { ApiPath } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Reader } from './wire.ts'

export interface Call<T> {
  readonly request: ApiRequest
  readonly read: Reader<T>
  readonly about: Subject
  readonly rules?: RequestRules<T> | undefined
}

export interface ApiRequest {
  readonly method: Method
  readonly path: ApiPath
  readonly query?: URLSearchParams
  /** The request stores nothing, whatever its method, and may be repeated. */
  readonly isSafe?: boolean | undefined
  readonly body?: unknown
  /** A tool of a self-hosted server, beside its API. */
  readonly isTool?: boolean
  /** What an answer must not show, besides the secrets of the connection: a server may repeat the body. Asked for when there is an answer. */
  readonly secrets?: () => readonly string[]
}

export interface Subject {
  /** What the path identifies: `alert`, `backup`. */
  readonly noun: string
  /** What a 404 means is missing, where that is not the noun. For a list, it is the service. */
  readonly missing?: string
  /** Undefined where every key may send the request. */
  readonly permission?: keyof Profile['permissions']
}

export interface RequestRules<T> {
  /** The run does not depend on the answer. Only a rejection by the rate limit is retried. */
  readonly isOptional?: boolean
  /** The server may still work on the request after a timeout, so it is sent again only after other failures. */
  readonly isHeavy?: boolean
  /** The request is not sent after this signal is aborted: kind `canceled`. One that was sent goes on, with its retries. */
  readonly notAfter?: AbortSignal | undefined
  /** Called when the rate limit rejects an attempt, before the wait. */
  readonly onRejected?: (() => void) | undefined
  /** Called with the monotonic time in milliseconds of a successful answer. */
  readonly onAnswer?: ((atMs: number) => void) | undefined
  /** Only a write that replaces what was read has one. */
  readonly basis?: Basis<T> | undefined
  /** Reads the object after an answer was lost, before the request is sent again. Any method is then repeated as a PUT is. */
  readonly reconcile?: (() => Promise<Reconciled<T>>) | undefined
}

/** What a write is based on. It is sent only while this is recent, so that it overwrites no later edit. */
interface Basis<T> {
  /** Monotonic time of the answer, in milliseconds. */
  readAtMs(): number
  /** Returns what to send instead, or the outcome if there is nothing to send any more. Throws if nothing may be sent. */
  readAgain(): Promise<ToSend | AppliedWrite<T>>
}

export interface ToSend {
  readonly body: unknown
}

/** The outcome of a write without another request: the object as it is stored. */
export interface AppliedWrite<T> {
  readonly applied: T
}

/** Longest time between the answer to a read and the sending of the write that is based on it. If the read itself takes longer, its time. */
export const maxBasisAgeMs = 2000

export type Reconciled<T> = 'not-applied' | AppliedWrite<T> | 'changed-by-others'

export const isWriteRequest = ({ method, isSafe }: Pick<ApiRequest, 'method' | 'isSafe'>): boolean => method !== 'GET' && !isSafe
