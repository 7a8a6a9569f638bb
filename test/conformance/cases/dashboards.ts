import { type Case, copy } from '../case.ts'
import {
  aDashboard,
  alert,
  anAlert,
  count,
  dashboard,
  items,
  type Json,
  letters,
  line,
  list,
  tile,
  undocumented,
  unparsed,
  without,
} from './bodies.ts'

const create = (name: string, body: unknown, more: Partial<Case> = {}): Case => ({
  name: `create a dashboard: ${name}`,
  request: 'POST dashboards',
  body,
  show: ['name', 'tags', 'filters', 'savedQuery', 'savedQueryLanguage', 'savedFilterValues', 'containers', 'tiles.length'],
  ...more,
})

const top: readonly Case[] = [
  create(
    'the least',
    { name: 'Least', tiles: [] },
    { show: ['name', 'tiles', 'tags', 'filters', 'savedQuery', 'savedQueryLanguage', 'savedFilterValues', 'containers'] },
  ),
  create('one tile, answered whole', dashboard(), { name: 'create a dashboard: one tile, answered whole', after: [list('dashboards')] }),
  create('an empty name', dashboard({ name: '' })),
  create('a name with blanks around is kept as it is', dashboard({ name: '  Shop  ' })),
  create('a name of 1024 characters', dashboard({ name: letters(1024) })),
  create('a name of 1025 characters', dashboard({ name: letters(1025) })),
  create('without a name', without(dashboard(), 'name')),
  create('a name that is a number', dashboard({ name: 5 })),
  create('a name that is null', dashboard({ name: null })),
  create('without tiles', { name: 'Shop' }),
  create('tiles that are no list', { name: 'Shop', tiles: {} }),
  create('an empty object', {}),
  create('a list instead of an object', [], unparsed('request body must be an object')),
  create('an unknown field', dashboard({ nonsense: 1 }), undocumented('nonsense')),
  create('an id', dashboard({ id: '$gone' }), undocumented('id')),
  create('a team and times', dashboard({ teamId: '$gone', createdAt: '2026-01-01T00:00:00Z' }), undocumented('teamId')),
  create('tags, each once', dashboard({ tags: ['a', 'b', 'a'] })),
  create('an empty tag', dashboard({ tags: [''] })),
  create('tags with blanks around are kept as they are', dashboard({ tags: [' a '] })),
  create('a tag of 32 characters', dashboard({ tags: [letters(32)] })),
  create('a tag of 33 characters', dashboard({ tags: [letters(33)] })),
  create('50 tags', dashboard({ tags: items(50, String) }), { show: ['tags.length'] }),
  create('51 tags', dashboard({ tags: items(51, String) })),
  create('tags that are null', dashboard({ tags: null })),
  create('500 tiles', dashboard({ tiles: items(500, (y) => tile({ displayType: 'markdown' }, { y })) }), { show: ['tiles.length'] }),
  create('501 tiles', dashboard({ tiles: items(501, (y) => tile({ displayType: 'markdown' }, { y })) })),
  create('several problems at once', { name: 5, tiles: [tile(line(), { x: -1 })], tags: [letters(33)] }),
  create('the same name twice', dashboard(), { given: [aDashboard()] }),
]

const place = (name: string, more: Json, changes: Partial<Case> = {}): Case =>
  create(`a tile ${name}`, dashboard({ tiles: [tile(line(), more)] }), {
    show: ['tiles.0.id', 'tiles.0.name', 'tiles.0.x', 'tiles.0.y', 'tiles.0.w', 'tiles.0.h', 'tiles.0.containerId', 'tiles.0.tabId'],
    ...changes,
  })

