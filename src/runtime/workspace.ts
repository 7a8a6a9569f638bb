import { constants, type Dirent, type Stats } from 'node:fs'
import { chmod, glob, lstat, mkdir, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse, posix, relative, resolve, sep } from 'node:path'
import { type InputError, inputError } from '../platform/core/errors.ts'
import { fileVariablePrefix, secretPrefix } from '../platform/core/names.ts'
import { runPageOf } from '../platform/core/run-page.ts'
import { quote, quoteLong } from '../platform/core/text.ts'
import type { Variables } from '../platform/core/variables.ts'
import type { Files, FoundFiles, OutputFile, SkippedDirectory } from '../platform/operation/files.ts'
import type { ReadFiles } from '../platform/operation/operation.ts'

/** Unique, not secret. `node:crypto` takes 3 ms to load. */
export const randomPart = (): string =>
  Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')

export const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Real paths of files that no report replaces. */
export type UsedFiles = Set<string>

/** Throws an InputError named after `input`. */
export async function readWorkspaceFile(root: string, path: string, input: string, used?: UsedFiles): Promise<string> {
  const refuse = (reason: string): InputError => inputError(input, `"${quoteLong(path)}" ${reason}`)
  const real = await realPathOf(resolve(root, path))
  if (real === undefined) throw refuse('does not exist or cannot be read')
  if (!isInside(await realpath(root), real)) throw refuse('is outside of the workspace')
  // Follows no links, and does not wait for the other end of a pipe. The checks are about the opened file, not the path.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (handle === undefined) throw refuse('does not exist or cannot be read')
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw refuse('is not a file')
    if (stats.size > 5 * 1024 * 1024) throw refuse('is larger than 5 MiB')
    used?.add(real)
    // A file that pull edits keeps its byte order mark.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: input === 'files' }).decode(await handle.readFile())
  } catch (thrown) {
    throw thrown instanceof TypeError ? refuse('is not UTF-8') : thrown
  } finally {
    await handle.close()
  }
}

/** More than a repository declares by hand. */
const maxFiles = 1000

