import * as z from 'zod'
import type { Variables } from '../../platform/core/variables.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Deployment } from '../../platform/operation/operation.ts'
import { describeAnswer, toGitHubError } from './failure.ts'
import { createRequests, defaultLimits } from './requests.ts'
import { readGitHubRun } from './run.ts'

interface Options {
  readonly env: Variables
  readonly token: string
  readonly deps: SendDeps
  readonly fromMs: number
  readonly toMs: number
  /** The time until the deadline of the run. */
  readonly remainingMs: number
}

/** The deployments of the workflow's repository that began in a period, oldest first, or why they could not be read. */
export async function listDeployments({
  env,
  token,
  deps,
  fromMs,
  toMs,
  remainingMs,
}: Options): Promise<readonly Deployment[] | { readonly unread: string }> {
  const read = await readGitHubRun(env)
  if ('problem' in read) return { unread: read.problem }
  const { list, close } = createRequests(read.run, token, deps, { ...defaultLimits, totalMs: remainingMs })
  try {
    const found: Deployment[] = []
    for await (const one of list(deployment, '/deployments')) {
      // GitHub lists the newest first, and cannot limit the list to a period.
      if (one.atMs < fromMs) break
      if (one.atMs <= toMs) found.push(one)
    }
    return found.toReversed()
  } catch (thrown) {
    const { failure } = toGitHubError(thrown)
    const advice = failure.status === 403 || failure.status === 404 ? '. Grant the job deployments: read' : ''
    return { unread: `${describeAnswer(failure)}${advice}` }
  } finally {
    await close()
  }
}

// https://docs.github.com/en/rest/deployments/deployments
const deployment = z
  .looseObject({ created_at: z.iso.datetime(), environment: z.string().nullish(), ref: z.string().nullish(), sha: z.string().nullish() })
  .transform(
    ({ created_at, environment, ref, sha }): Deployment => ({
      atMs: Date.parse(created_at),
      environment: environment ?? '',
      ref: ref ?? '',
      commit: sha?.slice(0, 7) ?? '',
    }),
  )
