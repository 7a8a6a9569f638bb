// `npm run pack:check`: the package as npm would publish it, looked at by its contents, by publint and are-the-types-wrong, and by a
// project that installs and uses it. Needs no network: what the package depends on is linked, and only that.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { misplacedIn, pointsToMap } from './package-contents.ts'

const root = new URL('..', import.meta.url).pathname

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const filesUnder = (directory: string, base: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(base, join(parentPath, name)))

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

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
  // Without scripts, because the callers have compiled.
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], root)) as [
    { filename: string },
  ]
  run('tar', ['-xzf', join(project, filename), '-C', project], project)
  const manifest = JSON.parse(readFileSync(join(project, 'package', 'package.json'), 'utf8')) as Manifest
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
  const sources = ['src', 'schemas', 'examples'].flatMap((name) => filesUnder(join(root, name), root))
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

const emulator = await startEmulator()
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

function wrongUse({ project, directory, manifest }: Installed): readonly string[] {
  const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'esnext', types: ['node'] }
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
  writeFileSync(join(project, 'consumer.ts'), consumer)
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'))
  const [bin, fleet] = [join(directory, manifest.bin.watchkeeper ?? ''), join(root, 'examples/fleet.yml')]
  const commands: Readonly<Record<string, { readonly command: readonly string[]; readonly says: string }>> = {
    'the library': { command: [process.execPath, 'consumer.ts'], says: `${manifest.version} true` },
    'the command line': { command: [process.execPath, bin, '--version'], says: manifest.version },
    // Its files have to come with the package.
    init: { command: ['sh', '-c', '"$0" "$1" init fleet > said && cmp fleet.yml "$2"', process.execPath, bin, fleet], says: '' },
    'the types': { command: [join(root, 'node_modules/.bin/tsc')], says: '' },
  }
  return Object.entries(commands).flatMap(([what, { command, says }]) => {
    const [name = '', ...args] = command
    try {
      const said = run(name, args, project).trim()
      return said === says ? [] : [`${what}, installed, said ${JSON.stringify(said)} instead of ${JSON.stringify(says)}`]
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      return [`${what}, installed, failed: ${stdout}${stderr}`]
    }
  })
}

const project = mkdtempSync(join(tmpdir(), 'watchkeeper-pack-'))
try {
  const installed = install(project)
  const wrong = [...wrongContents(installed), ...(await wrongManifest(installed)), ...(await wrongTypes(installed)), ...wrongUse(installed)]
  for (const line of wrong) console.log(line)
  if (wrong.length > 0) process.exitCode = 1
  else console.log(`the package is what it should be: ${Math.round(installed.tarball.length / 1000)} kB, and works installed`)
} finally {
  rmSync(project, { recursive: true })
}
