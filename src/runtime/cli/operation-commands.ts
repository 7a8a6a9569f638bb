// What a run of an operation takes, and an error: most of the code. `--version` and `--help` do not load this file.
import { type Command, CommanderError, Option } from 'commander'
import * as z from 'zod'
import { systemClock } from '../../core/clock.ts'
import { exitCodeOfKind, exitCodes, WatchkeeperError } from '../../core/errors.ts'
import { jsonLine, logLine } from '../../core/escape.ts'
import { toKebab } from '../../core/names.ts'
import { isGitLabJob } from '../../core/run-page.ts'
import { createRedact } from '../../core/secrets.ts'
import { plural, shellQuote } from '../../core/text.ts'
import { coreOf, defaultOf, isFlag, metaOf, type Shape } from '../../documents/schema.ts'
import { fileInputs, fileSettings, type Settings, settingsSchema } from '../../operation/inputs.ts'
import type { Operation, ResultDocument, ResultError } from '../../operation/operation.ts'
import { isOperationName, type OperationName, operations } from '../../operations.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { credentialsIn, toSafeError } from '../credentials.ts'
import { newNameOf } from '../new-names.ts'
import type { ForgeOutcome, NotifyContext } from '../notify-forge.ts'
import { publish, resultFilePath, runAndPublish, type Surface, sendMessage } from '../publish.ts'
import { type PublishableResult, type PublishSettings, usesForge } from '../run.ts'
import { footerOf, toErrorResult, withNextCommand } from '../run-result.ts'
import { cancelOnSignals } from '../signals.ts'
import { debugVariable } from '../variables.ts'
import { createConfirm } from './confirm.ts'
import { nextCommand } from './next-command.ts'
import { createProgressLine, type ProgressLine } from './progress-line.ts'
import { remoteAddress, remoteRepository } from './repository.ts'
import { columnsOf, hasColors, type Terminal } from './terminal.ts'

/** Flags by camelCase name, as text. */
type Flags = Readonly<Record<string, string>>

/** Values are checked in the same place as those of the action and the library, so that all errors are reported at once. */
export async function addOperation(
  program: Command,
  name: OperationName,
  terminal: Terminal,
  exitWith: (code: number) => void,
): Promise<void> {
  const { summary, effect, input, asksFirst, scope, example }: Operation = await operations[name]()
  const command = program.command(name).description(summary)
  addFlags(command, input.shape, '')
  if (effect === 'write')
    command.option('--yes', asksFirst ? 'write without asking' : 'accepted, because every command that writes has it; this one never asks')
  if (name === 'plan') command.option('--detailed-exitcode', `exit with ${exitCodes.hasChanges} when apply would write something`)
  addFlags(command, settingsSchema.shape, commonGroup, [...actionOnlyFlags, ...(scope === 'none' ? requestFlags : [])])
  command.addOption(new Option('--json', 'print the result as JSON').helpGroup(commonGroup))
  command.addHelpText('after', `\nEXAMPLES\n  ${commandLine(name, example)}`)
  // Commander's own message would quote the argument, which may be a secret.
  command.allowExcessArguments()
  command.action(async ({ json = false, yes = false, detailedExitcode = false, ...flags }: OwnFlags & Flags) => {
    demandOptionsOnly(command, input.shape)
    const given = Object.entries<string>(flags).map(([flag, value]) => [flag, value.trim()] as const)
    const inputs = Object.fromEntries(given)
    const called = { name, inputs, yes, isWrite: effect === 'write', isOffline: scope === 'none' }
    const flagsOfRun = { json, yes, detailedExitcode, nextCommand: (error: ResultError) => nextCommand(called, error) }
    const { exitCode } = await runAtTerminal(name, inputs, flagsOfRun, terminal)
    exitWith(exitCode)
  })
}

const commonGroup = 'Common options:'

/** Flags of the command line only. */
interface OwnFlags {
  readonly json?: boolean
  readonly yes?: boolean
  readonly detailedExitcode?: boolean
}

function demandOptionsOnly(command: Command, shape: Shape): void {
  if (command.args.length === 0) return
  const advice = 'files' in shape ? '. Name files with --files' : ''
  const count = plural(command.args.length, 'other argument')
  command.error(`error: the command ${command.name()} accepts only options, but got ${count}${advice}`)
}

/** A call of the operation, for its help. */
export function commandLine(name: string, example: Readonly<Record<string, unknown>>): string {
  const flags = Object.entries(example).flatMap(([field, value]) => {
    const values = Array.isArray(value) ? value : [value]
    return values.map((one: unknown) => (one === true ? `--${toKebab(field)}` : `--${toKebab(field)} ${shellQuote(String(one))}`))
  })
  return ['watchkeeper', name, ...flags].join(' ')
}

