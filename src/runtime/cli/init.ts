import { lstat, mkdir, open, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { type Diagnostic, inputDiagnostic } from '../../core/diagnostics.ts'
import { exitCodes, InputError, inputError, WatchkeeperError } from '../../core/errors.ts'
import { didYouMean, toCamel, toEnvironmentName } from '../../core/names.ts'
import { plural, quote, shellQuote } from '../../core/text.ts'
import { version } from '../../core/version.ts'
import { metaOf } from '../../documents/schema.ts'
import { parseApiUrl } from '../../http/proxy.ts'
import { settingsSchema } from '../../operation/inputs.ts'
import { operations } from '../../operations.ts'
import type { ProfileName } from './profile-names.ts'
import { type Answer, type Asker, isYes, openAsker } from './questions.ts'
import { defaultBranch, isPlainBranch, remoteRepository, repositoryRoot } from './repository.ts'
import type { Terminal } from './terminal.ts'

interface InitOptions {
  /** Kits by name. Without kits, init asks. */
  readonly words: readonly string[]
  /** Only shows the available kits. */
  readonly list: boolean
  /** The product that the workflows are for. Without it, init asks for it together with the kits; otherwise it is the cloud. */
  readonly profile?: ProfileName | undefined
  readonly flags: InitFlags
}

export interface InitFlags {
  readonly organizationId?: string
  readonly serviceId?: string
  readonly apiUrl?: string
  readonly project?: string
  readonly branch?: string
}

/** What to write, and for which product. */
interface Choice {
  readonly profile: ProfileName
  readonly chosen: readonly Kit[]
}

/** Writes workflows and sample files from examples/ into a repository. On a wrong input, throws an InputError and writes no file. */
export async function runInit({ words, list, profile, flags }: InitOptions, terminal: Terminal): Promise<number> {
  const write = (text: string): void => void terminal.stdout.write(text)
  const named: Choice = { profile: profile ?? defaultProfile, chosen: requireKits(words, profile ?? defaultProfile) }
  if (list) {
    write(kitDetails(profile))
    return exitCodes.ok
  }
  await requireFlags(flags)
  await requireRoot(terminal.directory)
  if (words.length > 0) return initRepository(named, flags, undefined, terminal)
  requireTerminal(terminal, profile)
  write(`init writes workflows and sample files to ${quote(terminal.directory)}. It never overwrites a file.\n\n`)
  const asker = openAsker(terminal.stdin, write)
  try {
    const choice = await askForChoice(asker, write, profile)
    const exitCode = choice === undefined ? exitCodes.cancelled : await initRepository(choice, flags, asker, terminal)
    if (exitCode === exitCodes.cancelled) write('\nNo files were written.\n')
    return exitCode
  } finally {
    asker.close()
  }
}

/** Asks for settings, checks the service, writes the files, and shows what is left to do. */
async function initRepository(choice: Choice, flags: InitFlags, asker: Asker | undefined, terminal: Terminal): Promise<number> {
  const { directory, script, stdout } = terminal
  const write = (text: string): void => void stdout.write(text)
  const { profile, chosen } = choice
  if (chosen.length === 0) {
    write('No files were written.\n')
    return exitCodes.ok
  }
  const branch = flags.branch ?? (await defaultBranch(directory))
  const read = await readSamples(chosen, join(dirname(script), '../examples'))
  const samples = read.map((sample) => adaptSample(sample, profile, branch))
  const needsProject = chosen.some(({ hasProject }) => hasProject === true)
  const hasConfig = (await placeOf(directory, configPath)) !== 'free'
  const { variables } = needsOf(samples.map(({ text }) => text))
  const names = settingNames.filter((name) =>
    name === 'project' ? needsProject && !hasConfig : variables.includes(toEnvironmentName(name)),
  )
  const settings = await readSettings(names, flags, asker, terminal)
  if (settings === undefined) return exitCodes.cancelled
  const config = needsProject ? [projectConfig(settings.project)] : []
  await requirePlaces(directory, [...samples, ...config])

  const inputs = { ...settings, profile }
  const checked = canConnect(profile, settings, terminal) ? await checkService(inputs, terminal) : undefined
  if (checked?.exitCode === exitCodes.cancelled) return exitCodes.cancelled
  const canPull = checked !== undefined && asker !== undefined && needsProject
  const wasPulled = canPull && (await offerPull(checked.found, inputs, asker, terminal))
  if (wasPulled === undefined) return exitCodes.cancelled
  const written = await writeSamples(directory, [...(wasPulled ? samples.flatMap(withoutStarter) : samples), ...config])
  const check = checked === undefined ? 'none' : checked.exitCode === exitCodes.ok ? 'passed' : 'failed'
  write(`${initReport(written, { profile, branch, settings, check, wasPulled })}\n`)
  return exitCodes.ok
}

const settingNames = ['organization-id', 'service-id', 'api-url', 'project'] as const

type SettingName = (typeof settingNames)[number]

/** The settings that are known. The others are set later. */
type InitSettings = Readonly<Partial<Record<SettingName, string>>>

interface SettingRule {
  readonly accepts: string
  readonly isValid: (text: string) => boolean
}

async function ruleOf(name: SettingName): Promise<SettingRule> {
  if (name === 'api-url') return { accepts: 'https://host[:port][/path]', isValid: (text) => !('problem' in parseApiUrl(text, true)) }
  const { organizationId, serviceId } = settingsSchema.shape
  const field =
    name === 'project'
      ? (await operations.plan()).input.shape.project
      : { 'organization-id': organizationId, 'service-id': serviceId }[name]
  return { accepts: metaOf(field).accepts ?? '', isValid: (text) => field.safeParse(text).success }
}

const questions: Readonly<Record<SettingName, string>> = {
  'organization-id': 'Id of the organization',
  'service-id': 'Id of the service',
  'api-url': 'Address of the API',
  project: 'Project (owner/repo), the owner of the alerts and dashboards',
}

const flagOf = (flags: InitFlags, name: SettingName): string | undefined => flags[toCamel(name) as Exclude<keyof InitFlags, 'branch'>]

async function requireFlags(flags: InitFlags): Promise<void> {
  const wrong: Diagnostic[] = []
  for (const name of settingNames) {
    const value = flagOf(flags, name)
    if (value === undefined) continue
    const { accepts, isValid } = await ruleOf(name)
    if (!isValid(value)) wrong.push(inputDiagnostic(`--${name}`, `is not valid; accepted: ${accepts}`))
  }
  if (flags.branch !== undefined && !isPlainBranch(flags.branch))
    wrong.push(inputDiagnostic('--branch', 'is not valid; accepted: letters, digits, dots, dashes, underscores and slashes'))
  if (wrong.length > 0) throw new InputError(wrong)
}

/** Each setting from its flag, the environment, or an answer. Without an answer, a setting is left out. Undefined when the input ended. */
async function readSettings(
  names: readonly SettingName[],
  flags: InitFlags,
  asker: Asker | undefined,
  { env, directory }: Terminal,
): Promise<InitSettings | undefined> {
  const settings: Partial<Record<SettingName, string>> = {}
  for (const name of names) {
    const { accepts, isValid } = await ruleOf(name)
    const question = questions[name]
    const known = name === 'project' ? await remoteRepository(directory) : env[toEnvironmentName(name)]?.trim()
    const fallback = known !== undefined && isValid(known) ? known : ''
    const prompt = fallback === '' ? `${question}, or Enter to set it later: ` : `${question} [${fallback}]: `
    const given = flagOf(flags, name)
    const read = (line: string): Answer<string> => {
      const text = line.trim()
      return text === '' || isValid(text)
        ? { answer: text || fallback }
        : { problem: `${quote(text, 60)} is not valid. Accepted: ${accepts}` }
    }
    const value = given ?? (asker === undefined ? fallback : await asker.ask(prompt, read))
    if (value === undefined) return undefined
    if (value !== '') settings[name] = value
  }
  return settings
}

const keysOf: Readonly<Record<ProfileName, readonly string[]>> = {
  'clickhouse-cloud': ['api-key-id', 'api-key-secret'],
  hyperdx: ['api-key'],
}

/** The setting without which an operation cannot find the service. */
const addressOf = { 'clickhouse-cloud': 'organization-id', hyperdx: 'api-url' } as const

/** Whether the environment has a key, and the place to use it is known. */
const canConnect = (profile: ProfileName, settings: InitSettings, { env }: Terminal): boolean =>
  settings[addressOf[profile]] !== undefined && keysOf[profile].every((name) => Boolean(env[toEnvironmentName(name)]?.trim()))

async function runOperation(name: 'doctor' | 'pull', settings: InitSettings & { readonly profile: string }, terminal: Terminal) {
  const { runAtTerminal } = await import('./operation-commands.ts')
  const inputs = Object.fromEntries(
    Object.entries(settings)
      .filter(([setting]) => name === 'pull' || setting !== 'project')
      .map(([setting, value]) => [toCamel(setting), value]),
  )
  terminal.stdout.write(`\n$ watchkeeper ${name}\n`)
  const ran = await runAtTerminal(name, inputs, {}, terminal)
  terminal.stdout.write('\n')
  return ran
}

/** What a service has that `pull` exports. */
const pulledKinds: Readonly<Record<string, string>> = { dashboards: 'dashboard', alerts: 'alert', 'saved searches': 'saved search' }

/** Shows `doctor`. A problem of the service does not prevent files from being written. */
async function checkService(settings: InitSettings & { readonly profile: string }, terminal: Terminal) {
  const { exitCode, document } = await runOperation('doctor', settings, terminal)
  const checks = z
    .array(z.object({ name: z.string(), found: z.number().optional() }))
    .catch([])
    .parse(document.checks)
  const found = checks.flatMap(({ name, found = 0 }) => {
    const noun = pulledKinds[name]
    return noun === undefined || found === 0 ? [] : [plural(found, noun)]
  })
  return { exitCode, found }
}

/** Whether `pull` wrote files. Undefined when the input ended, or the run was canceled. */
async function offerPull(
  found: readonly string[],
  settings: InitSettings & { readonly profile: string },
  asker: Asker,
  terminal: Terminal,
): Promise<boolean | undefined> {
  // In a repository with files, pull would change them.
  if (found.length === 0 || (await placeOf(terminal.directory, 'observability')) !== 'free') return false
  if (settings.project === undefined && (await placeOf(terminal.directory, configPath)) === 'free') return false
  const subject = settings.profile === 'hyperdx' ? 'The server' : 'The service'
  const question = `${subject} has ${found.join(', ')}. pull exports them to observability/, and changes no object.\nRun pull? [y/N] `
  const isWanted = await asker.ask(question, (line) => ({ answer: isYes(line) }))
  if (isWanted !== true) return isWanted
  const { exitCode } = await runOperation('pull', settings, terminal)
  if (exitCode === exitCodes.cancelled) return undefined
  // Objects of other projects are not exported.
  return exitCode === exitCodes.ok && (await placeOf(terminal.directory, 'observability')) !== 'free'
}

async function requireRoot(directory: string): Promise<void> {
  const root = await repositoryRoot(directory)
  if (root === undefined || root === directory) return
  const message = `this directory is not the root of its repository, and GitHub reads workflows only at the root; run init in ${quote(root)}`
  throw inputError('init', message)
}

function requireTerminal({ stdin, stdout }: Terminal, profile: ProfileName | undefined): void {
  if (stdin.isTTY === true && stdout.isTTY === true) return
  const names = kitsFor(profile ?? defaultProfile).map(({ name }) => name)
  throw inputError('init', `cannot ask without a terminal; name the kits to write. Available kits: ${names.join(', ')}`)
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

const starterPath = 'observability/service.yml'

const configPath = '.watchkeeper.yml'

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
      workflow('apply'),
      {
        example: 'starter/service.yml',
        target: starterPath,
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

/** Undefined when the input ends before the last answer. */
export async function askForChoice(asker: Asker, write: (text: string) => void, given?: ProfileName): Promise<Choice | undefined> {
  const profile = given ?? (await asker.ask(productQuestion, readProduct))
  if (profile === undefined) return undefined
  write(`${kitList(profile)}\n`)
  const chosen = await asker.ask(kitQuestion, (line) => {
    const { chosen, diagnostics } = selectKits(
      line.split(/[\s,]+/).filter((word) => word !== ''),
      profile,
    )
    return diagnostics.length === 0 ? { answer: chosen } : { problem: describeDiagnostics(diagnostics) }
  })
  return chosen && { profile, chosen }
}

const readProduct = (line: string): Answer<ProfileName> => {
  const word = line.trim()
  const answer = Object.hasOwn(products, word) ? products[word] : undefined
  return answer === undefined ? { problem: `${quote(word, 40)}: enter 1 or 2` } : { answer }
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

/** A workflow for the default branch of the repository. Other files stay as they are. */
export const onBranch = (text: string, branch: string): string =>
  branch === 'main'
    ? text
    : text.replaceAll('branches: [main]', `branches: ['${branch}']`).replaceAll("'refs/heads/main'", `'refs/heads/${branch}'`)

/** The example for this repository. */
function adaptSample(sample: Sample, profile: ProfileName, branch: string | undefined): Sample {
  const text = onBranch(profile === 'hyperdx' ? toSelfHosted(sample.text) : sample.text, branch ?? 'main')
  const isUnsure = branch === undefined && onBranch(text, '') !== text
  return { ...sample, text, ...(isUnsure && { check: 'change the branch if your default branch is not main' }) }
}

/** The variables of the starter set in a workflow. */
const starterVariables = /^ +env:\n +# Variables of the files.*\n(?: +[A-Z_]+: \$\{\{ vars\..*\n)+/m

/** After `pull`, the files are those of the service. They have no variables. */
const withoutStarter = (sample: Sample): readonly Sample[] =>
  sample.target === starterPath ? [] : [{ ...sample, text: sample.text.replace(starterVariables, '') }]

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
  target: configPath,
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

/** Throws an InputError before any file is written. */
async function requirePlaces(root: string, samples: readonly Sample[]): Promise<void> {
  const places = await Promise.all(samples.map(async ({ target }) => ({ target, place: await placeOf(root, target) })))
  const refused = places.flatMap(({ target, place }) => (typeof place === 'object' ? [inputDiagnostic(target, place.refused)] : []))
  if (refused.length > 0) throw new InputError(refused)
}

async function writeSamples(root: string, samples: readonly Sample[]): Promise<readonly Written[]> {
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

/** What a report needs beside the files. */
interface Outcome {
  readonly profile: ProfileName
  readonly branch: string | undefined
  readonly settings: InitSettings
  /** What `doctor` found, if it ran. */
  readonly check: 'none' | 'passed' | 'failed'
  readonly wasPulled: boolean
}

function initReport(written: readonly Written[], outcome: Outcome): string {
  const files = inColumns(written.map(({ sample, outcome }) => [sample.target, words[outcome]] as const))
  const steps = nextSteps(written, outcome).map(([head, ...rest], i) => [`${i + 1}. ${head}`, ...indent(rest, 5)].join('\n'))
  return [...files, '', 'Next steps:', '', ...steps, ''].join('\n')
}

function nextSteps(written: readonly Written[], outcome: Outcome): readonly (readonly string[])[] {
  const { profile, settings, check, wasPulled } = outcome
  const { secrets, variables, environment } = needsOf(written.map(({ sample }) => sample.text))
  const checks = written.flatMap(({ sample: { target, check }, outcome }) =>
    check === undefined || outcome === 'kept' ? [] : [[target, check] as const],
  )
  const values = new Map(Object.entries(settings).map(([name, value]) => [toEnvironmentName(name), shellQuote(value)]))
  return [
    ...step(checks.length > 0, ['Adapt the files:', ...inColumns(checks)]),
    ...step(profile === 'hyperdx', [
      'Register a runner with the label self-hosted that reaches your server.',
      'For a server with a public address, replace "runs-on: self-hosted" by "runs-on: ubuntu-latest".',
    ]),
    ...step(secrets.length > 0, [
      'Set the secrets. gh asks for each value. Or use Settings > Secrets and variables > Actions:',
      ...secrets.map((name) => `gh secret set ${name}`),
    ]),
    ...step(variables.length > 0, [
      'Set the variables, here or on the same page:',
      ...variables.map((name) => `gh variable set ${name} --body ${values.get(name) ?? '…'}`),
    ]),
    ...step(environment.length > 0, ['Set these environment variables in the steps that read the files:', ...environment]),
    ...step(check === 'none', ['Check the key and the settings before the first run:', ...doctor(variables, values, profile)]),
    ...step(check === 'failed', ['Fix the check that failed above, and repeat it:', ...doctor(variables, values, profile)]),
    [
      commit(written, outcome),
      ...(wasPulled ? ['The plan shows no changes. The first apply adds ownership markers to the exported objects.'] : []),
      'Scheduled workflows run once they are on the default branch. "Run workflow" starts them immediately.',
    ],
  ]
}

/** A push to the default branch applies the files immediately, including the samples. */
const commit = (written: readonly Written[], { branch = 'main' }: Outcome): string =>
  written.some(({ sample }) => sample.text.includes('operation: apply'))
    ? `Commit the files on a branch and review the plan on its pull request. Merging it to ${branch} applies it.`
    : 'Commit the files.'

const step = (isNeeded: boolean, lines: readonly string[]): readonly (readonly string[])[] => (isNeeded ? [lines] : [])

function doctor(variables: readonly string[], values: ReadonlyMap<string, string>, profile: ProfileName): readonly string[] {
  const service = toEnvironmentName('service-id')
  const names = [addressOf[profile], ...keysOf[profile]].map(toEnvironmentName)
  const set = [...names, ...variables.filter((name) => name === service)].map((name) => `${name}=${values.get(name) ?? '…'}`)
  return [`export ${[`${toEnvironmentName('profile')}=${profile}`, ...set].join(' ')}`, 'watchkeeper doctor']
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
