import { isShared, type SyncContent } from '../delivery/github/body.ts'
import { notify } from '../delivery/github/notify.ts'
import { systemClock } from '../platform/core/clock.ts'
import type { Diagnostic } from '../platform/core/diagnostics.ts'
import { errorKinds, InputError } from '../platform/core/errors.ts'
import { untrustedSentence } from '../platform/core/line.ts'
import { toEnvironmentName } from '../platform/core/names.ts'
import { createRedact } from '../platform/core/secrets.ts'
import type { Variables } from '../platform/core/variables.ts'
import type { Cancellation } from '../platform/http/cancellation.ts'
import { parseApiUrl } from '../platform/http/proxy.ts'
import type { ResultDocument } from '../platform/operation/result.ts'
import type { Block } from '../platform/report/blocks.ts'
import type { LinkTo } from '../platform/report/markdown.ts'
import { credentialNames } from './credentials.ts'
import { emptyVariable } from './read-input.ts'
import type { PublishableResult, PublishSettings } from './run.ts'

interface NotifyContext {
  readonly env: Variables
  readonly secrets: readonly string[]
  readonly startedAtMs: number
  readonly cancellation: Cancellation
  readonly note: (line: string) => void
  readonly linkTo: LinkTo
  readonly checkedOut: string | undefined
}

/** Load this file only for settings that ask for it: see `writesToGitHub`. */
export async function notifyGitHub(result: PublishableResult, context: NotifyContext): ReturnType<typeof notify> {
  const { comment = 'off', issue = 'off', commentLabel: label, prNumber, project, environment } = result.publishSettings
  const { env, secrets, cancellation, note } = context
  if (cancellation.stop.aborted) return { failures: [], change: 'unknown' }
  if (label === undefined && hasWrongLabelInput(result)) {
    const wanted = [...(comment === 'off' ? [] : ['comment']), ...(issue === 'off' ? [] : ['issue'])].join(' and ')
    const why = 'not written, because the label depends on an input that is not valid. To write it in this case, too, set comment-label.'
    return { failures: [`${wanted}: ${why}`], change: 'unknown' }
  }
  const { document, hasFailed, cause } = result
  const { operation, status, failureReason: reason } = document
  const outcome = await notify(
    {
      content: {
        operation,
        project,
        environment,
        status,
        hasFailed,
        hasChanges:
          document.changed === true || Number(document.toAdopt) > 0 || (Array.isArray(document.orphans) && document.orphans.length > 0),
        hasWritten: operation === 'apply' && document.changed === true,
        outcome: outcomeOf(result),
        reason,
        advice: adviceOn(document),
        cause,
        blocks: withCause(result),
        atMs: context.startedAtMs,
      },
      comment,
      issue,
      label,
      target: [environment, serviceOrServer(result.publishSettings)].filter((part) => part !== undefined).join(' / ') || undefined,
      checkedOut: context.checkedOut,
      prNumber,
      isTokenRejected: isAbout(result, ['github-token']),
      token: result.publishSettings.githubToken,
      redact: createRedact(secrets),
      linkTo: context.linkTo,
    },
    { env, deps: { clock: systemClock, random: Math.random, note, cancellation } },
  )
  // A user who cancels a run knows that it did not finish.
  return cancellation.stop.aborted ? { ...outcome, failures: [] } : outcome
}

/** A plan that is saved is applied by another job, which cannot say that it was canceled. */
function outcomeOf({ document, hasFailed, publishSettings }: PublishableResult): SyncContent['outcome'] {
  const { operation, changed, needsApply, newerFiles } = document
  if (newerFiles !== undefined) return 'refused'
  if (operation === 'apply') return !hasFailed ? 'applied' : changed === true ? 'in-part' : 'failed'
  if (operation !== 'plan' || !publishSettings.savesPlan) return undefined
  return hasFailed ? 'failed' : needsApply === true ? 'planned' : 'applied'
}

/** Another run helps where values were missing, or where time cures the cause. */
function adviceOn({ error }: ResultDocument): SyncContent['advice'] {
  if (error === undefined) return undefined
  const empty = error.diagnostics.flatMap(({ message, location }) => {
    const variable = emptyVariable(message)
    return variable === undefined ? [] : [{ variable, isSecret: credentialNames.includes(location.file) }]
  })
  return empty.length > 0 || errorKinds[error.kind].cure !== undefined ? { empty } : undefined
}

/** A list of problems only begins with their number, so the title says why the run did not complete. */
const withCause = ({ blocks, cause, error }: PublishableResult): readonly Block[] =>
  error === undefined || error.kind === 'canceled'
    ? blocks
    : blocks.flatMap((block): readonly Block[] => {
        if (block.kind === 'verdict') return [{ ...block, reason: untrustedSentence(cause) }]
        if (block.kind !== 'message') return [block]
        // The first line of the message is often the cause, and what to do is in the next one.
        const [first = '', ...rest] = block.text.split('\n')
        if (first.replace(/\.$/, '').toLowerCase() !== cause.toLowerCase()) return [block]
        return rest.length === 0 ? [] : [{ ...block, text: rest.join('\n') }]
      })

/** A comment with a label from a wrong input would never be updated. */
function hasWrongLabelInput(result: PublishableResult) {
  const { error, document, publishSettings } = result
  const isEnvironment = ({ location: { file } }: Diagnostic): boolean => file.startsWith('environments/')
  const own = [...(publishSettings.profile === 'hyperdx' ? ['api-url'] : []), ...(isShared(document.operation) ? ['project'] : [])]
  return (
    isAbout(result, ['operation', 'env', 'service-id', 'organization-id', ...own]) ||
    (error instanceof InputError && error.diagnostics.some(isEnvironment))
  )
}

/** The input, its variable, or a line of the config file. */
const isAbout = ({ error }: PublishableResult, inputs: readonly string[]) =>
  error instanceof InputError &&
  error.diagnostics.some(({ location: { file }, message }) =>
    inputs.some((name) => [name, toEnvironmentName(name)].includes(file) || message.startsWith(`${name}: `)),
  )

/** An address that is not valid may hold a password. */
function serviceOrServer({ serviceId, organizationId, profile, apiUrl = '' }: PublishSettings) {
  if (profile !== 'hyperdx') return serviceId ?? organizationId
  const address = parseApiUrl(apiUrl, true)
  return 'url' in address ? address.url.href : undefined
}
