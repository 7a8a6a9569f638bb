import { dirname, join } from 'node:path'
import { type ProfileName, profileNames } from '../../../api/profiles.ts'
import { exitCodes, inputError } from '../../../core/errors.ts'
import { didYouMean, toEnvironmentName } from '../../../core/names.ts'
import { quote } from '../../../core/text.ts'
import type { Variables } from '../../../core/variables.ts'
import { actionReference } from '../action-reference.ts'
import { builtFrom } from '../built-from.ts'
import { type Asker, openAsker } from '../questions.ts'
import { defaultBranch, repositoryRoot } from '../repository.ts'
import type { Terminal } from '../terminal.ts'
import { configPath, defaultProfile, kitDetails, kitsFor, requireKits, starterPath } from './kits.ts'
import { needsOf } from './needs.ts'
import { initReport, type Written } from './next-steps.ts'
import { askForChoice, type Choice } from './prompts.ts'
import { placeOf, requirePlaces, writeNewFile } from './safe-write.ts'
import { adaptSample, projectConfig, readSamples, type Sample, withoutStarter, withReference } from './samples.ts'
import { checkService, offerPull } from './service.ts'
import { canConnect, type InitFlags, readSettings, requireFlags, settingNames } from './settings.ts'

interface InitOptions {
  /** Kits by name. Without kits, init asks. */
  readonly words: readonly string[]
  /** Only shows the available kits. */
  readonly list: boolean
  /** The profile of the workflows. Without it, init asks for it together with the kits; otherwise the environment decides. */
  readonly profile?: ProfileName | undefined
  readonly flags: InitFlags
}

/** Writes workflows and sample files from examples/ into a repository. On a wrong input, throws an InputError and writes no file. */
export async function runInit({ words, list, profile: given, flags }: InitOptions, terminal: Terminal): Promise<number> {
  const write = (text: string): void => void terminal.stdout.write(text)
  const fromEnvironment = given === undefined ? profileIn(terminal.env) : undefined
  const profile = given ?? fromEnvironment ?? defaultProfile
  const named: Choice = { profile, chosen: requireKits(words, profile) }
  if (list) {
    write(kitDetails(profile))
    return exitCodes.ok
  }
  await requireFlags(flags)
  await requireRoot(terminal.directory)
  if (words.length > 0) return initRepository(named, flags, undefined, terminal)
  requireTerminal(terminal, profile)
  write(`init writes workflows and sample files to ${quote(terminal.directory)}. It never overwrites a file.\n\n`)
  const asker = openAsker(terminal.stdin, write)
  try {
    const choice = await askForChoice(asker, write, { given, fromEnvironment })
    const exitCode = choice === undefined ? exitCodes.canceled : await initRepository(choice, flags, asker, terminal)
    if (exitCode === exitCodes.canceled) write('\nNo files were written.\n')
    return exitCode
  } finally {
    asker.close()
  }
}

/** Asks for settings, checks the service, writes the files, and shows what is left to do. */
async function initRepository(choice: Choice, flags: InitFlags, asker: Asker | undefined, terminal: Terminal): Promise<number> {
  const { directory, script, stdout } = terminal
  const write = (text: string): void => void stdout.write(text)
  const { profile, chosen } = choice
  if (chosen.length === 0) {
    write('No files were written.\n')
    return exitCodes.ok
  }
  const branch = flags.branch ?? (await defaultBranch(directory))
  const read = await readSamples(chosen, script)
  const reference = builtFrom ?? (await actionReference(join(dirname(script), '..')))
  const adapted = read.map((sample) => withReference(adaptSample(sample, profile, branch), reference))
  const samples = (await hasStarter(adapted, directory)) ? adapted : adapted.flatMap(withoutStarter)
  const needsProject = chosen.some(({ hasProject }) => hasProject === true)
  const hasConfig = (await placeOf(directory, configPath)) !== 'free'
  const { variables } = needsOf(samples.map(({ text }) => text))
  const names = settingNames.filter((name) =>
    name === 'project' ? needsProject && !hasConfig : variables.includes(toEnvironmentName(name)),
  )
  const settings = await readSettings(names, flags, asker, terminal)
  if (settings === undefined) return exitCodes.canceled
  const config = needsProject ? [withReference(projectConfig(settings.project), reference)] : []
  await requirePlaces(directory, [...samples, ...config])

  const inputs = { ...settings, profile }
  const checked = canConnect(profile, settings, terminal) ? await checkService(inputs, terminal) : undefined
  if (checked?.exitCode === exitCodes.canceled) return exitCodes.canceled
  const canPull = checked !== undefined && asker !== undefined && needsProject
  const wasPulled = canPull && (await offerPull(checked.found, inputs, asker, terminal))
  if (wasPulled === undefined) return exitCodes.canceled
  const written = await writeSamples(directory, [...(wasPulled ? samples.flatMap(withoutStarter) : samples), ...config])
  const check = checked === undefined ? 'none' : checked.exitCode === exitCodes.ok ? 'passed' : 'failed'
  write(`${initReport(written, { profile, branch, settings, check, wasPulled })}\n`)
  return exitCodes.ok
}

/** Whether the repository has the starter set, or gets it. */
const hasStarter = async (samples: readonly Sample[], directory: string): Promise<boolean> =>
  samples.some(({ target }) => target === starterPath) || (await placeOf(directory, starterPath)) !== 'free'

async function requireRoot(directory: string): Promise<void> {
  const root = await repositoryRoot(directory)
  if (root === undefined || root === directory) return
  const message = `this directory is not the root of its repository, and GitHub reads workflows only at the root; run init in ${quote(root)}`
  throw inputError('init', message)
}

function requireTerminal({ stdin, stdout }: Terminal, profile: ProfileName): void {
  if (stdin.isTTY === true && stdout.isTTY === true) return
  const names = kitsFor(profile).map(({ name }) => name)
  throw inputError('init', `cannot ask without a terminal; name the kits to write. Available kits: ${names.join(', ')}`)
}

/** The profile that the environment names, for every command. */
function profileIn(env: Variables): ProfileName | undefined {
  const name = toEnvironmentName('profile')
  const word = env[name]?.trim() ?? ''
  const profile = profileNames.find((one) => one === word)
  if (profile !== undefined || word === '') return profile
  throw inputError(name, `"${quote(word, 40)}" is not accepted; accepted: ${profileNames.join(', ')}${didYouMean(word, profileNames)}`)
}

async function writeSamples(root: string, samples: readonly Sample[]): Promise<readonly Written[]> {
  const written: Written[] = []
  for (const sample of samples) written.push({ sample, outcome: await writeNewFile(root, sample) })
  return written
}