/** Only the action writes to GitHub, and only a runner has a job summary. The flags are accepted, but not listed. */
const actionOnlyFlags: readonly string[] = ['githubToken', 'summary'] satisfies readonly (keyof Settings)[]

/** An operation that sends no request accepts them without listing them, because a shell or a config file sets them for all operations. */
const requestFlags: readonly string[] = [
  'apiKeyId',
  'apiKeySecret',
  'apiKey',
  'sqlKeyId',
  'sqlKeySecret',
  'sqlUrl',
  'wakeService',
  'organizationId',
  'serviceId',
  'apiUrl',
  'allowHttp',
  'maxAttempts',
] satisfies readonly (keyof Settings)[]

function addFlags(command: Command, shape: Shape, group: string, hidden: readonly string[] = []): void {
  for (const [name, field] of Object.entries(shape)) {
    const core = coreOf(field)
    const flag = `--${toKebab(name)}`
    const option = new Option(`${flag} ${isFlag(core) ? `[${flagValues(field)}]` : `<${placeholderFor(field)}>`}`, flagHelp(field))
    if (isFlag(core)) option.preset('true')
    option.argParser((next: string, before: string | undefined) => {
      if (before === undefined) return next
      if (core instanceof z.ZodArray) return `${before}\n${next}`
      // The message of an InvalidArgumentError would quote the value, which may be a secret.
      return command.error(`error: option '${flag}' was given twice`)
    })
    if (group !== '') option.helpGroup(group)
    command.addOption(option.hideHelp(hidden.includes(name)))
  }
}

/** `true|false`. */
const flagValues = (field: z.core.$ZodType): string => (metaOf(field).accepts ?? '').replace(/, | or /g, '|')

/** The longest list of choices that help shows in place of the value. */
const maxChoicesLength = 36

const placeholders: readonly (readonly [RegExp, string])[] = [
  [/^(?:a path|paths|globs?)\b/, 'file'],
  [/^format=path/, 'format=file'],
  [/^conditions/, 'condition'],
  [/^a UUID/, 'uuid'],
  [/^an id\b/, 'id'],
  [/^https:/, 'url'],
  [/^a day|^YYYY/, 'date'],
  [/^an amount|^a decimal/, 'amount'],
  [/^a (?:whole )?number/, 'number'],
]

/** The placeholder of the value in help: its choices, or its kind. */
function placeholderFor(field: z.core.$ZodType): string {
  const core = coreOf(field)
  const { accepts = '' } = metaOf(field)
  const choices = isChoice(core) ? core.options.join('|') : ''
  if (choices !== '' && choices.length <= maxChoicesLength) return choices
  return placeholders.find(([grammar]) => grammar.test(accepts))?.[1] ?? (core instanceof z.ZodNumber ? 'number' : 'text')
}

const isChoice = (core: z.core.$ZodType): core is z.ZodEnum => core instanceof z.ZodEnum

function flagHelp(field: z.core.$ZodType): string {
  const { description = '', accepts } = metaOf(field)
  const standard = defaultOf(field)
  const core = coreOf(field)
  const isShown = isFlag(core) || (isChoice(core) && core.options.join('|').length <= maxChoicesLength)
  return [
    description,
    ...(accepts !== undefined && !isShown ? [`(${accepts})`] : []),
    ...(standard !== undefined ? [`[default: ${String(standard)}]`] : []),
  ].join(' ')
}

type RunFlags = OwnFlags & { readonly nextCommand?: Surface['nextCommand'] }

interface TerminalRun {
  readonly exitCode: number
  readonly document: ResultDocument
}

