import { fileVariablePrefix, toEnvironmentName, toKebab } from '../../../platform/core/names.ts'
import type { Variables } from '../../../platform/core/variables.ts'
import { settingsSchema } from '../../../platform/operation/inputs.ts'
import { type KitFile, starter } from './kits.ts'

export interface NewFile extends KitFile {
  readonly text: string
  readonly isNew: boolean
}

export const inColumns = (rows: readonly (readonly [string, string])[]): readonly string[] => {
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
  return { secrets: [...new Set(secrets)].sort(), variables: new Map([...variables].sort()) }
}

export function nextSteps(files: readonly NewFile[], env: Variables): readonly string[] {
  const texts = files.map(({ text }) => text)
  const has = (part: string): boolean => texts.some((text) => text.includes(part))
  const { secrets, variables } = needsOf(texts)
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
    secrets.length > 0 && [
      'Set the secrets. gh asks for each value. Or use Settings > Secrets and variables > Actions:',
      ...secrets.map((name) => `gh secret set ${name}`),
    ],
    variables.size > 0 && [
      'Set the variables, here or on the same page:',
      ...[...variables].map(
        ([name, from]) => `gh variable set ${name} --body ${settings.includes(from) || ofFiles.includes(from) ? `"$${from}"` : '…'}`,
      ),
    ],
    [
      // A push to the default branch applies the files immediately, including the samples.
      has('operation: apply') || has("&& 'apply'")
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