const places: readonly Case[] = [
  place('with an id gets another', { id: 'mine' }),
  place('with an empty id', { id: '' }),
  place('with an id of 36 characters', { id: letters(36) }),
  place('with an id of 37 characters', { id: letters(37) }),
  place('with an id that is a number', { id: 5 }),
  create('two tiles with one id', dashboard({ tiles: [tile(line(), { id: 'a' }), tile(line(), { id: 'a' })] })),
  create('two tiles with empty ids', dashboard({ tiles: [tile(line(), { id: '' }), tile(line(), { id: '' })] })),
  place('without a name', { name: undefined }),
  place('with an empty name', { name: '' }),
  place('with blanks around its name', { name: ' Errors ' }),
  place('with a name of 2000 characters', { name: letters(2000) }),
  place('at x 23', { x: 23 }),
  place('at x 24', { x: 24 }),
  place('at x -1', { x: -1 }),
  place('at x 0.5', { x: 0.5 }),
  place('at x as a text', { x: '0' }),
  place('at y -1', { y: -1 }),
  place('at y 100000', { y: 100_000 }),
  place('of width 24 at x 20', { x: 20, w: 24 }),
  place('of width 25', { w: 25 }),
  place('of width 0', { w: 0 }),
  place('of height 0', { h: 0 }),
  place('of height 1000', { h: 1000 }),
  place('without a place', { x: undefined, y: undefined, w: undefined, h: undefined }),
  place('with an unknown field', { nonsense: 1 }, undocumented('tiles.0.nonsense')),
  place('with asRatio beside its config', { asRatio: true }),
  create('a tile without config', dashboard({ tiles: [{ name: 'T', x: 0, y: 0, w: 1, h: 1 }] })),
]

const container = (more: Json = {}): Json => ({ id: 'top', title: 'Top', collapsed: false, ...more })
const tabs = [
  { id: 'a', title: 'A' },
  { id: 'b', title: 'B' },
]
const contained = (name: string, containers: unknown, more: Json = {}, changes: Partial<Case> = {}): Case =>
  create(`containers: ${name}`, dashboard({ containers, tiles: [tile(line(), more)] }), {
    show: ['containers', 'tiles.0.containerId', 'tiles.0.tabId'],
    ...changes,
  })

const containers: readonly Case[] = [
  contained('none', []),
  contained('one', [container()]),
  contained('one with everything', [container({ collapsed: true, collapsible: false, bordered: false, tabs })]),
  contained('a tile in one', [container()], { containerId: 'top' }),
  contained('a tile in a tab', [container({ tabs })], { containerId: 'top', tabId: 'b' }),
  contained('a tile in one that does not exist', [container()], { containerId: 'nope' }),
  contained('a tile in a tab that does not exist', [container({ tabs })], { containerId: 'top', tabId: 'z' }),
  contained('a tile in a tab without container', [container({ tabs })], { tabId: 'a' }),
  contained('a tile in a tab of a container without tabs', [container()], { containerId: 'top', tabId: 'a' }),
  contained('a tile in an empty container id', [container()], { containerId: '' }),
  contained('two with one id', [container(), container()]),
  contained('two tabs with one id', [container({ tabs: [tabs[0], tabs[0]] })]),
  contained('an empty title', [container({ title: '' })]),
  contained('an id of 256 characters', [container({ id: letters(256) })], { containerId: letters(256) }),
  contained('an id of 257 characters', [container({ id: letters(257) })]),
  contained('without collapsed', [without(container(), 'collapsed')]),
  contained('an unknown field', [container({ nonsense: 1 })], {}, undocumented('containers.0.nonsense')),
  contained(
    '50 of them',
    items(50, (index) => container({ id: `c${index}` })),
    {},
    { show: ['containers.length'] },
  ),
  contained(
    '51 of them',
    items(51, (index) => container({ id: `c${index}` })),
  ),
  contained(
    '20 tabs',
    [container({ tabs: items(20, (index) => ({ id: `t${index}`, title: 'T' })) })],
    {},
    { show: ['containers.0.tabs.length'] },
  ),
  contained('21 tabs', [container({ tabs: items(21, (index) => ({ id: `t${index}`, title: 'T' })) })]),
]