/** The report goes to stdout, everything else to stderr. */
export async function runAtTerminal(
  operation: OperationName,
  inputs: Flags,
  { json = false, yes = false, detailedExitcode = false, nextCommand: next }: RunFlags,
  terminal: Terminal,
): Promise<TerminalRun> {
  const { signals, stderr, env } = terminal
  const progress = createProgressLine(stderr, env.TERM === 'dumb')
  const exit = (code: number): void => {
    progress.erase()
    signals.exit(code)
  }
  const cancellation = cancelOnSignals({ ...signals, exit })
  const startedAtMs = systemClock.now()
  try {
    const surface = terminalSurface(terminal, progress, cancellation, json)
    const result = await runAndPublish(operation, inputs, {
      ...surface,
      ...(next !== undefined && { nextCommand: next }),
      confirm: createConfirm(terminal, yes, cancellation.stop),
    })
    if (result.warnings === 0) for (const { path } of result.files) surface.note(`Wrote ${path}`)
    const secrets = credentialsIn(inputs, env)
    const context = { env, secrets, startedAtMs, cancellation, note: surface.note }
    const { failures, change } = await notifyGitLab(result, context)
    const undelivered = await sendMessage(result, { ...context, change })
    for (const line of [...failures, ...(undelivered === undefined ? [] : [undelivered])]) surface.warn(line)
    const { document } = result
    const canceledCode = cancellation.exitCode()
    if (canceledCode !== undefined) return { exitCode: canceledCode, document }
    const hasChanges = detailedExitcode && result.exitCode === exitCodes.ok && appliesSomething(document)
    return { exitCode: hasChanges ? exitCodes.hasChanges : result.exitCode, document }
  } finally {
    progress.erase()
    cancellation.dispose()
  }
}

/** Also markers, which are no difference from the files. */
const appliesSomething = ({ changed, toAdopt, toMark }: ResultDocument): boolean =>
  changed === true || Number(toAdopt ?? 0) > 0 || Number(toMark ?? 0) > 0

function terminalSurface(terminal: Terminal, progress: ProgressLine, cancellation: Surface['cancellation'], json: boolean): Surface {
  const { env, directory, stdout, stderr } = terminal
  const note = (line: string): void => progress.note(logLine(line))
  return {
    env,
    directory,
    cancellation,
    keepsIssue: isGitLabJob(env),
    note,
    ...(env[debugVariable] === '1' && { debug: (line: string) => note(`debug: ${line}`) }),
    warn: (line) => note(`warning: ${line}`),
    showProgress({ done, total, text }) {
      if (!json) progress.show({ done, total, text: logLine(text) })
    },
    showResult({ document, blocks, publishSettings }) {
      progress.erase()
      warnOfIgnoredSettings(publishSettings, env, note)
      if (json) stdout.write(`${jsonLine(JSON.stringify(document, null, 2))}\n`)
      const isError = document.status === 'error'
      if (json && !isError) return
      const color = hasColors(terminal)
      const stream = isError ? stderr : stdout
      const width = columnsOf(stream)
      for (const line of renderTerminal(blocks, { color, rest: restOf(publishSettings, env), ...(width !== undefined && { width }) }))
        stream.write(`${color ? line : logLine(line)}\n`)
    },
    summaryFile: env.GITHUB_STEP_SUMMARY || undefined,
    remote: { name: () => remoteRepository(directory), address: () => remoteAddress(directory) },
  }
}

/** Where to find the parts of a report that a terminal does not show. */
function restOf({ summary, reports = [] }: PublishSettings, { GITHUB_STEP_SUMMARY: summaryFile }: Terminal['env']): string {
  if (reports.some(({ format }) => format === 'json')) return 'the result file'
  return summary && summaryFile ? 'the summary of the run' : '--json'
}

/** Comment and issue in GitLab CI. Elsewhere, the command line writes none. */
async function notifyGitLab(result: PublishableResult, context: NotifyContext): Promise<ForgeOutcome> {
  if (!isGitLabJob(context.env) || !usesForge(result.publishSettings)) return { failures: [], change: 'unknown' }
  const [{ notifyForge }, { gitlab }] = await Promise.all([import('../notify-forge.ts'), import('../../forge/gitlab/gitlab.ts')])
  return notifyForge(result, context, gitlab)
}

/** The command line has no event and no token for GitHub. */
function warnOfIgnoredSettings(
  { comment = 'off', issue = 'off' }: PublishSettings,
  env: Terminal['env'],
  note: (line: string) => void,
): void {
  if (isGitLabJob(env)) return
  const ignored = [...(comment === 'off' ? [] : ['comment']), ...(issue === 'off' ? [] : ['issue'])]
  if (ignored.length > 0)
    note(`warning: ${ignored.join(' and ')}: ignored, because the command line writes comments and issues only in GitLab CI`)
}

/** Prints an error, and resolves to its exit code. `message` is commander's message about a wrong argument. */
export async function reportError(thrown: unknown, message: string, args: readonly string[], terminal: Terminal): Promise<number> {
  const { env, stderr } = terminal
  const listSecrets = (): readonly string[] => [...secretsIn(args), ...credentialsIn({}, env)]
  const [first = ''] = args
  if (thrown instanceof CommanderError) {
    const redact = createRedact(listSecrets())
    // A word that is not a command may be a secret in the wrong place.
    const command = isOperationName(first) || toolsWithArguments.includes(first) ? first : ''
    stderr.write(redact(rewordUsageError(message, command)))
    await publishError(first, new WatchkeeperError('input', redact(rewordUsageError(thrown.message, command))), args, terminal)
    return exitCodes.input
  }
  const error = toSafeError(thrown, listSecrets)
  stderr.write(`${error.message}\n`)
  await publishError(first, error, args, terminal)
  return exitCodeOfKind[error.kind]
}

