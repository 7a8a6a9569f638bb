import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { platforms } from '../../scripts/release-files.ts'
import { forEachEntry } from '../support/corpus.ts'
import { ownWorkflows, parseWorkflow, stepsOf } from '../support/workflows.ts'

const text = ownWorkflows.find(({ name }) => name.endsWith('/release.yml'))?.text ?? ''
const { jobs, concurrency } = parseWorkflow(text)
const steps = stepsOf({ jobs })
const releasing = readFileSync(new URL('../../docs/releasing.md', import.meta.url), 'utf8')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-release-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

interface ScriptOptions {
  /** What `gh`, `npm` and `docker` print for the first pattern that their arguments match; null fails. Other arguments print nothing. */
  readonly answers: Readonly<Record<string, string | null>>
  readonly tag?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a script as a runner does, with `gh`, `npm` and `docker` that log their arguments. */
function runScript(script: string, { answers, tag = 'v1.2.0', cwd = directory, env = {} }: ScriptOptions) {
  const [log, output] = [join(directory, 'calls.log'), join(directory, 'output')]
  const cases = Object.entries(answers).map(([pattern, answer]) => `  ${pattern}) ${answer === null ? 'exit 1' : `echo '${answer}'`} ;;`)
  for (const program of ['gh', 'npm', 'docker'])
    writeFileSync(join(directory, program), `#!/usr/bin/env bash\necho "$*" >> "${log}"\ncase "$*" in\n${cases.join('\n')}\nesac\n`, {
      mode: 0o755,
    })
  for (const file of [log, output]) writeFileSync(file, '')
  writeFileSync(join(directory, 'script.sh'), script)
  const ran = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', join(directory, 'script.sh')], {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: `${directory}:${process.env.PATH}`,
      GITHUB_OUTPUT: output,
      GITHUB_REPOSITORY: 'watchkeeper/watchkeeper',
      GITHUB_REF_NAME: tag,
      GITHUB_SHA: 'a'.repeat(40),
      ...env,
    },
  })
  return {
    status: ran.status,
    stdout: ran.stdout,
    calls: readFileSync(log, 'utf8').trim().split('\n'),
    outputs: readFileSync(output, 'utf8'),
  }
}

const runStep = (name: string, answers: ScriptOptions['answers'], tag?: string) =>
  runScript(steps.find((step) => step.name === name)?.run ?? 'exit 9', { answers, ...(tag !== undefined && { tag }) })

const expression = (text: string): string => `$\{{ ${text} }}`

describe('a release is built', () => {
  const step = 'The tag is signed, and its commit is on main'
  const signed = { '*/git/ref/tags/*': 'the-tag', '*/git/tags/the-tag*': 'true' }

  it('builds a release from a signed tag of a commit on main, and of no other', () => {
    for (const place of ['identical', 'behind'])
      expect(runStep(step, { ...signed, '*/compare/main...*': place })).toMatchObject({ status: 0, stdout: '' })
    for (const place of ['ahead', 'diverged']) {
      const { status, stdout } = runStep(step, { ...signed, '*/compare/main...*': place })
      expect([place, status, stdout]).toEqual([place, 1, expect.stringContaining('is not on main')])
    }
  })

  it('builds no release when the signature or the tag is wrong', () =>
    forEachEntry(
      [
        ['the signature is unknown', 'false'],
        ['the tag is no object, so has no signature', null],
      ],
      (_, answer) => {
        const { status, stdout } = runStep(step, { ...signed, '*/git/tags/the-tag*': answer, '*/compare/main...*': 'identical' })
        expect(status).toBe(1)
        expect(stdout).toContain('::error::GitHub cannot verify the signature of v1.2.0.')
      },
    ))

  it('builds no release when GitHub does not answer', () => {
    expect(runStep(step, { '*/git/ref/tags/*': null }).status).not.toBe(0)
    expect(runStep(step, { ...signed, '*/compare/main...*': null }).status).not.toBe(0)
  })
})

