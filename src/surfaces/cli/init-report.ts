// Owns what `init` says: which kits there are, what became of each file, and what is left to a person.
import { toEnvironmentName } from '../../kernel/names.ts'
import type { Written } from './init-files.ts'
import { type Kit, kits } from './init-kits.ts'
import { needsOf } from './init-needs.ts'

const indent = (lines: readonly string[], by: number): readonly string[] => lines.map((line) => `${' '.repeat(by)}${line}`)

const inColumns = (rows: readonly (readonly [string, string])[]): readonly string[] => {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`.trimEnd())
}

/** With numbers where an answer may use them. */
export const kitList = ({ numbered }: { readonly numbered: boolean }): string =>
  inColumns(kits.map(({ name, summary }, i) => [numbered ? `${i + 1}  ${name}` : name, summary] as const))
    .concat('')
    .join('\n')

/** With the files of each. */
export const kitDetails = (): string => kits.flatMap((kit) => [...describe(kit), '']).join('\n')

const describe = ({ name, summary, files }: Kit): readonly string[] => [
  `${name}: ${summary}`,
  ...indent(
    files.map(({ target }) => target),
    2,
  ),
]

const words: Readonly<Record<Written['outcome'], string>> = {
  written: 'written',
  kept: 'kept: yours differs',
  same: 'kept: it is the same',
}

export function initReport(written: readonly Written[]): string {
  const files = inColumns(written.map(({ sample, outcome }) => [sample.target, words[outcome]] as const))
  const steps = nextSteps(written).map(([head, ...rest], i) => [`${i + 1}. ${head}`, ...indent(rest, 5)].join('\n'))
  return [...files, '', 'What to do next:', '', ...steps, ''].join('\n')
}

function nextSteps(written: readonly Written[]): readonly (readonly string[])[] {
  const { secrets, variables, environment } = needsOf(written.map(({ sample }) => sample.text))
  const checks = written.flatMap(({ sample: { target, check }, outcome }) =>
    check === undefined || outcome === 'kept' ? [] : [[target, check] as const],
  )
  return [
    ...step(checks.length > 0, ['Look into the files and make them yours:', ...inColumns(checks)]),
    ...step(secrets.length > 0, [
      'Set the secrets, with "gh secret set NAME" or under Settings > Secrets and variables > Actions:',
      ...secrets,
    ]),
    ...step(variables.length > 0, ['Set the variables, with "gh variable set NAME" or beside the secrets:', ...variables]),
    ...step(environment.length > 0, ['Set what the files take from the environment of the steps that read them:', ...environment]),
    ['Let doctor say whether the key opens what it should, before the first run does:', ...doctor(variables)],
    [commit(written), 'Workflows on a schedule run once they are on the default branch; "Run workflow" starts them at once.'],
  ]
}

/** What is pushed to the default branch is applied at once, samples too. */
const commit = (written: readonly Written[]): string =>
  written.some(({ sample }) => sample.text.includes('operation: apply'))
    ? 'Commit the files on a branch, and read the plan on its pull request: the merge applies it.'
    : 'Commit the files.'

const step = (isNeeded: boolean, lines: readonly string[]): readonly (readonly string[])[] => (isNeeded ? [lines] : [])

const doctor = (variables: readonly string[]): readonly string[] => {
  const service = toEnvironmentName('service-id')
  const set = ['organization-id', 'api-key-id', 'api-key-secret'].map(toEnvironmentName)
  return [
    `export ${[`${toEnvironmentName('profile')}=clickhouse-cloud`, ...[...set, ...variables.filter((name) => name === service)].map((name) => `${name}=…`)].join(' ')}`,
    'npx watchkeeper doctor',
  ]
}
