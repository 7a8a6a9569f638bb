import * as z from 'zod'
import { createSalt } from '../../platform/core/digest.ts'
import { isEmpty, isMapping, mapItems, withoutUndefined } from '../../platform/core/keys.ts'
import { secretPrefix } from '../../platform/core/names.ts'
import { minSecretLength } from '../../platform/core/secrets.ts'
import { quote } from '../../platform/core/text.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { withoutEmpty } from '../compare.ts'
import { adoption, nameDescription, refuseField } from '../fields.ts'
import {
  type Body,
  type DeclaredObject,
  type FileContext,
  type Kind,
  type KindIssue,
  listOf,
  type ResolveContext,
  type ResolvedDeclaration,
  type SecretUse,
  type StoredObject,
} from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { readTextMarker, readTextSecrets, textMarkers, withoutTextMarker, withTextSecrets } from '../marker.ts'
import { describeSecrets, digestOfSecret, HiddenValue, plainText, SecretValue, StoredSecret, secretsIn, secretVariable } from '../secret.ts'
import { toWebhookBody, webhookCollection } from './webhook-wire.ts'

/** The services that the API can write. The cloud lists more. */
const webhookServices = ['slack', 'incidentio', 'generic'] as const

const variable = z.string().regex(secretVariable)

const variableForm = 'the name of a variable that begins with WEBHOOK_, in capital letters, digits and underscores'

const variables = (maxLength: number) =>
  z
    .record(z.string().min(1).max(maxLength), variable.meta({ accepts: variableForm }))
    .refine((map) => Object.keys(map).length <= 100, { message: 'has more than 100 entries' })

/** A field whose value would be a secret in a file. The message says what to write instead, and never shows the value. */
const neverInFile = (from: string, example: string) =>
  z
    .unknown()
    .refine(() => false, {
      message: `is a secret and must not be in a file. Store it in a variable of the process and write its name, such as ${from}: ${example}. Then change the secret, because the file has it`,
      params: { isComplete: true },
    })
    .meta({ description: `Not allowed: use ${from}.`, secret: true })
    .optional()

export const declaredWebhook = z.strictObject({
  name: z.string().trim().min(1).max(1024).meta({ description: nameDescription }),
  service: z.enum(webhookServices).meta({ description: 'Who receives the messages.' }),
  urlFrom: variable.meta({
    description: 'Variable of the process that has the URL, which is a secret.',
    accepts: variableForm,
    secret: true,
  }),
  headersFrom: variables(256).optional().meta({ description: 'Variables of the process that have the values of headers, by header.' }),
  queryParamsFrom: variables(1024)
    .optional()
    .meta({ description: 'Variables of the process that have the values of query parameters, by parameter.' }),
  // 2,048 characters of the API, without the markers of this tool.
  description: z.string().max(1600).optional().meta({ description: 'Text for people.' }),
  body: z
    .string()
    .max(16 * 1024)
    .optional()
    .meta({ description: 'Template of the message, such as {"text": "{{title}}"}. It is stored as it is.' }),
  url: neverInFile('urlFrom', 'WEBHOOK_ONCALL_URL'),
  headers: neverInFile('headersFrom', '{ Authorization: WEBHOOK_ONCALL_TOKEN }'),
  queryParams: neverInFile('queryParamsFrom', '{ key: WEBHOOK_ONCALL_KEY }'),
  ...adoption,
})

export type DeclaredWebhook = z.output<typeof declaredWebhook>

/** The server refuses these fields for Slack. */
export const webhookInFile = declaredWebhook.superRefine((webhook, context) => {
  if (webhook.service !== 'slack') return
  for (const field of ['headersFrom', 'queryParamsFrom', 'body'] as const)
    if (webhook[field] !== undefined) refuseField(context, [field], 'is not supported by a webhook of the service slack')
})

const webhookBody = z.strictObject({
  name: z.string(),
  service: z.string(),
  url: z.unknown(),
  headers: z.unknown(),
  queryParams: z.unknown(),
  description: z.string().optional(),
  body: z.unknown(),
})

