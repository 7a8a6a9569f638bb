import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SyncContent } from '../../src/delivery/github/body.ts'
import type { Limits } from '../../src/delivery/github/client.ts'
import { type NotifyOptions, notify } from '../../src/delivery/github/notify.ts'
import type { Clock } from '../../src/platform/core/clock.ts'
import { say, trusted } from '../../src/platform/core/line.ts'
import { createRedact } from '../../src/platform/core/secrets.ts'
import type { Block, Status } from '../../src/platform/report/blocks.ts'
import { createVirtualClock } from './clocks.ts'
import { type GitHubServer, token } from './github-server.ts'
import { runAsAction } from './run-as-action.ts'
import type { ActionOptions, RanAction } from './run-process.ts'

// Notifies a fake GitHub in this process, on a clock that never waits.

export const startMs = Date.parse('2026-03-31T12:00:00Z')

export function contentOf(status: Status, more: Partial<SyncContent> & { readonly text?: string } = {}): SyncContent {
  const { text = 'The cost', cause = text, ...rest } = more
  const blocks: readonly Block[] = [{ kind: 'verdict', status, line: say`${trusted(text)}` }]
  const reason = status === 'pass' ? '' : text
  return {
    operation: 'usage-cost',
    status,
    hasFailed: status === 'fail' || status === 'error',
    hasChanges: false,
    reason,
    cause,
    blocks,
    atMs: startMs,
    ...rest,
  }
}

export interface NotifyCase extends Partial<Omit<NotifyOptions, 'content'>> {
  readonly content?: SyncContent
  readonly env?: Readonly<Record<string, string>>
  /** The event's payload; a pull request from the repository itself unless said otherwise. */
  readonly event?: unknown
  readonly limits?: Limits
  readonly stop?: AbortSignal
  /** As the end of the grace after it; the same signal unless said otherwise. */
  readonly abort?: AbortSignal
  /** Milliseconds since `startMs` that have passed. */
  readonly laterMs?: number
  /** By default one that never waits. */
  readonly clock?: Clock
}

interface Notified extends Awaited<ReturnType<typeof notify>> {
  readonly notes: readonly string[]
  readonly waitedMs: number
}

export const pullRequestEvent = (number: number, fullName = 'acme/shop') => ({
  pull_request: { number, head: { sha: 'a'.repeat(40), repo: { full_name: fullName } } },
})

export async function notifyGitHub(server: GitHubServer, { event = pullRequestEvent(12), ...options }: NotifyCase = {}): Promise<Notified> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-notify-'))
  try {
    const eventFile = join(directory, 'event.json')
    await writeFile(eventFile, JSON.stringify(event))
    return await notifyWith({ ...runnerEnvironment(server.url), GITHUB_EVENT_PATH: eventFile }, { token, ...options })
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function notifyWith(variables: Readonly<Record<string, string>>, options: Omit<NotifyCase, 'event'>): Promise<Notified> {
  const {
    env = {},
    limits,
    stop = new AbortController().signal,
    abort = stop,
    laterMs = 0,
    clock = createVirtualClock(startMs + laterMs),
    ...overrides
  } = options
  const startedAtMs = clock.monotonicMs()
  const notes: string[] = []
  const outcome = await notify(
    {
      content: contentOf('fail'),
      comment: 'off',
      issue: 'off',
      label: 'cost',
      target: undefined,
      prNumber: undefined,
      token: undefined,
      redact: createRedact([token]),
      ...overrides,
    },
    {
      env: { ...variables, ...env },
      deps: { clock, random: () => 0.5, note: (line) => notes.push(line), cancellation: { stop, abort } },
      ...(limits && { limits }),
    },
  )
  return { ...outcome, notes, waitedMs: clock.monotonicMs() - startedAtMs }
}

/** The variables of a runner, as far as they are looked at. */
export const runnerEnvironment = (url: string): Record<string, string> => ({
  GITHUB_API_URL: url,
  GITHUB_SERVER_URL: 'https://github.example',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_RUN_ID: '4711',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_WORKFLOW: 'cost gate',
  GITHUB_JOB: 'cost',
  GITHUB_ACTION: '__watchkeeper_watchkeeper',
  GITHUB_SHA: 'a'.repeat(40),
})

// Runs the action as a step of a workflow that keeps a comment or an issue on GitHub.

export interface GitHubStepOptions extends ActionOptions {
  /** The event's payload; a pull request from the repository itself unless said otherwise. */
  readonly event?: unknown
}

export async function runGitHubStep(
  github: GitHubServer,
  { event = pullRequestEvent(12), ...options }: GitHubStepOptions,
): Promise<RanAction> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-event-'))
  try {
    await writeFile(join(directory, 'event.json'), JSON.stringify(event))
    return await runAsAction({
      ...options,
      inputs: { 'github-token': token, ...options.inputs },
      env: {
        ...runnerEnvironment(github.url),
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: join(directory, 'event.json'),
        ...options.env,
      },
      secrets: [token, ...(options.secrets ?? [])],
    })
  } finally {
    await rm(directory, { recursive: true })
  }
}
