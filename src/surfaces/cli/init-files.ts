// Owns the files of kits: reads them from where the examples are, and writes them into a repository.
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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

export interface Written {
  readonly sample: Sample
  /** `same`: it was there already, word for word. */
  readonly outcome: 'written' | 'kept' | 'same'
}

/** Throws before anything is written when one of them cannot be. */
export async function writeSamples(root: string, samples: readonly Sample[]): Promise<readonly Written[]> {
  await demandRepositoryRoot(root)
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

/** GitHub reads workflows from the root of a repository alone. */
async function demandRepositoryRoot(directory: string): Promise<void> {
  const root = await repositoryRootOf(directory)
  if (root === undefined || root === directory) return
  throw new InputError([
    { name: 'init', message: `this is no root of a repository: run it in ${quote(root)}, or make this one with git init` },
  ])
}

async function repositoryRootOf(directory: string): Promise<string | undefined> {
  // A file in a worktree, a directory elsewhere.
  if ((await stat(join(directory, '.git')).catch(() => undefined)) !== undefined) return directory
  const parent = dirname(directory)
  return parent === directory ? undefined : repositoryRootOf(parent)
}
