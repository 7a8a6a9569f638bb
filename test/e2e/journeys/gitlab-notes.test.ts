import { expect, it } from 'vitest'
import { exitCodes } from '../../../src/core/errors.ts'
import { asOptions, inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { token, useGitLab } from '../../support/gitlab-server.ts'
import { gitLabEnvironment } from '../../support/notify.ts'
import { expectNoSecret, runCli } from '../../support/run-process.ts'

// The command line as a job of GitLab CI: notes on merge requests and issues.

const emulator = useEmulator()
const gitlab = useGitLab()

const gate = (flags: Readonly<Record<string, string>>) => {
  const all = { ...inputsFor(emulator()), period: 'last-7-days', ...flags }
  const { flags: args, variables } = asOptions(all)
  return runCli(['usage-cost', ...args], { ...variables, ...gitLabEnvironment(gitlab().url), WATCHKEEPER_GITLAB_TOKEN: token })
}

const both = { comment: 'always', issue: 'on-failure' }

it('V4: a failing cost gate on a merge request leaves one note and one issue, and has the same verdict and report when GitLab refuses', async () => {
  const failed = await gate({ ...both, budget: '0' })
  expect(failed.exitCode).toBe(exitCodes.gateFailed)
  expect(failed.stderr).toContain('comment: created on !12\nissue: opened #101\n')
  expect(gitlab().store.notes).toMatchObject([{ place: 'merge_requests', on: 12 }])
  expect(gitlab().store.notes[0]?.body).toMatch(/### ❌ Budget exceeded: /)
  expect(gitlab().store.issues).toMatchObject([{ labels: ['watchkeeper'], state: 'opened' }])

  Object.assign(gitlab().store, { notes: [], issues: [], scopes: ['read_api'] })
  const refused = await gate({ ...both, budget: '0' })
  const withoutTime = (text: string): string => text.replaceAll(/\d\d:\d\d UTC/g, '')
  expect([refused.exitCode, withoutTime(refused.stdout)]).toEqual([failed.exitCode, withoutTime(failed.stdout)])
  expect(refused.stderr).toContain('Use a project access token with the scope `api`')
  // No secret is in anything that was sent.
  expectNoSecret(JSON.stringify(gitlab().received.map(({ call, body }) => [call, body])), [token, ...secrets])
})
