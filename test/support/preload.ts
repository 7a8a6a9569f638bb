// Owns what a test may change about the platform under a child process. The child's side of it is preload.mjs.

export interface Preload {
  /** What the wall clock shows when the child starts; it runs on from there. */
  readonly startAt?: string
  /** The wall clock stands still, so that no start of a process is too slow for a test of midnight. */
  readonly standsStill?: boolean
  /** The wall clock is put forward or back while the child runs. Waits and deadlines must not notice. */
  readonly jump?: { readonly afterMs: number; readonly byMs: number }
  /** Something throws, or rejects, where nobody catches it. */
  readonly crash?: { readonly afterMs: number; readonly as: 'exception' | 'rejection' }
  /** What `Math.random` gives, default 0: retries then wait for nothing but what the server asks for. */
  readonly luck?: number
  /**
   * A builtin such as `JSON.stringify` throws once, at this call, counted from 1: of all calls, or of those after the program has
   * said its first word.
   */
  readonly breaks?: { readonly builtin: string; readonly atCall: number; readonly afterFirstWord?: boolean }
}

/** How a child ended, as it says itself. */
export interface Ending {
  readonly code: number
  readonly peakMegabytes: number
  /** From the first line of the log to the end: what the machine took to start the process is nobody's fault here. */
  readonly activeMs: number
  /** What still kept the event loop alive. */
  readonly resources: readonly string[]
  /** As anybody on the machine can read them. */
  readonly arguments: string
}

export const preloadArguments: readonly string[] = ['--import', new URL('./preload.mjs', import.meta.url).href]

export const preloadEnvironment = (preload: Preload, reportTo: string): Readonly<Record<string, string>> => ({
  TEST_PRELOAD: JSON.stringify({ ...preload, reportTo }),
})
