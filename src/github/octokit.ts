// Owns the conversation with GitHub's API: octokit, loaded only here and only when there is something to say, with a deadline for
// everything, and a second try for reads alone. What writes is sent once: the next run finds what this one may have written.

import { inSeconds } from '../api/deadline.ts'
import type { Cancellation } from '../api/requester.ts'
import { decideRetry } from '../api/retry.ts'
import { createTransport } from '../api/transport.ts'
import type { Clock } from '../kernel/clock.ts'
import { version } from '../kernel/version.ts'
import { describeAnswer, GitHubFailure, toGitHubFailure } from './failure.ts'
import { createFetch } from './fetch.ts'
import type { Run } from './run.ts'

export interface Ports {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

export interface Limits {
  /** For one request, GitHub's own is 10 s. */
  readonly requestMs: number
  /** For everything that is told in one run. */
  readonly totalMs: number
}

export const usualLimits: Limits = { requestMs: 15_000, totalMs: 60_000 }

const mostAttempts = 3

export type Octokit = ReturnType<typeof import('@actions/github').getOctokit>

export interface Conversation {
  /** For what changes nothing: tried again when that may help. Throws a GitHubFailure. */
  read<T>(ask: (octokit: Octokit) => Promise<T>): Promise<T>
  /** Sent once. Throws a GitHubFailure. */
  write<T>(ask: (octokit: Octokit) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function openConversation({ apiUrl, proxy }: Run, token: string, ports: Ports, limits: Limits): Promise<Conversation> {
  const { clock, cancellation } = ports
  const { getOctokit } = await import('@actions/github')
  const transport = createTransport(apiUrl, proxy, clock)
  const endsAtMs = clock.monotonicMs() + limits.totalMs
  const remainingMs = (): number => endsAtMs - clock.monotonicMs()
  const fetch = createFetch({ transport, cancellation, userAgent: `watchkeeper/${version}`, timeoutMs: limits.requestMs, remainingMs })
  const octokit = getOctokit(token, { baseUrl: apiUrl.href.replace(/\/$/, ''), request: { fetch, log: silence }, log: silence })

  const write = async <T>(ask: (octokit: Octokit) => Promise<T>): Promise<T> => {
    try {
      return await ask(octokit)
    } catch (thrown) {
      throw toGitHubFailure(thrown, clock.now())
    }
  }
  const read = async <T>(ask: (octokit: Octokit) => Promise<T>): Promise<T> => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await write(ask)
      } catch (thrown) {
        const failure = ofReading(thrown)
        const waitMs = waitAfter(failure, attempts, remainingMs(), ports)
        ports.note(`Trying again in ${inSeconds(waitMs)} (attempt ${attempts} of ${mostAttempts}): ${describeAnswer(failure.facts)}`)
        await clock.sleep(waitMs, cancellation.stop)
      }
    }
  }
  return { read, write, close: () => transport.close() }
}

/** What was only looked at is not changed by it, whatever became of the answer. */
function ofReading(thrown: unknown): GitHubFailure {
  if (thrown instanceof GitHubFailure) return new GitHubFailure({ ...thrown.facts, isUnknown: false }, { cause: thrown })
  throw thrown
}

/** Throws the failure when there is no point in trying again. */
function waitAfter(failure: GitHubFailure, attempts: number, remainingMs: number, { random, cancellation }: Ports): number {
  if (cancellation.stop.aborted) throw failure
  const { patience, toldMs } = failure.facts
  const decision = decideRetry({ patience, attempts, alike: attempts, maxAttempts: mostAttempts, toldMs, remainingMs, random: random() })
  if (!decision.retry) throw failure
  return decision.waitMs
}

// Octokit would print what a server wrote, on a stream that the runner obeys.
const nothing = (): undefined => undefined
const silence = { debug: nothing, info: nothing, warn: nothing, error: nothing }
