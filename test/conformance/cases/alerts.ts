import { type Case, copy } from '../case.ts'
import {
  aDashboard,
  alert,
  alertOnSearch,
  anAlert,
  aSavedSearch,
  count,
  items,
  type Json,
  letters,
  line,
  list,
  sql,
  tile,
  undocumented,
  without,
} from './bodies.ts'

const create = (name: string, more: Json, changes: Partial<Case> = {}): Case => ({
  name: `create an alert: ${name}`,
  given: [aDashboard()],
  request: 'POST alerts',
  body: alert(more),
  ...changes,
})

const onSearch = (name: string, more: Json, changes: Partial<Case> = {}): Case =>
  create(name, {}, { given: [aSavedSearch()], body: alertOnSearch(more), ...changes })

const targets: readonly Case[] = [
  create('on a tile', {}, { after: [list('alerts')] }),
  create('on a tile, with everything', {
    message: 'Look',
    note: '# Note',
    numConsecutiveWindows: 3,
    scheduleOffsetMinutes: 2,
    thresholdMax: 9,
  }),
  onSearch('on a saved search', {}),
  onSearch('on a saved search, with groups', { groupBy: 'Env, Host' }),
  onSearch('on a saved search, with an empty group', { groupBy: '' }),
  onSearch('on a saved search, with a group of null', { groupBy: null }),
  onSearch('on a saved search, with ids of a tile', { dashboardId: '$gone', tileId: 'x' }),
  create('on a tile, with a saved search', { savedSearchId: '$gone' }),
  create('on a tile, with a saved search of null', { savedSearchId: null }),
  create('on a tile, with groups', { groupBy: 'Env' }),
  create('without source', {}, { body: without(alert(), 'source') }),
  onSearch('on a saved search, without source', {}, { body: without(alertOnSearch(), 'source') }),
  create('another source', { source: 'inline' }),
  create('without dashboard', {}, { body: without(alert(), 'dashboardId') }),
  create('without tile', {}, { body: without(alert(), 'tileId') }),
  create('dashboard and tile null', { dashboardId: null, tileId: null }),
  create('empty ids of dashboard and tile', { dashboardId: '', tileId: '' }),
  create('a dashboard that does not exist', { dashboardId: '$gone' }),
  create('a dashboard id that is none', { dashboardId: 'nonsense' }),
  create('a dashboard id in capitals', { dashboardId: '$dashboard.id.upper' }),
  create('a tile that does not exist', { tileId: '$gone' }),
  onSearch('a saved search that does not exist', { savedSearchId: '$gone' }),
  onSearch('a saved search id that is none', { savedSearchId: 'nonsense' }),
  onSearch('without saved search', {}, { body: without(alertOnSearch(), 'savedSearchId') }),
  create('the same twice on one tile', {}, { given: [aDashboard(), anAlert()] }),
  create('an unknown field', { nonsense: 1 }, undocumented('nonsense')),
  create('with id, state and team', { id: '$gone', state: 'ALERT', teamId: '$gone' }, undocumented('id')),
  create(
    'with execution errors',
    { executionErrors: [{ timestamp: '2026-11-01T00:00:00Z', type: 'QUERY_ERROR', message: 'mine' }] },
    { ...undocumented('executionErrors'), show: ['executionErrors'] },
  ),
  create('silenced', { silenced: { until: '2030-01-01T00:00:00Z' } }, undocumented('silenced')),
  create('nothing', {}, { body: {}, given: [] }),
]

const onTile = (name: string, config: unknown): Case =>
  create(`on ${name}`, {}, { given: [aDashboard({ tiles: [tile(config)] })], show: ['tileId'] })
const onSql = (name: string, more: Json): Case => onTile(`an SQL tile: ${name}`, sql(more))
const query = (name: string, sqlTemplate: string): Case => onSql(name, { sqlTemplate })