/**
 * Rewords a message of commander: `error: unknown option '--budgt'` with its suggestion becomes `Unknown option --budgt. Did you mean
 * --budget?`. Any other text, such as a help page, is unchanged. `command` is the operation that was called, if it is one.
 */
function rewordUsageError(text: string, command: string): string {
  const [, message, suggestion, end = ''] = /^error: (.+?)(?:\n\((Did you mean .+\?)\))?(\n*)$/s.exec(text) ?? []
  if (message === undefined) return text
  const reworded = message
    .replace(/^missing required argument '([\w-]+)'$/, 'the argument $1 is missing')
    .replace(/^command-argument value '([\w-]{0,20})' is invalid for argument '([\w-]+)'\./, '"$1" is not a $2.')
    .replace(/^option '(--[\w-]+)[^']*' argument missing$/, 'option $1 requires a value')
    .replace(/^option '(--[\w-]+)[^']*' argument '(.*)' is invalid\./s, 'option $1 does not accept "$2".')
    .replace(/^((?:unknown )?(?:option|command)) '([^']*)'/, (_, what: string, word: string) =>
      // Anything else may be a secret in the wrong place.
      /^-{0,2}[\w-]{1,40}$/.test(word) ? `${what} ${word}` : what,
    )
  const sentence = `${reworded.charAt(0).toUpperCase()}${reworded.slice(1)}${reworded.endsWith('.') ? '' : '.'}`
  const advice = adviseOnNewName(reworded) ?? suggestion ?? adviseOnUsage(reworded, command)
  return `${sentence}${advice === '' ? '' : ` ${advice}`}${end}`
}

const toolsWithArguments: readonly string[] = ['init', 'schema', 'completion']

const configKeys: readonly string[] = [...fileSettings.map(toKebab), ...fileInputs, 'rules']

/** `Use --reports html=FILE.` */
function adviseOnNewName(message: string): string | undefined {
  const [, what, word = ''] = /^unknown (command|option)(?: (\S+))?$/.exec(message) ?? []
  const newName = newNameOf(word.replace(/^--/, ''))
  return newName && `Use ${what === 'option' ? `--${newName.replace(/^([a-z-]+): /, '$1 ')}` : newName}.`
}

/** What to do about an unknown word that resembles no other one. */
function adviseOnUsage(message: string, command: string): string {
  const [, what, word = ''] = /^unknown (command|option)(?: (\S+))?$/.exec(message) ?? []
  if (what === 'option' && command === '') return 'Options come after the command. See watchkeeper --help.'
  if (configKeys.includes(word.replace(/^--/, ''))) return `It is a key of .watchkeeper.yml.`
  if (what === undefined && !message.endsWith('is missing')) return ''
  return `See watchkeeper ${command === '' || what === 'command' ? '' : `${command} `}--help.`
}

/** Programs that read the JSON or the result file also need the message. */
async function publishError(word: string, error: WatchkeeperError, args: readonly string[], terminal: Terminal): Promise<void> {
  const operation = isOperationName(word) ? word : ''
  const result = withNextCommand(toErrorResult(operation, error, {}, [footerOf({}, systemClock.now())]), ({ kind }) =>
    kind === 'input' ? ['watchkeeper schema', operation].join(' ').trim() : undefined,
  )
  if (args.includes('--json')) terminal.stdout.write(`${jsonLine(JSON.stringify(result.document, null, 2))}\n`)
  if (operation === '') return
  const surface = terminalSurface(terminal, createProgressLine(terminal.stderr, false), neverCancelled, false)
  const given = args.find((arg, i) => args[i - 1] === '--reports' && arg.startsWith('json='))?.slice('json='.length)
  await publish(result, surface, { resultFile: resultFilePath(given, surface, operation), summary: true })
}

const neverCancelled: Surface['cancellation'] = { stop: new AbortController().signal, abort: new AbortController().signal }

const secretFlags = Object.entries(settingsSchema.shape).flatMap(([name, field]) => (metaOf(field).secret ? [`--${toKebab(name)}`] : []))

/** The secrets among the arguments. No message may quote them. */
const secretsIn = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, i) => (secretFlags.includes(arg.replace(/^-(?!-)/, '--')) ? args[i + 1]?.trim() || [] : []))
