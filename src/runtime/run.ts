import type { GitHubAccess } from '../delivery/github/reader.ts'
import { isOperationName, operations } from '../operations.ts'
import { type ApiSession, openApi, readOnly } from '../platform/api/client.ts'
import { isServer } from '../platform/api/path.ts'
import { findServices } from '../platform/api/services.ts'
import type { Clock } from '../platform/core/clock.ts'
import { exitCodes, inputError, toWatchkeeperError, WatchkeeperError } from '../platform/core/errors.ts'
import { toPlainText } from '../platform/core/line.ts'
import { toKebab } from '../platform/core/names.ts'
import { createRedact, type Redact, redactDeep, redactResult } from '../platform/core/secrets.ts'
import { quote } from '../platform/core/text.ts'
import { type Cancellation, createCheckpoint, createWriteLog } from '../platform/http/cancellation.ts'
import { createCopiedUrls } from '../platform/http/webhook-url.ts'
import type { Files } from '../platform/operation/files.ts'
import type { Settings } from '../platform/operation/inputs.ts'
import type { Confirmation, Context, Effect, GitHubReader, Operation, Scope } from '../platform/operation/operation.ts'
import type { ResultDocument, RunResult, RunSubject } from '../platform/operation/result.ts'
import { composeBlocks } from '../platform/report/blocks.ts'
import { pass } from '../platform/report/report.ts'
import { credentialsIn, paddedCredentials, redactError } from './credentials.ts'
import { type RunInput, readInput } from './read-input.ts'
import { footerOf, toErrorResult, toRunResult, unfinished } from './run-result.ts'
import { type GivenSettings, type RunRequest, readSettings, type Values } from './settings.ts'
import { defaultConfigFile } from './workspace.ts'

export interface RunDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly note: (line: string) => void
  /** Problems that do not fail the run. Without it, they are notes. */
  readonly warn?: (line: string) => void
  /** Gets no secrets; undefined unless the debug log is on. */
  readonly debug?: ((line: string) => void) | undefined
  readonly cancellation: Cancellation
  readonly files: Files
  /** Throws an InputError when it cannot ask. Absent where the run asks no one. */
  readonly confirm?: ((review: Confirmation) => Promise<boolean>) | undefined
  /** Absent outside of the action. `paths` are of files that every run reads. */
  readonly openGitHub?: ((access: Omit<GitHubAccess, 'env'>, paths: readonly string[]) => GitHubReader) | undefined
  /** Awaited before the next request, so that the progress can be written to a file. */
  readonly onProgress?: (step: ProgressStep, settings: PublishSettings) => Promise<void>
}

export interface ProgressStep {
  readonly done: number
  readonly total: number
  readonly text: string
  document(): Promise<ResultDocument>
}

export type NotifySetting = 'comment' | 'commentLabel' | 'prNumber' | 'issue' | 'githubToken' | 'notifyUrl' | 'notifyFormat' | 'notifyOn'

export type PublishSettings = {
  readonly summary: boolean
  readonly environment?: string
  readonly project?: string
  /** A saved plan can be applied by another job. */
  readonly savesPlan?: boolean
} & Partial<Settings>

export const writesToGitHub = ({ comment = 'off', issue = 'off' }: PublishSettings): boolean => comment !== 'off' || issue !== 'off'

export interface PublishableResult extends RunResult {
  readonly publishSettings: PublishSettings
}