const tiles: readonly Case[] = [
  onTile('a stacked bar', line({ displayType: 'stacked_bar' })),
  onTile('a number', line({ displayType: 'number' })),
  onTile('a table', line({ displayType: 'table' })),
  onTile('a pie', line({ displayType: 'pie' })),
  onTile('a text', { displayType: 'markdown' }),
  onTile('a line with formulas', line({ select: [count, count], formulas: [{ expression: 'A / B' }] })),
  onSql('a line', {}),
  onSql('a stacked bar', { displayType: 'stacked_bar' }),
  onSql('a number without interval', { displayType: 'number', sqlTemplate: 'SELECT 1' }),
  onSql('a table', { displayType: 'table' }),
  onSql('a pie', { displayType: 'pie' }),
  onSql('a stacked bar without interval', { displayType: 'stacked_bar', sqlTemplate: 'SELECT 1' }),
  query('no interval', 'SELECT 1'),
  query('an empty query', ''),
  query('an interval in milliseconds', 'SELECT $__timeInterval_ms(At)'),
  query('the bare interval', 'SELECT $__interval_s'),
  query('a parameter', 'SELECT {intervalSeconds:Int64}'),
  query('a parameter in milliseconds', 'SELECT {intervalMilliseconds:Int64}'),
  query('a time filter only', 'SELECT 1 WHERE $__timeFilter(At)'),
  query('an interval in a comment', 'SELECT 1 -- $__timeInterval(At)'),
  query('an interval in a comment over lines', 'SELECT 1 /* $__timeInterval(At) */'),
  query('an interval after a comment', 'SELECT 1 -- comment\n, $__timeInterval(At)'),
  query('an interval in quotes', "SELECT '$__timeInterval(At)'"),
  query('a parameter in a comment', 'SELECT 1 -- {intervalSeconds:Int64}'),
  query('an interval with two arguments', 'SELECT $__timeInterval(At, Host)'),
  query('an interval without arguments', 'SELECT $__timeInterval'),
  query('an interval whose parenthesis is not closed', 'SELECT $__timeInterval(At'),
  query('an interval inside of a filter', 'SELECT 1 WHERE $__timeFilter($__timeInterval(At))'),
  query('a macro whose name only begins like the interval', 'SELECT $__timeIntervals(At)'),
  query('the table of the source', 'SELECT 1 FROM $__sourceTable'),
  query('filters of the dashboard', 'SELECT 1 WHERE $__filters'),
  query('a variable', 'SELECT 1 WHERE $__filter(Env, $__env)'),
]

const fields: readonly Case[] = [
  ...['1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'].map((interval) =>
    create(`interval ${interval}`, { interval }, { show: ['interval'] }),
  ),
  create('interval 30s', { interval: '30s' }),
  create('interval 2h', { interval: '2h' }),
  create('without interval', {}, { body: without(alert(), 'interval') }),
  ...['above', 'below', 'above_exclusive', 'below_or_equal', 'equal', 'not_equal'].map((thresholdType) =>
    create(`threshold type ${thresholdType}`, { thresholdType }, { show: ['thresholdType', 'thresholdMax'] }),
  ),
  create('between', { thresholdType: 'between', threshold: 1, thresholdMax: 5 }, { show: ['thresholdType', 'threshold', 'thresholdMax'] }),
  create(
    'not between',
    { thresholdType: 'not_between', threshold: 1, thresholdMax: 1 },
    { show: ['thresholdType', 'threshold', 'thresholdMax'] },
  ),
  create('between without an upper bound', { thresholdType: 'between' }),
  create('between with an upper bound of null', { thresholdType: 'between', thresholdMax: null }),
  create('between with an upper bound that is lower', { thresholdType: 'not_between', threshold: 5, thresholdMax: 4.9 }),
  create('an upper bound beside above', { thresholdMax: 9 }, { show: ['thresholdMax'] }),
  create('an upper bound of null', { thresholdMax: null }),
  create('another threshold type', { thresholdType: 'over' }),
  create('without threshold type', {}, { body: without(alert(), 'thresholdType') }),
  create('a threshold with decimals', { threshold: -0.000001 }, { show: ['threshold'] }),
  create('a threshold as a text', { threshold: '5' }),
  create('a threshold of null', { threshold: null }),
  create('without threshold', {}, { body: without(alert(), 'threshold') }),
  create('without name', {}, { body: without(alert(), 'name') }),
  create('a display name and tags, which newer servers have', { displayName: 'Errors', tags: ['shop'] }, undocumented('displayName')),
  create('texts of null', { name: null, message: null, note: null, numConsecutiveWindows: null }),
  create('empty texts', { name: '', message: '', note: '' }),
  create('a name with blanks around', { name: ' Errors ' }, { show: ['name'] }),
  create(
    'texts of the greatest length',
    { name: letters(512), message: letters(4096), note: letters(4096) },
    { show: ['name.length', 'message.length', 'note.length'] },
  ),
  create('texts one character longer', { name: letters(513), message: letters(4097), note: letters(4097) }),
  create('0 windows', { numConsecutiveWindows: 0 }),
  create('1.5 windows', { numConsecutiveWindows: 1.5 }),
  create('1000 windows', { numConsecutiveWindows: 1000 }, { show: ['numConsecutiveWindows'] }),
]

