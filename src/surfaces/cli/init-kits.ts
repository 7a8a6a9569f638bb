// Owns what `init` can write: kits of examples, and where each of their files goes.

export interface KitFile {
  /** Under examples/. */
  readonly example: string
  /** In the repository. The name of a workflow says whose it is: others have an apply.yml, too. */
  readonly target: string
  /** What a person has to look at before it does any good. */
  readonly check?: string
}

export interface Kit {
  readonly name: string
  readonly summary: string
  readonly files: readonly KitFile[]
  /** Whether its workflows need to know the project. */
  readonly hasProject?: true
}

const workflow = (name: string, check?: string): KitFile => ({
  example: `workflows/${name}.yml`,
  target: `.github/workflows/watchkeeper-${name}.yml`,
  ...(check !== undefined && { check }),
})

export const kits: readonly Kit[] = [
  {
    name: 'cost-gate',
    summary: "Fails when this month's cost, or its forecast, passes a budget.",
    files: [workflow('cost-gate', 'the budgets are samples')],
  },
  {
    name: 'cost-budgets',
    summary: 'The same for each team, service or metric, from a file of budgets.',
    files: [
      workflow('cost-budgets'),
      { example: 'budgets.yml', target: 'cost/budgets.yml', check: 'budgets and names of services are samples' },
    ],
  },
  {
    name: 'plan-and-apply',
    summary: 'Alerts and dashboards as code: a plan on each pull request, applied on merge, with a set to start from.',
    files: [
      workflow('plan'),
      workflow('apply', 'takes main for the default branch'),
      {
        example: 'starter/service.yml',
        target: 'observability/service.yml',
        check: 'says what its variables mean, and takes Logs and Traces for the names of your sources',
      },
    ],
    hasProject: true,
  },
  {
    name: 'drift',
    summary: 'Keeps an issue while alerts or dashboards differ from the files of plan-and-apply.',
    files: [workflow('drift')],
    hasProject: true,
  },
  {
    name: 'backups',
    summary: 'Fails when a backup is missing, late or failing.',
    files: [workflow('backups')],
  },
  {
    name: 'fleet',
    summary: 'The backups of many organizations and services, from a file, in one verdict.',
    files: [
      workflow('fleet'),
      { example: 'fleet.yml', target: 'fleet.yml', check: 'organizations, services and names of secrets are samples' },
    ],
  },
]
