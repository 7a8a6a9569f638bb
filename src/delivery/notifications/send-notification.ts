import { formatLocation } from '../../platform/core/diagnostics.ts'
import { codeOf, slackTrusted, slackUntrusted, terminalUntrusted } from '../../platform/core/escape.ts'
import { type Inline, type Line, toPlainText } from '../../platform/core/line.ts'
import { createRedact, type Redact, redactDeep } from '../../platform/core/secrets.ts'
import { quote } from '../../platform/core/text.ts'
import type { Variables } from '../../platform/core/variables.ts'
import { describeFailedRequest, type Failure, failureOfStatus } from '../../platform/http/failure.ts'
import { isReadableOnTheWay, type ProxySettings, readProxySettings } from '../../platform/http/proxy.ts'
import {
  inSeconds,
  type RetryPolicy,
  retryPolicyFor,
  type SendDeps,
  sendOnce,
  sendWithRetries,
  startDeadline,
} from '../../platform/http/send.ts'
import { createTransport } from '../../platform/http/transport.ts'
import { statusStyles } from '../../platform/report/blocks.ts'
import { firstLineOf, type Message, originLineOf } from './message.ts'

interface NotificationOptions {
  readonly url: string
  readonly format: keyof typeof formats
  readonly message: Message
  readonly secrets: readonly string[]
}

/** Changes no verdict. Resolves to one line when it was not delivered, with the reason. */
export async function sendNotification(
  { url: address, format, message, secrets }: NotificationOptions,
  env: Variables,
  deps: SendDeps,
): Promise<string | undefined> {
  const url = new URL(address)
  const redact = createRedact(secrets)
  const { settings: proxy, diagnostics } = readProxySettings(env)
  const [fault] = diagnostics
  if (fault !== undefined) return `notification: not sent: ${formatLocation(fault.location)} ${fault.message}.`
  if (isReadableOnTheWay(url, proxy))
    return 'notification: not sent: a proxy could read it, because the URL is http; add its host to NO_PROXY.'
  // Redacted before it is escaped, which would hide a secret.
  const body = JSON.stringify(formats[format](redactDeep(message, redact)))
  const failure = await deliver({ url, body, proxy, redact }, deps)
  if (failure === undefined) deps.note(`notification: sent to ${url.host}`)
  return failure === undefined ? undefined : `notification: not delivered: ${failure}`
}

const requestMs = 10_000

const totalMs = 30_000

/** Sends again only what certainly did not arrive, so that no message arrives twice. Resolves to the reason when it was not accepted. */
async function deliver(
  { url, body, proxy, redact }: { readonly url: URL; readonly body: string; readonly proxy: ProxySettings; readonly redact: Redact },
  deps: SendDeps,
) {
  const { clock, cancellation } = deps
  const transport = createTransport(url, proxy, clock)
  const remainingMs = startDeadline(clock, totalMs)
  const describe = (failure: Failure): string => redact(explainFailure(failure, url))

  async function tryOnce() {
    const outcome = await sendOnce(transport, {
      method: 'POST',
      url,
      body,
      authorization: undefined,
      timeoutMs: Math.min(requestMs, Math.max(1, Math.floor(remainingMs()))),
      signal: cancellation.abort,
    })
    if ('failure' in outcome) return outcome
    const { answer } = outcome
    return answer.status < 300
      ? { value: undefined }
      : {
          failure: failureOfStatus(
            answer,
            quote(redact(answer.text.slice(0, 2000)).replace(/\s+/g, ' ').trim(), 100).replace(/\.$/, ''),
            clock.now(),
          ),
        }
  }

  const policyOf = (failure: Failure): RetryPolicy => (failure.cause === 'rate-limit' ? 'attempts' : retryPolicyFor('POST', failure))
  const rules = { maxAttempts: 3, remainingMs, policyOf, describe: (failure: Failure) => `notification: ${describe(failure)}` }
  try {
    const end = await sendWithRetries(tryOnce, rules, deps)
    if ('value' in end) return undefined
    return `${describe(end.failure)}.${end.isOutcomeUnknown ? ' The message may have been delivered.' : ''}`
  } finally {
    await transport.close()
  }
}

