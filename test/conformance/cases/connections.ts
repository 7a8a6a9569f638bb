import type { Case } from '../case.ts'
import { type Json, list, without } from './bodies.ts'

const connection = (more: Json = {}): Json => ({ name: 'Conformance', host: 'http://clickhouse.example:8123', username: 'nobody', ...more })
const aConnection = (more: Json = {}) => ({ request: 'POST connections', as: 'own', body: connection(more) })

/** The cloud has no connections: its document lost them on 2026-07-31. */
const only = { dialects: ['hyperdx'] } as const

const create = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `create a connection: ${name}`,
  request: 'POST connections',
  body,
  ...only,
  ...changes,
})

const update = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `update a connection: ${name}`,
  given: [aConnection({ password: 'hidden', hyperdxSettingPrefix: 'old', isPrometheusEndpoint: true })],
  request: 'PUT connections/$own',
  body,
  ...only,
  ...changes,
})

export const connectionCases: readonly Case[] = [
  create('the least', connection(), { after: [list('connections')] }),
  create('everything', connection({ password: 'hidden', hyperdxSettingPrefix: 'hdx_1', isPrometheusEndpoint: true })),
  create('an empty password and null', connection({ password: '', hyperdxSettingPrefix: null })),
  create('an empty prefix', connection({ hyperdxSettingPrefix: '' })),
  create('a prefix with a dash', connection({ hyperdxSettingPrefix: 'a-b' })),
  create('empty texts', connection({ name: '', host: '', username: '' })),
  create('nothing', {}),
  create('an unknown field', connection({ nonsense: 1, id: '$gone' })),
  update('the least: the rest stays', connection({ name: 'New' }), { after: [{ request: 'GET connections/$own' }] }),
  update('an empty prefix clears it', connection({ hyperdxSettingPrefix: '' })),
  update('a prefix of null clears it', connection({ hyperdxSettingPrefix: null })),
  update('another prefix', connection({ hyperdxSettingPrefix: 'new', isPrometheusEndpoint: false })),
  update('without host', without(connection(), 'host')),
  update('one that does not exist', connection(), { given: [], request: 'PUT connections/$gone' }),
  update('by an id that is none', connection(), { given: [], request: 'PUT connections/nonsense' }),
  { name: 'get a connection', given: [aConnection({ password: 'hidden' })], request: 'GET connections/$own', ...only },
  { name: 'get a connection that does not exist', request: 'GET connections/$gone', ...only },
  { name: 'get a connection by an id that is none', request: 'GET connections/nonsense', ...only },
  {
    name: 'delete a connection',
    given: [aConnection()],
    request: 'DELETE connections/$own',
    after: [{ request: 'DELETE connections/$own' }],
    ...only,
  },
  { name: 'delete a connection that does not exist', request: 'DELETE connections/$gone', ...only },
  { name: 'delete a connection by an id that is none', request: 'DELETE connections/nonsense', ...only },
]
