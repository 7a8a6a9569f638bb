import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forEachEntry } from '../support/corpus.ts'
import { ownWorkflows, parseWorkflow, stepsOf } from '../support/workflows.ts'

const text = ownWorkflows.find(({ name }) => name.endsWith('/release.yml'))?.text ?? ''
const { jobs } = parseWorkflow(text)
const steps = stepsOf({ jobs })

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-release-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Runs a step as a runner does. `gh` is a program that notes its arguments and answers by the first pattern that they fit; null fails. */
function runStep(name: string, answers: Readonly<Record<string, string | null>>, tag = 'v1.2.0') {
  const script = steps.find((step) => step.name === name)?.run ?? ''
  const cases = Object.entries(answers).map(([pattern, answer]) => `  ${pattern}) ${answer === null ? 'exit 1' : `echo '${answer}'`} ;;`)
  writeFileSync(join(directory, 'gh'), `#!/usr/bin/env bash\necho "$*" >> "$0.log"\ncase "$*" in\n${cases.join('\n')}\nesac\n`, {
    mode: 0o755,
  })
  writeFileSync(join(directory, 'gh.log'), '')
  writeFileSync(join(directory, 'script.sh'), script)
  const ran = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', join(directory, 'script.sh')], {
    encoding: 'utf8',
    env: {
      PATH: `${directory}:${process.env.PATH}`,
      GITHUB_REPOSITORY: 'watchkeeper/watchkeeper',
      GITHUB_REF_NAME: tag,
      GITHUB_SHA: 'a'.repeat(40),
    },
  })
  return { status: ran.status, stdout: ran.stdout, calls: readFileSync(join(directory, 'gh.log'), 'utf8').trim().split('\n') }
}

describe('a release is built', () => {
  const step = 'The tag is signed, and its commit is on main'
  const signed = { '*/git/ref/tags/*': 'the-tag', '*/git/tags/the-tag*': 'true' }

  it.each(['identical', 'behind'])('from a signed tag of a commit on main (%s)', (place) => {
    expect(runStep(step, { ...signed, '*/compare/main...*': place })).toMatchObject({ status: 0, stdout: '' })
  })

  it('not when the signature or the tag is wrong', () =>
    forEachEntry(
      [
        ['the signature is unknown', 'false'],
        ['the tag is no object, so has no signature', null],
      ],
      (_, answer) => {
        const { status, stdout } = runStep(step, { ...signed, '*/git/tags/the-tag*': answer, '*/compare/main...*': 'identical' })
        expect(status).toBe(1)
        expect(stdout).toContain('::error::v1.2.0 is not a tag with a signature')
      },
    ))

  it.each(['ahead', 'diverged'])('not from a commit that main does not have (%s)', (place) => {
    const { status, stdout } = runStep(step, { ...signed, '*/compare/main...*': place })
    expect(status).toBe(1)
    expect(stdout).toContain('is not on main')
  })

  it('not when GitHub does not answer', () => {
    expect(runStep(step, { '*/git/ref/tags/*': null }).status).not.toBe(0)
    expect(runStep(step, { ...signed, '*/compare/main...*': null }).status).not.toBe(0)
  })
})

describe('the major tag', () => {
  const step = 'Move it, unless a newer release has it'
  const released = (...tags: readonly string[]): Record<string, string> => ({ 'release?list*': tags.join('\n') })
  const sha = `sha=${'a'.repeat(40)}`

  it('moves to the newest release of its line', () => {
    const { status, calls } = runStep(step, released('v1.2.0', 'v1.10.0', 'v1.9.0', 'v2.0.0', 'v10.0.0'), 'v1.10.0')
    expect(status).toBe(0)
    expect(calls.at(-1)).toBe(
      `api --method PATCH repos/watchkeeper/watchkeeper/git/refs/tags/v1 --field ${sha} --field force=true --silent`,
    )
  })

  it('is made when the line is new', () => {
    const { status, calls } = runStep(step, { ...released('v1.2.0', 'v0.9.0'), '*/git/ref/tags/v1*': null })
    expect(status).toBe(0)
    expect(calls.at(-1)).toBe(`api --method POST repos/watchkeeper/watchkeeper/git/refs --field ref=refs/tags/v1 --field ${sha} --silent`)
  })

  it('does not move back for a correction of an older line', () => {
    const { status, stdout, calls } = runStep(step, released('v1.3.0', 'v1.2.0'))
    expect(status).toBe(0)
    expect(stdout).toContain('v1 stays at v1.3.0')
    expect(calls).toHaveLength(1)
  })

  it('does not move when the releases cannot be read', () => {
    const { status, calls } = runStep(step, { 'release?list*': null })
    expect(status).not.toBe(0)
    expect(calls).toHaveLength(1)
  })
})

describe('the jobs of a release', () => {
  it('come one after the other, each with what the one before has left', () => {
    const needs = Object.entries(jobs).map(([name, job]) => [name, job.needs])
    expect(needs).toEqual([
      ['build', undefined],
      ['attest', 'build'],
      ['npm', 'attest'],
      ['release', 'npm'],
      ['verify', 'release'],
      ['major-tag', 'verify'],
    ])
  })

  it('wait for a person before they publish, and before users get it', () => {
    const environments = Object.entries(jobs).map(([name, job]) => [name, job.environment])
    expect(environments.filter(([, environment]) => environment !== undefined)).toEqual([
      ['npm', 'npm'],
      ['major-tag', 'major-tag'],
    ])
  })

  it('start for versions, and not for the major tag that they move', () => {
    const { tags } = (parseWorkflow(text).on as { push: { tags: readonly string[] } }).push
    const patterns = tags.map((tag) => new RegExp(`^${tag.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`))
    const starts = (tag: string): boolean => patterns.some((pattern) => pattern.test(tag))
    expect(['v0.1.0', 'v1.22.333', 'v1.0.0-rc.1'].filter((tag) => !starts(tag))).toEqual([])
    expect(['v0', 'v1', 'v1.2', 'x1.2.3', 'v1.2.3.4'].filter(starts)).toEqual([])
  })
})

it.each(
  ownWorkflows.flatMap(({ name, text: workflow }) =>
    stepsOf(parseWorkflow(workflow)).flatMap(({ run }) => (run ? [[name, run] as const] : [])),
  ),
)('%s has scripts that bash can read', (_, run) => {
  expect(() => execFileSync('bash', ['-n'], { input: run, stdio: ['pipe', 'ignore', 'pipe'] })).not.toThrow()
})
