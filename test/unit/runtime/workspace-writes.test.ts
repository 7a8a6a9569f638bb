// Files that an operation is there to write: inside the workspace, never through a link, whole or not at all.
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeWorkspaceFile } from '../../../src/runtime/workspace.ts'

let directory: string
let root: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-writes-'))
  root = join(directory, 'work')
  await mkdir(join(root, 'sub'), { recursive: true })
  await mkdir(join(directory, 'elsewhere'))
  await writeFile(join(directory, 'outside'), 'untouched')
  await writeFile(join(root, 'inside'), 'old')
  await symlink(join(directory, 'outside'), join(root, 'link-out'))
  await symlink(join(root, 'inside'), join(root, 'link-in'))
  await symlink(join(root, 'nothing'), join(root, 'dangling'))
  await symlink(join(directory, 'elsewhere'), join(root, 'directory-out'))
  await symlink(join(root, 'sub'), join(root, 'directory-in'))
  await symlink(root, join(directory, 'way-in'))
})
afterEach(() => rm(directory, { recursive: true }))

describe('S8: what an operation is there to write stays in the workspace, and goes through no link', () => {
  it.each(['inside', 'new', 'sub/new', 'one/two/three/new', './sub/../new'])('writes %s, and leaves nothing else behind', async (path) => {
    await writeWorkspaceFile(root, path, 'text')
    expect(await readFile(join(root, path), 'utf8')).toBe('text')
    expect((await readdir(root, { recursive: true })).filter((name) => name.includes('.watchkeeper'))).toEqual([])
  })

  it('writes into a workspace that is reached by a link', async () => {
    await writeWorkspaceFile(join(directory, 'way-in'), 'sub/new', 'text')
    expect(await readFile(join(root, 'sub/new'), 'utf8')).toBe('text')
  })

  it.each([
    ['../outside', 'is outside of the workspace'],
    ['sub/../../outside', 'is outside of the workspace'],
    ['/etc/watchkeeper', 'is outside of the workspace'],
    ['.', 'is outside of the workspace'],
    ['link-out', 'is a link'],
    ['link-in', 'is a link'],
    ['dangling', 'is a link'],
    ['directory-out/new', 'is a link or not a directory'],
    ['directory-out/deeper/new', 'is a link or not a directory'],
    ['directory-in/new', 'is a link or not a directory'],
    ['inside/new', 'is a link or not a directory'],
    ['dangling/new', 'is a link or not a directory'],
    ['sub', 'is a directory'],
  ])('refuses %s', async (path, reason) => {
    const before = (await readdir(directory, { recursive: true })).sort()
    await expect(writeWorkspaceFile(root, path, 'text')).rejects.toThrow(reason)
    expect((await readdir(directory, { recursive: true })).sort()).toEqual(before)
    expect(await readFile(join(directory, 'outside'), 'utf8')).toBe('untouched')
    expect(await readFile(join(root, 'inside'), 'utf8')).toBe('old')
    expect((await lstat(join(root, 'link-out'))).isSymbolicLink()).toBe(true)
  })
})
