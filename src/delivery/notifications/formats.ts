import { slackTrusted, slackUntrusted, terminalUntrusted } from '../../platform/core/escape.ts'
import { type Inline, type Line, toPlainText } from '../../platform/core/line.ts'
import { statusLooks } from '../../platform/report/blocks.ts'
import { firstLineOf, type Message, originLineOf } from './message.ts'

export const formats = { slack: toSlack, teams: toTeams, json: toJson } as const satisfies Record<string, (message: Message) => object>

/** Compatible receivers also understand mrkdwn. */
function toSlack(message: Message) {
  const { status, milestones, details, footer } = message
  const links = pagesOf(message).map(({ title, url }) => `<${slackTrusted(url)}|${title}>`)
  const origin = [slackLine(originLineOf(message)), ...links].filter((part) => part !== '')
  const lines = [
    `${statusLooks[status].sign} ${slackLine(firstLineOf(message))}`,
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
  if (part.kind === 'untrusted') return slackUntrusted(part.text, part.maxLength)
  return part.strong ? `*${slackTrusted(part.text)}*` : slackTrusted(part.text)
}

/** Teams workflows expect this envelope. A TextRun knows no Markdown, no mentions and no links. */
function toTeams(message: Message) {
  const { status, milestones, details, footer } = message
  const [origin, pages] = [originLineOf(message), pagesOf(message)]
  const body = [
    textBlock([{ kind: 'trusted', text: `${statusLooks[status].sign} ` }, ...firstLineOf(message)]),
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