const filter = (more: Json = {}): Json => ({ type: 'QUERY_EXPRESSION', name: 'Environment', expression: 'Env', sourceId: '$Logs', ...more })
const filtered = (name: string, filters: unknown, changes: Partial<Case> = {}): Case =>
  create(`filters: ${name}`, dashboard({ filters }), { show: ['filters'], ...changes })

const filters: readonly Case[] = [
  filtered('one', [filter()]),
  filtered('one with everything', [
    filter({
      sourceMetricType: 'gauge',
      where: 'a:b',
      whereLanguage: 'lucene',
      appliesToSourceIds: ['$Logs', '$Traces'],
      isBroadcastEnabled: true,
      isVariableEnabled: true,
      variableName: 'env',
    }),
  ]),
  filtered('an id', [filter({ id: 'mine' })], undocumented('filters.0.id')),
  filtered('an unknown field', [filter({ nonsense: 1 })], undocumented('filters.0.nonsense')),
  filtered('an empty name and an empty expression', [filter({ name: '', expression: '' })]),
  filtered('another type', [filter({ type: 'NONSENSE' })]),
  filtered(
    'fixed options, which newer servers have',
    [{ type: 'STATIC_LIST', name: 'Environment', options: ['dev', 'prod'], isBroadcastEnabled: false, isVariableEnabled: true }],
    undocumented('filters.0.options'),
  ),
  filtered(
    'a required selection, which newer servers have',
    [filter({ minSelections: 1, isGlobalRequirement: true })],
    undocumented('filters.0.minSelections'),
  ),
  filtered('without a type', [without(filter(), 'type')]),
  filtered('a source that does not exist', [filter({ sourceId: '$gone' })]),
  filtered('a source id that is none', [filter({ sourceId: 'nonsense' })]),
  filtered('another metric type', [filter({ sourceMetricType: 'nonsense' })]),
  filtered('language sql', [filter({ where: 'a = 1', whereLanguage: 'sql' })]),
  filtered('language promql', [filter({ whereLanguage: 'promql' })]),
  filtered('an empty where', [filter({ where: '' })]),
  filtered('applies to a source that does not exist', [filter({ appliesToSourceIds: ['$gone'] })]),
  filtered('applies to no source', [filter({ appliesToSourceIds: [] })]),
  filtered('applies to an empty id', [filter({ appliesToSourceIds: [''] })]),
  filtered('applies to sources without broadcast', [
    filter({ isBroadcastEnabled: false, isVariableEnabled: true, appliesToSourceIds: ['$Logs'] }),
  ]),
  filtered('neither broadcast nor variable', [filter({ isBroadcastEnabled: false })]),
  filtered('a variable only', [filter({ isBroadcastEnabled: false, isVariableEnabled: true })]),
  filtered('a variable name without variable', [filter({ variableName: 'env' })]),
  filtered('a variable that takes its name from the filter', [filter({ name: '1st env!', isVariableEnabled: true })]),
  filtered('a variable whose name cannot be made', [filter({ name: '!!!', isVariableEnabled: true })]),
  filtered('two variables of one name', [
    filter({ isVariableEnabled: true, variableName: 'env' }),
    filter({ name: 'Other', isVariableEnabled: true, variableName: 'env' }),
  ]),
  filtered('two variables of one derived name', [filter({ isVariableEnabled: true }), filter({ isVariableEnabled: true })]),
  filtered('two filters of one name', [filter(), filter()]),
  filtered('a variable name of 64 characters', [filter({ isVariableEnabled: true, variableName: letters(64) })]),
  filtered('a variable name of 65 characters', [filter({ isVariableEnabled: true, variableName: letters(65) })]),
  filtered('a variable name that begins with a digit', [filter({ isVariableEnabled: true, variableName: '1env' })]),
  filtered('a variable name with a dash', [filter({ isVariableEnabled: true, variableName: 'my-env' })]),
  filtered('null', null),
]

