import type { Method } from '../http/retry.ts'
import type { ApiPath } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Reader } from './wire.ts'

/** One request to the API: what is sent, how its answer is read, what errors say about it, and the rules of its sending. */
export interface Call<T> {
  readonly request: ApiRequest
  readonly read: Reader<T>
  readonly about: Subject
  readonly rules?: RequestRules<T> | undefined
}

/** What is sent to the API. */
export interface ApiRequest {
  readonly method: Method
  readonly path: ApiPath
  readonly query?: URLSearchParams
  /** The request stores nothing, whatever its method, and may be repeated. */
  readonly isSafe?: boolean | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** A tool of a self-hosted server, beside its API. It may answer with the only event of a stream. */
  readonly isTool?: boolean
  /** What an answer must not show, besides the secrets of the connection: a server may repeat the body. Asked for when there is an answer. */
  readonly secrets?: () => readonly string[]
}

/** What a request is about, for errors. */
export interface Subject {
  /** What the path identifies: `alert`, `backup`. */
  readonly noun: string
  /** What a 404 means is missing, where that is not the noun. For a list, it is the service. */
  readonly missing?: string
  /** The permission that the key needs. Undefined where every key may send the request. */
  readonly permission?: keyof Profile['permissions']
}

/** Rules that decide whether a request is sent, and sent again. */
export interface RequestRules<T> {
  /** The run does not depend on the answer. Only a rejection by the rate limit is retried. */
  readonly isOptional?: boolean
  /** The server may still work on the request after a timeout, so it is sent again only after other failures. */
  readonly isHeavy?: boolean
  /** The request is not sent after this signal is aborted: kind `canceled`. One that was sent goes on, with its retries. */
  readonly notAfter?: AbortSignal | undefined
  /** Called when the rate limit rejects an attempt, before the wait for the next one. */
  readonly onRejected?: (() => void) | undefined
  /** Called with the monotonic time in milliseconds when the request was answered with success. */
  readonly onAnswer?: ((atMs: number) => void) | undefined
  /** The read that a write is based on. Only a write that replaces what was read has one. */
  readonly basis?: Basis<T> | undefined
  /** Reads the object after an answer was lost, before the request is sent again. Any method is then repeated as a PUT is. */
  readonly reconcile?: (() => Promise<Reconciled<T>>) | undefined
}

/** What a write is based on. It is sent only while this is recent, so that it overwrites no later edit. */
interface Basis<T> {
  /** Returns the time at which the read was answered, in monotonic milliseconds. */
  readAtMs(): number
  /** Returns what to send instead, or the outcome if there is nothing to send any more. Throws if nothing may be sent. */
  readAgain(): Promise<ToSend | AppliedWrite<T>>
}

/** The body of a write, undefined for none. */
export interface ToSend {
  readonly body: unknown
}

/** The outcome of a write without another request: the object as it is stored. */
export interface AppliedWrite<T> {
  readonly applied: T
}

/** Longest time between the answer to a read and the sending of the write that is based on it. If the read itself takes longer, its time. */
export const maxBasisAgeMs = 2000

/** The outcome of a write whose answer was lost, found by reading the object. */
export type Reconciled<T> = 'not-applied' | AppliedWrite<T> | 'changed-by-others'

/** Whether the request may store something. */
export const isWriteRequest = ({ method, isSafe }: Pick<ApiRequest, 'method' | 'isSafe'>): boolean => method !== 'GET' && !isSafe
