import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { exitCodes } from '../../../src/core/errors.ts'
import { asOptions, inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { token, useGitLab } from '../../support/gitlab-server.ts'
import { gitLabEnvironment } from '../../support/notify.ts'
import { expectNoSecret, runCli } from '../../support/run-process.ts'

// The command line as a job of GitLab CI: notes on merge requests and issues.

const emulator = useEmulator()
const gitlab = useGitLab()

const gate = (flags: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
  const all = { ...inputsFor(emulator()), period: 'last-7-days', ...flags }
  const { flags: args, variables } = asOptions(all)
  return runCli(['usage-cost', ...args], { ...variables, ...gitLabEnvironment(gitlab().url), WATCHKEEPER_GITLAB_TOKEN: token, ...env })
}

const both = { comment: 'always', issue: 'on-failure' }

afterEach(() => {
  // No secret is in anything that was sent.
  expectNoSecret(JSON.stringify(gitlab().received.map(({ call, body }) => [call, body])), [token, ...secrets])
})

describe('a failing cost gate on a merge request', () => {
  it('leaves one note and one issue when it runs twice, and reports recovery', async () => {
    for (const _ of [1, 2]) expect((await gate({ ...both, budget: '0' })).exitCode).toBe(exitCodes.gateFailed)
    expect(gitlab().store.notes).toMatchObject([{ place: 'merge_requests', on: 12 }])
    expect(gitlab().store.notes[0]?.body).toMatch(/### ❌ Budget exceeded: /)
    expect(gitlab().store.issues).toMatchObject([{ labels: ['watchkeeper'], state: 'opened' }])

    const passed = await gate({ ...both, budget: '100000' })
    expect(passed.exitCode).toBe(0)
    expect(passed.stderr).toContain('comment: updated on !12\nissue: closed #101\n')
    expect(gitlab().store.notes).toHaveLength(2)
    expect(gitlab().store.notes[0]?.body).toMatch(/### ✅ [\s\S]*<details><summary>Previous report<\/summary>\n\n### ❌/)
    expect(gitlab().store.issues).toMatchObject([{ state: 'closed' }])
  })

  it('V4: a failing cost gate on a merge request has the same verdict and report when GitLab refuses, and a warning that names what is missing', async () => {
    const quiet = await gate({ budget: '0' })
    gitlab().store.scopes = ['read_api']
    const refused = await gate({ ...both, budget: '0' })
    const withoutTime = (text: string): string => text.replaceAll(/\d\d:\d\d UTC/g, '')
    expect([refused.exitCode, withoutTime(refused.stdout)]).toEqual([quiet.exitCode, withoutTime(quiet.stdout)])
    expect(refused.stderr).toContain('warning: comment: GitLab answered 403: ')
    expect(refused.stderr).toContain('warning: issue: GitLab answered 403: ')
    expect(refused.stderr).toContain('Use a project access token with the scope `api`')
  })

  it('asks GitLab nothing for a fork, or when neither is wanted', async () => {
    const forked = await gate({ ...both, budget: '0' }, { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '88' })
    expect(forked.exitCode).toBe(exitCodes.gateFailed)
    expect(forked.stderr).toContain('warning: comment: not written, because the merge request is from a fork.\n')
    await gate({ budget: '0' })
    expect(gitlab().received).toEqual([])
  })

  it('reports a token that GitLab prints without it', async () => {
    gitlab().addFault({ on: 'GET /user', effect: { kind: 'answer', status: 400, body: { message: `odd ${token}` } } })
    expect((await gate({ ...both, budget: '0' })).stderr).toContain('GitLab answered 400: odd ***.')
  })
})

it('the path of the project is the owner of the objects in a plan', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-project-'))
  try {
    await writeFile(join(directory, 'none.json'), '{}')
    const { flags, variables } = asOptions(inputsFor(emulator()))
    const ran = await runCli(
      ['plan', ...flags, '--files', 'none.json', '--json'],
      { ...variables, ...gitLabEnvironment(gitlab().url) },
      { directory },
    )
    expect(JSON.parse(ran.stdout)).toMatchObject({ project: 'acme/platform/shop' })
  } finally {
    await rm(directory, { recursive: true })
  }
})
