import * as z from 'zod'
import { createSalt } from '../../platform/core/digest.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { secretPrefix } from '../../platform/core/names.ts'
import { minSecretLength } from '../../platform/core/secrets.ts'
import { quote } from '../../platform/core/text.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { withoutEmpty } from '../compare.ts'
import { adoption, nameDescription } from '../fields.ts'
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
import {
  describeSecrets,
  digestOfSecret,
  HiddenValue,
  plainText,
  type ReadSecret,
  SecretValue,
  StoredSecret,
  secretsIn,
  secretVariable,
} from '../secret.ts'
import { toWebhookBody, webhookCollection } from './webhook-wire.ts'

/** The services that the API can write. The cloud lists more. */
const webhookServices = ['slack', 'incidentio', 'generic'] as const

type Service = (typeof webhookServices)[number]

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

/** 2,048 characters of the API, without the markers of this tool. */
const maxDescriptionLength = 1600

export const declaredWebhook = z.strictObject({
  name: z.string().trim().min(1).max(1024).meta({ description: nameDescription }),
  service: z.enum(webhookServices).meta({ description: 'Who receives the messages.' }),
  urlFrom: variable.meta({ description: 'Variable of the process that has the URL, which is a secret.', accepts: variableForm }),
  headersFrom: variables(256).optional().meta({ description: 'Variables of the process that have the values of headers, by header.' }),
  queryParamsFrom: variables(1024)
    .optional()
    .meta({ description: 'Variables of the process that have the values of query parameters, by parameter.' }),
  description: z.string().max(maxDescriptionLength).optional().meta({ description: 'Text for people.' }),
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

const slackFields = ['headersFrom', 'queryParamsFrom', 'body'] as const

/** The server refuses these fields for Slack. */
export const webhookInFile = declaredWebhook.superRefine((webhook, context) => {
  if (webhook.service !== 'slack') return
  for (const field of slackFields)
    if (webhook[field] !== undefined)
      context.addIssue({
        code: 'custom',
        path: [field],
        message: 'is not supported by a webhook of the service slack',
        params: { isComplete: true },
      })
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
const hiddenFields = (service: unknown): readonly string[] =>
  service === 'incidentio' ? ['headers', 'queryParams', 'body'] : ['headers', 'queryParams']

/** The fields of a file that pull cannot write. What a webhook without our marker has is unknown, and only a body would be lost. */
function hiddenInFile({ service, description }: StoredObject): readonly string[] {
  if (typeof description !== 'string' || readTextMarker(description) === undefined)
    return service === 'incidentio' ? ['adopt: true', 'body'] : []
  const digests = readTextSecrets(description)?.digests ?? {}
  return Object.keys(digests).map((field) => (field === 'body' ? field : `${field}From`))
}

const toSecrets = (names: Readonly<Record<string, string>>, secret: ReadSecret): Body =>
  Object.fromEntries(Object.entries(names).map(([field, name]) => [field, new SecretValue(name, secret(name))]))

/** Translates a declared webhook into the API's names, with the secrets that this run knows. */
function resolveWebhook({ value }: DeclaredObject<DeclaredWebhook>, { secret }: Pick<ResolveContext, 'secret'>): ResolvedDeclaration {
  const { name, service, urlFrom, headersFrom, queryParamsFrom, description, body } = value
  const fields = {
    name,
    service,
    url: new SecretValue(urlFrom, secret(urlFrom)),
    ...(headersFrom && Object.keys(headersFrom).length > 0 && { headers: toSecrets(headersFrom, secret) }),
    ...(queryParamsFrom && Object.keys(queryParamsFrom).length > 0 && { queryParams: toSecrets(queryParamsFrom, secret) }),
    ...(description !== undefined && { description }),
    ...(body !== undefined && { body }),
  }
  return { body: fields, diagnostics: [] }
}

/** The stored webhook, with a hidden value for each field whose digest is in the marker. */
function toBody(stored: StoredObject): Body {
  const shown = toWebhookBody(stored)
  const secrets = readTextSecrets(shown.description)
  if (secrets === undefined) return shown
  const hidden = Object.entries(secrets.digests).map(([field, digest]) => [field, new HiddenValue(secrets.salt, digest)] as const)
  return { ...Object.fromEntries(hidden), ...shown }
}

const isKnownToRun = (value: unknown): boolean => secretsIn(value).every(({ isSet }) => isSet)

/** Repeats what this run does not know: the stored URL, and headers that the server keeps. */
function withStoredIds(desired: Body, stored: Body): Body {
  const unknown = secretFields.filter((field) => !isKnownToRun(desired[field]))
  const kept = Object.fromEntries(unknown.flatMap((field) => (stored[field] === undefined ? [] : [[field, stored[field]]])))
  return { ...Object.fromEntries(Object.entries(desired).filter(([field]) => !unknown.includes(field))), ...kept }
}

const isEqual = (stored: unknown, declared: unknown): boolean => {
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

/** Adds the digests of what the API will not answer. */
function completeMarker(body: Body): Body {
  const text = body.description
  // A webhook that loses its marker loses the digests, too.
  if (typeof text !== 'string' || readTextMarker(text) === undefined) return body
  const given = hiddenFields(body.service).filter((field) => body[field] !== undefined && !(isMapping(body[field]) && isEmpty(body[field])))
  const kept = given.map((field) => body[field]).find((value) => value instanceof HiddenValue)
  const salt = kept instanceof HiddenValue ? kept.salt : createSalt()
  const digestFor = (value: unknown): string => (value instanceof HiddenValue ? value.digest : digestOfSecret(plainText(value), salt))
  // The server refuses them for Slack, also in order to clear them. It drops them when the service changes.
  const { headers: _, queryParams: __, body: ___, ...ofSlack } = body
  if (body.service === 'slack') return { ...ofSlack, description: withTextSecrets(text, { salt, digests: {} }) }
  return {
    ...body,
    description: withTextSecrets(text, { salt, digests: Object.fromEntries(given.map((field) => [field, digestFor(body[field])])) }),
  }
}

/** What this run cannot do without a secret. */
function check(desired: Body, stored: StoredObject | undefined, use: SecretUse): readonly KindIssue[] {
  const storedBody = stored === undefined ? undefined : toBody(stored)
  const all = secretFields.flatMap((field) => secretsIn(desired[field]))
  const short = all.filter((one) => one.isSet && one.reveal().length < minSecretLength)
  const { url } = desired
  const isAddress = !(url instanceof SecretValue) || !url.isSet || /^https?:$/.test(URL.parse(url.reveal())?.protocol ?? '')
  const unset = [...new Set(all.filter(({ isSet }) => !isSet).map(({ variable: name }) => name))]
  const clearsBody = use.isAdopted && hiddenFields(storedBody?.service).includes('body') && desired.body === undefined
  return [
    ...short.map(({ variable: name }) =>
      error(`the value of ${name} has fewer than ${minSecretLength} characters, so the log could not mask it`),
    ),
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

const error = (message: string): KindIssue => ({ message })

function reviewUnset(names: readonly string[], desired: Body, stored: Body | undefined, { isWrite, resends }: SecretUse): KindIssue {
  const list = names.join(', ')
  const notSet = `${list} ${names.length === 1 ? 'is' : 'are'} not set`
  if (stored === undefined && !isWrite)
    return { rule: 'secret-not-compared', message: `${notSet}; apply needs ${names.length === 1 ? 'it' : 'them'}` }
  if (stored === undefined || resends) return error(`${notSet}, so the secret cannot be sent; set ${list}`)
  const moves = stored.service !== desired.service || (isKnownToRun(desired.url) && !isEqual(stored.url, desired.url))
  if (moves && !isKnownToRun([desired.headers, desired.queryParams]))
    return error(`${notSet}, and the server drops headers and query parameters when the URL or the service changes; set ${list}`)
  return { rule: 'secret-not-compared', message: `secret not compared, because ${notSet}` }
}

const mention = /(?:^|\s)@webhook-([\w.{}@-]+)/g

/** How an alert uses the webhook; undefined where it does not. The server finds a mention by the id or by the beginning of the name. */
function findUse({ id, name = '' }: StoredObject, alert: Body): string | undefined {
  const { channel, channels, message } = alert
  const all = [channel, ...listOf(channels)]
  if (all.some((one) => typeof one === 'object' && one !== null && 'webhookId' in one && one.webhookId === id))
    return 'sends its notifications to it'
  const mentioned = typeof message === 'string' ? [...message.matchAll(mention)].map(([, target = '']) => target) : []
  return mentioned.some((target) => target === id || (name ?? '').startsWith(target)) ? 'mentions it in its message' : undefined
}

/** Secrets are the variables that the file names. A new file gets the name of one for the URL. */
function toFile(body: Body, { key, spelled }: FileContext): Body {
  const inFile = (field: keyof DeclaredWebhook): unknown => ownValue(spelled, field)
  const fields = {
    name: body.name,
    service: body.service,
    urlFrom: inFile('urlFrom') ?? `${secretPrefix}${key.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_URL`,
    headersFrom: inFile('headersFrom'),
    queryParamsFrom: inFile('queryParamsFrom'),
    description: withoutTextMarker(body.description).trimEnd() || undefined,
    body: body.body instanceof HiddenValue ? inFile('body') : body.body,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

export const webhookKind: Kind<DeclaredObject<DeclaredWebhook>> = {
  name: 'webhook',
  label: kindLabels.webhook,
  collection: webhookCollection,
  schema: webhookBody,
  referredToAs: 'webhook',
  hasUniqueNames: true,
  notInFiles: 'its URL, headers and query parameters',
  // Left out, a description or a body is cleared; headers and query parameters are kept.
  clearsBy: { description: undefined, body: undefined, headers: {}, queryParams: {} },
  resolve: resolveWebhook,
  summarize: ({ service, url }) => `${String(service)}, URL from ${url instanceof SecretValue ? url.variable : 'the service'}`,
  explainUndeclarable: ({ service }) =>
    webhookServices.some((known: Service) => known === service)
      ? undefined
      : `files cannot declare a webhook of the service ${quote(String(service), 40)}`,
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
