import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { version } from '../../../src/core/version.ts'
import {
  actionReference,
  type Checkout,
  hasUnreleasedReference,
  referenceTo,
  setReference,
} from '../../../src/runtime/cli/action-reference.ts'

const commit = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00'
const onMain: Checkout = { repository: 'watchkeeper/watchkeeper', tags: [], commit, remoteBranches: ['refs/remotes/origin/main'] }

const unreleased = 'v0 # Not from a release: replace v0 by the SHA of a commit of the action.'

describe('workflows of init refer to the action by', () => {
  it.each<[string, Partial<Checkout>, string]>([
    ['the major tag in a release', { tags: [`v${version}`] }, 'v0'],
    ['the commit of a clean checkout that the remote has', {}, `${commit} # not a release`],
    ['a tag to be replaced when a file differs', { commit: `${commit}-dirty` }, unreleased],
    ['a tag to be replaced when the remote lacks the commit', { remoteBranches: [] }, unreleased],
    ['a tag to be replaced in a fork, which `uses:` does not name', { repository: 'someone/watchkeeper' }, unreleased],
    ['a tag to be replaced at the tag of another version', { tags: ['v0.0.1'], remoteBranches: [] }, unreleased],
    ['a tag to be replaced without Git', { repository: undefined, commit: '', remoteBranches: [] }, unreleased],
  ])('workflows of init refer to the action by %s', (_, differences, reference) => {
    expect(referenceTo({ ...onMain, ...differences })).toBe(reference)
    expect(hasUnreleasedReference(reference)).toBe(reference === unreleased)
  })

  it('workflows of init refer to the action by the state of the Git checkout', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-checkout-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: directory, encoding: 'utf8' }).trim()
    expect(await actionReference(directory)).toBe(unreleased)
    git('init', '--quiet')
    git('remote', 'add', 'origin', 'https://github.com/watchkeeper/watchkeeper.git')
    writeFileSync(join(directory, 'file'), '1')
    git('add', 'file')
    git('commit', '--quiet', '--message', 'first')
    expect(await actionReference(directory)).toBe(unreleased)
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    expect(await actionReference(directory)).toBe(`${git('rev-parse', 'HEAD')} # not a release`)
    writeFileSync(join(directory, 'file'), '2')
    expect(await actionReference(directory)).toBe(unreleased)
    git('tag', `v${version}`)
    expect(await actionReference(directory)).toBe('v0')
  })
})

it('the reference is set in workflows and in the addresses of schemas', () => {
  const text = 'uses: watchkeeper/watchkeeper@v0\n# https://raw.githubusercontent.com/watchkeeper/watchkeeper/v0/schemas/x.json\n'
  expect(setReference(text, `${commit} # not a release`)).toBe(
    `uses: watchkeeper/watchkeeper@${commit} # not a release\n# https://raw.githubusercontent.com/watchkeeper/watchkeeper/${commit}/schemas/x.json\n`,
  )
  expect(setReference(text, 'v0')).toBe(text)
})