const saved = (name: string, fields: Json, changes: Partial<Case> = {}): Case =>
  create(`what is saved: ${name}`, dashboard(fields), { show: ['savedQuery', 'savedQueryLanguage', 'savedFilterValues'], ...changes })

const savedParts: readonly Case[] = [
  saved('a query without language', { savedQuery: 'a:b' }),
  saved('a query in sql', { savedQuery: "a = 'b'", savedQueryLanguage: 'sql' }),
  saved('a query in promql', { savedQuery: 'up', savedQueryLanguage: 'promql' }),
  saved('a query and language null', { savedQuery: 'a:b', savedQueryLanguage: null }),
  saved('an empty query', { savedQuery: '' }),
  saved('an empty query and language null', { savedQuery: '', savedQueryLanguage: null }),
  saved('query null', { savedQuery: null }),
  saved('query null and a language', { savedQuery: null, savedQueryLanguage: 'sql' }),
  saved('both null', { savedQuery: null, savedQueryLanguage: null }),
  saved('a language without query', { savedQueryLanguage: 'sql' }),
  saved('another language', { savedQuery: 'a', savedQueryLanguage: 'nonsense' }),
  saved('filter values', { savedFilterValues: [{ condition: 'a = 1' }, { type: 'sql', condition: '' }] }),
  saved('a filter value of type variable', { savedFilterValues: [{ type: 'variable', name: 'env', values: ['a'] }] }),
  saved('a filter value of type lucene', { savedFilterValues: [{ type: 'lucene', condition: 'a:b' }] }),
  saved('a filter value of 10000 characters', { savedFilterValues: [{ condition: letters(10_000) }] }),
  saved('a filter value of 10001 characters', { savedFilterValues: [{ condition: letters(10_001) }] }),
  saved(
    'a filter value with an unknown field',
    { savedFilterValues: [{ condition: 'a', nonsense: 1 }] },
    undocumented('savedFilterValues.0.nonsense'),
  ),
  saved('filter values null', { savedFilterValues: null }),
]

const reads: readonly Case[] = [
  { name: 'get a dashboard', given: [aDashboard()], request: 'GET dashboards/$dashboard' },
  {
    name: 'get a dashboard: its id in capitals',
    given: [aDashboard({ tiles: [] })],
    request: 'GET dashboards/$dashboard.id.upper',
    show: ['id'],
  },
  { name: 'get a dashboard that does not exist', request: 'GET dashboards/$gone' },
  { name: 'get a dashboard by an id that is none', request: 'GET dashboards/nonsense' },
  { name: 'get a dashboard by an id of 12 characters', request: 'GET dashboards/abcdefghijkl' },
  { name: 'get a dashboard by an id of 12 wide characters', request: 'GET dashboards/%C3%A4bcdefghijkl' },
  {
    name: 'list dashboards by name, descending',
    given: [
      aDashboard({ name: 'b', tiles: [] }, 'b'),
      aDashboard({ name: 'B', tiles: [] }, 'B'),
      aDashboard({ name: 'a', tiles: [] }, 'a'),
      aDashboard({ name: 'ä', tiles: [] }, 'umlaut'),
    ],
    request: 'GET dashboards',
    show: ['0.name', '1.name', '2.name', '3.name', 'length'],
  },
  {
    name: 'list dashboards: paging is not known',
    given: [aDashboard({ tiles: [] }, 'a'), aDashboard({ tiles: [] }, 'b')],
    request: 'GET dashboards?limit=1&offset=1',
    show: ['length'],
  },
  {
    name: 'delete a dashboard',
    given: [aDashboard()],
    request: 'DELETE dashboards/$dashboard',
    after: [{ request: 'GET dashboards/$dashboard' }, list('dashboards')],
  },
  { name: 'delete a dashboard that does not exist', request: 'DELETE dashboards/$gone' },
  { name: 'delete a dashboard by an id that is none', request: 'DELETE dashboards/nonsense' },
  {
    name: 'delete a dashboard with alerts',
    given: [
      aDashboard(),
      anAlert(),
      aDashboard({ name: 'Other' }, 'other'),
      anAlert({ dashboardId: '$other', tileId: '$other.tiles.0.id', name: 'Stays' }, 'stays'),
    ],
    request: 'DELETE dashboards/$dashboard',
    after: [list('alerts')],
  },
]

