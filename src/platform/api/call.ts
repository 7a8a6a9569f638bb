import type { Method } from '../http/transport.ts'
import type { ApiPath } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Reader } from './wire.ts'

export interface Call<T> {
  readonly request: ApiRequest
  readonly read: Reader<T>
  readonly about: Subject
  readonly rules?: RequestRules<T> | undefined
}

/** Shows whether a request writes. */
export interface RequestMethod {
  readonly method: Method
  /** Stores nothing, whatever the method, and may be repeated. */
  readonly isSafe?: boolean | undefined
}

export interface ApiRequest extends RequestMethod {
  readonly path: ApiPath
  readonly query?: URLSearchParams
  readonly body?: unknown
  readonly isTool?: boolean
  /** A server may repeat the body, whose secrets no answer must show. Asked for when there is an answer. */
  readonly secrets?: () => readonly string[]
}

export interface Subject {
  /** What the path identifies: `alert`, `backup`. */
  readonly noun: string
  /** What a 404 means is missing, where that is not the noun. */
  readonly missing?: string
  /** Undefined where every key may send the request. */
  readonly permission?: keyof Profile['permissions']
}

export interface SendOptions {
  /** Only a rejection by the rate limit is retried. */
  readonly isOptional?: boolean
  /** Aborted: not sent, kind `canceled`. A request that was sent goes on, with its retries. */
  readonly notAfter?: AbortSignal | undefined
  /** Called before the wait after a rejection by the rate limit. */
  readonly onRejected?: (() => void) | undefined
}

export interface RequestRules<T> extends SendOptions {
  /** The server may still work on the request after a timeout, so it is not sent again then. */
  readonly isHeavy?: boolean
  /** Gets the monotonic time in milliseconds of a successful answer. */
  readonly onAnswer?: ((atMs: number) => void) | undefined
  /** Only a write that replaces what was read has one. */
  readonly basis?: Basis<T> | undefined
  /** Reads the object after an answer was lost, before the next attempt. Any method is then repeated as a PUT is. */
  readonly reconcile?: (() => Promise<Reconciled<T>>) | undefined
}

/** A write is sent only while its basis is recent, so that it overwrites no later edit. */
interface Basis<T> {
  /** Monotonic time of the answer, in milliseconds. */
  readAtMs(): number
  /** Returns what to send instead, or the outcome. Throws if nothing may be sent. */
  readAgain(): Promise<ToSend | AppliedWrite<T>>
}

export interface ToSend {
  readonly body: unknown
}

/** The outcome of a write without another request: the object as it is stored. */
export interface AppliedWrite<T> {
  readonly applied: T
}

/** Longest time between the answer to a read and the sending of its write. If the read itself takes longer, its time. */
export const maxBasisAgeMs = 2000

export type Reconciled<T> = 'not-applied' | AppliedWrite<T> | 'changed-by-others'

export const isWriteRequest = ({ method, isSafe }: RequestMethod): boolean => method !== 'GET' && !isSafe
