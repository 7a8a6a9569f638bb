// The receivers of examples/receivers, against what the server's own transport sends for them: two alerts fire and are resolved.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod'
import type { Json } from './product.ts'

export interface Receiver {
  readonly key: string
  readonly declared: Json
  readonly body: string
  readonly headerNames: readonly string[]
}

export const receivers: readonly Receiver[] = readReceivers()

function readReceivers(): readonly Receiver[] {
  const example = parse(readFileSync(new URL('../../examples/receivers/receivers.yml', import.meta.url), 'utf8')) as Json
  return Object.entries(example.webhooks as Readonly<Record<string, Json>>).map(([key, declared]) => ({
    key,
    declared,
    body: String(declared.body),
    headerNames: Object.keys((declared.headersFrom ?? {}) as Json),
  }))
}

/** Values of the variables that the example names: all URLs lead to one server, with the key as the path. */
export function receiverSecrets(origin: string): Readonly<Record<string, string>> {
  const secrets = receivers.flatMap(({ key, declared }) => [
    [String(declared.urlFrom), `${origin}/${key}`],
    ...Object.values((declared.headersFrom ?? {}) as Json).map((variable) => [String(variable), `secret of ${String(variable)}`]),
  ])
  return Object.fromEntries(secrets)
}

// Names and texts that break a template which is careless with JSON.
const alertNames = { query: 'Errors of "checkout" \\ 100 %', search: "Denied: {braces} & 'quotes'" }

const message = 'Call "Ada": \\ and\na new line, <b>@here</b>'

/** `sourceName` has logs of the service `checkout`. The alerts fire until `endMs`, and are resolved after it. */
export function receiverDeclarations(sourceName: string, endMs: number): Json {
  const channels = receivers.map(({ declared }) => ({ type: 'webhook', webhook: declared.name }))
  const more = { threshold: 1, thresholdType: 'above', interval: '5m', channels, message, note: 'See the runbook.' }
  const where = `ServiceName = 'checkout' AND Timestamp < fromUnixTimestamp64Milli(${endMs})`
  return {
    webhooks: Object.fromEntries(receivers.map(({ key, declared }) => [key, declared])),
    savedSearches: {
      errors: { name: 'Errors', source: sourceName, select: 'Timestamp, ServiceName, Body, LogAttributes', where, whereLanguage: 'sql' },
    },
    alerts: {
      search: { name: alertNames.search, savedSearch: 'errors', ...more },
      query: { name: alertNames.query, query: { source: sourceName, select: [{ aggFn: 'count', where, whereLanguage: 'sql' }] }, ...more },
    },
  }
}

/** One request of the server. */
export interface Arrival {
  readonly receiver: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What is kept of a run: one message for each receiver, alert and state, and the templates that the server made them of. */
export interface RecordedArrivals {
  readonly templates: Readonly<Record<string, string>>
  readonly arrivals: readonly Arrival[]
}

export function recordArrivals(arrivals: readonly Arrival[]): RecordedArrivals {
  const firsts = [...Map.groupBy(arrivals, (one) => `${one.receiver} ${aboutOf(one)}`).entries()].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { templates: currentTemplates(), arrivals: firsts.flatMap(([, [first]]) => (first === undefined ? [] : [first])) }
}

export const currentTemplates = (): RecordedArrivals['templates'] => Object.fromEntries(receivers.map(({ key, body }) => [key, body]))

const aboutOf = ({ text }: Arrival): string =>
  `${text.includes('Denied') ? 'search' : 'query'} ${text.includes('🚨') ? 'firing' : 'resolved'}`

const title = z.string().regex(/^(?:🚨|✅) /u)
const text = z.string().regex(/Call "Ada": \\ and\na new line, <b>@here<\/b>/)
const link = z.url({ hostname: /^hyperdx\.example$/ })
const id = z.string().regex(/^[0-9a-f]{8,255}$/)

/** What a receiver documents, and what it must get. `state` is where it says whether the alert fires. */
interface Contract {
  /** https address of the document. */
  readonly source: string
  readonly schema: z.ZodType<Json>
  idOf?(body: never): string
  readonly states?: readonly [firing: string, resolved: string]
  stateOf?(body: never): string
}

interface PagerDutyEvent extends Json {
  readonly event_action: string
  readonly dedup_key: string
}

interface OpsgenieAlert extends Json {
  readonly alias: string
  readonly priority: string
}

interface IncidentIoEvent extends Json {
  readonly deduplication_key: string
  readonly status: string
}

interface ChatMessage extends Json {
  readonly thread: { readonly threadKey: string }
}

interface OwnMessage extends Json {
  readonly id: string
  readonly status: string
}

const contracts: Readonly<Record<string, Contract>> = {
  pagerduty: {
    source: 'https://developer.pagerduty.com/docs/events-api-v2/trigger-events/',
    schema: z.strictObject({
      event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
      dedup_key: id,
      payload: z.strictObject({
        summary: title.max(1024),
        source: z.string().min(1),
        severity: z.enum(['critical', 'error', 'warning', 'info']),
        custom_details: z.strictObject({ message: text }),
      }),
      links: z.array(z.strictObject({ href: link, text: z.string() })),
    }),
    idOf: ({ dedup_key }: PagerDutyEvent) => dedup_key,
    states: ['trigger', 'resolve'],
    stateOf: ({ event_action }: PagerDutyEvent) => event_action,
  },
  incidents: {
    source: 'https://api-docs.incident.io/tag/Alert-Events-V2',
    schema: z.strictObject({
      title,
      description: text,
      deduplication_key: id,
      status: z.enum(['firing', 'resolved']),
      source_url: link,
    }),
    idOf: ({ deduplication_key }: IncidentIoEvent) => deduplication_key,
    states: ['firing', 'resolved'],
    stateOf: ({ status }: IncidentIoEvent) => status,
  },
  opsgenie: {
    source: 'https://docs.opsgenie.com/docs/alert-api#create-alert',
    schema: z.strictObject({
      message: title.max(130),
      alias: id.max(512),
      description: text.max(15_000),
      priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
      source: z.string().max(100),
      details: z.strictObject({ state: z.enum(['ALERT', 'OK']), link }),
    }),
    idOf: ({ alias }: OpsgenieAlert) => alias,
    states: ['P2', 'P5'],
    stateOf: ({ priority }: OpsgenieAlert) => priority,
  },
  teams: {
    source: 'https://learn.microsoft.com/connectors/teams/#when-a-teams-webhook-request-is-received',
    schema: z.strictObject({
      type: z.literal('message'),
      attachments: z.tuple([
        z.strictObject({
          contentType: z.literal('application/vnd.microsoft.card.adaptive'),
          content: z.strictObject({
            $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
            type: z.literal('AdaptiveCard'),
            version: z.string(),
            body: z.tuple([textBlock(title), textBlock(text)]),
            actions: z.tuple([z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: link })]),
          }),
        }),
      ]),
    }),
  },
  'google-chat': {
    source: 'https://developers.google.com/workspace/chat/quickstart/webhooks',
    schema: z.strictObject({
      text: text.max(4096).regex(/^\*(?:🚨|✅) .*<http:\/\/hyperdx\.example\/\S+\|Open in ClickStack>$/su),
      thread: z.strictObject({ threadKey: id.max(4000) }),
    }),
    idOf: ({ thread }: ChatMessage) => thread.threadKey,
  },
  discord: {
    source: 'https://docs.discord.com/developers/resources/webhook#execute-webhook',
    schema: z.strictObject({
      content: title.max(2000),
      embeds: z.tuple([z.strictObject({ title: z.string().max(256), url: link, description: text.max(4096) })]),
      allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
    }),
  },
  receiver: {
    source: 'https://github.com/hyperdxio/hyperdx/blob/main/docs/alert-webhook-template-variables.md',
    schema: z.strictObject({
      id,
      status: z.enum(['firing', 'resolved']),
      title,
      text,
      link,
      startTime: z.int(),
      endTime: z.int(),
    }),
    idOf: (body: OwnMessage) => body.id,
    states: ['firing', 'resolved'],
    stateOf: ({ status }: OwnMessage) => status,
  },
}

