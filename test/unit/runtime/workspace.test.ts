import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readOptionalFile, readWorkspaceFile, workspaceFiles, writeFileFrom, writeWorkspaceFile } from '../../../src/runtime/workspace.ts'

let root: string

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-workspace-'))
  root = join(directory, 'work')
  await mkdir(join(root, 'sub'), { recursive: true })
  await writeFile(join(directory, 'outside'), 'secret')
  await writeFile(join(root, 'inside'), 'text')
  await writeFile(join(root, 'sub', 'deep'), 'deep')
  await writeFile(join(root, 'latin'), Buffer.from([0xe9]))
  await writeFile(join(root, 'full'), Buffer.alloc(5 * 1024 * 1024))
  await writeFile(join(root, 'huge'), Buffer.alloc(5 * 1024 * 1024 + 1))
  await symlink(join(directory, 'outside'), join(root, 'link-out'))
  await symlink(join(root, 'inside'), join(root, 'link-in'))
  await symlink(join(root, 'loop'), join(root, 'loop'))
  await symlink(join(root, 'nothing'), join(root, 'dangling'))
  await symlink('/dev/zero', join(root, 'device'))
  await symlink(directory, join(root, 'up'))
  await symlink('.', join(root, 'self'))
  await mkdir(join(root, '.git', 'hooks'), { recursive: true })
  await symlink('.git', join(root, 'link-git'))
  execFileSync('mkfifo', [join(root, 'pipe')])
})
afterAll(() => rm(join(root, '..'), { recursive: true }))

it('names a forgotten checkout, where a workflow has an empty workspace', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'watchkeeper-workspace-'))
  const inWorkflow = workspaceFiles(empty, { GITHUB_ACTIONS: 'true' })
  const reason = 'the workspace is empty. Add a step with actions/checkout before this one'
  await expect(inWorkflow.read('budgets.yml', 'budgets')).rejects.toThrow(`budgets: ${reason}`)
  expect(await workspaceFiles(empty, {}).find(['a/**/*.yml'], 'files')).toMatchObject({ paths: [] })
  await expect(inWorkflow.demandCheckout('files')).rejects.toThrow(`files: ${reason}`)
  // A pull writes the first files of a repository.
  expect(await inWorkflow.find(['a/**/*.yml'], 'files')).toMatchObject({ paths: [] })
  await rm(empty, { recursive: true })
})

