// `npm run build:executable` writes build/watchkeeper, the command line as one file with Node inside, for the platform that it runs on.
// docs/decisions/shipping.md has the reasons.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { packageEntries, replaceByStandIns } from './bundle-package.ts'
import { noticesIn } from './notices.ts'
import { lockedNode } from './shipped.ts'

const root = join(import.meta.dirname, '..')

const isWindows = process.platform === 'win32'

export const executablePath = join(root, 'build', isWindows ? 'watchkeeper.exe' : 'watchkeeper')

/** The Node inside of the executable is the one that the tests run on. It is in package-lock.json, and .node-version is generated from it. */
function requireLockedNode(): void {
  const wanted = lockedNode()
  if (process.versions.node === wanted) return
  throw new Error(`This is Node ${process.versions.node}, and the executable contains Node ${wanted}. Install that version, or run npm ci.`)
}

/** The license of Node and of everything in it. Its place depends on how Node was installed. */
export function nodeLicense(program = process.execPath): string {
  const directory = dirname(realpathSync(program))
  // The license is beside bin/, beside node.exe, or in the package that the npm package `node` installs.
  const inPackage = globSync('node_modules/node-*/LICENSE', { cwd: join(directory, '..') }).map((path) => join('..', path))
  const places = ['../LICENSE', 'LICENSE', ...inPackage].map((path) => join(directory, path))
  const texts = places.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'))
  const text = texts.find((one) => one.startsWith('Node.js is licensed for use as follows'))
  if (text === undefined)
    throw new Error(`The license of Node is not in ${places.join(' or ')}. Use a Node from nodejs.org, or from npm ci.`)
  return text
}

/** The notices of everything in the executable. */
export const executableNotices = (): string => `${noticesIn(root)}\nnode\nMIT\n${nodeLicense().trim()}\n`

/** The command line as one CommonJS file, which is what a single executable application can start with. */
async function bundleScript(file: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: packageEntries.cli,
    platform: 'node',
    checks: { ineffectiveDynamicImport: false },
    plugins: [replaceByStandIns],
  })
  await bundle.write({ file, format: 'cjs', codeSplitting: false })
}

/** Files that the command line reads: src/runtime/cli/installation.ts. */
function assetsIn(staging: string): Readonly<Record<string, string>> {
  const notices = join(staging, 'licenses.txt')
  writeFileSync(notices, executableNotices())
  const examples = globSync('examples/**/*.yml', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  return {
    LICENSE: join(root, 'LICENSE'),
    'dist/licenses.txt': notices,
    ...Object.fromEntries(examples.map((path) => [path, join(root, path)])),
  }
}

/** Marks the place in the Node binary that says whether it contains an application. The same in all versions of Node. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

export async function buildExecutable(): Promise<void> {
  requireLockedNode()
  const staging = mkdtempSync(join(tmpdir(), 'watchkeeper-executable-'))
  try {
    const main = join(staging, 'watchkeeper.cjs')
    const config = join(staging, 'config.json')
    const blob = join(staging, 'application.blob')
    await bundleScript(main)
    writeFileSync(
      config,
      JSON.stringify({
        main,
        output: blob,
        disableExperimentalSEAWarning: true,
        useCodeCache: true,
        // NODE_OPTIONS is for programs that their users start with `node`.
        execArgvExtension: 'none',
        assets: assetsIn(staging),
      }),
    )
    execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' })
    mkdirSync(dirname(executablePath), { recursive: true })
    rmSync(executablePath, { force: true })
    copyFileSync(realpathSync(process.execPath), executablePath)
    chmodSync(executablePath, 0o755)
    // Apple's processors start no program without a valid signature, and the injection breaks Node's.
    if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', executablePath])
    inject(blob)
    if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', executablePath])
  } finally {
    rmSync(staging, { recursive: true })
  }
}

function inject(blob: string): void {
  const tool = join(root, 'node_modules/postject/dist/cli.js')
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : []
  // The output of the tool is warnings about the names of sections. The message of an error includes them.
  execFileSync(process.execPath, [tool, executablePath, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse, ...segment], { stdio: 'pipe' })
}

if (import.meta.main) {
  await buildExecutable()
  console.log(`written: ${executablePath}`)
}
