// A directory as the root of a process: nothing of this machine is in it but what a test puts there. Needs Linux, and root or sudo.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const findProgram = (name: string): string => execFileSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim()

/** The libraries that a program loads, and the loader. */
const librariesOf = (program: string): readonly string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)

function copyInto(root: string, source: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  copyFileSync(source, join(root, path))
  chmodSync(join(root, path), 0o755)
}

/** Copies a program, and the libraries that it loads, to the places where they are on this machine. */
export function addProgram(root: string, name: string): void {
  const program = findProgram(name)
  copyInto(root, program, join('/usr/bin', name))
  addLibraries(root, program)
}

export function addLibraries(root: string, program: string): void {
  for (const library of librariesOf(program)) copyInto(root, library, library)
}

export function addFile(root: string, path: string, content: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content, { mode })
}

interface RootOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The directory inside of the root to start in. */
  readonly directory?: string
  /** The numbers of the user and the group. */
  readonly user?: readonly [user: number, group: number]
  /** The process cannot write anywhere, whatever its user is. */
  readonly isReadOnly?: boolean
}

/** In a mount namespace of its own, which ends with it. */
const enter = `set -e
root=$1 isReadOnly=$2
shift 2
mount --bind "$root" "$root"
mount --bind /dev/null "$root/dev/null"
if [ "$isReadOnly" = true ]; then mount -o remount,bind,ro "$root"; fi
exec env -i "$@"`

/** Runs a program in a root with nothing in its environment but `env`. There is no /proc, and the network is this machine's. */
export function runInRoot(
  root: string,
  command: readonly [string, ...string[]],
  { env = {}, directory = '/', user: [user, group] = [0, 0], isReadOnly = false }: RootOptions = {},
): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }> {
  addFile(root, 'dev/null', '')
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const unshare = findProgram('unshare')
  const inside = [unshare, '--root', root, '--wd', directory, '--setgid', String(group), '--setuid', String(user), ...command]
  const args = [unshare, '--mount', 'sh', '-c', enter, 'sh', root, String(isReadOnly), ...variables, ...inside]
  const [program = '', ...rest] = process.getuid?.() === 0 ? args : ['sudo', '-n', ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, ...texts }))
  })
}
