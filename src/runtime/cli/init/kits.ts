export interface KitFile {
  readonly example: string
  /** Workflows have a prefix, as repositories may have an apply.yml of their own. */
  readonly target: string
  readonly check?: string
}

export interface Kit {
  readonly name: string
  readonly summary: string
  readonly files: readonly KitFile[]
  /** Files beside the kit self-hosted. Absent for what needs ClickHouse Cloud. */
  readonly selfHosted?: readonly KitFile[]
  readonly hasProject?: true
}

const workflow = (name: string, check?: string) => ({
  example: `workflows/${name}.yml`,
  target: `.github/workflows/watchkeeper-${name}.yml`,
  ...(check !== undefined && { check }),
})

export const starter: KitFile = {
  example: 'starter/service.yml',
  target: 'observability/service.yml',
  check: 'replace Logs and Traces by the names of your sources',
}

const sampleSlos: KitFile = {
  example: 'slos/checkout.yml',
  target: 'observability/slos.yml',
  check: 'replace the sample SLOs, and Traces and oncall by the names of your source and webhook',
}

const sampleChecks: KitFile = { example: 'backups.yml', target: 'backups.yml', check: 'replace the sample checks and policies' }

const [deployment, sampleLimits] = ['replace ./deploy.sh by your deployment', 'replace the sample limits']

const ofSelfHosted = [workflow('self-hosted'), starter]

export const kits: readonly Kit[] = [
  {
    name: 'plan-and-apply',
    summary: 'Alerts and dashboards as code, with a starter set: plan on a pull request, apply on merge.',
    files: [workflow('plan'), workflow('apply'), starter],
    hasProject: true,
  },
  {
    name: 'self-hosted',
    summary: 'The same for a self-hosted server, on a runner that reaches it.',
    files: ofSelfHosted,
    selfHosted: ofSelfHosted,
    hasProject: true,
  },
  {
    name: 'drift',
    summary: 'Opens an issue while alerts or dashboards differ from the files.',
    files: [workflow('drift')],
    selfHosted: [workflow('self-hosted-drift')],
    hasProject: true,
  },
  {
    name: 'drift-pull-request',
    summary: 'Opens a pull request with the changes that people made in the service.',
    files: [workflow('drift-pull-request')],
    selfHosted: [workflow('self-hosted-drift-pull-request')],
    hasProject: true,
  },
  {
    name: 'alert-gates',
    summary: 'Tests changed alerts on each pull request: with past data, and with past incidents.',
    files: [workflow('alert-gates', sampleLimits)],
    selfHosted: [workflow('self-hosted-alert-gates', sampleLimits)],
    hasProject: true,
  },
  {
    name: 'check-slos',
    summary: 'Stops a deployment when an error budget is spent, or burns too fast.',
    files: [workflow('check-slos', deployment), sampleSlos],
    selfHosted: [workflow('self-hosted-check-slos', deployment), sampleSlos],
  },
  {
    name: 'cost-gate',
    summary: "Fails when this month's cost or its forecast exceeds a budget.",
    files: [workflow('cost-gate', 'replace the sample budgets')],
  },
  {
    name: 'cost-budgets',
    summary: 'Checks a budget for each team, service or metric.',
    files: [
      workflow('cost-budgets'),
      { example: 'budgets.yml', target: 'cost/budgets.yml', check: 'replace the sample budgets and names of services' },
    ],
  },
  {
    name: 'cost-audit',
    summary: 'Finds services that cost credits without need, once a month.',
    files: [workflow('cost-audit', 'replace the sample limit and tag')],
  },
  {
    name: 'check-credits',
    summary: 'Fails before the prepaid credits run out.',
    files: [workflow('check-credits', sampleLimits)],
  },
  {
    name: 'backups',
    summary: 'Fails when a backup is missing, late or failed.',
    files: [workflow('backups'), sampleChecks],
  },
  {
    name: 'restore-drill',
    summary: 'Restores a backup to a new service once a month, verifies its data, and deletes it.',
    files: [
      workflow(
        'restore-drill',
        'a drill costs credits, and needs more than these steps: https://github.com/watchkeeper/watchkeeper/blob/main/docs/backups.md#restores',
      ),
      sampleChecks,
    ],
  },
]
