// Owns the one path that every surface takes: prepare → run → judge → report. It returns; it prints, fails and exits nothing.
import { type ApiSession, openApi, readOnly } from '../api/client.ts'
import type { Clock } from '../core/clock.ts'
import { toWatchkeeperError, type WatchkeeperError } from '../core/errors.ts'
import { createRedact, mayHoldSecret, type Redact, redactDeep } from '../core/secrets.ts'
import { version } from '../core/version.ts'
import type { Cancellation } from '../http/deadline.ts'
import { type Context, type Effect, type Progress, pass, type Scope } from '../operation/operation.ts'
import { type About, type Finished, finish, finishWithError, type ResultDocument } from '../operation/result-document.ts'
import type { Settings } from '../operation/settings.ts'
import { toPlainText } from '../report/blocks.ts'
import { credentialsIn, type Prepared, prepare, type Request, readSettings, spacedCredentials } from './read-input.ts'

/** The two seams of every test, and what else a surface brings along. */
export interface Ports {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Progress, one line each, already without secrets. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
  readonly files: Context<Effect, Scope>['files']
  /** Hears how far a long operation is; awaited, so that it can be kept before the next request. */
  readonly onProgress?: (step: ProgressStep, keeping: Invoked['keeping']) => Promise<void>
}

export interface ProgressStep extends Pick<Progress, 'done' | 'total'> {
  /** What was done last, already without secrets. */
  readonly text: string
  /** The result document of a run that got no further. */
  readonly document: ResultDocument
}

export interface Invoked extends Finished {
  /** Where the result goes and who is told, as far as what was given says so. */
  readonly keeping: Keeping
}

type Kept = 'resultFile' | 'organizationId' | 'serviceId' | 'comment' | 'commentLabel' | 'prNumber' | 'issue' | 'githubToken'

export type Keeping = Pick<Settings, 'summary'> & Partial<Pick<Settings, Kept>>

export async function invoke(given: Request, ports: Ports): Promise<Invoked> {
  const redact = createRedact(credentialsIn(given.inputs, given.env))
  const request = withoutSecretNames(given, redact)
  let keeping: Keeping | undefined
  let session: ApiSession | undefined
  let target: Target = {}
  try {
    const prepared = await prepare(request)
    keeping = prepared.settings
    target = targetOf(prepared)
    const note = (line: string): void => ports.note(redact(line))
    for (const name of spacedCredentials(request.env)) note(`${name} has white space around it, which was left out`)
    const { connection } = prepared
    session = connection && openApi({ ...connection, userAgent: `watchkeeper/${version}` }, { ...ports, note })
    return { ...(await run(prepared, session, ports, redact)), keeping }
  } catch (thrown) {
    const error = redactError(toWatchkeeperError(thrown), redact)
    const finished = finishWithError(request.operation, error, aboutOf(session, target))
    return { ...finished, keeping: keeping ?? (await guessKeeping(request)) }
  } finally {
    await session?.close()
  }
}

/** What was meant for a value may stand where a name is expected, and would be complained about by that name. */
const withoutSecretNames = (request: Request, redact: Redact): Request => ({
  ...request,
  operation: redact(request.operation),
  inputs: Object.fromEntries(Object.entries(request.inputs).map(([name, value]) => [redact(name), value])),
})

/** What is right by itself, when not everything is: an error is kept and told where the user wants it as well. */
async function guessKeeping(request: Request): Promise<Keeping> {
  const { values } = await readSettings(request).catch(() => ({ values: {} as Partial<Settings> }))
  return { ...values, summary: values.summary ?? true }
}

async function run(prepared: Prepared, session: ApiSession | undefined, ports: Ports, redact: Redact): Promise<Finished> {
  const { name, operation, input, leniency } = prepared
  const raw = await operation.run(contextFor({ prepared, session, ports, redact }), input)
  // Before anything is made of it: in a report, a secret would already be escaped and no longer be recognized.
  const result = mayHoldSecret(JSON.stringify(raw), redact) ? redactDeep(raw, redact) : raw
  const verdict = operation.judge?.(result, input) ?? pass
  const report = operation.report(result)
  return finish({
    name,
    operation,
    input,
    result,
    verdict,
    report,
    leniency,
    about: aboutOf(session, targetOf(prepared)),
  })
}

type Target = Omit<About, 'requestId'>

/** What a service is not asked about, its result does not name. */
const targetOf = ({ operation: { scope }, organizationId, serviceId }: Prepared): Target => ({
  ...(scope !== 'none' && { organizationId }),
  ...(scope === 'service' && serviceId !== undefined && { serviceId }),
})

function aboutOf(session: ApiSession | undefined, target: Target): About {
  const requestId = session?.lastRequestId()
  return { ...(requestId !== undefined && { requestId }), ...target }
}

interface Surroundings {
  readonly prepared: Prepared
  readonly session: ApiSession | undefined
  readonly ports: Ports
  readonly redact: Redact
}

function contextFor({ prepared, session, ports, redact }: Surroundings): Context<Effect, Scope> {
  const { operation, organizationId, serviceId, connection, profile, lintSettings } = prepared
  const api = session?.api
  return {
    api: api && (operation.effect === 'read' ? readOnly(api) : api),
    organizationId,
    service: serviceId === undefined ? undefined : { organizationId, serviceId },
    profile,
    apiOrigin: connection?.baseUrl.origin,
    clock: ports.clock,
    files: ports.files,
    lintSettings,
    stop: ports.cancellation.stop,
    async progress({ done, total, line, result }) {
      if (ports.onProgress === undefined) return
      const document = { ...unfinished(prepared.name), ...targetOf(prepared), ...redactDeep(await result(), redact) }
      await ports.onProgress({ done, total, text: redact(toPlainText(line)), document }, prepared.settings)
    },
  }
}

const unfinished = (operation: string): ResultDocument => ({
  operation,
  status: 'error',
  failureReason: 'The run ended before its report; this is how far it was.',
})

function redactError(error: WatchkeeperError, redact: Redact): WatchkeeperError {
  const safe = redact(error.message)
  if (safe !== error.message) error.message = safe
  return error
}