/** Throws nothing, prints nothing, writes no file. */
export async function runOperation(given: RunRequest, deps: RunDeps): Promise<PublishableResult> {
  const startedAtMs = deps.clock.now()
  const secrets = credentialsIn(given.inputs, given.env)
  const copiedUrls = createCopiedUrls()
  const redact = createRedact(secrets, copiedUrls.search)
  const hiding: Hiding = { redact, redactGiven: createRedact(secrets) }
  const request = {
    ...given,
    operation: redact(given.operation),
    inputs: Object.fromEntries(Object.entries(given.inputs).map(([name, value]) => [redact(name), value])),
  }
  const { files } = deps
  const { writes = createWriteLog() } = deps.cancellation
  let input: RunInput | undefined
  let session: ApiSession | undefined
  try {
    input = await readInput(request, files)
    const note = (line: string): void => deps.note(redact(line))
    const debug = debugLog(deps, redact)
    debug?.(describeSources(input))
    if (input.connection?.isUnencrypted) note(`The key travels unencrypted to ${input.connection.baseUrl.host}, because allow-http is set`)
    for (const line of input.warnings) (deps.warn ?? deps.note)(redact(line))
    for (const name of paddedCredentials(request.env)) note(`${name} has leading or trailing white space, which is ignored`)
    if (input.settings.notifyUrl === undefined && (input.sources.notifyOn !== undefined || input.sources.notifyFormat !== undefined))
      note('No notification is sent, because notify-url is empty')
    const cancellation = { ...deps.cancellation, writes }
    session = input.connection && openApi(input.connection, { ...deps, note, debug, cancellation, hideUrls: copiedUrls.add })
    const result = await judgeAndReport(input, session, { ...deps, note, startedAtMs }, hiding)
    return { ...result, publishSettings: publishSettingsOf(input, files) }
  } catch (thrown) {
    const error = redactError(toWatchkeeperError(thrown), redact)
    const publishSettings = input === undefined ? await validSettings(request, files) : publishSettingsOf(input, files)
    const subject = input === undefined ? {} : targetOf(input, session)
    const result = toErrorResult(request.operation, error, subject, [footerOf(subject, startedAtMs)])
    const exitCode = writes.mayHaveWritten() ? exitCodes.partlyApplied : result.exitCode
    return { ...result, exitCode, publishSettings }
  } finally {
    await session?.close()
  }
}

/** `redact` also hides copied URLs of webhooks. */
type Hiding = Readonly<Record<'redact' | 'redactGiven', Redact>>

const publishSettingsOf = ({ settings, environment, operation, input }: RunInput, files: Files) => ({
  ...withoutMessages(settings),
  summary: settings.summary,
  ...aboutOf(operation, input, environment?.name, files),
})

function aboutOf(operation: Operation | undefined, { project, planFile }: Values, env: unknown, { workflowRepository = '' }: Files) {
  const { project: owner, files } = operation?.input.shape ?? {}
  return {
    ...(typeof env === 'string' && { environment: env }),
    // In a list, the project is a filter.
    ...(owner && files && { project: String(project ?? workflowRepository) }),
    savesPlan: Boolean(planFile),
  }
}

const debugLog = ({ debug }: RunDeps, redact: Redact): ((line: string) => void) | undefined => debug && ((line) => debug(redact(line)))

/** Values are left out, because one of them may be a secret. */
function describeSources({ name, operation, profile, connection, sources }: RunInput) {
  const where = connection === undefined ? 'no requests' : connection.baseUrl.href
  const settings = Object.entries(sources).map(([setting, source]) => `${toKebab(setting)} (${source})`)
  return `${name} (${operation.effect}), profile ${profile.name}, ${where}; settings given: ${settings.join(', ') || 'none'}`
}

async function validSettings(request: RunRequest, files: Files): Promise<PublishSettings> {
  const { env, planFile } = request.inputs
  const { values, inputs } = await readSettings(request, files).catch((): Partial<GivenSettings> => ({}))
  const operation = isOperationName(request.operation) ? await operations[request.operation]() : undefined
  return { summary: true, ...withoutMessages(values ?? {}), ...aboutOf(operation, { ...inputs, planFile }, env, files) }
}

/** A read-only run does not report its own error in a comment, an issue or a notification either. */
function withoutMessages(settings: Partial<Settings>): Partial<Settings> {
  if (settings.readOnly === false) return settings
  const { comment: _, issue: __, notifyUrl: ___, ...others } = settings
  return others
}

async function judgeAndReport(
  input: RunInput,
  session: ApiSession | undefined,
  deps: RunDeps & { readonly startedAtMs: number },
  hiding: Hiding,
): Promise<RunResult> {
  const { name, operation } = input
  const { redact, redactGiven } = hiding
  const raw = await operation.run(contextFor(input, session, deps, hiding), input.input)
  // Redacted before the report, where a secret would be escaped and could not be recognized.
  const result = await redactResult(raw, redact)
  return toRunResult({
    name,
    operation,
    input: input.input,
    result,
    // Redaction would change the text of a file that was there before, and no digest of a plan file would fit.
    resultForFiles: result === raw ? raw : await redactResult(raw, redactGiven),
    verdict: operation.judge?.(result, input.input) ?? pass,
    report: operation.report(result),
    isWarnOnly: input.settings.warnOnly,
    reports: input.settings.reports ?? [],
    subject: targetOf(input, session),
    startedAtMs: deps.startedAtMs,
  })
}

