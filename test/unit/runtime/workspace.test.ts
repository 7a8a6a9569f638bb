import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readOptionalFile, readWorkspaceFile, writeFileFrom } from '../../../src/runtime/workspace.ts'

let root: string

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-workspace-'))
  root = join(directory, 'work')
  await mkdir(join(root, 'sub'), { recursive: true })
  await writeFile(join(directory, 'outside'), 'secret')
  await writeFile(join(root, 'inside'), 'text')
  await writeFile(join(root, 'sub', 'deep'), 'deep')
  await writeFile(join(root, 'latin'), Buffer.from([0xe9]))
  await writeFile(join(root, 'huge'), Buffer.alloc(5 * 1024 * 1024 + 1))
  await symlink(join(directory, 'outside'), join(root, 'link-out'))
  await symlink(join(root, 'inside'), join(root, 'link-in'))
  await symlink(join(root, 'loop'), join(root, 'loop'))
  await symlink(join(root, 'nothing'), join(root, 'dangling'))
  await symlink('/dev/zero', join(root, 'device'))
  await symlink(directory, join(root, 'up'))
  execFileSync('mkfifo', [join(root, 'pipe')])
})
afterAll(() => rm(join(root, '..'), { recursive: true }))

describe('S8: files are read only inside of the workspace', () => {
  it.each([
    ['inside', 'text'],
    ['./sub/../inside', 'text'],
    ['sub/deep', 'deep'],
    ['link-in', 'text'],
  ])('reads %s', async (path, text) => {
    expect(await readWorkspaceFile(root, path, 'alert-file')).toBe(text)
  })

  it.each([
    ['../outside', 'is outside of the workspace'],
    ['link-out', 'is outside of the workspace'],
    ['up/outside', 'is outside of the workspace'],
    ['/etc/passwd', 'is outside of the workspace'],
    ['device', 'is outside of the workspace'],
    ['loop', 'does not exist or cannot be read'],
    ['dangling', 'does not exist or cannot be read'],
    ['missing', 'does not exist or cannot be read'],
    ['sub', 'is not a file'],
    ['pipe', 'is not a file'],
    ['latin', 'is not UTF-8'],
    ['huge', 'is larger than 5 MiB'],
    ['a\u0000b', 'does not exist or cannot be read'],
  ])('refuses %s', async (path, reason) => {
    await expect(readWorkspaceFile(root, path, 'alert-file')).rejects.toMatchObject({
      kind: 'input',
      diagnostics: [{ location: { file: 'alert-file' }, message: expect.stringContaining(reason) }],
    })
  })
})

it('treats a file that was not given by name as optional', async () => {
  expect(await readOptionalFile(root, 'missing', false)).toBeUndefined()
  await expect(readOptionalFile(root, 'missing', true)).rejects.toThrow('does not exist')
})

describe('S8: files are written where that was asked for, and through no link', () => {
  it('makes the directories that are missing', async () => {
    await writeFileFrom(root, 'new/deep/file.json', 'x')
    expect(await readFile(join(root, 'new', 'deep', 'file.json'), 'utf8')).toBe('x')
  })

  it('replaces a link instead of writing through it', async () => {
    await symlink(join(root, '..', 'outside'), join(root, 'report.csv'))
    await writeFileFrom(root, 'report.csv', 'x')
    expect(await readFile(join(root, '..', 'outside'), 'utf8')).toBe('secret')
    expect(await readFile(join(root, 'report.csv'), 'utf8')).toBe('x')
  })

  it.each(['up/report.csv', 'up/new/report.csv', 'sub/../up/report.csv'])(
    'refuses %s: a link of the workspace leads out of it',
    async (path) => {
      await expect(writeFileFrom(root, path, 'x')).rejects.toThrow('leads out of the workspace')
      expect(await readdir(join(root, '..'))).toEqual(['outside', 'work'])
    },
  )

  it('writes outside when that is what was asked for', async () => {
    await writeFileFrom(root, '../elsewhere/report.csv', 'x')
    expect(await readFile(join(root, '..', 'elsewhere', 'report.csv'), 'utf8')).toBe('x')
    await rm(join(root, '..', 'elsewhere'), { recursive: true })
  })
})