function explainFailure(failure: Failure, { host }: URL) {
  const { cause, writeOutcome, waitMs } = failure
  const answer = describeFailedRequest(failure, host)
  if (cause === 'redirect') return `${answer}. Redirects are not followed. Check notify-url`
  if (cause === 'rate-limit') return `${answer}${waitMs === undefined ? '' : `. It asks to wait ${inSeconds(waitMs)}`}`
  return `${answer}${writeOutcome === 'refused' ? '. Check notify-url and notify-format' : ''}`
}

export const formats = { slack: toSlack, teams: toTeams, json: toJson } as const satisfies Record<string, (message: Message) => object>

/** Compatible receivers also understand mrkdwn. */
function toSlack(message: Message) {
  const { status, milestones, details, footer } = message
  const links = pagesOf(message).map(({ title, url }) => `<${slackTrusted(url)}|${title}>`)
  const origin = [slackLine(originLineOf(message)), ...links].filter((part) => part !== '')
  const lines = [
    `${statusStyles[status].sign} ${slackLine(firstLineOf(message))}`,
    ...[...milestones, ...details].map((line) => `• ${slackLine(line)}`),
    ...(origin.length === 0 ? [] : [origin.join(' · ')]),
    slackLine(footer),
  ]
  return { text: lines.join('\n'), unfurl_links: false, unfurl_media: false }
}

const pagesOf = ({ runUrl, issueUrl }: Message) =>
  Object.entries({ 'View the run': runUrl, 'View the issue': issueUrl }).flatMap(([title, url]) =>
    url === undefined ? [] : [{ title, url }],
  )

const slackLine = (line: Line) =>
  line
    .map(slackPart)
    .reduce(
      (text, part) =>
        (part.startsWith('`') && /[\p{L}\p{N}_`]$/u.test(text)) || (text.endsWith('`') && /^[\p{L}\p{N}_]/u.test(part))
          ? `${text} ${part}`
          : `${text}${part}`,
      '',
    )

function slackPart(part: Inline) {
  if (part.kind === 'untrusted') return slackUntrusted(codeOf(part), part.maxLength)
  return part.strong ? `*${slackTrusted(part.text)}*` : slackTrusted(part.text)
}

/** Teams workflows expect this envelope. A TextRun knows no Markdown, no mentions and no links. */
function toTeams(message: Message) {
  const { status, milestones, details, footer } = message
  const [origin, pages] = [originLineOf(message), pagesOf(message)]
  const body = [
    textBlock([{ kind: 'trusted', text: `${statusStyles[status].sign} ` }, ...firstLineOf(message)]),
    ...[...milestones, ...details].map((line) => textBlock([{ kind: 'trusted', text: '• ' }, ...line], {}, 'Small')),
    ...(origin.length === 0 ? [] : [textBlock(origin)]),
    textBlock(footer, { isSubtle: true, size: 'Small' }, origin.length === 0 ? 'Default' : 'Small'),
  ]
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body,
    ...(pages.length > 0 && { actions: pages.map((page) => ({ type: 'Action.OpenUrl', ...page })) }),
  }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }] }
}

/** `style` are properties of each TextRun. */
const textBlock = (line: Line, style: object = {}, spacing = 'Default') => ({
  type: 'RichTextBlock',
  spacing,
  inlines: line.map((part) => ({ type: 'TextRun', ...style, ...teamsPart(part) })),
})

function teamsPart(part: Inline) {
  if (part.kind === 'untrusted') return { text: terminalUntrusted(part.text, part.maxLength), fontType: 'Monospace' }
  return { text: part.text, ...(part.strong && { weight: 'Bolder' }) }
}

function toJson({ title, status, change, sentence, milestones, details, ...message }: Message) {
  const { operation, project, environment, organizationId, serviceId, serverUrl, repository, workflow, runUrl, issueUrl } = message
  return {
    operation,
    title: title.text,
    status,
    change: change === 'failing' || change === 'passing' ? change : undefined,
    message: toPlainText(sentence),
    milestones: milestones.map(toPlainText),
    details: details.map(toPlainText),
    project,
    environment,
    organizationId,
    serviceId,
    serverUrl,
    repository,
    workflow,
    runUrl,
    issueUrl,
  }
}