/** Rejects links that lead outside only when they are read. Hidden files are not found. */
async function findWorkspaceFiles(root: string, globs: readonly string[], input: string): Promise<FoundFiles> {
  const found = new Map<string, boolean>()
  const patterns = await patternsOf(root, globs)
  for await (const entry of glob(patterns, { cwd: root, withFileTypes: true })) {
    // A skipped link would look like a valid file.
    if (!entry.isDirectory()) found.set(relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'), entry.isSymbolicLink())
    if (found.size > maxFiles) throw inputError(input, `matches more than ${maxFiles} files`)
  }
  const paths = [...found.keys()].sort()
  const links = paths.filter((path) => found.get(path))
  const skipped = await findSkipped({ root, patterns: patterns.map((one) => posix.normalize(one)), paths })
  return { paths, ...(links.length > 0 && { links }), skipped }
}

/** The path of a directory means all of its files. */
const patternsOf = (root: string, globs: readonly string[]): Promise<readonly string[]> =>
  Promise.all(
    globs.map((one) =>
      isDirectory(join(root, one)).then((is) =>
        is ? `${one.replace(/(?<!\/)\/+$/, '').replace(/[*?[(]/g, '[$&]')}/**/*.{yml,yaml,json}` : one,
      ),
    ),
  )

/** The test gets absolute paths: whether a run reads the file, itself or through a link. */
export async function createReadTest(root: string, { globs, paths }: ReadFiles): Promise<(file: string) => boolean> {
  const patterns = (await patternsOf(root, globs)).map((one) => posix.normalize(one))
  const realRoot = await realpath(root)
  const targets = await Promise.all(paths.map((path) => realPathOf(join(root, path))))
  const read = new Set([...paths, ...targets.map((target = realRoot) => relative(realRoot, target))].map((path) => join(root, path)))
  const isMatch = (path: string): boolean => patterns.some((pattern) => posix.matchesGlob(path, pattern))
  return (file) => read.has(file) || isMatch(relative(root, file).split(sep).join('/'))
}

interface FileSearch {
  readonly root: string
  readonly patterns: readonly string[]
  readonly paths: readonly string[]
}

/** Wildcards do not follow links, so a directory may have more files that match. */
async function findSkipped(search: FileSearch): Promise<readonly SkippedDirectory[]> {
  const reasons = new Map<string, string>()
  for (const base of new Set(search.patterns.flatMap(searchedDirectory))) {
    for await (const { path: inside, kind } of walk(join(search.root, base))) {
      const path = posix.join(base, inside)
      const reason = kind === 'unreadable' ? 'cannot be read' : kind === 'link' ? await whyNotEntered(path, search) : undefined
      if (reason !== undefined) reasons.set(path, reason)
    }
  }
  return [...reasons].map(([path, reason]) => ({ path, reason })).sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** None when the wildcards name only files. */
function searchedDirectory(pattern: string) {
  const parts = pattern.split('/')
  const first = parts.findIndex((part) => /[*?[\]{}()!+@\\]/.test(part))
  return first === -1 || (first === parts.length - 1 && !parts[first]?.includes('**')) ? [] : [parts.slice(0, first).join('/')]
}

/** Undefined when no file is missed because of the link. */
async function whyNotEntered(path: string, search: FileSearch) {
  // A link whose own name matches is read, or is an error.
  if (search.paths.includes(path)) return undefined
  const target = await realPathOf(join(search.root, path))
  if (target === undefined) return 'is a link to nothing'
  if (!(await isDirectory(target))) return undefined
  if (!isInside(await realpath(search.root), target)) return 'is a link out of the workspace'
  return (await missesFiles({ path, target }, search)) ? 'is a link to a directory' : undefined
}

async function missesFiles(link: { readonly path: string; readonly target: string }, { root, patterns, paths }: FileSearch) {
  // A file that is read under another name is not missed, such as those of a mounted ConfigMap.
  const read = new Set(await Promise.all(paths.map((one) => realPathOf(join(root, one)))))
  const isMissed = (path: string, real: string | undefined): boolean =>
    !read.has(real) && patterns.some((pattern) => posix.matchesGlob(path, pattern))
  const realRoot = await realpath(root)
  const directories = new Map([[link.target, link.path]])
  let count = 0
  // Links inside of it are added while the loop runs.
  for (const [directory, path] of directories) {
    for await (const { path: inside, kind } of walk(directory)) {
      count += 1
      const real = await realPathOf(join(directory, inside))
      const leadsOn = real !== undefined && kind === 'link' && (await isDirectory(real))
      const isUnknown = kind === 'unreadable' || (leadsOn && !isInside(realRoot, real))
      // A directory with more entries is assumed to have a file that matches.
      if (count > 10_000 || isUnknown || (!leadsOn && isMissed(posix.join(path, inside), real))) return true
      if (leadsOn && !directories.has(real)) directories.set(real, posix.join(path, inside))
    }
  }
  return false
}

interface WalkEntry {
  readonly path: string
  readonly kind: 'file' | 'link' | 'unreadable'
}

/** Leaves out hidden entries. Follows no links. */
async function* walk(directory: string, path = ''): AsyncGenerator<WalkEntry> {
  let entries: readonly Dirent[]
  try {
    entries = await readdir(join(directory, path), { withFileTypes: true })
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR')
    if (!isMissing) yield { path, kind: 'unreadable' }
    return
  }
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const inside = posix.join(path, entry.name)
    if (entry.isDirectory()) yield* walk(directory, inside)
    else yield { path: inside, kind: entry.isSymbolicLink() ? 'link' : 'file' }
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** In a workflow, this is why no file is there. */
async function demandCheckout(root: string, { GITHUB_ACTIONS }: Variables, input: string) {
  if (GITHUB_ACTIONS === 'true' && (await readdir(root)).length === 0)
    throw inputError(input, 'the workspace is empty. Add a step with actions/checkout before this one')
}

export const workspaceFiles = (
  root: string,
  env: Variables,
  remote: Remote = { name: async () => undefined, address: async () => undefined },
  used?: UsedFiles,
): Files => ({
  async read(path, input, mayBeOutside) {
    await demandCheckout(root, env, input)
    const whole = resolve(root, path)
    return mayBeOutside ? readWorkspaceFile(parse(whole).root, whole, input, used) : readWorkspaceFile(root, path, input, used)
  },
  demandCheckout: (input) => demandCheckout(root, env, input),
  find: (globs, input) => findWorkspaceFiles(root, globs, input),
  variable: (name) => env[`${fileVariablePrefix}${name}`],
  secret: (name) => (name.startsWith(secretPrefix) ? env[name]?.trim() || undefined : undefined),
  workflowRepository: env.GITHUB_REPOSITORY || undefined,
  mayBeFromFork: () => mayBeFromFork(env),
  ranBy: readRanBy(env),
  repository: async () => repositoryOfRun(env) ?? remote.address(),
  remoteRepository: remote.name,
  configAbove: () => configAbove(root),
})

function readRanBy(env: Variables): Files['ranBy'] {
  const actor = env.GITHUB_TRIGGERING_ACTOR || env.GITHUB_ACTOR || undefined
  const page = runPageOf(env)
  return { ...(actor !== undefined && { actor }), ...(page !== undefined && { page }) }
}

export const defaultConfigFile = '.watchkeeper.yml'

async function configAbove(root: string, way = ''): Promise<string | undefined> {
  const directory = resolve(root, way)
  if ((await realPathOf(join(directory, defaultConfigFile))) !== undefined) return way === '' ? undefined : `${way}${defaultConfigFile}`
  const isTop = dirname(directory) === directory || (await realPathOf(join(directory, '.git'))) !== undefined
  return isTop ? undefined : configAbove(root, `${way}../`)
}

export interface Remote {
  /** `owner/repo` */
  name(): Promise<string | undefined>
  /** `host/owner/repo` */
  address(): Promise<string | undefined>
}

function repositoryOfRun(env: Variables) {
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: name } = env
  return name ? `${server.replace(/^https?:\/\//, '').replace(/(?<!\/)\/+$/, '') || 'github.com'}/${name}` : undefined
}

async function mayBeFromFork(env: Variables) {
  const { GITHUB_EVENT_NAME: eventName = '', GITHUB_EVENT_PATH: file, GITHUB_REPOSITORY: repository = '', GITHUB_REF: ref = '' } = env
  if (eventName === '' && file === undefined) return false
  const { mayConcernFork, readEvent } = await import('../delivery/github/run.ts')
  return mayConcernFork({ eventName, repository, ref }, await readEvent(file))
}

export async function readOptionalFile(root: string, path: string, isRequired: boolean, used?: UsedFiles): Promise<string | undefined> {
  const exists = (await realPathOf(resolve(root, path))) !== undefined
  return exists || isRequired ? readWorkspaceFile(root, path, 'config', used) : undefined
}

const realPathOf = (path: string) => realpath(path).catch(() => undefined)

function isInside(root: string, path: string) {
  const way = relative(root, path)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

/**
 * Throws an Error with the reason when a path inside of the workspace leads outside through a link, or when the target is not a regular
 * file, is below `.git` or `.github`, or is used.
 */
export async function writeFileFrom(
  root: string,
  path: string,
  content: OutputFile['content'],
  used: ReadonlySet<string> = new Set(),
): Promise<void> {
  const target = resolve(root, path)
  const directory = dirname(target)
  await requireReplaceable(target)
  const nearest = await nearestDirectory(directory)
  const [realRoot, real] = [await realpath(root), join(await realpath(nearest), relative(nearest, target))]
  if (isInside(resolve(root), target) && !isInside(realRoot, real)) throw new Error('it leads out of the workspace through a link')
  const reserved = relative(realRoot, real)
    .split(sep)
    .find((part) => /^\.git(?:hub)?$/i.test(part))
  if (reserved !== undefined) throw new Error(`it is in ${reserved}`)
  if (used.has(real)) throw new Error('this run read it, or wrote something else to it')
  await mkdir(directory, { recursive: true })
  await writeWholeFile(target, content)
}

async function nearestDirectory(directory: string): Promise<string> {
  const parent = dirname(directory)
  return parent === directory || (await realPathOf(directory)) !== undefined ? directory : nearestDirectory(parent)
}

/** Follows no links. Throws an Error with the reason. */
export async function writeWorkspaceFile(root: string, path: string, content: OutputFile['content']): Promise<void> {
  const workspace = resolve(root)
  const target = resolve(workspace, path)
  if (target === workspace || !isInside(workspace, target)) throw new Error('is outside of the workspace')
  for (const directory of directoriesBetween(workspace, target)) await makeOwnDirectory(directory)
  await requireReplaceable(target)
  await writeWholeFile(target, content)
}

/** A device, a pipe or a link would be lost. */
async function requireReplaceable(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats !== undefined && !stats.isFile()) throw new Error(`it is ${fileTypeOf(stats)}, not a regular file`)
}

export function fileTypeOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a link'
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

function directoriesBetween(root: string, target: string) {
  const parts = relative(root, dirname(target)).split(sep).filter(Boolean)
  return parts.map((_, i) => join(root, ...parts.slice(0, i + 1)))
}

async function makeOwnDirectory(path: string) {
  await mkdir(path).catch((thrown: unknown) => {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
  })
  const stats = await lstat(path)
  if (!stats.isDirectory()) throw new Error(`is in "${quote(path, 120)}", which is a link or not a directory`)
}

/** Readers see the old file or the new one, and a link is replaced. */
async function writeWholeFile(path: string, content: OutputFile['content']): Promise<void> {
  const temporary = join(dirname(path), `.watchkeeper-${randomPart()}`)
  try {
    const mode = (await lstat(path).catch(() => undefined))?.mode
    await writeFile(temporary, content, { flag: 'wx' })
    if (mode !== undefined) await chmod(temporary, mode & 0o777)
    await rename(temporary, path)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}