const validate = (name: string, body: unknown, more: Partial<Case> = {}): Case => ({
  name: `validate a dashboard: ${name}`,
  request: 'POST dashboards/validate',
  body,
  ...more,
})

const validations: readonly Case[] = [
  validate('good', dashboard({ tags: ['a', 'a'], filters: [filter()], containers: [container()] }), { after: [list('dashboards')] }),
  validate('the least', { name: 'Least', tiles: [] }),
  validate('nothing', {}),
  validate('without a name', without(dashboard(), 'name')),
  validate('several problems', { tiles: [tile(line({ select: [{ aggFn: 'avg' }] }), { x: 24 })] }),
  validate('a source that does not exist', dashboard({ tiles: [tile(line({ sourceId: '$gone' }))] })),
  validate('a count with an expression', dashboard({ tiles: [tile(line({ select: [{ ...count, valueExpression: 'x' }] }))] })),
  validate('a container that does not exist', dashboard({ tiles: [tile(line(), { containerId: 'nope' })] })),
  validate('an unknown field', dashboard({ nonsense: 1 }), undocumented('nonsense')),
  validate('ids of tiles stay in what is normalized', dashboard({ tiles: [tile(line(), { id: 'mine' })] })),
]

const full: Json = dashboard({
  tags: ['a'],
  filters: [filter()],
  savedQuery: 'a:b',
  savedFilterValues: [{ condition: 'a = 1' }],
  containers: [container({ tabs })],
  tiles: [tile(line(), { containerId: 'top', tabId: 'a' }), tile(line(), { name: 'Second', y: 4 })],
})

const update = (name: string, body: unknown, more: Partial<Case> = {}): Case => ({
  name: `update a dashboard: ${name}`,
  given: [{ request: 'POST dashboards', as: 'dashboard', body: full }],
  request: 'PUT dashboards/$dashboard',
  body,
  ...more,
})

const twoAlerts: NonNullable<Case['given']> = [
  { request: 'POST dashboards', as: 'dashboard', body: full },
  anAlert(),
  anAlert({ tileId: '$dashboard.tiles.1.id', name: 'On the second' }, 'second'),
]

const withAlerts = (name: string, body: unknown): Case =>
  update(`alerts: ${name}`, body, { given: twoAlerts, show: ['tiles.length'], after: [list('alerts')] })