const start = '2026-01-01T10:00:00Z'
const scheduled = (name: string, more: Json): Case =>
  create(`schedule: ${name}`, more, { show: ['scheduleOffsetMinutes', 'scheduleStartAt'] })

const schedules: readonly Case[] = [
  scheduled('offset 0', { scheduleOffsetMinutes: 0 }),
  scheduled('the greatest offset', { interval: '1d', scheduleOffsetMinutes: 1439 }),
  scheduled('an offset that is greater', { interval: '1d', scheduleOffsetMinutes: 1440 }),
  scheduled('an offset of the interval', { scheduleOffsetMinutes: 5 }),
  scheduled('an offset of one minute in an interval of one', { interval: '1m', scheduleOffsetMinutes: 1 }),
  scheduled('a negative offset', { scheduleOffsetMinutes: -1 }),
  scheduled('half a minute', { scheduleOffsetMinutes: 0.5 }),
  scheduled('an offset of null', { scheduleOffsetMinutes: null }),
  scheduled('a start', { scheduleStartAt: start }),
  scheduled('a start with milliseconds', { scheduleStartAt: '2026-01-01T10:00:00.120Z' }),
  scheduled('a start of null', { scheduleStartAt: null }),
  scheduled('a start with an offset from UTC', { scheduleStartAt: '2026-01-01T10:00:00+01:00' }),
  scheduled('a start without zone', { scheduleStartAt: '2026-01-01T10:00:00' }),
  scheduled('a start that is a day', { scheduleStartAt: '2026-01-01' }),
  scheduled('a start that is no time', { scheduleStartAt: 'tomorrow' }),
  scheduled('a start in 2100', { scheduleStartAt: '2100-01-01T00:00:00Z' }),
  scheduled('a start in 2000', { scheduleStartAt: '2000-01-01T00:00:00Z' }),
  scheduled('a start and an offset', { scheduleStartAt: start, scheduleOffsetMinutes: 2 }),
  scheduled('a start and offset 0', { scheduleStartAt: start, scheduleOffsetMinutes: 0 }),
  scheduled('a start of null and an offset', { scheduleStartAt: null, scheduleOffsetMinutes: 2 }),
]

const webhook = (name: string): Json => ({ type: 'webhook', webhookId: `$${name}` })
const notifying = (name: string, more: Json, changes: Partial<Case> = {}): Case =>
  create(`channels: ${name}`, {}, { body: { ...without(alert(), 'channel'), ...more }, show: ['channel', 'channels'], ...changes })

