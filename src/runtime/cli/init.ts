import { lstat, mkdir, open, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Diagnostic, inputDiagnostic } from '../../core/diagnostics.ts'
import { exitCodes, InputError, inputError, WatchkeeperError } from '../../core/errors.ts'
import { didYouMean, toEnvironmentName } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { version } from '../../core/version.ts'
import type { ProfileName } from './profile-names.ts'
import { remoteRepository, repositoryRoot } from './repository.ts'
import type { Terminal } from './terminal.ts'

interface InitOptions {
  /** Kits by name. */
  readonly words: readonly string[]
  /** Only shows the available kits. */
  readonly list: boolean
  /** The product that the workflows are for. Without it, init asks for it together with the kits; otherwise it is the cloud. */
  readonly profile?: ProfileName | undefined
}

/** What to write, and for which product. */
interface Choice {
  readonly profile: ProfileName
  readonly chosen: readonly Kit[]
}

/** Writes workflows and sample files from examples/ into a repository. On an error, throws an InputError and writes no file. */
export async function runInit({ words, list, profile }: InitOptions, terminal: Terminal): Promise<number> {
  const write = (text: string): void => void terminal.stdout.write(text)
  const named: Choice = { profile: profile ?? defaultProfile, chosen: requireKits(words, profile ?? defaultProfile) }
  if (list) {
    write(kitDetails(profile))
    return exitCodes.ok
  }
  await requireRoot(terminal.directory)
  const choice = words.length > 0 ? named : await ask(terminal, profile, write)
  if (choice === undefined) {
    write('\nNo files were written.\n')
    return exitCodes.cancelled
  }
  if (choice.chosen.length === 0) write('No files were written.\n')
  else write(`${initReport(await writeSamples(terminal.directory, await samplesFor(choice, terminal)), choice.profile)}\n`)
  return exitCodes.ok
}

async function samplesFor({ profile, chosen }: Choice, { script, directory }: Terminal): Promise<readonly Sample[]> {
  const read = await readSamples(chosen, join(dirname(script), '../examples'))
  const samples = profile === 'hyperdx' ? read.map((sample) => ({ ...sample, text: toSelfHosted(sample.text) })) : read
  return chosen.some(({ hasProject }) => hasProject) ? [...samples, projectConfig(await remoteRepository(directory))] : samples
}

async function requireRoot(directory: string): Promise<void> {
  const root = await repositoryRoot(directory)
  if (root === undefined || root === directory) return
  const message = `this directory is not the root of its repository, and GitHub reads workflows only at the root; run init in ${quote(root)}`
  throw inputError('init', message)
}

async function ask(
  { stdin, stdout, directory }: Terminal,
  profile: ProfileName | undefined,
  write: (text: string) => void,
): Promise<Choice | undefined> {
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    const names = kitsFor(profile ?? defaultProfile).map(({ name }) => name)
    throw inputError('init', `cannot ask without a terminal; name the kits to write. Available kits: ${names.join(', ')}`)
  }
  write(`init writes workflows and sample files to ${quote(directory)}. It never overwrites a file.\n\n`)
  return askForChoice(stdin, write, profile)
}

interface KitFile {
  /** Path under examples/. */
  readonly example: string
  /** Path in the repository. Workflows have a prefix, as repositories may have an apply.yml of their own. */
  readonly target: string
  /** What the user must adapt before the file is useful. */
  readonly check?: string
}

/** A set of examples that belong together. */
interface Kit {
  readonly name: string
  readonly summary: string
  readonly files: readonly KitFile[]
  /** Whether its workflows need `project` in the config file. */
  readonly hasProject?: true
  /** Whether a self-hosted server has what it checks. */
  readonly selfHosted?: true
}

const workflow = (name: string, check?: string): KitFile => ({
  example: `workflows/${name}.yml`,
  target: `.github/workflows/watchkeeper-${name}.yml`,
  ...(check !== undefined && { check }),
})

