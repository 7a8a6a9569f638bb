import type { Case } from '../case.ts'
import { aDashboard, dashboard, savedSearch, unparsed } from './bodies.ts'

const only = { dialects: ['hyperdx'] } as const

/** A key of no user. */
const unknownKey = 'Bearer 00000000-0000-4000-8000-000000000000'

const keys: readonly Case[] = [
  { name: 'http: no key', request: 'GET alerts', headers: { authorization: null }, ...only },
  { name: 'http: an unknown key', request: 'GET alerts', headers: { authorization: unknownKey }, ...only },
  {
    name: 'http: an unknown key for a write',
    request: 'POST dashboards',
    body: dashboard(),
    headers: { authorization: unknownKey },
    ...only,
  },
  {
    name: 'http: an unknown key for an object that does not exist',
    request: 'GET dashboards/$gone',
    headers: { authorization: unknownKey },
    ...only,
  },
  { name: 'http: an empty key', request: 'GET sources', headers: { authorization: 'Bearer ' }, ...only },
  { name: 'http: another scheme', request: 'GET sources', headers: { authorization: 'Basic eDp5' }, ...only },
  { name: 'http: no key for the root', request: 'GET /api/v2', headers: { authorization: null }, ...only },
  { name: 'http: health needs no key', request: 'GET /health', headers: { authorization: null }, show: ['length'], ...only },
  {
    name: 'http: a key has 100 requests a minute',
    request: 'GET alerts',
    headers: { authorization: 'Bearer 00000000-0000-4000-8000-000000000001' },
    showHeaders: ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-policy', 'x-ratelimit-limit', 'retry-after'],
    ...only,
  },
  {
    name: 'http: the 101st request of a key in a minute',
    request: 'GET alerts',
    headers: { authorization: 'Bearer 00000000-0000-4000-8000-000000000002' },
    times: 101,
    showHeaders: ['ratelimit-limit', 'ratelimit-remaining', 'retry-after'],
    ...only,
  },
]

const bodies: readonly Case[] = [
  { name: 'http: a body that is not JSON', request: 'POST dashboards', text: '{', ...unparsed('request body is not valid JSON') },
  { name: 'http: an empty body', request: 'POST saved-searches', text: '', ...unparsed('request body is not valid JSON') },
  { name: 'http: no body', request: 'POST saved-searches', ...unparsed('request body must be sent as application/json') },
  { name: 'http: a body that is a list', request: 'POST saved-searches', text: '[]', ...unparsed('request body must be an object') },
  {
    name: 'http: a body that is a text in JSON',
    request: 'POST saved-searches',
    text: '"x"',
    ...unparsed('request body must be an object'),
  },
  { name: 'http: a body that is null', request: 'POST saved-searches', text: 'null', ...unparsed('request body must be an object') },
  {
    name: 'http: a body without type',
    request: 'POST saved-searches',
    body: savedSearch(),
    headers: { 'content-type': '' },
    ...unparsed('request body must be sent as application/json'),
  },
  {
    name: 'http: a body of type text',
    request: 'POST saved-searches',
    body: savedSearch(),
    headers: { 'content-type': 'text/plain' },
    ...unparsed('request body must be sent as application/json'),
  },
  {
    name: 'http: a body of type xml',
    request: 'POST saved-searches',
    text: '<a/>',
    headers: { 'content-type': 'application/xml' },
    ...unparsed('request body must be sent as application/json'),
  },
  {
    name: 'http: a form',
    request: 'POST saved-searches',
    text: 'name=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    ...unparsed('request body must be sent as application/json'),
  },
  {
    name: 'http: a type with a charset',
    request: 'POST saved-searches',
    body: savedSearch(),
    headers: { 'content-type': 'Application/JSON; charset=UTF-8' },
    show: ['name'],
  },
  {
    name: 'http: another charset',
    request: 'POST saved-searches',
    body: savedSearch(),
    headers: { 'content-type': 'application/json; charset=latin1' },
    ...only,
  },
  {
    name: 'http: a body that is not JSON, without a key',
    request: 'POST dashboards',
    text: '{',
    headers: { authorization: null },
    ...only,
  },
  {
    name: 'http: a body for a request that needs none',
    given: [aDashboard({ tiles: [] })],
    request: 'DELETE dashboards/$dashboard',
    body: { nonsense: 1 },
  },
  {
    name: 'http: prototypes are fields like others',
    request: 'POST saved-searches',
    text: '{"__proto__":{"name":"x"},"constructor":1}',
    ...{
      gateway: {
        status: 400,
        message: "request body property can't be validated: __proto__",
        source: 'terraform-provider-clickhouse PR#654',
      },
    },
  },
]

const paths: readonly Case[] = [
  { name: 'http: an unknown resource', request: 'GET nonsense', ...only },
  { name: 'http: an unknown resource, without a key', request: 'GET nonsense', headers: { authorization: null }, ...only },
  { name: 'http: an unknown method', request: 'PATCH dashboards/$gone', body: {}, ...only },
  {
    name: 'http: an unknown method, without a key',
    request: 'PATCH dashboards/$gone',
    body: {},
    headers: { authorization: null },
    ...only,
  },
  { name: 'http: a part of a path too many', request: 'GET dashboards/$gone/tiles', ...only },
  { name: 'http: validate with an id in its place', request: 'GET dashboards/validate', dialects: ['hyperdx'] },
  { name: 'http: a slash at the end', request: 'GET saved-searches/', ...only },
  { name: 'http: capitals in the path', request: 'GET /API/V2/Alerts', ...only },
  { name: 'http: a part of a path that cannot be decoded', request: 'GET alerts/%zz', ...only },
  { name: 'http: only the headers', request: 'HEAD alerts', ...only },
  { name: 'http: the root of another version', request: 'GET /api/v1/alerts', ...only },
  { name: 'http: a delete of a list', request: 'DELETE alerts', ...only },
]

export const httpCases: readonly Case[] = [...keys, ...bodies, ...paths]
