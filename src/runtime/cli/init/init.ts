import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inputDiagnostic } from '../../../platform/core/diagnostics.ts'
import { exitCodes, InputError, inputError } from '../../../platform/core/errors.ts'
import { didYouMean, fileVariablePrefix, toEnvironmentName, toKebab } from '../../../platform/core/names.ts'
import { quote, quoteLong } from '../../../platform/core/text.ts'
import type { Variables } from '../../../platform/core/variables.ts'
import { settingsSchema } from '../../../platform/operation/inputs.ts'
import { defaultConfigFile, reasonOf } from '../../workspace.ts'
import { readInstalled } from '../installation.ts'
import { remoteRepository, repositoryRoot } from '../repository.ts'
import type { Terminal } from '../terminal.ts'
import { type Kit, type KitFile, kits, starter } from './kits.ts'

/** Copies the files of the kits into the repository, or lists the kits. A wrong input is an InputError before the first write. */
export async function runInit(words: readonly string[], { directory, script, env, stdout }: Terminal): Promise<number> {
  const chosen = requireKits(words)
  if (chosen.length === 0) {
    stdout.write(kitList)
    return exitCodes.ok
  }
  await requireRoot(directory)
  const files = new Map(filesOf(chosen, env).map((file) => [file.target, file] as const))
  const needsProject = chosen.some(({ hasProject }) => hasProject === true)
  const wanted = [
    ...(await Promise.all(
      [...files.values()].map(async (file) => ({ ...file, text: await readInstalled(script, `examples/${file.example}`) })),
    )),
    ...(needsProject ? [projectConfig(await remoteRepository(directory))] : []),
  ]
  const written: NewFile[] = []
  for (const file of wanted) written.push({ ...file, isNew: await writeKitFile(directory, file) })
  const lines = inColumns(written.map(({ target, isNew }) => [target, isNew ? 'written' : 'kept, because it exists']))
  stdout.write(`${[...lines, '', ...nextSteps(written, env)].join('\n')}\n`)
  return exitCodes.ok
}

const selfHostedKits = kits.flatMap(({ name, selfHosted }) => (selfHosted === undefined ? [] : [name]))

const kitList = [
  'Kits are workflows for GitHub, and files for them:',
  '',
  ...inColumns(kits.map(({ name, summary }) => [`  ${name}`, summary])),
  '',
  'Write the kits that you choose into the root of a repository. No file is overwritten:',
  '  watchkeeper init plan-and-apply drift',
  '',
  'For a self-hosted server, choose from these. The other kits are for ClickHouse Cloud:',
  `  watchkeeper init ${selfHostedKits.join(' ')}`,
  '',
  'https://github.com/watchkeeper/watchkeeper/blob/main/docs/self-hosted.md#in-a-github-workflow',
  '',
].join('\n')

function requireKits(words: readonly string[]): readonly Kit[] {
  const names = kits.map(({ name }) => name)
  const unknown = words.filter((word) => !names.includes(word))
  if (unknown.length > 0)
    throw new InputError(
      unknown.map((word) => inputDiagnostic(quote(word), `unknown kit; available kits: ${names.join(', ')}${didYouMean(word, names)}`)),
    )
  return kits.filter(({ name }) => words.includes(name))
}

/** Refuses a kit that needs ClickHouse Cloud beside the kit, or the profile, of a self-hosted server. */
function filesOf(chosen: readonly Kit[], env: Variables): readonly KitFile[] {
  const isForServer = env[toEnvironmentName('profile')] === 'hyperdx'
  if (!isForServer && !chosen.some(({ name }) => name === 'self-hosted')) return chosen.flatMap(({ files }) => files)
  const others = chosen.filter(({ selfHosted }) => selfHosted === undefined)
  if (others.length > 0)
    throw new InputError(
      others.map(({ name }) =>
        inputDiagnostic(
          name,
          `this kit is for ClickHouse Cloud; ${isForServer ? `for a self-hosted server, choose from ${selfHostedKits.join(', ')}` : 'run init for it without self-hosted'}`,
        ),
      ),
    )
  return chosen.flatMap(({ selfHosted = [] }) => selfHosted)
}

async function requireRoot(directory: string) {
  const root = await repositoryRoot(directory)
  if (root === undefined || root === directory) return
  const message = `this directory is not the root of its repository, and GitHub reads workflows only at the root; run init in ${quoteLong(root)}`
  throw inputError('init', message)
}

const projectConfig = (project: string | undefined) => ({
  example: defaultConfigFile,
  target: defaultConfigFile,
  ...(project === undefined && { check: 'set the name of your project' }),
  text: `# Owner of the alerts and dashboards in these files. Do not change it when the repository is renamed.
${project === undefined ? '# project: owner/repo' : `project: ${project}`}
`,
})

async function writeKitFile(root: string, { target, text }: { readonly target: string; readonly text: string }) {
  try {
    await mkdir(dirname(join(root, target)), { recursive: true })
    await writeFile(join(root, target), text, { flag: 'wx' })
    return true
  } catch (thrown) {
    const { code, syscall } = thrown as NodeJS.ErrnoException // Both calls fail with one.
    if (code === 'EEXIST' && syscall === 'open') return false
    throw inputError(target, `cannot be written: ${quoteLong(reasonOf(thrown))}. The files before it are complete. Run init again`)
  }
}