export const kits: readonly Kit[] = [
  {
    name: 'cost-gate',
    summary: "Fails when this month's cost or its forecast exceeds a budget.",
    files: [workflow('cost-gate', 'replace the sample budgets')],
  },
  {
    name: 'cost-budgets',
    summary: 'Checks a budget for each team, service or metric, from a file of budgets.',
    files: [
      workflow('cost-budgets'),
      { example: 'budgets.yml', target: 'cost/budgets.yml', check: 'replace the sample budgets and names of services' },
    ],
  },
  {
    name: 'plan-and-apply',
    summary: 'Manages alerts and dashboards as code: a plan on each pull request, applied on merge, with a starter set.',
    files: [
      workflow('plan'),
      workflow('apply', 'change the branch if your default branch is not main'),
      {
        example: 'starter/service.yml',
        target: 'observability/service.yml',
        check: 'set its variables, and replace Logs and Traces by the names of your sources',
      },
    ],
    hasProject: true,
    selfHosted: true,
  },
  {
    name: 'drift',
    summary: 'Opens an issue while alerts or dashboards differ from the files of plan-and-apply.',
    files: [workflow('drift')],
    hasProject: true,
    selfHosted: true,
  },
  {
    name: 'backups',
    summary: 'Fails when a backup is missing, late or failed.',
    files: [workflow('backups')],
  },
  {
    name: 'fleet',
    summary: 'Checks the backups of many organizations and services from a file, with one verdict.',
    files: [
      workflow('fleet'),
      { example: 'fleet.yml', target: 'fleet.yml', check: 'replace the sample organizations, services and names of secrets' },
    ],
  },
]

const defaultProfile: ProfileName = 'clickhouse-cloud'

const kitsFor = (profile: ProfileName): readonly Kit[] => (profile === 'hyperdx' ? kits.filter(({ selfHosted }) => selfHosted) : kits)

/** The kits by name or by number in the list, in the order of the list. */
export function selectKits(
  words: readonly string[],
  profile: ProfileName = defaultProfile,
): { readonly chosen: readonly Kit[]; readonly diagnostics: readonly Diagnostic[] } {
  const available = kitsFor(profile)
  const names = available.map(({ name }) => name)
  const meant = words.map((word) => ({
    word,
    kit: /^\d{1,2}$/.test(word) ? available[Number(word) - 1] : available.find(({ name }) => name === word),
  }))
  const diagnostics = meant.flatMap(({ word, kit }) => {
    if (kit !== undefined) return []
    const problem = kits.some(({ name }) => name === word) ? 'this kit needs ClickHouse Cloud' : 'unknown kit'
    return [inputDiagnostic(quote(word, 40), `${problem}; available kits: ${names.join(', ')}${didYouMean(word, names)}`)]
  })
  return { chosen: available.filter((kit) => meant.some((one) => one.kit === kit)), diagnostics }
}

/** Throws an InputError that lists all unknown words. */
function requireKits(words: readonly string[], profile: ProfileName): readonly Kit[] {
  const { chosen, diagnostics } = selectKits(words, profile)
  if (diagnostics.length > 0) throw new InputError(diagnostics)
  return chosen
}

const productQuestion =
  'ClickHouse Cloud or self-hosted? Enter 1 for the cloud or 2 for a server of your own, or press Enter for the cloud: '

const products: Readonly<Record<string, ProfileName>> = {
  '': 'clickhouse-cloud',
  '1': 'clickhouse-cloud',
  'clickhouse-cloud': 'clickhouse-cloud',
  '2': 'hyperdx',
  hyperdx: 'hyperdx',
}

const kitQuestion = 'Which kits? Enter numbers or names separated by spaces, or press Enter for none: '

