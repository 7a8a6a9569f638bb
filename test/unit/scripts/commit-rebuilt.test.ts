import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commitRebuilt, rebuiltFiles } from '../../../scripts/commit-rebuilt.ts'

let directory: string
let server: Server
let answer: { status: number; body: unknown }
let received: { authorization: string | undefined; body: string }[]

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-rebuilt-'))
  received = []
  answer = { status: 200, body: { data: { createCommitOnBranch: { commit: { oid: 'c'.repeat(40) } } } } }
  server = createServer(async (request, response) => {
    const chunks = (await request.toArray()) as Buffer[]
    received.push({ authorization: request.headers.authorization, body: Buffer.concat(chunks).toString('utf8') })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.close()
  rmSync(directory, { recursive: true })
})

const put = (files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
}

const commit = (): Promise<string | undefined> =>
  commitRebuilt(directory, {
    graphqlUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    token: 'a-token',
    repository: 'watchkeeper/watchkeeper',
    branch: 'dependabot/npm_and_yarn/zod-5',
    head: 'a'.repeat(40),
  })

describe('committing what was rebuilt', () => {
  it('hands the files to GitHub, on top of the commit that they were made from and no other', async () => {
    put({ 'dist/index.js': 'bundled\n', 'README.md': '# é\n' })
    expect(await commit()).toBe('c'.repeat(40))
    expect(received).toHaveLength(1)
    expect(received[0]?.authorization).toBe('Bearer a-token')
    const { variables } = JSON.parse(received[0]?.body ?? '') as { variables: { input: Record<string, unknown> } }
    expect(variables.input).toMatchObject({
      branch: { repositoryNameWithOwner: 'watchkeeper/watchkeeper', branchName: 'dependabot/npm_and_yarn/zod-5' },
      expectedHeadOid: 'a'.repeat(40),
      fileChanges: {
        additions: [
          { path: 'README.md', contents: Buffer.from('# é\n').toString('base64') },
          { path: 'dist/index.js', contents: Buffer.from('bundled\n').toString('base64') },
        ],
      },
    })
  })

  it('lets Dependabot rebase its branch', async () => {
    put({ 'action.yml': 'name: x\n' })
    await commit()
    expect(received[0]?.body).toContain('[dependabot skip]')
  })

  it('commits the chunks of the bundle as well', async () => {
    put({ 'dist/380.index.js': 'bundled\n', 'dist/index.js': 'bundled\n' })
    expect(rebuiltFiles(directory)).toEqual(['dist/380.index.js', 'dist/index.js'])
  })

  it('commits documents and examples with new pins', () => {
    put({ 'docs/files.md': 'x\n', 'examples/workflows/plan.yml': 'x\n' })
    expect(rebuiltFiles(directory)).toEqual(['docs/files.md', 'examples/workflows/plan.yml'])
  })

  it('deletes a chunk whose file is empty', async () => {
    put({ 'dist/380.index.js': '', 'dist/381.index.js': 'bundled\n' })
    await commit()
    const { variables } = JSON.parse(received[0]?.body ?? '') as { variables: { input: { fileChanges: unknown } } }
    expect(variables.input.fileChanges).toEqual({
      additions: [{ path: 'dist/381.index.js', contents: Buffer.from('bundled\n').toString('base64') }],
      deletions: [{ path: 'dist/380.index.js' }],
    })
  })

  it.each(['dist/index.js', 'README.md'])('neither deletes nor empties %s', async (path) => {
    put({ [path]: '' })
    await expect(commit()).rejects.toThrow('not generated, so not committed')
    expect(received).toEqual([])
  })

  it('makes no commit without files', async () => {
    expect(await commit()).toBeUndefined()
    expect(received).toEqual([])
  })

  it('fails with the reason when the branch has moved', async () => {
    put({ 'dist/index.js': 'bundled\n' })
    answer = { status: 200, body: { data: { createCommitOnBranch: null }, errors: [{ message: 'Expected branch to point to "aaaa"' }] } }
    await expect(commit()).rejects.toThrow('GitHub made no commit (200): Expected branch to point to "aaaa"')
  })

  it.each([
    ['a workflow', '.github/workflows/check.yml'],
    ['a source', 'src/action.ts'],
    ['a source whose generator reads no package', 'src/platform/core/version.ts'],
    ['a manifest', 'package.json'],
    ['another file of dist', 'dist/other.js'],
    ['a document in a folder of docs', 'docs/decisions/0001-x.md'],
    ['an example that is not a workflow', 'examples/budgets.yml'],
    ['a file beside a chunk', 'dist/12.index.js.sh'],
    ['a name that only begins right', 'README.md.sh'],
    ['a name on two lines', 'README.md\nx'],
  ])('rejects all files because of %s', async (_, path) => {
    put({ 'dist/index.js': 'bundled\n', [path]: 'x' })
    await expect(commit()).rejects.toThrow('not generated, so not committed')
    expect(received).toEqual([])
  })

  it('commit-rebuilt follows no link out of its directory', () => {
    put({ 'dist/licenses.txt': 'x' })
    symlinkSync('/etc/hostname', join(directory, 'README.md'))
    expect(() => rebuiltFiles(directory)).toThrow('README.md')
  })
})
