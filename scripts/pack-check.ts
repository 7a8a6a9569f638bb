// The package as npm would publish it, looked at by its contents, by publint and are-the-types-wrong, and by a
// project that installs and uses it. Needs no network: what the package depends on is linked, and only that.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { misplacedIn, pointsToMap } from './package-contents.ts'
import { type Manifest, readManifest } from './shipped.ts'

const root = new URL('..', import.meta.url).pathname

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const filesUnder = (directory: string, base: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(base, join(parentPath, name)))

/** The package in a project of its own, as `npm install` would lay it out. */
interface Installed {
  readonly tarball: Buffer<ArrayBuffer>
  readonly project: string
  readonly directory: string
  readonly manifest: Manifest
}

function install(project: string): Installed {
  const modules = join(project, 'node_modules')
  mkdirSync(modules)
  // The package is packed without its scripts, because the callers have compiled.
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], root)) as [
    { filename: string },
  ]
  run('tar', ['-xzf', join(project, filename), '-C', project], project)
  const manifest = readManifest(join(project, 'package'))
  const directory = join(modules, manifest.name)
  run('mv', [join(project, 'package'), directory], project)
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return { tarball: readFileSync(join(project, filename)), project, directory, manifest }
}

function wrongContents({ directory }: Installed): readonly string[] {
  const packed = filesUnder(directory, directory)
  const sources = ['npm', 'schemas', 'examples', 'skills'].flatMap((name) => filesUnder(join(root, name), root))
  const mapped = packed.filter((path) => /\.[jt]s$/.test(path) && pointsToMap(readFileSync(join(directory, path), 'utf8')))
  return [...misplacedIn(packed, sources), ...mapped.map((path) => `${path} points to a source map that is not there`)]
}

async function wrongManifest({ tarball }: Installed): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`)
}

/** The package is for Node 24 and later, which have one way of resolving and can `require` modules. */
const isOfOlderNodes = (problem: Problem): boolean =>
  (problem.kind === 'NoResolution' && problem.resolutionKind === 'node10') || problem.kind === 'CJSResolvesToESM'

async function wrongTypes({ tarball }: Installed): Promise<readonly string[]> {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  if (analysis.types === false) return ['are-the-types-wrong: there are none']
  return analysis.problems.filter((problem) => !isOfOlderNodes(problem)).map((problem) => `are-the-types-wrong: ${JSON.stringify(problem)}`)
}

const consumer = `
import { createClient, version } from 'watchkeeper'
import { demo, startEmulator } from 'watchkeeper/emulator'

const emulator = await startEmulator({ rateLimit: 'off' })
const client = createClient({
  apiUrl: emulator.url,
  apiKeyId: demo.apiKeyId,
  apiKeySecret: demo.apiKeySecret,
  organizationId: demo.organizationId,
  serviceId: demo.services.checkout,
})
const { count }: { count: number } = await client.listDashboards()
await emulator.close()
console.log(version, count > 0)
`

/** The ways in which TypeScript finds types that know `exports`. */
const resolutions = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
]

interface Use {
  readonly what: string
  readonly command: readonly string[]
  readonly says: string
}

function wrongUse({ project, directory, manifest }: Installed): readonly string[] {
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(project, 'consumer.ts'), consumer)
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'))
  for (const resolution of resolutions) {
    const compilerOptions = { ...resolution, noEmit: true, strict: true, skipLibCheck: false, target: 'esnext', types: ['node'] }
    writeFileSync(join(project, `${resolution.moduleResolution}.json`), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
  }
  const [bin, example] = [join(directory, manifest.bin.watchkeeper ?? ''), join(root, 'examples/backups.yml')]
  const uses: readonly Use[] = [
    { what: 'the library', command: [process.execPath, 'consumer.ts'], says: `${manifest.version} true` },
    { what: 'the command line', command: [process.execPath, bin, '--version'], says: manifest.version },
    // The files of init have to come with the package.
    {
      what: 'init',
      command: ['sh', '-c', '"$0" "$1" init restore-drill > said && cmp backups.yml "$2"', process.execPath, bin, example],
      says: '',
    },
    ...resolutions.map(({ moduleResolution }) => ({
      what: `the types for ${moduleResolution}`,
      command: [join(root, 'node_modules/.bin/tsc'), '-p', `${moduleResolution}.json`],
      says: '',
    })),
  ]
  return uses.flatMap((use) => wrongAnswer(use, project))
}

function wrongAnswer({ what, command: [name = '', ...args], says }: Use, project: string): readonly string[] {
  try {
    const said = run(name, args, project).trim()
    return said === says ? [] : [`${what}, installed, said ${JSON.stringify(said)} instead of ${JSON.stringify(says)}`]
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string } // execFileSync adds them.
    return [`${what}, installed, failed: ${stdout}${stderr}`]
  }
}

/** Prints the files that Node loads, one a line, after everything else. */
const recorder = `
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const files = []
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.push(fileURLToPath(url))
    return next(url, context)
  },
})
process.on('exit', () => console.error(files.join('\\n')))
`

/** What answers `--version` and `--help`: the entry and the list of operations. */
const maxFiles = 6

/** Every operation has schemas of zod. */
const schemaLibrary = '$ZodType'

function wrongStart({ project, directory, manifest }: Installed): readonly string[] {
  const recorderFile = join(project, 'recorder.mjs')
  writeFileSync(recorderFile, recorder)
  return ['--version', '--help'].flatMap((flag) => {
    const args = ['--import', recorderFile, join(directory, manifest.bin.watchkeeper ?? ''), flag]
    const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    const files = stderr.trim().split('\n')
    const withOperations = files.filter((file) => readFileSync(file, 'utf8').includes(schemaLibrary))
    return [
      ...(files.length > maxFiles ? [`${flag} loads ${files.length} files, more than ${maxFiles}: ${files.join(', ')}`] : []),
      ...withOperations.map((file) => `${flag} loads operations: ${file}`),
    ]
  })
}

const project = mkdtempSync(join(tmpdir(), 'watchkeeper-pack-'))
try {
  const installed = install(project)
  const wrong = [
    ...wrongContents(installed),
    ...(await wrongManifest(installed)),
    ...(await wrongTypes(installed)),
    ...wrongUse(installed),
    ...wrongStart(installed),
  ]
  for (const line of wrong) console.log(line)
  if (wrong.length > 0) process.exitCode = 1
  else console.log(`the package is what it should be: ${Math.round(installed.tarball.length / 1000)} kB, and works installed`)
} finally {
  rmSync(project, { recursive: true })
}