/** Asks until the answers are valid; undefined when the input ends before that. */
export async function askForChoice(
  input: NodeJS.ReadableStream,
  write: (text: string) => void,
  given?: ProfileName,
): Promise<Choice | undefined> {
  const reader = createInterface({ input })
  const lines = reader[Symbol.asyncIterator]()
  try {
    const profile = given ?? (await askUntil(lines, productQuestion, write, readProduct))
    if (profile === undefined) return undefined
    write(`${kitList(profile)}\n`)
    const chosen = await askUntil(lines, kitQuestion, write, (line) => {
      const { chosen, diagnostics } = selectKits(
        line.split(/[\s,]+/).filter((word) => word !== ''),
        profile,
      )
      return diagnostics.length === 0 ? { answer: chosen } : { problem: describeDiagnostics(diagnostics) }
    })
    return chosen && { profile, chosen }
  } finally {
    reader.close()
  }
}

const readProduct = (line: string): Read<ProfileName> => {
  const word = line.trim()
  const answer = Object.hasOwn(products, word) ? products[word] : undefined
  return answer === undefined ? { problem: `${quote(word, 40)}: enter 1 or 2` } : { answer }
}

type Read<T> = { readonly answer: T } | { readonly problem: string }

async function askUntil<T>(
  lines: AsyncIterator<string>,
  question: string,
  write: (text: string) => void,
  read: (line: string) => Read<T>,
): Promise<T | undefined> {
  for (;;) {
    write(question)
    const { value, done } = await lines.next()
    if (done === true) return undefined
    const result = read(value)
    if ('answer' in result) return result.answer
    write(`${result.problem}\n`)
  }
}

const describeDiagnostics = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map(({ location, message }) => `${location.file}: ${message}`).join('\n')

/** The settings of the cloud in a step, whatever their order. */
const cloudSettings = /^( +)profile: clickhouse-cloud\n(?:\1(?:organization-id|service-id|api-key-id|api-key-secret): .*\n)+/gm

/** A workflow for a self-hosted server, on a runner that reaches it. Other files stay as they are. */
export const toSelfHosted = (text: string): string =>
  text
    .replaceAll(
      cloudSettings,
      (_, indentation: string) =>
        `${indentation}profile: hyperdx\n${indentation}api-url: \${{ vars.WATCHKEEPER_API_URL }}\n${indentation}api-key: \${{ secrets.WATCHKEEPER_API_KEY }}\n`,
    )
    .replaceAll(/^( +)runs-on: ubuntu-latest$/gm, '$1runs-on: self-hosted')

export interface Sample extends KitFile {
  readonly text: string
}

/** Each file once, in the order of the kits. */
async function readSamples(kits: readonly Kit[], examples: string): Promise<readonly Sample[]> {
  const files = new Map(kits.flatMap((kit) => kit.files.map((file) => [file.target, file] as const)))
  return Promise.all([...files.values()].map(async (file) => ({ ...file, text: await readFile(join(examples, file.example), 'utf8') })))
}

const majorTag = `v${version.split('.', 1)[0]}`

const schemaComment = `# yaml-language-server: $schema=https://raw.githubusercontent.com/watchkeeper/watchkeeper/${majorTag}/schemas/config.schema.json`

/** The config file with the owner of alerts and dashboards. */
const projectConfig = (repository: string | undefined): Sample => ({
  example: '.watchkeeper.yml',
  target: '.watchkeeper.yml',
  ...(repository === undefined && { check: 'set the name of your project' }),
  text: [
    schemaComment,
    '# Owner of the alerts and dashboards in these files. Do not change it when the repository is renamed.',
    repository === undefined ? '# project: owner/repo' : `project: ${repository}`,
    '',
  ].join('\n'),
})

export interface Written {
  readonly sample: Sample
  /** `same`: it existed with this content. */
  readonly outcome: 'written' | 'kept' | 'same'
}

