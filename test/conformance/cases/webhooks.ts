import type { Case } from '../case.ts'
import { aDashboard, alert, anAlert, items, type Json, letters, list, undocumented, without } from './bodies.ts'

const webhook = (more: Json = {}): Json => ({ name: 'Conformance', service: 'generic', url: 'https://hooks.example.com/x', ...more })
const slack = (more: Json = {}): Json => webhook({ service: 'slack', url: 'https://hooks.slack.com/services/T/B/x', ...more })
const aWebhook = (more: Json = {}, as = 'webhook') => ({ request: 'POST webhooks', as, body: webhook(more) })

const create = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `create a webhook: ${name}`,
  request: 'POST webhooks',
  body,
  ...changes,
})

const fields: readonly Case[] = [
  create('generic', webhook(), { after: [list('webhooks')] }),
  create(
    'generic with everything',
    webhook({ description: 'Keeps all', body: '{"text":"{{title}}"}', headers: { 'X-Key': 'hidden' }, queryParams: { key: 'hidden' } }),
  ),
  create('slack', slack({ description: 'On-call' })),
  create('incident.io with everything', webhook({ service: 'incidentio', body: '{}', headers: { 'X-Key': 'hidden' }, queryParams: {} })),
  create('a service of the cloud', webhook({ service: 'pagerduty_api' })),
  create('slack with what it cannot have', slack({ headers: {}, queryParams: {}, body: '' })),
  create('slack at another address', slack({ url: 'https://hooks.example.com/x' })),
  create('slack at an address that only contains its name', slack({ url: 'https://slack.com.example.com/x' })),
  create('the same name and service', webhook(), { given: [aWebhook()] }),
  create('the same name with another service', slack(), { given: [aWebhook()], show: ['name', 'service'] }),
  create('a name with blanks around is trimmed', webhook({ name: ' Conformance ' }), { show: ['name'] }),
  create('a name of blanks', webhook({ name: '  ' })),
  create('a name of 1025 characters', webhook({ name: letters(1025) })),
  create('nothing', {}),
  create('an unknown field', webhook({ nonsense: 1 }), undocumented('nonsense')),
  create(
    'texts that are too long',
    webhook({ description: letters(2049), body: letters(16_385), url: `https://hooks.example.com/${letters(2048)}` }),
  ),
  create('texts of the greatest length', webhook({ description: letters(2048), body: letters(16_384) }), {
    show: ['description.length', 'body.length'],
  }),
  create('header names that are none', webhook({ headers: { 'a b': 'x', '1a': 'x', '': 'x' } })),
  create('a header value with a line break', webhook({ headers: { a: 'x\ny' } })),
  create('a header value that is a number', webhook({ headers: { a: 5 } })),
  create('101 headers', webhook({ headers: Object.fromEntries(items(101, (index) => [`h${index}`, 'x'])) })),
  create('parameters with control characters', webhook({ queryParams: { 'a\tb': 'x', a: 'x\ny', '': 'x' } })),
  create('101 parameters', webhook({ queryParams: Object.fromEntries(items(101, (index) => [`p${index}`, 'x'])) })),
]

const addresses: readonly Case[] = [
  ['no address', 'nonsense'],
  ['an empty address', ''],
  ['ftp', 'ftp://hooks.example.com/x'],
  ['plain http', 'http://hooks.example.com/x'],
  ['localhost', 'http://localhost:8080/x'],
  ['a name below localhost', 'http://hooks.localhost/x'],
  ['a private address', 'https://10.0.0.1/x'],
  ['another private address', 'https://172.16.0.1/x'],
  ['the last private address', 'https://172.31.255.255/x'],
  ['an address beside the private ones', 'https://172.32.0.1/x'],
  ['a link-local address', 'http://169.254.169.254/latest/meta-data'],
  ['a shared address', 'https://100.64.0.1/x'],
  ['an address for documentation', 'https://192.0.2.1/x'],
  ['no particular address', 'https://0.0.0.0/x'],
  ['the loopback address of IPv6', 'https://[::1]/x'],
  ['a private address of IPv6', 'https://[fd00::1]/x'],
  ['a private address in a form of IPv6', 'https://[::ffff:10.0.0.1]/x'],
  ['a public address of IPv6', 'https://[2606:4700::1111]/x'],
  ['a private address as one number', 'https://167772161/x'],
].map(([name, url]) => create(`address: ${name}`, webhook({ url }), { show: ['url'] }))