const secretFields: readonly string[] = ['url', 'headers', 'queryParams']

/** Fields that the API does not answer. For incident.io, the body is one of them. */
const hiddenFields = (service: unknown) => (service === 'incidentio' ? ['headers', 'queryParams', 'body'] : ['headers', 'queryParams'])

/** The fields of a file that pull cannot write. What a webhook without our marker has is unknown, and only a body would be lost. */
function hiddenInFile({ service, description }: StoredObject) {
  if (typeof description !== 'string' || readTextMarker(description) === undefined)
    return service === 'incidentio' ? ['adopt: true', 'body'] : []
  const digests = readTextSecrets(description)?.digests ?? {}
  return Object.keys(digests).map((field) => (field === 'body' ? field : `${field}From`))
}

function resolveWebhook({ value }: DeclaredObject<DeclaredWebhook>, { secret }: ResolveContext): ResolvedDeclaration {
  const { name, service, urlFrom, headersFrom, queryParamsFrom, description, body } = value
  const toSecret = (variable: string) => new SecretValue(variable, secret(variable))
  const [headers, queryParams] = [headersFrom, queryParamsFrom].map((names) =>
    isEmpty(names) ? undefined : mapItems(names, (one) => toSecret(String(one))),
  )
  return { body: withoutUndefined({ name, service, url: toSecret(urlFrom), headers, queryParams, description, body }), diagnostics: [] }
}

function toBody(stored: StoredObject): Body {
  const shown = toWebhookBody(stored)
  const secrets = readTextSecrets(shown.description)
  if (secrets === undefined) return shown
  const hidden = Object.entries(secrets.digests).map(([field, digest]) => [field, new HiddenValue(secrets.salt, digest)] as const)
  return { ...Object.fromEntries(hidden), ...shown }
}

const isKnownToRun = (value: unknown) => secretsIn(value).every(({ isSet }) => isSet)

/** Repeats what this run does not know: the stored URL, and headers that the server keeps. */
function withStoredIds(desired: Body, stored: Body): Body {
  const unknown = secretFields.filter((field) => !isKnownToRun(desired[field]))
  const kept = Object.fromEntries(unknown.flatMap((field) => (stored[field] === undefined ? [] : [[field, stored[field]]])))
  return { ...Object.fromEntries(Object.entries(desired).filter(([field]) => !unknown.includes(field))), ...kept }
}

const isEqual = (stored: unknown, declared: unknown) => {
  if (stored === declared) return true
  if (stored instanceof HiddenValue) return declared !== undefined && stored.equals(declared)
  const isKnownText = declared instanceof StoredSecret || (declared instanceof SecretValue && declared.isSet)
  return stored instanceof StoredSecret && isKnownText && stored.equals(declared.reveal())
}

/** Replaces stored values by the declared values that equal them, and all other secrets by a fixed text. */
const comparedPart = (stored: Body, declared: Body): Body =>
  Object.fromEntries(
    Object.entries(stored).map(([field, value]) => {
      if (isEqual(value, declared[field])) return [field, declared[field]]
      return [field, value instanceof StoredSecret || value instanceof HiddenValue ? 'another value' : value]
    }),
  )

function completeMarker(body: Body): Body {
  const text = body.description
  // A webhook that loses its marker loses the digests, too.
  if (typeof text !== 'string' || readTextMarker(text) === undefined) return body
  const given = hiddenFields(body.service).filter((field) => body[field] !== undefined && !(isMapping(body[field]) && isEmpty(body[field])))
  const kept = given.map((field) => body[field]).find((value) => value instanceof HiddenValue)
  const salt = kept instanceof HiddenValue ? kept.salt : createSalt()
  const digestFor = (value: unknown) => (value instanceof HiddenValue ? value.digest : digestOfSecret(plainText(value), salt))
  const isSlack = body.service === 'slack'
  const digests = isSlack ? {} : Object.fromEntries(given.map((field) => [field, digestFor(body[field])]))
  // The server refuses them for Slack, also in order to clear them. It drops them when the service changes.
  const { headers: _, queryParams: __, body: ___, ...ofSlack } = body
  return { ...(isSlack ? ofSlack : body), description: withTextSecrets(text, { salt, digests }) }
}