/** Checks all paths first, so that it throws before it writes any file. */
async function writeSamples(root: string, samples: readonly Sample[]): Promise<readonly Written[]> {
  const places = await Promise.all(samples.map(async ({ target }) => ({ target, place: await placeOf(root, target) })))
  const refused = places.flatMap(({ target, place }) => (typeof place === 'object' ? [inputDiagnostic(target, place.refused)] : []))
  if (refused.length > 0) throw new InputError(refused)
  const written: Written[] = []
  for (const sample of samples) written.push({ sample, outcome: await write(root, sample) })
  return written
}

async function write(root: string, { target, text }: Sample): Promise<Written['outcome']> {
  try {
    if (await makeFile(root, target, text)) return 'written'
  } catch (thrown) {
    const reason = thrown instanceof Error ? quote(thrown.message) : String(thrown)
    throw new WatchkeeperError('refused', `${target} could not be written: ${reason}. The files before it are complete. Run init again.`)
  }
  return (await hasContent(root, target, text)) ? 'same' : 'kept'
}

/** Whether a file can be created at a path, and why not. */
export type Place = 'free' | 'taken' | { readonly refused: string }

const statOf = (path: string) => lstat(path).catch(() => undefined)

/** Checks every part of a path below `root`, without following links. */
export async function placeOf(root: string, path: string): Promise<Place> {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const part = parts.slice(0, length).join('/')
    const stats = await statOf(join(root, part))
    if (stats === undefined) return 'free'
    if (length === parts.length) return 'taken'
    if (stats.isSymbolicLink()) return { refused: `${part} is a link, and init does not write through links` }
    if (!stats.isDirectory()) return { refused: `${part} is not a directory` }
  }
  return 'taken'
}

/** Never overwrites a file and never writes through a link. False when the file exists by now; a file that could not be completed is removed. */
export async function makeFile(root: string, path: string, content: string): Promise<boolean> {
  const target = join(await realpath(root), path)
  await mkdir(dirname(target), { recursive: true })
  // Checked again: a directory may have become a link since.
  if ((await realpath(dirname(target))) !== dirname(target)) throw new Error('its directory is a link')
  const handle = await open(target, 'wx').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'EEXIST') return undefined
    throw thrown
  })
  if (handle === undefined) return false
  try {
    await handle.writeFile(content)
    return true
  } catch (thrown) {
    await rm(target, { force: true })
    throw thrown
  } finally {
    await handle.close()
  }
}

/** Whether a regular file has this content. */
async function hasContent(root: string, path: string, content: string): Promise<boolean> {
  const target = join(root, path)
  const stats = await statOf(target)
  // Other sizes, and files without an end, are not read.
  if (stats?.isFile() !== true || stats.size !== Buffer.byteLength(content)) return false
  return (await readFile(target, 'utf8')) === content
}

const indent = (lines: readonly string[], by: number): readonly string[] => lines.map((line) => `${' '.repeat(by)}${line}`)