describe('S8: files are read only inside of the workspace', () => {
  it.each([
    ['inside', 'text'],
    ['./sub/../inside', 'text'],
    ['sub/deep', 'deep'],
    ['link-in', 'text'],
    ['full', '\0'.repeat(5 * 1024 * 1024)],
  ])('reads %s', async (path, text) => {
    expect((await readWorkspaceFile(root, path, 'alert-file')) === text).toBe(true)
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

const snapshotOf = async (directory: string): Promise<unknown> =>
  Promise.all(
    (await readdir(directory)).sort().map(async (name) => {
      const { mode, ino, size } = await lstat(join(directory, name))
      return [name, mode, ino, size]
    }),
  )

it('treats a file that was not given by name as optional', async () => {
  expect(await readOptionalFile(root, 'missing', false)).toBeUndefined()
  await expect(readOptionalFile(root, 'missing', true)).rejects.toThrow('does not exist')
})

describe('S8: files are written where that was asked for, and through no link', () => {
  it('makes the directories that are missing', async () => {
    await writeFileFrom(root, 'new/deep/file.json', 'x')
    expect(await readFile(join(root, 'new', 'deep', 'file.json'), 'utf8')).toBe('x')
  })

  it('replaces a regular file', async () => {
    await writeFile(join(root, 'report.csv'), 'old')
    await writeFileFrom(root, 'report.csv', 'x')
    expect(await readFile(join(root, 'report.csv'), 'utf8')).toBe('x')
  })

  it('keeps the mode of a file that it replaces, whatever the mask of the process is', async () => {
    for (const mode of [0o640, 0o664, 0o755]) {
      await writeFile(join(root, 'mode.yml'), 'old')
      await chmod(join(root, 'mode.yml'), mode)
      await writeWorkspaceFile(root, 'mode.yml', 'new')
      expect([(await lstat(join(root, 'mode.yml'))).mode & 0o777, await readFile(join(root, 'mode.yml'), 'utf8')]).toEqual([mode, 'new'])
    }
  })

  it('writes a file piece by piece, and keeps the old one when a piece cannot be made', async () => {
    const pieces = function* (count: number): Generator<string> {
      for (let i = 0; i < 3; i++) {
        if (i === count) throw new Error('no more')
        yield `${i}ü`
      }
    }
    await writeFileFrom(root, 'report.csv', pieces(3))
    const before = await snapshotOf(root)
    await expect(writeFileFrom(root, 'report.csv', pieces(2))).rejects.toThrow('no more')
    expect(await snapshotOf(root)).toEqual(before)
    expect(await readFile(join(root, 'report.csv'), 'utf8')).toBe('0ü1ü2ü')
  })

  it.each([
    ['link-out', 'it is a link'],
    ['link-in', 'it is a link'],
    ['dangling', 'it is a link'],
    ['loop', 'it is a link'],
    ['device', 'it is a link'],
    ['up', 'it is a link'],
    ['sub', 'it is a directory'],
    ['pipe', 'it is a pipe'],
  ])('refuses %s, which stays what it is', async (path, reason) => {
    const before = await snapshotOf(root)
    await expect(writeFileFrom(root, path, 'x')).rejects.toThrow(reason)
    await expect(writeFileFrom('/', join(root, path), 'x')).rejects.toThrow(reason)
    expect(await snapshotOf(root)).toEqual(before)
    expect(await readFile(join(root, '..', 'outside'), 'utf8')).toBe('secret')
  })

  it('refuses a socket, which stays one', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve))
    try {
      await expect(writeFileFrom(root, 'socket', 'x')).rejects.toThrow('it is a socket')
      expect((await lstat(join(root, 'socket'))).isSocket()).toBe(true)
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('refuses a device, which stays one', async () => {
    // Only root can make one, and only root could replace the one of the system.
    const own = join(root, 'null')
    const device = spawnSync('mknod', [own, 'c', '1', '3']).status === 0 ? own : '/dev/null'
    await expect(writeFileFrom(root, device, 'x')).rejects.toThrow('it is a device')
    expect((await lstat(device)).isCharacterDevice()).toBe(true)
    await rm(own, { force: true })
  })

  it.each(['up/report.csv', 'up/new/report.csv', 'sub/../up/report.csv'])(
    'refuses %s: a link of the workspace leads out of it',
    async (path) => {
      await expect(writeFileFrom(root, path, 'x')).rejects.toThrow('leads out of the workspace')
      expect(await readdir(join(root, '..'))).toEqual(['outside', 'work'])
    },
  )

  it.each([
    ['.git/config', '.git'],
    ['sub/.git', '.git'],
    ['link-git/config', '.git'],
    ['link-git/hooks/new/deep', '.git'],
    ['sub/.Git/config', '.Git'],
    ['../.git/config', '.git'],
    ['self/.github/workflows/new.yml', '.github'],
  ])('refuses %s, which Git or GitHub reads', async (path, name) => {
    const before = [await snapshotOf(root), await snapshotOf(join(root, '.git'))]
    await expect(writeFileFrom(root, path, 'x')).rejects.toThrow(`it is in ${name}`)
    expect([await snapshotOf(root), await snapshotOf(join(root, '.git'))]).toEqual(before)
  })

  it('writes below a workspace whose own directory is named .github', async () => {
    const own = join(root, '..', '.github')
    await mkdir(own)
    await writeFileFrom(own, 'report.csv', 'x')
    expect(await readFile(join(own, 'report.csv'), 'utf8')).toBe('x')
    await rm(own, { recursive: true })
  })

  it('refuses a file that the run has read, by any path', async () => {
    const used = new Set<string>()
    await workspaceFiles(root, {}, undefined, used).read('link-in', 'files')
    await readOptionalFile(root, 'sub/deep', false, used)
    for (const path of ['inside', 'self/inside', 'self/sub/deep'])
      await expect(writeFileFrom(root, path, 'x', used)).rejects.toThrow('this run read it')
    expect(await readFile(join(root, 'inside'), 'utf8')).toBe('text')
    await writeFileFrom(root, 'self/sub/new', 'x', used)
  })

  it('writes outside when that is what was asked for', async () => {
    await writeFileFrom(root, '../elsewhere/report.csv', 'x')
    expect(await readFile(join(root, '..', 'elsewhere', 'report.csv'), 'utf8')).toBe('x')
    await rm(join(root, '..', 'elsewhere'), { recursive: true })
  })
})

describe('wildcards', () => {
  let place: string

  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'watchkeeper-find-'))
    for (const directory of ['observability/real', 'observability/.hidden', 'shared/deep', 'other'])
      await mkdir(join(place, 'work', directory), { recursive: true })
    await mkdir(join(place, 'outside'))
    for (const path of [
      'observability/a.yml',
      'observability/real/b.yml',
      'observability/.hidden/h.yml',
      'shared/deep/s.yml',
      'other/notes.txt',
    ])
      await writeFile(join(place, 'work', path), 'alerts: {}')
  })
  afterEach(() => rm(place, { recursive: true }))

  const find = (...globs: readonly string[]) => workspaceFiles(join(place, 'work'), {}).find(globs, 'files')
  const link = (target: string, path: string) => symlink(target, join(place, 'work', path))

  const all = 'observability/**/*.{yml,yaml,json}'
  const own = ['observability/a.yml', 'observability/real/b.yml']

  it('wildcards find files in directories, except hidden ones', async () => {
    expect(await find(all)).toEqual({ paths: own, skipped: [] })
    for (const directory of ['observability', 'observability/', './observability//'])
      expect(await find(directory)).toEqual({ paths: own, skipped: [] })
    expect(await find('nothing/**/*.yml')).toEqual({ paths: [], skipped: [] })
  })

  it('wildcards find files in the order of their paths, and skip directories in it', async () => {
    await link('../other', 'shared/linked')
    await link('missing', 'observability/missing')
    const globs = ['observability/**/*.yml', 'shared/**/*.{yml,txt}']
    for (const some of [globs, globs.toReversed()]) {
      const { paths, skipped } = await find(...some)
      expect(paths).toEqual([...own, 'shared/deep/s.yml'])
      expect(skipped.map(({ path }) => path)).toEqual(['observability/missing', 'shared/linked'])
    }
  })

  it('wildcards find a thousand files at most', { tags: 'slow' }, async () => {
    const add = (i: number): void => writeFileSync(join(place, 'work', 'other', `${i}.yml`), '')
    for (let i = 0; i < 1000; i++) add(i)
    expect((await find('other/*.yml')).paths).toHaveLength(1000)
    add(1000)
    await expect(find('other/*.yml')).rejects.toThrow('files: matches more than 1000 files')
  })

  it('wildcards in the name of an existing directory are characters of its name', async () => {
    for (const directory of ['services[legacy]', 'a (b)*?']) {
      await mkdir(join(place, 'work', directory))
      await writeFile(join(place, 'work', directory, 'a.yml'), 'alerts: {}')
      await link('../shared', `${directory}/linked`)
      expect(await find(directory)).toEqual({
        paths: [`${directory}/a.yml`],
        skipped: [{ path: `${directory}/linked`, reason: 'is a link to a directory' }],
      })
    }
  })

  it.each([
    [all],
    ['observability'],
    ['./observability/**/*.yml'],
    ['**/*.yml'],
    ['observability/*/deep/*.yml'],
    ['observability/l*/**/s.yml'],
    ['{observability,other}/**/*.yml'],
  ])('wildcards skip a linked directory, which %s names', async (glob) => {
    await link('../shared', 'observability/linked')
    const { paths, skipped } = await find(glob)
    expect(paths).not.toContain('observability/linked/deep/s.yml')
    const isRead = paths.includes('shared/deep/s.yml')
    expect(skipped).toEqual(isRead ? [] : [{ path: 'observability/linked', reason: 'is a link to a directory' }])
  })

  it.each([
    ['observability/*.yml', 'observability/linked'],
    ['observability/real/**/*.yml', 'observability/linked'],
    ['observability/**/s.yaml', 'observability/linked'],
    [all, 'observability/.data'],
    [all, 'elsewhere'],
  ])('wildcards of %s do not miss files through the link %s', async (glob, path) => {
    await link(join(place, 'work', 'shared'), path)
    expect((await find(glob)).skipped).toEqual([])
  })

  it('wildcards of a directory that another glob names skip nothing', async () => {
    await link('../shared', 'observability/linked')
    expect(await find(all, 'observability/linked/**/*.yml')).toEqual({
      paths: [...own.slice(0, 1), 'observability/linked/deep/s.yml', ...own.slice(1)],
      skipped: [],
    })
  })

  it('wildcards skip nothing where the files of a link are read by their own names, as those of a mounted ConfigMap', async () => {
    await mkdir(join(place, 'work', 'mounted', '..2026_11_22'), { recursive: true })
    await writeFile(join(place, 'work', 'mounted', '..2026_11_22', 'a.yml'), 'alerts: {}')
    await link('..2026_11_22', 'mounted/..data')
    await link('..data/a.yml', 'mounted/a.yml')
    expect(await find('mounted/**/*.yml')).toEqual({ paths: ['mounted/a.yml'], links: ['mounted/a.yml'], skipped: [] })
    await link('real', 'observability/again')
    expect(await find(all)).toEqual({ paths: own, skipped: [] })
  })

  it('wildcards skip a linked directory whose files are links, or in another linked directory', async () => {
    await mkdir(join(place, 'work', 'links'))
    await link('../shared/deep/s.yml', 'links/s.yml')
    await link('../links', 'observability/linked')
    expect((await find(all)).skipped).toEqual([{ path: 'observability/linked', reason: 'is a link to a directory' }])
    await rm(join(place, 'work', 'links', 's.yml'))
    await link('../shared', 'links/more')
    expect((await find(all)).skipped).toEqual([{ path: 'observability/linked', reason: 'is a link to a directory' }])
    await rm(join(place, 'work', 'links', 'more'))
    await link(join(place, 'outside'), 'links/outside')
    expect((await find(all)).skipped).toEqual([{ path: 'observability/linked', reason: 'is a link to a directory' }])
    await rm(join(place, 'work', 'links', 'outside'))
    expect((await find(all)).skipped).toEqual([])
  })

  it('wildcards skip links out of the workspace and to nothing, whose files are unknown', async () => {
    await link(join(place, 'outside'), 'observability/outside')
    await link('missing', 'observability/missing')
    expect((await find(all)).skipped).toEqual([
      { path: 'observability/missing', reason: 'is a link to nothing' },
      { path: 'observability/outside', reason: 'is a link out of the workspace' },
    ])
  })

  it('wildcards end where links lead in a circle', async () => {
    await link('..', 'observability/up')
    await link('.', 'observability/real/self')
    expect(await find('observability/**/*.yml')).toEqual({
      paths: own,
      skipped: [{ path: 'observability/up', reason: 'is a link to a directory' }],
    })
  })

  it('wildcards skip a directory that cannot be read', async () => {
    // Root reads every directory.
    await chmod(join(place, 'work', 'observability', 'real'), 0o000)
    const skipped = process.getuid?.() === 0 ? [] : [{ path: 'observability/real', reason: 'cannot be read' }]
    expect((await find(all)).skipped).toEqual(skipped)
    await chmod(join(place, 'work', 'observability', 'real'), 0o700)
    await link('circle', 'circle')
    expect((await find('circle/**/*.yml')).skipped).toEqual([{ path: 'circle', reason: 'cannot be read' }])
  })

  it('wildcards in a file skip nothing, as those in a directory that does not exist', async () => {
    expect((await find('other/notes.txt/**/*.yml', 'nothing/**/*.yml')).skipped).toEqual([])
  })

  it('wildcards find a pipe, so that reading it is an error', async () => {
    execFileSync('mkfifo', [join(place, 'work', 'observability', 'pipe.yml')])
    expect((await find(all)).paths).toContain('observability/pipe.yml')
  })
})