function textBlock(content: z.ZodType) {
  return z.strictObject({ type: z.literal('TextBlock'), text: content, weight: z.literal('Bolder').optional(), wrap: z.literal(true) })
}

/** A line for everything that a receiver would not understand. */
export function arrivalProblems({ arrivals, templates }: RecordedArrivals): readonly string[] {
  return receivers.flatMap((receiver) => {
    const { key } = receiver
    const contract = contracts[key]
    if (contract === undefined) return [`${key}: nothing says what this receiver understands`]
    const own = arrivals.filter((one) => one.receiver === key)
    const about = new Map(own.map((one) => [aboutOf(one), one]))
    return [
      ...(templates[key] === receiver.body ? [] : [`${key}: the template has changed since`]),
      ...['query firing', 'query resolved', 'search firing', 'search resolved']
        .filter((one) => !about.has(one))
        .map((one) => `${key}: nothing arrived for ${one}`),
      ...own.flatMap((one) => problemsOf(one, receiver, contract)),
      ...pairProblems(key, about, contract),
    ]
  })
}

function problemsOf(arrival: Arrival, { key, headerNames, declared }: Receiver, { schema, source }: Contract): readonly string[] {
  const place = `${key}, ${aboutOf(arrival)}`
  const headers = headerNames.filter((name) => {
    const variable = ((declared.headersFrom ?? {}) as Json)[name]
    return arrival.headers[name.toLowerCase()] !== `secret of ${String(variable)}`
  })
  const problems = headers.map((name) => `${place}: the header ${name} is ${arrival.headers[name.toLowerCase()]}`)
  const body = parseJson(arrival.text)
  if (body === undefined) return [...problems, `${place}: is not JSON: ${arrival.text}`]
  const result = schema.safeParse(body)
  const issues = result.error?.issues ?? []
  return [...problems, ...issues.map(({ path, message: why }) => `${place}: ${path.join('.')}: ${why} (${source})`)]
}

/** The two messages of an alert have one id, and another alert has another. */
function pairProblems(key: string, about: ReadonlyMap<string, Arrival>, { idOf, states, stateOf }: Contract): readonly string[] {
  const bodies = new Map([...about].map(([name, one]) => [name, parseJson(one.text) as never]))
  const read = (of: ((body: never) => string) | undefined, name: string) =>
    bodies.get(name) === undefined ? undefined : of?.(bodies.get(name) as never)
  const [first, second] = ['query', 'search'].map((alert) => ({
    firing: read(idOf, `${alert} firing`),
    resolved: read(idOf, `${alert} resolved`),
    states: ['firing', 'resolved'].map((state) => read(stateOf, `${alert} ${state}`)),
  }))
  const problems: string[] = []
  for (const one of [first, second]) {
    if (one?.firing !== one?.resolved) problems.push(`${key}: another id when it is resolved: ${one?.firing} / ${one?.resolved}`)
    if (states !== undefined && `${one?.states}` !== `${states}`) problems.push(`${key}: the states are ${one?.states}`)
  }
  if (idOf !== undefined && first?.firing === second?.firing) problems.push(`${key}: two alerts have one id`)
  return problems
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}
