// What init does with the service: the checks of doctor, and pull.
import * as z from 'zod'
import { exitCodes } from '../../../core/errors.ts'
import { toCamel } from '../../../core/names.ts'
import { plural } from '../../../core/text.ts'
import { type Asker, isYes } from '../questions.ts'
import type { Terminal } from '../terminal.ts'
import { configPath } from './kits.ts'
import { placeOf } from './safe-write.ts'
import type { InitSettings } from './settings.ts'

async function runOperation(name: 'doctor' | 'pull', settings: InitSettings & { readonly profile: string }, terminal: Terminal) {
  const { runAtTerminal } = await import('../operation-commands.ts')
  const inputs = Object.fromEntries(
    Object.entries(settings)
      .filter(([setting]) => name === 'pull' || setting !== 'project')
      .map(([setting, value]) => [toCamel(setting), value]),
  )
  terminal.stdout.write(`\n$ watchkeeper ${name}\n`)
  const ran = await runAtTerminal(name, inputs, {}, terminal)
  terminal.stdout.write('\n')
  return ran
}

/** What a service has that `pull` exports. */
const pulledKinds: Readonly<Record<string, string>> = { dashboards: 'dashboard', alerts: 'alert', 'saved searches': 'saved search' }

/** Shows `doctor`. A problem of the service does not prevent files from being written. */
export async function checkService(settings: InitSettings & { readonly profile: string }, terminal: Terminal) {
  const { exitCode, document } = await runOperation('doctor', settings, terminal)
  const checks = z
    .array(z.object({ name: z.string(), found: z.number().optional() }))
    .catch([])
    .parse(document.checks)
  const found = checks.flatMap(({ name, found = 0 }) => {
    const noun = pulledKinds[name]
    return noun === undefined || found === 0 ? [] : [plural(found, noun)]
  })
  return { exitCode, found }
}

/** Whether `pull` wrote files. Undefined when the input ended, or the run was canceled. */
export async function offerPull(
  found: readonly string[],
  settings: InitSettings & { readonly profile: string },
  asker: Asker,
  terminal: Terminal,
): Promise<boolean | undefined> {
  // In a repository with files, pull would change them.
  if (found.length === 0 || (await placeOf(terminal.directory, 'observability')) !== 'free') return false
  if (settings.project === undefined && (await placeOf(terminal.directory, configPath)) === 'free') return false
  const subject = settings.profile === 'hyperdx' ? 'The server' : 'The service'
  const question = `${subject} has ${found.join(', ')}. pull exports them to observability/, and changes no object.\nRun pull? [y/N] `
  const isWanted = await asker.ask(question, (line) => ({ answer: isYes(line) }))
  if (isWanted !== true) return isWanted
  const { exitCode } = await runOperation('pull', settings, terminal)
  if (exitCode === exitCodes.canceled) return undefined
  // Objects of other projects are not exported.
  return exitCode === exitCodes.ok && (await placeOf(terminal.directory, 'observability')) !== 'free'
}