function check(desired: Body, stored: StoredObject | undefined, use: SecretUse): readonly KindIssue[] {
  const storedBody = stored === undefined ? undefined : toBody(stored)
  const all = secretFields.flatMap((field) => secretsIn(desired[field]))
  const short = all.filter((one) => one.isSet && one.reveal().length < minSecretLength)
  const { url } = desired
  const isAddress = !(url instanceof SecretValue) || !url.isSet || /^https?:$/.test(URL.parse(url.reveal())?.protocol ?? '')
  const unset = [...new Set(all.filter(({ isSet }) => !isSet).map(({ variable: name }) => name))]
  const clearsBody = use.isAdopted && hiddenFields(storedBody?.service).includes('body') && desired.body === undefined
  return [
    ...short.map((one) => error(`the value of ${one.variable} has fewer than ${minSecretLength} characters, so the log could not mask it`)),
    ...(isAddress ? [] : [error(`the value of ${url.variable} is not an http or https address`)]),
    ...(clearsBody
      ? [error('the API does not show the body of a webhook for incident.io, and adopting it without one would clear it; add body')]
      : []),
    ...(desired.body instanceof HiddenValue
      ? [error('the API does not show its body, and the update that removes the marker would clear it; delete the marker in the web app')]
      : []),
    ...(unset.length === 0 ? [] : [reviewUnset(unset, desired, storedBody, use)]),
  ]
}

const error = (message: string): KindIssue => ({ message, isOfRun: true })

function reviewUnset(names: readonly string[], desired: Body, stored: Body | undefined, { isWrite, resends }: SecretUse): KindIssue {
  const list = names.join(', ')
  const [is, it] = names.length === 1 ? ['is', 'it'] : ['are', 'them']
  const notSet = `${list} ${is} not set`
  if (stored === undefined && !isWrite) return { rule: 'secret-not-compared', message: `${notSet}; apply needs ${it}` }
  if (stored === undefined || resends) return error(`${notSet}, so the secret cannot be sent; set ${list}`)
  const moves = stored.service !== desired.service || (isKnownToRun(desired.url) && !isEqual(stored.url, desired.url))
  if (moves && !isKnownToRun([desired.headers, desired.queryParams]))
    return error(`${notSet}, and the server drops headers and query parameters when the URL or the service changes; set ${list}`)
  return { rule: 'secret-not-compared', message: `secret not compared, because ${notSet}` }
}

const mention = /(?:^|\s)@webhook-([\w.{}@-]+)/g

/** How an alert uses the webhook; undefined where it does not. The server finds a mention by the id or by the beginning of the name. */
function findUse({ id, name = '' }: StoredObject, alert: Body) {
  const { channel, channels, message } = alert
  const all = [channel, ...listOf(channels)]
  if (all.some((one) => ownValue(one, 'webhookId') === id)) return 'sends its notifications to it'
  const mentioned = typeof message === 'string' ? [...message.matchAll(mention)].map(([, target = '']) => target) : []
  return mentioned.some((target) => target === id || (name ?? '').startsWith(target)) ? 'mentions it in its message' : undefined
}

/** Secrets are the variables that the file names. A new file gets the name of one for the URL. */
function toFile(body: Body, { key, spelled }: FileContext): Body {
  const inFile = (field: keyof DeclaredWebhook): unknown => ownValue(spelled, field)
  return withoutUndefined({
    name: body.name,
    service: body.service,
    urlFrom: inFile('urlFrom') ?? `${secretPrefix}${key.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_URL`,
    headersFrom: inFile('headersFrom'),
    queryParamsFrom: inFile('queryParamsFrom'),
    description: withoutTextMarker(body.description).trimEnd() || undefined,
    body: body.body instanceof HiddenValue ? inFile('body') : body.body,
  })
}