const update = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `update a webhook: ${name}`,
  given: [aWebhook({ description: 'Old', body: 'old' })],
  request: 'PUT webhooks/$webhook',
  body,
  ...changes,
})

const updates: readonly Case[] = [
  update('everything', webhook({ name: 'New', service: 'incidentio', url: 'https://hooks.example.com/y', description: 'New' }), {
    after: [list('webhooks')],
  }),
  update('the least: the rest is cleared', webhook()),
  update('the name of another', webhook({ name: 'Other' }), { given: [aWebhook(), aWebhook({ name: 'Other' }, 'other')] }),
  update('the name of another service', webhook({ name: 'Other' }), {
    given: [aWebhook(), { request: 'POST webhooks', as: 'other', body: slack({ name: 'Other' }) }],
    show: ['name', 'service'],
  }),
  update('slack at another address', slack({ url: 'https://hooks.example.com/x' })),
  update('slack with a body', slack({ body: 'x' })),
  update('nothing', {}),
  update('one that does not exist', webhook(), { given: [], request: 'PUT webhooks/$gone' }),
  update('one that does not exist, at a private address', webhook({ url: 'https://10.0.0.1/x' }), {
    given: [],
    request: 'PUT webhooks/$gone',
  }),
  update('by an id that is none', webhook(), { given: [], request: 'PUT webhooks/nonsense' }),
]

const second = {
  request: 'POST alerts',
  body: {
    ...without(alert(), 'channel'),
    channels: [
      { type: 'webhook', webhookId: '$oncall' },
      { type: 'webhook', webhookId: '$webhook' },
    ],
  },
}

const reads: readonly Case[] = [
  { name: 'list webhooks', given: [aWebhook({ headers: { 'X-Key': 'hidden' } })], request: 'GET webhooks' },
  { name: 'list webhooks: limit 1001', request: 'GET webhooks?limit=1001' },
  { name: 'get a webhook: there is no such request', given: [aWebhook()], request: 'GET webhooks/$webhook', dialects: ['hyperdx'] },
  { name: 'delete a webhook', given: [aWebhook()], request: 'DELETE webhooks/$webhook', after: [{ request: 'DELETE webhooks/$webhook' }] },
  {
    name: 'delete a webhook that two alerts use',
    given: [
      aWebhook(),
      aDashboard(),
      anAlert({ channel: { type: 'webhook', webhookId: '$webhook' } }, 'a'),
      anAlert({ channel: { type: 'webhook', webhookId: '$webhook' } }, 'b'),
    ],
    request: 'DELETE webhooks/$webhook',
  },
  {
    name: 'delete a webhook that is the second channel of an alert, which keeps it',
    given: [aWebhook(), aDashboard(), second],
    request: 'DELETE webhooks/$webhook',
    after: [list('alerts')],
  },
  {
    name: 'update an alert: one of its webhooks is gone',
    given: [aWebhook(), aDashboard(), { ...second, as: 'alert' }, { request: 'DELETE webhooks/$webhook' }],
    request: 'PUT alerts/$alert',
    body: second.body,
  },
  { name: 'delete a webhook that does not exist', request: 'DELETE webhooks/$gone' },
  { name: 'delete a webhook by an id that is none', request: 'DELETE webhooks/nonsense' },
]

export const webhookCases: readonly Case[] = [...fields, ...addresses, ...updates, ...reads]
