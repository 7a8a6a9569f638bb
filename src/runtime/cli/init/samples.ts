// The files that init writes: copies of examples/, adapted to the repository.
import { stringify } from 'yaml'
import type { ProfileName } from '../../../api/profiles.ts'
import { hasUnreleasedReference, majorTag, setReference } from '../action-reference.ts'
import { readInstalled } from '../installation.ts'
import { onBranch, toCloud, toSelfHosted, withoutFileVariables } from './edit-workflow.ts'
import { configPath, type Kit, type KitFile, starterPath } from './kits.ts'

export interface Sample extends KitFile {
  readonly text: string
}

/** Each file once, in the order of the kits. */
export async function readSamples(kits: readonly Kit[], script: string): Promise<readonly Sample[]> {
  const files = new Map(kits.flatMap((kit) => kit.files.map((file) => [file.target, file] as const)))
  return Promise.all([...files.values()].map(async (file) => ({ ...file, text: await readInstalled(script, `examples/${file.example}`) })))
}

/** The example for this repository. */
export function adaptSample(sample: Sample, profile: ProfileName, branch: string | undefined): Sample {
  const adapt = profile === 'hyperdx' ? toSelfHosted : toCloud
  const text = onBranch(adapt(sample.text), branch ?? 'main')
  const isUnsure = branch === undefined && onBranch(text, '') !== text
  return withCheck({ ...sample, text }, isUnsure ? 'change the branch if your default branch is not main' : undefined)
}

/** The sample with a reference to the action that has the same code as this command line. */
export function withReference(sample: Sample, reference: string): Sample {
  const text = setReference(sample.text, reference)
  return withCheck({ ...sample, text }, hasUnreleasedReference(text) ? 'replace the tag of the action, as its comment says' : undefined)
}

const withCheck = ({ check, ...sample }: Sample, another: string | undefined): Sample => {
  const checks = [check, another].filter((one) => one !== undefined)
  return checks.length === 0 ? sample : { ...sample, check: checks.join('; ') }
}

/** Files of the repository, and those of `pull`, do not have the variables of the starter set. */
export const withoutStarter = (sample: Sample): readonly Sample[] =>
  sample.target === starterPath ? [] : [{ ...sample, text: withoutFileVariables(sample.text) }]

/** The config file with the owner of alerts and dashboards. */
export const projectConfig = (project: string | undefined): Sample => ({
  example: '.watchkeeper.yml',
  target: configPath,
  ...(project === undefined && { check: 'set the name of your project' }),
  text: [
    `# yaml-language-server: $schema=https://raw.githubusercontent.com/watchkeeper/watchkeeper/${majorTag}/schemas/config.schema.json\n`,
    '# Owner of the alerts and dashboards in these files. Do not change it when the repository is renamed.\n',
    project === undefined ? '# project: owner/repo\n' : stringify({ project }),
  ].join(''),
})