const channels: readonly Case[] = [
  notifying('none', {}),
  notifying('one', { channel: webhook('oncall') }),
  notifying('a list of one', { channels: [webhook('oncall')] }),
  notifying('two', { channels: [webhook('audit'), webhook('oncall')] }),
  notifying('the first one twice', { channel: webhook('audit'), channels: [webhook('audit'), webhook('oncall')] }),
  notifying('another one first', { channel: webhook('oncall'), channels: [webhook('audit'), webhook('oncall')] }),
  notifying('a duplicate', { channels: [webhook('oncall'), webhook('oncall')] }),
  notifying('an empty list', { channels: [] }),
  notifying('an empty list beside one', { channel: webhook('oncall'), channels: [] }),
  notifying('null', { channel: null }),
  notifying('a list that is null', { channel: webhook('oncall'), channels: null }),
  notifying('eleven', { channels: items(11, (index) => ({ type: 'webhook', webhookId: `id-${index}` })) }),
  notifying('a webhook that does not exist', { channel: { type: 'webhook', webhookId: '$gone' } }),
  notifying('one that exists and one that does not', { channels: [webhook('oncall'), webhook('gone')] }),
  notifying('a webhook id that is none', { channel: { type: 'webhook', webhookId: 'nonsense' } }),
  notifying('an empty webhook id', { channel: { type: 'webhook', webhookId: '' } }),
  notifying('a webhook id in capitals', { channel: { type: 'webhook', webhookId: '$oncall.id.upper' } }),
  notifying('without webhook id', { channel: { type: 'webhook' } }),
  notifying('without type', { channel: { webhookId: '$oncall' } }),
  notifying('email', { channel: { type: 'email', emailRecipients: ['nobody'] } }),
  notifying('a webhook and an email', { channels: [webhook('oncall'), { type: 'email', emailRecipients: ['nobody'] }] }),
  notifying('fields that only the cloud documents', {
    channel: { ...webhook('oncall'), severity: 'critical', slackChannelId: 'C1', webhookService: 'slack' },
  }),
  notifying('two that differ in a field that is dropped', { channels: [webhook('oncall'), { ...webhook('oncall'), severity: 'info' }] }),
  notifying('an unknown field', { channel: { ...webhook('oncall'), nonsense: 1 } }, undocumented('channel.nonsense')),
]

const everything = {
  message: 'Look',
  note: '# Note',
  numConsecutiveWindows: 3,
  thresholdType: 'between',
  thresholdMax: 9,
  scheduleOffsetMinutes: 2,
}

const update = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `update an alert: ${name}`,
  given: [aDashboard(), anAlert(everything)],
  request: 'PUT alerts/$alert',
  body,
  ...changes,
})

const owned = ['id', 'teamId', 'state', 'createdAt', 'updatedAt']
const began = [aDashboard(), anAlert({ scheduleStartAt: start })]

const updates: readonly Case[] = [
  update('what it answers', copy('alert'), undocumented('id')),
  update('what it answers, without what the server owns', copy('alert', { omit: owned })),
  update('the least: what is left out is cleared or stays', without(alert(), 'name')),
  update('from between to above', alert({ thresholdType: 'above' }), { show: ['thresholdType', 'thresholdMax'] }),
  update('from between to above with null', alert({ thresholdType: 'above', thresholdMax: null })),
  update('offset left out', alert(), { show: ['scheduleOffsetMinutes'] }),
  update('offset 0', alert({ scheduleOffsetMinutes: 0 }), { show: ['scheduleOffsetMinutes'] }),
  update('offset null', alert({ scheduleOffsetMinutes: null })),
  update('a start over an offset', alert({ scheduleStartAt: start }), { show: ['scheduleOffsetMinutes', 'scheduleStartAt'] }),
  update('a start of null over an offset', alert({ scheduleStartAt: null }), { show: ['scheduleOffsetMinutes', 'scheduleStartAt'] }),
  update('nothing over a start', alert(), { given: began, show: ['scheduleOffsetMinutes', 'scheduleStartAt'] }),
  update('another start over a start', alert({ scheduleStartAt: '2026-01-01T11:05:00.000Z' }), {
    given: began,
    show: ['scheduleOffsetMinutes', 'scheduleStartAt'],
    after: [{ request: 'GET alerts/$alert' }],
  }),
  update('null over a start', alert({ scheduleStartAt: null }), { given: began, show: ['scheduleOffsetMinutes', 'scheduleStartAt'] }),
  update('an offset over a start', alert({ scheduleOffsetMinutes: 2 }), {
    given: began,
    show: ['scheduleOffsetMinutes', 'scheduleStartAt'],
  }),
  update('an offset and null over a start', alert({ scheduleStartAt: null, scheduleOffsetMinutes: 3 }), {
    given: began,
    show: ['scheduleOffsetMinutes', 'scheduleStartAt'],
  }),
  update('from a tile to a saved search', alertOnSearch({ groupBy: 'Env' }), {
    given: [aDashboard(), anAlert(everything), aSavedSearch()],
  }),
  update('from a saved search to a tile', alert(), {
    given: [aDashboard(), aSavedSearch(), { request: 'POST alerts', as: 'alert', body: alertOnSearch({ groupBy: 'Env' }) }],
  }),
  update('groups left out', alertOnSearch(), {
    given: [aSavedSearch(), { request: 'POST alerts', as: 'alert', body: alertOnSearch({ groupBy: 'Env' }) }],
  }),
  update('another channel', alert({ channel: webhook('audit') }), { show: ['channel', 'channels'] }),
  update('one channel over two', alert({ channel: webhook('audit') }), {
    given: [
      aDashboard(),
      { request: 'POST alerts', as: 'alert', body: { ...without(alert(), 'channel'), channels: [webhook('oncall'), webhook('audit')] } },
    ],
    show: ['channel', 'channels'],
  }),
  update(
    'two channels over one',
    { ...without(alert(), 'channel'), channels: [webhook('audit'), webhook('oncall')] },
    { show: ['channel', 'channels'] },
  ),
  update('another tile', alert({ tileId: '$dashboard.tiles.1.id' }), {
    given: [aDashboard({ tiles: [tile(line()), tile(line())] }), anAlert()],
    show: ['tileId'],
  }),
  update('without interval', without(alert(), 'interval')),
  update('an unknown field', alert({ nonsense: 1 }), undocumented('nonsense')),
  update('its tile is gone', alert(), {
    given: [aDashboard(), anAlert(), aDashboard({ name: 'Other' }, 'other')],
    body: alert({ dashboardId: '$other' }),
  }),
  update('one that does not exist', alert(), { given: [aDashboard()], request: 'PUT alerts/$gone' }),
  update('one that does not exist, on a tile that does not exist', alert({ tileId: 'nope' }), {
    given: [aDashboard()],
    request: 'PUT alerts/$gone',
  }),
  update('by an id that is none', alert(), { given: [aDashboard()], request: 'PUT alerts/nonsense' }),
  update('by an id that is none, with a body that is none', {}, { given: [], request: 'PUT alerts/nonsense' }),
  update('is seen by the next read', alert({ name: 'New' }), { show: ['name'], after: [{ request: 'GET alerts/$alert' }] }),
]

