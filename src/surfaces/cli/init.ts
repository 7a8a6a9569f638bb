// Owns the command that sets a repository up: chosen workflows and sample files, as they stand in examples/.
import { exitCodes, InputError } from '../../kernel/errors.ts'
import { quote } from '../../kernel/text.ts'
import { askForKits, demandKits } from './init-choice.ts'
import { projectConfig, readSamples, type Sample, writeSamples } from './init-files.ts'
import { type Kit, kits } from './init-kits.ts'
import { initReport, kitDetails, kitList } from './init-report.ts'
import { remoteRepository, repositoryRoot } from './repository.ts'
import type { Terminal } from './terminal.ts'

export interface InitOptions {
  /** Kits by name. */
  readonly words: readonly string[]
  /** Only show what there is. */
  readonly list: boolean
}

/** Throws an InputError, and writes nothing, when anything is wrong. */
export async function runInit({ words, list }: InitOptions, terminal: Terminal): Promise<number> {
  const write = (text: string): void => void terminal.stdout.write(text)
  const named = demandKits(words)
  if (list) {
    write(kitDetails())
    return exitCodes.ok
  }
  await demandRoot(terminal.directory)
  const chosen = words.length > 0 ? named : await ask(terminal, write)
  if (chosen === undefined) {
    write('\nNothing was written.\n')
    return exitCodes.cancelled
  }
  if (chosen.length === 0) write('Nothing was written.\n')
  else write(`${initReport(await writeSamples(terminal.directory, await samplesFor(chosen, terminal.directory)))}\n`)
  return exitCodes.ok
}

async function samplesFor(chosen: readonly Kit[], directory: string): Promise<readonly Sample[]> {
  const samples = await readSamples(chosen)
  return chosen.some(({ hasProject }) => hasProject) ? [...samples, projectConfig(await remoteRepository(directory))] : samples
}

async function demandRoot(directory: string): Promise<void> {
  const root = await repositoryRoot(directory)
  if (root === undefined || root === directory) return
  const message = `this directory is inside of a repository, and GitHub reads workflows at its root alone: run it in ${quote(root)}`
  throw new InputError([{ name: 'init', message }])
}

async function ask({ stdin, stdout, directory }: Terminal, write: (text: string) => void): Promise<readonly Kit[] | undefined> {
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    const names = kits.map(({ name }) => name).join(', ')
    throw new InputError([{ name: 'init', message: `nobody is there to be asked: name what to write. There are: ${names}` }])
  }
  write(`These go into ${quote(directory)}, and nothing that is there is overwritten:\n\n${kitList({ numbered: true })}\n`)
  return askForKits(stdin, write)
}
