// Owns the one path that every surface takes: prepare → run → judge → report. It returns; it prints, fails and exits nothing.
import { type ApiSession, openApi, readOnly } from '../api/client.ts'
import { proxySecrets, readProxySettings } from '../api/proxy.ts'
import type { Cancellation } from '../api/requester.ts'
import type { Clock } from '../kernel/clock.ts'
import { toWatchkeeperError, type WatchkeeperError } from '../kernel/errors.ts'
import { basicPair, createRedact, type Redact, redactDeep } from '../kernel/secrets.ts'
import { version } from '../kernel/version.ts'
import { type Context, type Effect, pass, type Scope } from '../operations/operation.ts'
import { type Finished, finish, finishWithError } from './finished.ts'
import { type Prepared, prepare, type Request } from './prepare.ts'

/** The two seams of every test, and what else a surface brings along. */
export interface Ports {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Progress, one line each, already without secrets. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
  /** Reads a text file of the workspace; see Context. */
  readonly readFile: Context<Effect, Scope>['readFile']
}

export interface Invocation extends Request {
  /** Everything that must not appear in any output, beside the key secret. */
  readonly secrets: readonly string[]
}

export async function invoke(invocation: Invocation, ports: Ports): Promise<Finished & { readonly settings?: Prepared['settings'] }> {
  let session: ApiSession | undefined
  let redact = createRedact(knownSecrets(invocation))
  try {
    const prepared = await prepare(invocation)
    const { apiKeyId, apiKeySecret } = prepared.connection
    redact = createRedact([...knownSecrets(invocation), apiKeySecret, basicPair(apiKeyId, apiKeySecret)])
    const note = (line: string): void => ports.note(redact(line))
    session = openApi({ ...prepared.connection, userAgent: `watchkeeper/${version}` }, { ...ports, note })
    return { ...(await run(prepared, session, ports, redact)), settings: prepared.settings }
  } catch (thrown) {
    return finishWithError(invocation.operation, redactError(toWatchkeeperError(thrown), redact), session?.lastRequestId())
  } finally {
    await session?.close()
  }
}

const knownSecrets = ({ secrets, env }: Invocation): readonly string[] => [...secrets, ...proxySecrets(readProxySettings(env).settings)]

async function run(prepared: Prepared, session: ApiSession, ports: Ports, redact: Redact): Promise<Finished> {
  const { name, operation, input, settings } = prepared
  const raw = await operation.run(contextFor(prepared, session, ports), input)
  // Before anything is made of it: in a report, a secret would already be escaped and no longer be recognized.
  const result = redactDeep(raw, redact)
  const verdict = operation.judge?.(result, input) ?? pass
  const report = operation.report(result)
  return finish({ name, operation, input, result, verdict, report, warnOnly: settings.warnOnly, requestId: session.lastRequestId() })
}

function contextFor(
  { operation, organizationId, serviceId, connection }: Prepared,
  { api }: ApiSession,
  ports: Ports,
): Context<Effect, Scope> {
  return {
    api: operation.effect === 'read' ? readOnly(api) : api,
    organizationId,
    service: serviceId === undefined ? undefined : { organizationId, serviceId },
    profile: connection.profile,
    apiOrigin: connection.baseUrl.origin,
    clock: ports.clock,
    readFile: ports.readFile,
  }
}

function redactError(error: WatchkeeperError, redact: Redact): WatchkeeperError {
  const safe = redact(error.message)
  if (safe !== error.message) error.message = safe
  return error
}
