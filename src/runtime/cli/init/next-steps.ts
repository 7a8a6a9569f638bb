import type { ProfileName } from '../../../api/profiles.ts'
import { toEnvironmentName } from '../../../core/names.ts'
import { shellQuote } from '../../../core/text.ts'
import { inColumns, indent } from './columns.ts'
import { needsOf } from './needs.ts'
import type { WriteOutcome } from './safe-write.ts'
import type { Sample } from './samples.ts'
import { addressOf, type InitSettings, keysOf } from './settings.ts'

export interface Written {
  readonly sample: Sample
  readonly outcome: WriteOutcome
}

const outcomeWords: Readonly<Record<WriteOutcome, string>> = {
  written: 'written',
  kept: 'kept, because your file differs',
  same: 'unchanged',
}

/** What a report needs beside the files. */
interface InitOutcome {
  readonly profile: ProfileName
  readonly branch: string | undefined
  readonly settings: InitSettings
  /** What `doctor` found, if it ran. */
  readonly check: 'none' | 'passed' | 'failed'
  readonly wasPulled: boolean
}

export function initReport(written: readonly Written[], outcome: InitOutcome): string {
  const files = inColumns(written.map(({ sample, outcome }) => [sample.target, outcomeWords[outcome]] as const))
  const steps = nextSteps(written, outcome).map(([head, ...rest], i) => [`${i + 1}. ${head}`, ...indent(rest, 5)].join('\n'))
  return [...files, '', 'Next steps:', '', ...steps, ''].join('\n')
}

function nextSteps(written: readonly Written[], outcome: InitOutcome): readonly (readonly string[])[] {
  const { profile, settings, check, wasPulled } = outcome
  const { secrets, variables, environment, ofFiles } = needsOf(written.map(({ sample }) => sample.text))
  const checks = written.flatMap(({ sample: { target, check }, outcome }) =>
    check === undefined || outcome === 'kept' ? [] : [[target, check] as const],
  )
  const values = new Map(Object.entries(settings).map(([name, value]) => [toEnvironmentName(name), shellQuote(value)]))
  return [
    ...step(checks.length > 0, ['Adapt the files:', ...inColumns(checks)]),
    ...step(hasText(written, 'runs-on: self-hosted'), [
      'Register a runner with the label self-hosted that reaches your server.',
      'For a server with a public address, replace "runs-on: self-hosted" by "runs-on: ubuntu-latest".',
    ]),
    ...step(hasText(written, 'create-pull-request@'), [
      'Let workflows open pull requests, in Settings > Actions > General > Workflow permissions:',
      '"Allow GitHub Actions to create and approve pull requests".',
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
    ...step(ofFiles.length > 0, [
      'To run validate or plan on this machine, set the variables of the files:',
      `export ${ofFiles.map((name) => `${name}=…`).join(' ')}`,
    ]),
    ...step(check === 'none' && secrets.length > 0, [
      'Check the key and the settings before the first run:',
      ...doctor(variables, values, profile),
    ]),
    ...step(check === 'failed', ['Fix the check that failed above, and repeat it:', ...doctor(variables, values, profile)]),
    [
      commit(written, outcome),
      ...(wasPulled ? ['The plan shows no changes. The first apply adds ownership markers to the exported objects.'] : []),
      ...(hasText(written, 'schedule:')
        ? ['Scheduled workflows run once they are on the default branch. "Run workflow" starts them immediately.']
        : []),
    ],
  ]
}

const hasText = (written: readonly Written[], text: string): boolean => written.some(({ sample }) => sample.text.includes(text))

/** A push to the default branch applies the files immediately, including the samples. */
const commit = (written: readonly Written[], { branch = 'main' }: InitOutcome): string =>
  hasText(written, 'operation: apply')
    ? `Commit the files on a branch and review the plan on its pull request. Merging it to ${branch} applies it.`
    : 'Commit the files.'

const step = (isNeeded: boolean, lines: readonly string[]): readonly (readonly string[])[] => (isNeeded ? [lines] : [])

function doctor(variables: readonly string[], values: ReadonlyMap<string, string>, profile: ProfileName): readonly string[] {
  const service = toEnvironmentName('service-id')
  const names = [addressOf[profile], ...keysOf[profile]].map(toEnvironmentName)
  const set = [...names, ...variables.filter((name) => name === service)].map((name) => `${name}=${values.get(name) ?? '…'}`)
  return [`export ${[`${toEnvironmentName('profile')}=${profile}`, ...set].join(' ')}`, 'watchkeeper doctor']
}