const updates: readonly Case[] = [
  update('what it answers, without the id', copy('dashboard', { omit: ['id'] })),
  update('what it answers, with the id', copy('dashboard'), undocumented('id')),
  update('name and tiles only: the rest stays', { name: 'New', tiles: [] }),
  update('tiles that stay in a container that is not sent', copy('dashboard', { omit: ['id', 'containers'] }), {
    show: ['containers', 'tiles.0.containerId', 'tiles.0.tabId'],
  }),
  update('tiles that stay in a container that is taken away', copy('dashboard', { omit: ['id'], set: { containers: [] } })),
  update('everything emptied', {
    name: '',
    tiles: [],
    tags: [],
    filters: [],
    savedQuery: null,
    savedQueryLanguage: null,
    savedFilterValues: [],
    containers: [],
  }),
  update('a new query without language', { name: 'x', tiles: [], savedQuery: 'c:d' }, { show: ['savedQuery', 'savedQueryLanguage'] }),
  update('query null only', { name: 'x', tiles: [], savedQuery: null }, { show: ['savedQuery', 'savedQueryLanguage'] }),
  update('an empty query only', { name: 'x', tiles: [], savedQuery: '' }, { show: ['savedQuery', 'savedQueryLanguage'] }),
  update('language null only', { name: 'x', tiles: [], savedQueryLanguage: null }, { show: ['savedQuery', 'savedQueryLanguage'] }),
  update('tiles without ids get new ones', copy('dashboard', { omit: ['id', 'tiles.0.id', 'tiles.1.id'] }), {
    show: ['tiles.0.id', 'tiles.1.id'],
  }),
  update('tiles with unknown ids get new ones', copy('dashboard', { omit: ['id'], set: { 'tiles.0.id': 'mine', 'tiles.1.id': '$gone' } }), {
    show: ['tiles.0.id', 'tiles.1.id'],
  }),
  update('two tiles with one id', copy('dashboard', { omit: ['id'], set: { 'tiles.1.id': '$dashboard.tiles.0.id' } })),
  update(
    'tiles in another order',
    copy('dashboard', { omit: ['id'], set: { 'tiles.0.id': '$dashboard.tiles.1.id', 'tiles.1.id': '$dashboard.tiles.0.id' } }),
    { show: ['tiles.0.id', 'tiles.1.id', 'tiles.0.name'] },
  ),
  update('a filter without id', { name: 'x', tiles: [], filters: [filter()] }),
  update('a filter with an unknown id gets another', { name: 'x', tiles: [], filters: [filter({ id: 'mine' })] }, { show: ['filters'] }),
  update(
    'a filter with its id keeps it',
    { name: 'x', tiles: [], filters: [filter({ id: '$dashboard.filters.0.id', name: 'Renamed' })] },
    { show: ['filters'] },
  ),
  update(
    'two filters with one id',
    { name: 'x', tiles: [], filters: [filter({ id: '$dashboard.filters.0.id' }), filter({ id: '$dashboard.filters.0.id' })] },
    { show: ['filters'] },
  ),
  update(
    'a filter with an unknown field',
    { name: 'x', tiles: [], filters: [filter({ id: 'a', nonsense: 1 })] },
    undocumented('filters.0.nonsense'),
  ),
  update('tags that are null', { name: 'x', tiles: [], tags: null }),
  update('without tiles', { name: 'x' }),
  update('nothing', {}),
  update('a source that does not exist', dashboard({ tiles: [tile(line({ sourceId: '$gone' }))] })),
  update('one that does not exist', dashboard(), { given: [], request: 'PUT dashboards/$gone' }),
  update('by an id that is none', dashboard(), { given: [], request: 'PUT dashboards/nonsense' }),
  update('by an id that is none, with a body that is none', {}, { given: [], request: 'PUT dashboards/nonsense' }),
  update('is seen by the next read', { name: 'New', tiles: [] }, { show: ['name'], after: [{ request: 'GET dashboards/$dashboard' }] }),
  withAlerts('all tiles stay', copy('dashboard', { omit: ['id'] })),
  withAlerts('a tile goes', copy('dashboard', { omit: ['id', 'tiles.1'] })),
  withAlerts('a tile loses its id', copy('dashboard', { omit: ['id', 'tiles.1.id'] })),
  withAlerts('a tile becomes a table', copy('dashboard', { omit: ['id'], set: { 'tiles.1.config': line({ displayType: 'table' }) } })),
  withAlerts(
    'a tile becomes a stacked bar',
    copy('dashboard', { omit: ['id'], set: { 'tiles.1.config': line({ displayType: 'stacked_bar' }) } }),
  ),
  withAlerts('a tile becomes a number', copy('dashboard', { omit: ['id'], set: { 'tiles.1.config': line({ displayType: 'number' }) } })),
  withAlerts('a tile becomes a text', copy('dashboard', { omit: ['id'], set: { 'tiles.1.config': { displayType: 'markdown' } } })),
  withAlerts(
    'a tile becomes an SQL table',
    copy('dashboard', {
      omit: ['id'],
      set: { 'tiles.1.config': { configType: 'sql', displayType: 'table', connectionId: '$connection', sqlTemplate: 'SELECT 1' } },
    }),
  ),
  withAlerts(
    'a tile becomes SQL that no alert could use',
    copy('dashboard', {
      omit: ['id'],
      set: { 'tiles.1.config': { configType: 'sql', displayType: 'line', connectionId: '$connection', sqlTemplate: 'SELECT 1' } },
    }),
  ),
  withAlerts('the update is refused', copy('dashboard', { omit: ['id'], set: { tiles: 'nonsense' } })),
  update('alerts: an alert on a table goes with any update', copy('dashboard', { omit: ['id'] }), {
    given: [
      aDashboard({ tiles: [tile({ displayType: 'table', sourceId: '$Logs', select: [count] })] }),
      { request: 'POST alerts', body: alert() },
    ],
    show: ['tiles.length'],
    after: [list('alerts')],
  }),
]