const inColumns = (rows: readonly (readonly [string, string])[]): readonly string[] => {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`.trimEnd())
}

/** The numbers, names and summaries of the kits. */
const kitList = (profile: ProfileName): string =>
  inColumns(kitsFor(profile).map(({ name, summary }, i) => [`${i + 1}  ${name}`, summary] as const))
    .concat('')
    .join('\n')

/** The kits and their files. */
const kitDetails = (profile: ProfileName = defaultProfile): string =>
  kitsFor(profile)
    .flatMap((kit) => [...describe(kit), ''])
    .join('\n')

const describe = ({ name, summary, files }: Kit): readonly string[] => [
  `${name}: ${summary}`,
  ...indent(
    files.map(({ target }) => target),
    2,
  ),
]

const words: Readonly<Record<Written['outcome'], string>> = {
  written: 'written',
  kept: 'kept, because your file differs',
  same: 'unchanged',
}

function initReport(written: readonly Written[], profile: ProfileName): string {
  const files = inColumns(written.map(({ sample, outcome }) => [sample.target, words[outcome]] as const))
  const steps = nextSteps(written, profile).map(([head, ...rest], i) => [`${i + 1}. ${head}`, ...indent(rest, 5)].join('\n'))
  return [...files, '', 'Next steps:', '', ...steps, ''].join('\n')
}

function nextSteps(written: readonly Written[], profile: ProfileName): readonly (readonly string[])[] {
  const { secrets, variables, environment } = needsOf(written.map(({ sample }) => sample.text))
  const checks = written.flatMap(({ sample: { target, check }, outcome }) =>
    check === undefined || outcome === 'kept' ? [] : [[target, check] as const],
  )
  return [
    ...step(checks.length > 0, ['Adapt the files:', ...inColumns(checks)]),
    ...step(profile === 'hyperdx', [
      'Register a runner with the label self-hosted that reaches your server.',
      'For a server with a public address, replace "runs-on: self-hosted" by "runs-on: ubuntu-latest".',
    ]),
    ...step(secrets.length > 0, [
      'Set the secrets with "gh secret set NAME", or under Settings > Secrets and variables > Actions:',
      ...secrets,
    ]),
    ...step(variables.length > 0, ['Set the variables with "gh variable set NAME", or on the same page:', ...variables]),
    ...step(environment.length > 0, ['Set these environment variables in the steps that read the files:', ...environment]),
    ['Check the key and the settings before the first run:', ...doctor(variables, profile)],
    [commit(written), 'Scheduled workflows run once they are on the default branch. "Run workflow" starts them immediately.'],
  ]
}

/** A push to the default branch applies the files immediately, including the samples. */
const commit = (written: readonly Written[]): string =>
  written.some(({ sample }) => sample.text.includes('operation: apply'))
    ? 'Commit the files on a branch and review the plan on its pull request. Merging applies it.'
    : 'Commit the files.'

const step = (isNeeded: boolean, lines: readonly string[]): readonly (readonly string[])[] => (isNeeded ? [lines] : [])

const doctor = (variables: readonly string[], profile: ProfileName): readonly string[] => {
  const service = toEnvironmentName('service-id')
  const cloud = ['organization-id', 'api-key-id', 'api-key-secret'].map(toEnvironmentName)
  const set = {
    'clickhouse-cloud': [...cloud, ...variables.filter((name) => name === service)],
    hyperdx: ['api-url', 'api-key'].map(toEnvironmentName),
  }
  return [
    `export ${[`${toEnvironmentName('profile')}=${profile}`, ...set[profile].map((name) => `${name}=…`)].join(' ')}`,
    'watchkeeper doctor',
  ]
}

/** The settings that the files need. */
export interface Needs {
  readonly secrets: readonly string[]
  readonly variables: readonly string[]
  /** Variables that files read from the environment of a step, and that none of the workflows sets. */
  readonly environment: readonly string[]
}

const secret = /\bsecrets\.([A-Za-z_]\w*)/g
/** A fleet file names secrets, and its workflow looks them up. */
const namedSecret = /\b(?:api-key-id|api-key-secret|api-url)-name: *([A-Za-z_]\w*)/g
const variable = /\bvars\.([A-Za-z_]\w*)/g
const fromEnvironment = /\$\{\{ *env\.([A-Za-z_]\w*) *\}\}/g
/** `NAME: ${{ … }}` in an `env:` of a workflow. */
const toEnvironment = /^ +([A-Z_][A-Z0-9_]*): *\$\{\{/gm

/** Finds the secrets and variables in the texts of files. */
export function needsOf(texts: readonly string[]): Needs {
  const namesIn = (...patterns: readonly RegExp[]): readonly string[] => {
    const found = texts.flatMap((text) => patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name)))
    return [...new Set(found)].sort()
  }
  const set = new Set(namesIn(toEnvironment))
  return {
    secrets: namesIn(secret, namedSecret),
    variables: namesIn(variable),
    environment: namesIn(fromEnvironment).filter((name) => !set.has(name)),
  }
}
