// Owns the one path that every surface takes: prepare → run → judge → report. It returns; it prints, fails and exits nothing.
import { type ApiSession, openApi, readOnly } from '../api/client.ts'
import type { Cancellation } from '../api/requester.ts'
import type { Clock } from '../kernel/clock.ts'
import { toWatchkeeperError, type WatchkeeperError } from '../kernel/errors.ts'
import { createRedact, mayHoldSecret, type Redact, redactDeep } from '../kernel/secrets.ts'
import { version } from '../kernel/version.ts'
import { type Context, type Effect, pass, type Scope } from '../operations/operation.ts'
import { credentialsIn, spacedCredentials } from './credentials.ts'
import { type Finished, finish, finishWithError } from './finished.ts'
import { type Prepared, prepare, type Request } from './prepare.ts'
import { readEnvironment } from './setting-sources.ts'

/** The two seams of every test, and what else a surface brings along. */
export interface Ports {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Progress, one line each, already without secrets. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
  readonly files: Context<Effect, Scope>['files']
}

export interface Invoked extends Finished {
  /** Where the result goes, as far as that could be told from what was given. */
  readonly keeping: Pick<Prepared['settings'], 'summary' | 'resultFile'>
}

export async function invoke(given: Request, ports: Ports): Promise<Invoked> {
  const redact = createRedact(credentialsIn(given.inputs, given.env))
  const request = withoutSecretNames(given, redact)
  let keeping = guessKeeping(request)
  let session: ApiSession | undefined
  try {
    const prepared = await prepare(request)
    keeping = prepared.settings
    const note = (line: string): void => ports.note(redact(line))
    for (const name of spacedCredentials(request.env)) note(`${name} has white space around it, which was left out`)
    const { connection } = prepared
    session = connection && openApi({ ...connection, userAgent: `watchkeeper/${version}` }, { ...ports, note })
    return { ...(await run(prepared, session, ports, redact)), keeping }
  } catch (thrown) {
    return { ...finishWithError(request.operation, redactError(toWatchkeeperError(thrown), redact), session?.lastRequestId()), keeping }
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

/** Before anything is checked: an error is kept where the user wants it as well. */
function guessKeeping({ inputs, env }: Request): Invoked['keeping'] {
  const { summary, resultFile } = { ...readEnvironment(env), ...inputs }
  return { summary: String(summary) !== 'false', resultFile: typeof resultFile === 'string' ? resultFile : undefined }
}

async function run(prepared: Prepared, session: ApiSession | undefined, ports: Ports, redact: Redact): Promise<Finished> {
  const { name, operation, input, settings } = prepared
  const raw = await operation.run(contextFor(prepared, session, ports), input)
  // Before anything is made of it: in a report, a secret would already be escaped and no longer be recognized.
  const result = mayHoldSecret(JSON.stringify(raw), redact) ? redactDeep(raw, redact) : raw
  const verdict = operation.judge?.(result, input) ?? pass
  const report = operation.report(result)
  return finish({ name, operation, input, result, verdict, report, warnOnly: settings.warnOnly, requestId: session?.lastRequestId() })
}

function contextFor(prepared: Prepared, session: ApiSession | undefined, ports: Ports): Context<Effect, Scope> {
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
  }
}

function redactError(error: WatchkeeperError, redact: Redact): WatchkeeperError {
  const safe = redact(error.message)
  if (safe !== error.message) error.message = safe
  return error
}