describe('the channel of npm', () => {
  const choose = (tag: string, current: string | null) => runStep('Choose the channel', { 'view?watchkeeper?dist-tags.*': current }, tag)

  it('the channel of npm does not move back', () =>
    forEachEntry<[string, string, string, string]>(
      [
        ['a newer version', 'v0.2.0', '0.1.9', 'latest'],
        ['a version after the placeholder', 'v0.1.0', '0.0.0', 'latest'],
        ['a version with a larger number', 'v0.10.0', '0.9.0', 'latest'],
        ['a pre-release', 'v0.2.0-rc.1', '', 'next'],
        ['a newer pre-release', 'v0.2.0-rc.10', '0.2.0-rc.9', 'next'],
        ['an older version', 'v0.1.1', '0.2.0', 'latest-0.1'],
        ['an older pre-release', 'v0.2.0-rc.1', '0.3.0-rc.1', 'next-0.2'],
      ],
      (_, tag, current, channel) => {
        const { status, outputs, calls } = choose(tag, current)
        expect({ status, outputs }).toEqual({ status: 0, outputs: `channel=${channel}\n` })
        expect(calls).toEqual([`view watchkeeper dist-tags.${tag.includes('-') ? 'next' : 'latest'}`])
      },
    ))

  it('the channel of npm is unknown when npm does not answer, so nothing is published', () => {
    expect(choose('v0.2.0', null)).toMatchObject({ status: 1, outputs: '' })
  })

  it('the channel of npm is the one that npm publish and the GitHub release use', () => {
    expect(jobs.npm?.steps?.find(({ run }) => run?.startsWith('npm publish'))).toMatchObject({
      env: { CHANNEL: expression('steps.channel.outputs.channel') },
      run: expect.stringMatching(/--tag "\$CHANNEL"$/),
    })
    expect(jobs.release?.steps?.find(({ run }) => run?.startsWith('gh release create'))).toMatchObject({
      env: { LATEST: expression("needs.npm.outputs.channel == 'latest'") },
      run: expect.stringContaining('--latest="$LATEST"'),
    })
  })
})

describe('the executables', () => {
  it('the executables are built for every platform that the install script and the formula know', () => {
    const { include } = (jobs.executables?.strategy?.matrix ?? {}) as unknown as { include: readonly { platform: string }[] }
    expect(include.map(({ platform }) => platform)).toEqual([...platforms])
  })

  it('the executables contain the Node that the tests run on', () => {
    const nodes = ['build', 'executables', 'assets'].map(
      (job) => jobs[job]?.steps?.find(({ uses = '' }) => uses.startsWith('actions/setup-node@'))?.with?.['node-version-file'],
    )
    expect(nodes).toEqual(['.node-version', '.node-version', '.node-version'])
  })

  it('the executables are attested, with a bill of materials that lists Node', () => {
    const attested = (jobs.attest?.steps ?? []).map((step) => step.with)
    expect(attested).toContainEqual(expect.objectContaining({ 'subject-path': expect.stringContaining('assets/*\n') }))
    expect(attested).toContainEqual({
      'subject-path': 'assets/*.tar.gz\nassets/*.zip\n',
      'sbom-path': 'release/watchkeeper-executable.spdx.json',
    })
  })
})

describe('the image', () => {
  const push = (channel: string) => {
    writeFileSync(join(directory, 'metadata.json'), JSON.stringify({ 'containerimage.digest': 'sha256:abc' }))
    const script = steps.find((step) => step.name === 'Build and push')?.run ?? 'exit 9'
    return runScript(script, { answers: {}, env: { CHANNEL: channel, ACTOR: 'someone', GH_TOKEN: 'token' } })
  }

  it('the image is built for two processors, with provenance and a bill of materials', () => {
    const { status, calls, outputs } = push('latest')
    expect({ status, outputs }).toEqual({ status: 0, outputs: 'digest=sha256:abc\n' })
    const [build = ''] = calls.filter((call) => call.startsWith('buildx build '))
    for (const part of ['--platform linux/amd64,linux/arm64', '--provenance mode=max', '--sbom true', '--push image'])
      expect(build).toContain(part)
    expect(build).toContain('--tag ghcr.io/watchkeeper/watchkeeper:1.2.0 --tag ghcr.io/watchkeeper/watchkeeper:latest ')
    expect(calls.join('\n')).not.toContain('token')
  })

  it('the image is not `latest` when the npm package is on another channel', () => {
    for (const channel of ['next', 'latest-1.2']) {
      const { status, calls } = push(channel)
      expect(status).toBe(0)
      expect(calls.join('\n')).toContain('--tag ghcr.io/watchkeeper/watchkeeper:1.2.0 ')
      expect(calls.join('\n'), channel).not.toContain(':latest')
    }
  })
})