const three = [aDashboard(), anAlert({ name: 'a' }, 'a'), anAlert({ name: 'b' }, 'b'), anAlert({ name: 'c' }, 'c')]
const page = (query: string): Case => ({ name: `list alerts: ${query}`, given: three, request: `GET alerts?${query}`, show: ['length'] })

const reads: readonly Case[] = [
  { name: 'get an alert', given: [aDashboard(), anAlert()], request: 'GET alerts/$alert' },
  {
    name: 'get an alert: no execution errors before the first evaluation',
    given: [aDashboard(), anAlert()],
    request: 'GET alerts/$alert',
    show: ['executionErrors'],
  },
  { name: 'get an alert by its id in capitals', given: [aDashboard(), anAlert()], request: 'GET alerts/$alert.id.upper', show: ['id'] },
  { name: 'get an alert that does not exist', request: 'GET alerts/$gone' },
  { name: 'get an alert by an id that is none', request: 'GET alerts/nonsense' },
  { name: 'get an alert by an id of 12 characters', request: 'GET alerts/abcdefghijkl' },
  { name: 'list alerts', given: three, request: 'GET alerts' },
  { name: 'list alerts: there are none', request: 'GET alerts' },
  ...[
    'limit=1',
    'limit=2&offset=1',
    'offset=2',
    'offset=3',
    'limit=1000',
    'limit=1001',
    'limit=0',
    'limit=-1',
    'offset=-1',
    'limit=1.5',
    'limit=abc',
    'limit=',
    'limit=1&limit=2',
    'limit=0&offset=-1',
    'nonsense=1',
  ].map(page),
  {
    name: 'delete an alert',
    given: [aDashboard(), anAlert()],
    request: 'DELETE alerts/$alert',
    after: [{ request: 'GET alerts/$alert' }, { request: 'DELETE alerts/$alert' }],
  },
  { name: 'delete an alert that does not exist', request: 'DELETE alerts/$gone' },
  { name: 'delete an alert by an id that is none', request: 'DELETE alerts/nonsense' },
]

export const alertCases: readonly Case[] = [...targets, ...tiles, ...fields, ...schedules, ...channels, ...updates, ...reads]