const traces = { displayType: 'heatmap', sourceId: '$own', select: [{ valueExpression: 'Took' }] }
const withFormula = line({ sourceId: '$own', select: [count, count], formulas: [{ expression: 'A / B' }] })
const ownTraces: NonNullable<Case['given']> = [
  {
    request: 'POST sources',
    as: 'own',
    body: {
      name: 'Own',
      kind: 'trace',
      connection: '$connection',
      from: { databaseName: 'conformance', tableName: 'made_up' },
      timestampValueExpression: 'At',
      defaultTableSelectExpression: 'At',
      durationExpression: 'Took',
      durationPrecision: 3,
      traceIdExpression: 'Trace',
      spanIdExpression: 'Span',
      parentSpanIdExpression: 'Parent',
      spanNameExpression: 'Name',
      spanKindExpression: 'Kind',
    },
  },
]
const session = {
  name: 'Own',
  kind: 'session',
  connection: '$connection',
  from: { databaseName: 'conformance', tableName: 'made_up' },
  timestampValueExpression: 'At',
  traceSourceId: '$Traces',
}

/** A source that does not fit any more stops only the tiles that are new to it. */
const gates: readonly Case[] = [
  update('a heatmap whose source is of another kind by now stays', copy('dashboard', { omit: ['id'], set: { name: 'Renamed' } }), {
    given: [...ownTraces, aDashboard({ tiles: [tile(traces)] }), { request: 'PUT sources/$own', body: session }],
    show: ['name'],
  }),
  update('a heatmap whose source is of another kind cannot be added', copy('dashboard', { omit: ['id', 'tiles.0.id'] }), {
    given: [...ownTraces, aDashboard({ tiles: [tile(traces)] }), { request: 'PUT sources/$own', body: session }],
  }),
  update(
    'a tile with formulas whose source is of another kind by now stays',
    copy('dashboard', { omit: ['id'], set: { name: 'Renamed' } }),
    {
      given: [...ownTraces, aDashboard({ tiles: [tile(withFormula)] }), { request: 'PUT sources/$own', body: session }],
      show: ['name'],
    },
  ),
  update(
    'a formula whose source is of another kind cannot be changed',
    copy('dashboard', { omit: ['id'], set: { 'tiles.0.config.formulas.0.expression': 'B / A' } }),
    {
      given: [...ownTraces, aDashboard({ tiles: [tile(withFormula)] }), { request: 'PUT sources/$own', body: session }],
    },
  ),
  update('a tile whose source is gone', copy('dashboard', { omit: ['id'] }), {
    given: [...ownTraces, aDashboard({ tiles: [tile(line({ sourceId: '$own' }))] }), { request: 'DELETE sources/$own' }],
  }),
]

export const dashboardCases: readonly Case[] = [
  ...top,
  ...places,
  ...containers,
  ...filters,
  ...savedParts,
  ...reads,
  ...validations,
  ...updates,
  ...gates,
]