export const webhookKind: Kind<DeclaredObject<DeclaredWebhook>> = {
  name: 'webhook',
  label: kindLabels.webhook,
  collection: webhookCollection,
  schema: webhookBody,
  referredToAs: 'webhook',
  notInFiles: 'its URL, headers and query parameters',
  // Left out, a description or a body is cleared; headers and query parameters are kept.
  clearsBy: { description: undefined, body: undefined, headers: {}, queryParams: {} },
  resolve: resolveWebhook,
  summarize: ({ service, url }) => `${String(service)}, URL from ${url instanceof SecretValue ? url.variable : 'the service'}`,
  explainUndeclarable: ({ service }) =>
    webhookServices.some((known) => known === service)
      ? undefined
      : `files cannot declare a webhook of the service ${quote(String(service))}`,
  explainHidden(webhook) {
    const fields = hiddenInFile(webhook)
    return fields.length === 0
      ? undefined
      : `the API hides a part of it; to manage it, write it into a file by hand, with ${fields.join(' and ')}`
  },
  toBody,
  ...textMarkers('description'),
  canonical: (body) => withoutEmpty(describeSecrets({ ...body, description: withoutTextMarker(body.description).trimEnd() })),
  withStoredIds,
  comparedPart,
  completeMarker,
  check,
  secretFields,
  basePart: (body) =>
    Object.fromEntries(Object.entries(body).filter(([field]) => ![...secretFields, ...hiddenFields(body.service)].includes(field))),
  findUse,
  file: { name: 'webhooks', isOnRequest: true },
  toFile,
}

// The names in the template of a webhook's body, which is Handlebars. The server makes an empty text of a variable that it does not have.

/** What HyperDX 2.36 knows (packages/api/src/tasks/checkAlerts/transports/generic.ts). */
export const bodyVariables = ['title', 'body', 'link', 'state', 'startTime', 'endTime', 'eventId'] as const

/** What only newer servers know (hyperdx#3057 of September 2026, and docs/alert-webhook-template-variables.md there). */
export const newerBodyVariables = [
  'alertId',
  'status',
  'alertType',
  'comparator',
  'threshold',
  'thresholdMax',
  'value',
  'groupKey',
  'sourceQuery',
  'teamId',
  'note',
  'startTimeISO',
  'endTimeISO',
] as const

/** `eq` is the server's, the others are those of Handlebars. */
export const bodyHelpers = ['eq', 'if', 'unless', 'each', 'with', 'lookup', 'log'] as const

/** A comment, or an expression, whose texts in quotes may have braces. `\{{` is a text. */
const mustache = /(?<!(?<!\\)\\)\{\{\{?~?(?:!--.*?--|!.*?|((?:"[^"]*"|'[^']*'|[^"'{}])*?))~?\}\}/gs

const token = /"[^"]*"|'[^']*'|\[[^\]]*\]|[()=|]|[^\s()=|"']+/g

const literal = /^(?:["']|-?\d|(?:true|false|null|undefined)$)/

export function namesInBody(template: string) {
  const names = { variables: new Set<string>(), helpers: new Set<string>() }
  for (const [, inner = ''] of template.matchAll(mustache)) {
    const expression = inner.trim().replace(/^(?:[#^&]\s*)?(?:else(?=\s|$))?/, '')
    if (!/^[/>]/.test(expression)) collect(expression.match(token) ?? [], names)
  }
  return names
}

function collect(tokens: readonly string[], { variables, helpers }: { variables: Set<string>; helpers: Set<string> }) {
  for (const [i, one] of tokens.entries()) {
    const [before, after] = [tokens[i - 1], tokens[i + 1]]
    if (one === 'as' && after === '|') return
    if (/^[()=|]$/.test(one) || literal.test(one) || after === '=') continue
    const isFirst = before === undefined || before === '('
    if (isFirst && (before === '(' || (after !== undefined && after !== ')'))) helpers.add(one)
    else addVariable(one, variables)
  }
}

/** `title.length` and `this.title` are about `title`. */
function addVariable(path: string, variables: Set<string>) {
  const [name = ''] = path.replace(/^(?:(?:this|\.\.?)[./])+/, '').split(/[./]/)
  if (!/^(?:this|@.*|)$/.test(name)) variables.add(name.replace(/^\[|\]$/g, ''))
}
