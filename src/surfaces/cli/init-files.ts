// The files of kits: read from where the examples are, and written into a repository.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { InputError, WatchkeeperError } from '../../kernel/errors.ts'
import { quote } from '../../kernel/text.ts'
import { holds, makeFile, placeOf } from '../new-file.ts'
import type { Kit, KitFile } from './init-kits.ts'

/** The package has the examples that the repository has. */
const examples = new URL('../../../examples/', import.meta.url)

export interface Sample extends KitFile {
  readonly text: string
}

/** Each file once, in the order of the kits. */
export async function readSamples(kits: readonly Kit[]): Promise<readonly Sample[]> {
  const files = new Map(kits.flatMap((kit) => kit.files.map((file) => [file.target, file] as const)))
  return Promise.all(
    [...files.values()].map(async (file) => ({ ...file, text: await readFile(fileURLToPath(new URL(file.example, examples)), 'utf8') })),
  )
}

const schemaComment =
  '# yaml-language-server: $schema=https://raw.githubusercontent.com/watchkeeper/watchkeeper/v0/schemas/config.schema.json'

/** The config file that says whose the alerts and dashboards are. */
export const projectConfig = (repository: string | undefined): Sample => ({
  example: '.watchkeeper.yml',
  target: '.watchkeeper.yml',
  ...(repository === undefined && { check: 'needs the name of your project' }),
  text: [
    schemaComment,
    '# Owner of the alerts and dashboards in these files. Leave it as it is when the repository is renamed.',
    repository === undefined ? '# project: owner/repo' : `project: ${repository}`,
    '',
  ].join('\n'),
})

export interface Written {
  readonly sample: Sample
  /** `same`: it was there already, word for word. */
  readonly outcome: 'written' | 'kept' | 'same'
}

/** Throws before anything is written when one of them cannot be. */
export async function writeSamples(root: string, samples: readonly Sample[]): Promise<readonly Written[]> {
  const places = await Promise.all(samples.map(async ({ target }) => ({ target, place: await placeOf(root, target) })))
  const refused = places.flatMap(({ target, place }) => (typeof place === 'object' ? [{ name: target, message: place.refused }] : []))
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
    throw new WatchkeeperError(
      'refused',
      `${target} could not be written: ${reason}. What was written before it is complete; run init again.`,
    )
  }
  return (await holds(root, target, text)) ? 'same' : 'kept'
}
