import type { ProfileName } from '../../../api/profiles.ts'
import { type Diagnostic, inputDiagnostic } from '../../../core/diagnostics.ts'
import { InputError } from '../../../core/errors.ts'
import { didYouMean } from '../../../core/names.ts'
import { quote } from '../../../core/text.ts'
import { inColumns, indent } from './columns.ts'

export interface KitFile {
  /** Path under examples/. */
  readonly example: string
  /** Path in the repository. Workflows have a prefix, as repositories may have an apply.yml of their own. */
  readonly target: string
  /** What the user must adapt before the file is useful. */
  readonly check?: string
}

/** A set of examples that belong together. */
export interface Kit {
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

export const starterPath = 'observability/service.yml'

export const configPath = '.watchkeeper.yml'

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
    name: 'cost-audit',
    summary: 'Finds services that cost credits without need, on the first day of each month.',
    files: [workflow('cost-audit', 'replace the sample limit and tag')],
  },
  {
    name: 'check-credits',
    summary: 'Fails before the prepaid credits run out.',
    files: [workflow('check-credits', 'replace the sample limits')],
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
    name: 'drift-pull-request',
    summary: 'Opens a pull request with the changes that people made in the service to the files of plan-and-apply.',
    files: [workflow('drift-pull-request')],
    hasProject: true,
    selfHosted: true,
  },
  {
    name: 'replay',
    summary: 'Replays past incidents on each pull request, without a key: the tests of the alerts of plan-and-apply.',
    files: [workflow('replay', 'declare and record an incident first, because a replay without incidents fails')],
    selfHosted: true,
  },
  {
    name: 'check-slos',
    summary: 'Stops a deployment when an error budget is spent, or burns too fast, with a sample SLO.',
    files: [
      workflow('check-slos', 'replace ./deploy.sh by your deployment'),
      {
        example: 'slos/checkout.yml',
        target: 'observability/slos.yml',
        check: 'replace the sample SLOs, and Traces and oncall by the names of your source and webhook',
      },
    ],
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

export const defaultProfile: ProfileName = 'clickhouse-cloud'

export const kitsFor = (profile: ProfileName): readonly Kit[] =>
  profile === 'hyperdx' ? kits.filter(({ selfHosted }) => selfHosted) : kits

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
export function requireKits(words: readonly string[], profile: ProfileName): readonly Kit[] {
  const { chosen, diagnostics } = selectKits(words, profile)
  if (diagnostics.length > 0) throw new InputError(diagnostics)
  return chosen
}

/** The numbers, names and summaries of the kits. */
export const kitList = (profile: ProfileName): string =>
  inColumns(kitsFor(profile).map(({ name, summary }, i) => [`${i + 1}  ${name}`, summary] as const))
    .concat('')
    .join('\n')

/** The kits and their files. */
export const kitDetails = (profile: ProfileName): string =>
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