describe('the commands in docs/releasing.md that move the major tag', () => {
  const [, block = ''] = /^## Move the major tag\n[\s\S]*?```sh\n([\s\S]*?)```/m.exec(releasing) ?? []
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], {
      cwd: join(directory, 'clone'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  const majorTagOnServer = (): string => git('ls-remote', 'origin', 'refs/tags/v1').split('\t')[0] ?? ''

  /** A server with the tags, each on a commit of its own, and a clone of it. */
  const prepare = (tags: readonly string[]): void => {
    execFileSync('git', ['init', '--quiet', '--bare', join(directory, 'server')])
    execFileSync('git', ['clone', '--quiet', join(directory, 'server'), join(directory, 'clone')], { stdio: 'ignore' })
    for (const tag of tags) {
      git('commit', '--quiet', '--allow-empty', '--message', tag)
      if (tag === 'v1') git('tag', tag)
      else git('tag', '--annotate', '--message', tag, tag)
    }
    git('push', '--quiet', '--tags', 'origin')
  }
  const move = (tag: string, releases: readonly string[] | null, conclusion: string | null = 'success') =>
    runScript(block.replace(/^tag=.*\n/, `tag=${tag}\n`), {
      answers: { 'run?list?--workflow?release.yml?--branch*': conclusion, 'release?list*': releases === null ? null : releases.join('\n') },
      cwd: join(directory, 'clone'),
    })

  it('the documented commands move the major tag to the newest release of its line', () => {
    prepare(['v1', 'v1.9.0', 'v1.10.0', 'v2.0.0'])
    const { status, stdout } = move('v1.10.0', ['v2.0.0', 'v1.10.0', 'v1.9.0', 'v10.0.0'])
    const commit = git('rev-parse', 'v1.10.0^{commit}')
    expect(status).toBe(0)
    expect(majorTagOnServer()).toBe(commit)
    expect(stdout.trim().split('\n').sort()).toEqual([`${commit}\trefs/tags/v1`, `${commit}\trefs/tags/v1.10.0^{}`])
  })

  it('the documented commands create the major tag for a new line', () => {
    prepare(['v0.9.0', 'v1.0.0'])
    expect(move('v1.0.0', ['v1.0.0', 'v0.9.0']).status).toBe(0)
    expect(majorTagOnServer()).toBe(git('rev-parse', 'v1.0.0^{commit}'))
  })

  it('the documented commands do not move the major tag without a verified release, or past a newer one', () => {
    prepare(['v1', 'v1.2.0', 'v1.3.0'])
    const before = majorTagOnServer()
    const outcomes = [
      move('v1.2.0', ['v1.3.0', 'v1.2.0']),
      move('v1.3.0', ['v1.2.0']),
      move('v1.3.0', ['v1.3.0'], 'failure'),
      move('v1.3.0', ['v1.3.0'], ''),
      move('v1.3.0', ['v1.3.0'], null),
      move('v1.3.0', []),
      move('v1.3.0', null),
    ]
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 1))
    expect(outcomes[0]?.stdout).toBe('The newest release of v1 is v1.3.0, not v1.2.0.\n')
    expect(outcomes[2]?.stdout).toBe('The release workflow of v1.3.0 did not succeed (failure).\n')
    expect(majorTagOnServer()).toBe(before)
  })
})

describe('the jobs of a release', () => {
  it('the jobs of a release come one after the other, each with what the one before has left', () => {
    const needs = Object.entries(jobs).map(([name, job]) => [name, job.needs])
    expect(needs).toEqual([
      ['build', undefined],
      ['executables', 'build'],
      ['assets', 'executables'],
      ['attest', 'assets'],
      ['npm', 'attest'],
      ['image', 'npm'],
      ['release', ['npm', 'image']],
      ['verify', 'release'],
    ])
  })

  it('the jobs of a release are those in docs/releasing.md', () => {
    const [, section = ''] = /^## Make a release\n([\s\S]*?)^## /m.exec(releasing) ?? []
    expect([...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, job]) => job)).toEqual(Object.keys(jobs))
  })

  it('the jobs of a release wait for a maintainer before they publish', () => {
    const environments = Object.entries(jobs).map(([name, job]) => [name, job.environment])
    expect(environments.filter(([, environment]) => environment !== undefined)).toEqual([['npm', 'npm']])
  })

  it('the jobs of a release keep their files longer than an approval and a run can take', () => {
    const days = steps.filter(({ uses = '' }) => uses.startsWith('actions/upload-artifact@')).map((step) => step.with?.['retention-days'])
    expect(days).toHaveLength(3)
    expect(days.filter((count) => !(Number(count) > 35))).toEqual([])
  })

  it('the jobs of a release run for each tag, so that no tag cancels another', () => {
    expect(concurrency).toEqual({ group: `release-${expression('github.ref')}`, 'cancel-in-progress': false })
  })

  it('the jobs of a release start for versions, and not for the major tag', () => {
    const { tags } = (parseWorkflow(text).on as { push: { tags: readonly string[] } }).push
    const patterns = tags.map((tag) => new RegExp(`^${tag.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`))
    const starts = (tag: string): boolean => patterns.some((pattern) => pattern.test(tag))
    expect(['v0.1.0', 'v1.22.333', 'v1.0.0-rc.1'].filter((tag) => !starts(tag))).toEqual([])
    expect(['v0', 'v1', 'v1.2', 'x1.2.3', 'v1.2.3.4'].filter(starts)).toEqual([])
  })
})

it('the scripts of our workflows are scripts that bash can read', () => {
  const scripts = ownWorkflows.flatMap(({ text: workflow }) => stepsOf(parseWorkflow(workflow)).flatMap(({ run }) => (run ? [run] : [])))
  expect(scripts.length).toBeGreaterThan(20)
  scripts.forEach((script, i) => void writeFileSync(join(directory, `${i}.sh`), script))
  const { stderr } = spawnSync('bash', ['-c', 'for script in *.sh; do bash -n "$script"; done'], { cwd: directory, encoding: 'utf8' })
  expect(stderr).toBe('')
})