function targetOf({ scope, organizationId, target }: RunInput, session: ApiSession | undefined): RunSubject {
  const requestId = session?.lastRequestId()
  const lastRequest = requestId === undefined ? {} : { requestId }
  if (target !== undefined && isServer(target)) return { ...lastRequest, ...target }
  const isOfService = scope === 'service' || scope === 'service-or-server'
  return {
    ...lastRequest,
    ...(scope !== 'none' && { organizationId }),
    ...(isOfService && target !== undefined && { serviceId: target.serviceId }),
  }
}

function contextFor(input: RunInput, session: ApiSession | undefined, deps: RunDeps, hiding: Hiding): Context<Effect, Scope> {
  const { operation, organizationId, target, connection, profile, lintSettings, sqlFunctions, previousOwner, environment, settings } = input
  const { redact, redactGiven } = hiding
  const api = session?.api
  const paths = [settings.config ?? defaultConfigFile, ...(environment === undefined ? [] : [environment.path])]
  const isTold = writesToGitHub(settings) || settings.notifyUrl !== undefined
  // Jobs of a matrix tell about several services. An environment has a name of its own.
  const named = isTold && environment === undefined && target !== undefined && !isServer(target) ? target : undefined
  return {
    api: api && (operation.effect === 'read' ? readOnly(api) : api),
    organizationId,
    service: target,
    profile,
    apiOrigin: connection?.baseUrl.origin,
    uiUrl: uiUrlOf(input),
    clock: deps.clock,
    files: withoutCredentials(deps.files, redactGiven),
    serviceName: async () => api && named && (await findServices(api, organizationId)).find(({ id }) => id === named.serviceId)?.name,
    lintSettings,
    sqlFunctions,
    previousOwner,
    environment,
    formats: (settings.reports ?? []).map(({ format }) => format),
    github: api && deps.openGitHub?.({ githubToken: settings.githubToken, deps, remainingMs: api.remainingMs }, paths),
    stop: deps.cancellation.stop,
    checkpoint: createCheckpoint(deps.cancellation.stop, api?.remainingMs),
    confirm: operation.asksFirst && deps.confirm && ((review) => demandConfirmation(review, input, deps, redact)),
    debug: debugLog(deps, redact) ?? (() => undefined),
    async progress({ done, total, line, result }) {
      if (deps.onProgress === undefined) return
      const { requestId: _, ...subject } = targetOf(input, session)
      const document = async () => ({ ...unfinished(input.name), ...subject, ...redactDeep(await result(), redact) })
      await deps.onProgress({ done, total, text: redact(toPlainText(line)), document }, input.settings)
    },
  }
}

/** A web app that passes requests on does so below `/api`, to which `/api/v2` was appended. */
function uiUrlOf({ settings: { uiUrl }, connection }: RunInput) {
  if (uiUrl !== undefined || connection?.profile.isSelfHosted !== true) return uiUrl
  const [, path] = /^(.*)\/api\/api\/v2$/.exec(connection.baseUrl.pathname) ?? []
  return path === undefined ? undefined : `${connection.baseUrl.origin}${path}`
}

/** A file could otherwise store a credential of this run in an object. */
const withoutCredentials = (files: Files, redact: Redact): Files => ({
  ...files,
  variable(name) {
    const value = files.variable(name)
    if (value !== undefined && redact(value) !== value)
      throw inputError('files', `the variable ${quote(name)} holds a credential of this run, which no file may use`)
    return value
  },
})

async function demandConfirmation({ blocks, question }: Confirmation, input: RunInput, { confirm, clock }: RunDeps, redact: Redact) {
  // The server or the service: it decides whether this is staging or production.
  const footer = footerOf(targetOf(input, undefined), clock.now())
  if (await confirm?.(redactDeep({ blocks: [...composeBlocks(blocks), footer], question }, redact))) return
  throw new WatchkeeperError('canceled', 'Not confirmed. Nothing was written.')
}