interface NewFile extends KitFile {
  readonly text: string
  readonly isNew: boolean
}

function inColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`)
}

export function needsOf(texts: readonly string[]) {
  // A comment may show a secret that nothing needs.
  const code = texts.join('\n').replaceAll(/^\s*#.*$/gm, '')
  const find = (pattern: RegExp) => [...code.matchAll(pattern)].map(([, one = '', other = '']) => [one, other] as const)
  const secrets = find(/\bsecrets\.(\w+)/g).map(([name]) => name)
  /** The values are variables of the process, the keys those of the repository. */
  const variables = new Map(
    find(/([\w-]+): *\$\{\{ *vars\.(\w+)/g).map(([key, name]) => [name, key.startsWith(fileVariablePrefix) ? key : name]),
  )
  const environments = [...new Set(find(/^ *environment: *([\w-]+)/gm).map(([name]) => name))]
  return { secrets: [...new Set(secrets)].sort(), variables: new Map([...variables].sort()), environments }
}

function nextSteps(files: readonly NewFile[], env: Variables): readonly string[] {
  const texts = files.map(({ text }) => text)
  const has = (part: string): boolean => texts.some((text) => text.includes(part))
  const { secrets, variables, environments } = needsOf(texts)
  // By its name. No job outside of the environment can read the secret.
  const isIn = (secret: string) => (one: string) => secret.startsWith(`${one.toUpperCase().replaceAll('-', '_')}_`)
  const checks = files.flatMap(({ target, check, isNew }) => (check === undefined || !isNew ? [] : [[target, check] as const]))
  const names = [...secrets, ...variables.values()].sort()
  const known = Object.keys(settingsSchema.shape).map((name) => toEnvironmentName(toKebab(name)))
  const settings = names.filter((name) => known.includes(name))
  const ofFiles = names.filter((name) => name.startsWith(fileVariablePrefix))
  const toSet = (some: readonly string[]): readonly string[] => some.filter((name) => !env[name]).map((name) => `export ${name}=…`)
  const profile = has('profile: hyperdx') ? 'hyperdx' : 'clickhouse-cloud'
  const hasStarter = files.some(({ target, isNew }) => target === starter.target && isNew)
  const steps: readonly (readonly string[] | false)[] = [
    settings.length > 0 && [
      'Check the key on this machine. These commands change nothing on the server:',
      `export ${toEnvironmentName('profile')}=${profile}`,
      ...toSet(settings),
      'watchkeeper doctor',
      ...(hasStarter ? ['watchkeeper list-sources', 'watchkeeper list-webhooks'] : []),
    ],
    checks.length > 0 && ['Adapt the files:', ...inColumns(checks)],
    hasStarter && [
      'Plan the starter set. The values are yours, and a webhook is given by its name:',
      ...toSet(ofFiles),
      'watchkeeper plan',
    ],
    hasStarter && [
      'To start with the objects that exist on the server instead:',
      `rm ${starter.target} && watchkeeper pull`,
      `The workflows then need no ${fileVariablePrefix}….`,
    ],
    has('runs-on: [self-hosted') && [
      'Register a runner with the label self-hosted that reaches your server.',
      'For a server with a public address, use "runs-on: ubuntu-latest" instead.',
    ],
    has('create-pull-request@') && [
      'Let workflows open pull requests, in Settings > Actions > General > Workflow permissions:',
      '"Allow GitHub Actions to create and approve pull requests".',
    ],
    environments.length > 0 && ['Make the environment with required reviewers, in Settings > Environments:', ...environments],
    secrets.length > 0 && [
      'Set the secrets. gh asks for each value. Or use Settings > Secrets and variables > Actions:',
      ...secrets.map((name) => [`gh secret set ${name}`, ...environments.filter(isIn(name))].join(' --env ')),
    ],
    variables.size > 0 && [
      'Set the variables, here or on the same page:',
      ...[...variables].map(
        ([name, from]) =>
          `gh variable set ${name} --body ${settings.includes(from) || (hasStarter && ofFiles.includes(from)) ? `"$${from}"` : '…'}`,
      ),
    ],
    [
      // A push to the default branch applies the files immediately, including the samples.
      has('operation: apply') || has("|| 'apply'")
        ? 'Commit the files on a branch, and review the plan on its pull request. The merge to main applies it.'
        : 'Commit the files.',
      ...(has('branches: [main]') ? ['For another default branch than main, change the name in the workflows.'] : []),
      ...(has('schedule:') ? ['Scheduled workflows run once they are on the default branch. "Run workflow" starts them immediately.'] : []),
    ],
  ]
  return [
    'Next steps:',
    ...steps
      .filter((step) => step !== false)
      .flatMap(([head, ...rest], i) => ['', `${i + 1}. ${head}`, ...rest.map((line) => `     ${line}`)]),
  ]
}
