import { type Case, copy } from '../case.ts'
import { anAlert, average, count, type Json, line, list, tile, undocumented } from './bodies.ts'

/** Tiles as the web app saves them: more than the API shows. */
const saved = (name: string, config: Json, more: Json = {}): Case => ({
  name: `web app: ${name}`,
  given: [{ as: 'dashboard', webApp: { name: 'Saved in the web app', tiles: [{ ...tile(config, more), config }] } }],
  request: 'GET dashboards/$dashboard',
  show: ['tiles'],
})

const promql = { configType: 'promql', displayType: 'line', connectionId: '$connection', promqlExpression: 'up' }

const update = (name: string, config: Json, changes: Partial<Case> = {}): Case => ({
  ...saved(name, config),
  request: 'PUT dashboards/$dashboard',
  body: copy('dashboard', { omit: ['id'] }),
  ...changes,
})

const hidden = { granularity: '5 minute', alternateRowBackground: true, ratioMode: 'share_of_total' }

const savedFilters = {
  as: 'dashboard',
  webApp: {
    name: 'Saved in the web app',
    tiles: [],
    savedFilterValues: [
      { type: 'lucene', condition: 'a:b' },
      { type: 'sql_ast', operator: '=', left: 'a', right: '1' },
      { type: 'sql', condition: "a IN ('b')" },
    ],
  },
}

const language = 'tiles.0.config.select.0.whereLanguage'

/** What is stored for a tile that the API wrote with, or without, a language, and whether the web app can save it. */
const stores = (name: string, config: Json, show: readonly string[], isUpdated = false): Case => {
  const tiles = [tile(config)]
  return {
    name: `web app: ${name}`,
    ...(isUpdated
      ? { given: [{ request: 'POST dashboards', body: { name: 'Before', tiles }, as: 'before' }], request: 'PUT dashboards/$before' }
      : { request: 'POST dashboards' }),
    body: { name: 'Written by the API', tiles },
    as: 'written',
    show: ['name'],
    after: [{ inWebApp: '$written', show }, { savedAgainInWebApp: '$written' }],
  }
}

const condition = { where: 'Env:prod' }
const ofKind = (displayType: string, sourceId: string, select: unknown): Json => ({ displayType, sourceId, select, ...condition })

const storedLanguages: readonly Case[] = [
  stores('a series without a language is stored without one', line({ select: [{ aggFn: 'count', ...condition }] }), [language]),
  stores(
    'an update without a language stores null, and the web app cannot save it',
    line({ select: [{ aggFn: 'count', ...condition }] }),
    [language],
    true,
  ),
  stores(
    'a series with a language keeps it',
    line({ select: [{ aggFn: 'count', ...condition, whereLanguage: 'lucene' }] }),
    [language],
    true,
  ),
  ...[false, true].flatMap((isUpdated) =>
    [
      ofKind('search', '$Logs', 'At'),
      ofKind('event_patterns', '$Logs', 'At'),
      ofKind('heatmap', '$Traces', [{ valueExpression: 'Took' }]),
    ].map((config) =>
      stores(
        `${isUpdated ? 'an update' : 'a create'} of a tile without a language stores Lucene: ${config.displayType}`,
        config,
        ['tiles.0.config.whereLanguage'],
        isUpdated,
      ),
    ),
  ),
]

export const webAppCases: readonly Case[] = [
  ...storedLanguages,
  saved('a line', line()),
  saved('a PromQL tile is not shown', promql),
  {
    name: 'web app: a PromQL tile goes with any update, and its alert with it',
    given: [
      {
        as: 'dashboard',
        webApp: {
          name: 'Saved in the web app',
          tiles: [
            { id: 'shown', name: 'Shown', config: line() },
            { id: 'hidden', name: 'Hidden', config: promql },
          ],
        },
      },
      anAlert({ tileId: 'shown' }, 'first'),
      anAlert({ tileId: 'hidden', name: 'On what is not shown' }, 'second'),
    ],
    request: 'PUT dashboards/$dashboard',
    body: copy('dashboard', { omit: ['id'] }),
    show: ['tiles.length'],
    after: [list('alerts')],
  },
  saved('parts that the API does not show', line({ ...hidden, where: 'a:b', whereLanguage: 'sql' })),
  update('an update keeps what is shown, and drops the rest', line(hidden), {
    show: ['tiles.0.config'],
    after: [{ inWebApp: '$dashboard', show: Object.keys(hidden).map((name) => `tiles.0.config.${name}`) }],
  }),
  {
    name: 'web app: it shows what the API does not',
    given: [{ as: 'dashboard', webApp: { name: 'Saved in the web app', tiles: [{ config: line(hidden) }] } }],
    request: 'GET dashboards/$dashboard',
    show: ['tiles.length'],
    after: [{ inWebApp: '$dashboard', show: Object.keys(hidden).map((name) => `tiles.0.config.${name}`) }],
  },
  {
    name: 'web app: a tile that the API does not show is gone after an update',
    given: [{ as: 'dashboard', webApp: { name: 'Saved in the web app', tiles: [{ config: promql }, { config: line() }] } }],
    request: 'PUT dashboards/$dashboard',
    body: copy('dashboard', { omit: ['id'] }),
    show: ['tiles.length'],
    after: [{ inWebApp: '$dashboard', show: ['tiles.length'] }],
  },
  saved('an aggregation that the API does not have', line({ select: [{ ...average, aggFn: 'histogram', level: 0.5 }] })),
  saved('an aggregation with a combinator', line({ select: [{ ...average, aggFn: 'avgIfState' }] })),
  saved('an expression left over on a count', line({ select: [{ ...count, valueExpression: 'Took' }] })),
  saved('a level left over on an average', line({ select: [{ ...average, level: 0.5 }] })),
  saved('a level that the API does not have', line({ select: [{ ...average, aggFn: 'quantile', level: 0.42 }] })),
  saved('a change over periods', line({ select: [{ ...average, periodAggFn: 'delta' }] })),
  saved('colors of a column', { displayType: 'table', sourceId: '$Logs', select: [{ ...count, color: 'chart-red', colorRules: [] }] }),
  saved('a select that is a text', line({ select: 'count()' })),
  saved('a group that is a list', line({ groupBy: [{ valueExpression: 'Env' }] })),
  saved('an order that is a list', {
    displayType: 'table',
    sourceId: '$Logs',
    select: [count],
    orderBy: [{ valueExpression: 'Env', aggFn: 'count', aggCondition: '', ordering: 'DESC' }],
  }),
  saved('a ratio', line({ select: [count, average], asRatio: true })),
  saved('a ratio of one', line({ asRatio: true })),
  saved('no cap on series', line({ seriesLimit: null })),
  saved('a cap on series of 0', line({ seriesLimit: 0 })),
  saved('gaps filled', line({ fillNulls: 0 })),
  saved('gaps left', line({ fillNulls: false })),
  saved('formulas without operands', line({ select: [count, average], formulas: [{ expression: 'A / B' }], showOperandSeries: false })),
  saved('operands hidden without formulas', line({ showOperandSeries: false })),
  saved('a number with two items', { displayType: 'number', sourceId: '$Logs', select: [count, average] }),
  saved('a number with rules for texts', {
    displayType: 'number',
    sourceId: '$Logs',
    select: [count],
    color: 'chart-green',
    colorRules: [
      { operator: 'contains', value: 'x', color: 'chart-red' },
      { operator: 'gt', value: 5, color: 'chart-red' },
    ],
  }),
  saved('a number with rules for texts only', {
    displayType: 'number',
    sourceId: '$Logs',
    select: [count],
    colorRules: [{ operator: 'contains', value: 'x', color: 'chart-red' }],
  }),
  saved('a heatmap without expression', {
    displayType: 'heatmap',
    sourceId: '$Traces',
    select: [{ valueExpression: '', countExpression: 'count()' }],
  }),
  saved('a heatmap without select', { displayType: 'heatmap', sourceId: '$Traces', select: '' }),
  saved('an empty source', line({ sourceId: '' })),
  saved('a tile without name', line(), { name: '' }),
  saved('a text with a source', { displayType: 'markdown', sourceId: '$Logs', markdown: '# Notes', select: [] }),
  saved('a search without language', { displayType: 'search', sourceId: '$Logs', select: 'At' }),
  saved('an SQL tile', { configType: 'sql', displayType: 'line', connectionId: '$connection', sqlTemplate: 'SELECT 1', fillNulls: 0 }),
  saved('an SQL tile without display type', { configType: 'sql', connectionId: '$connection', sqlTemplate: 'SELECT 1' }),
  saved('a tile in a container that does not exist', line(), { containerId: 'gone', tabId: 'a' }),
  saved('a tile in a tab without container', line(), { tabId: 'a' }),
  {
    name: 'web app: a tile in a tab that does not exist',
    given: [
      {
        as: 'dashboard',
        webApp: {
          name: 'Saved in the web app',
          containers: [{ id: 'top', title: 'Top', collapsed: false, tabs: [{ id: 'a', title: 'A' }] }],
          tiles: [{ name: 'T', config: { displayType: 'markdown', markdown: 'x', select: [] }, containerId: 'top', tabId: 'gone' }],
        },
      },
    ],
    request: 'GET dashboards/$dashboard',
    show: ['tiles.0.containerId', 'tiles.0.tabId', 'containers'],
  },
  { name: 'web app: filter values of every type are shown', given: [savedFilters], request: 'GET dashboards/$dashboard' },
  {
    name: 'web app: sending back filter values of every type',
    given: [savedFilters],
    request: 'PUT dashboards/$dashboard',
    body: copy('dashboard', { omit: ['id'] }),
    ...undocumented('savedFilterValues.1.operator'),
  },
  {
    name: 'web app: filter fields of a mode that the filter is not in are not shown',
    given: [
      {
        as: 'dashboard',
        webApp: {
          name: 'Saved in the web app',
          tiles: [],
          filters: [
            { type: 'QUERY_EXPRESSION', name: 'Env', expression: 'Env', sourceId: '$Logs', variableName: 'env' },
            {
              type: 'QUERY_EXPRESSION',
              name: 'Host',
              expression: 'Host',
              sourceId: '$Logs',
              isBroadcastEnabled: false,
              isVariableEnabled: true,
              appliesToSourceIds: ['$Logs'],
            },
          ],
        },
      },
    ],
    request: 'GET dashboards/$dashboard',
    show: ['filters'],
  },
  update('sending back an aggregation that the API does not have', line({ select: [{ ...average, aggFn: 'histogram' }] }), {
    show: ['tiles.0.config'],
  }),
  update('sending back an expression left over on a count', line({ select: [{ ...count, valueExpression: 'Took' }] }), {
    show: ['tiles.0.config'],
  }),
  update('sending back an average without expression', line({ select: [{ ...average, valueExpression: '' }] })),
  update('sending back a heatmap without expression', { displayType: 'heatmap', sourceId: '$Traces', select: [{ valueExpression: '' }] }),
  update('sending back an empty source', line({ sourceId: '' })),
  update('sending back two tiles with one id', line(), {
    given: [
      {
        as: 'dashboard',
        webApp: {
          name: 'Saved in the web app',
          tiles: [
            { id: 'same', name: 'A', config: line() },
            { id: 'same', name: 'B', config: line() },
          ],
        },
      },
    ],
  }),
  {
    name: 'web app: an alert on a PromQL tile',
    given: [{ as: 'dashboard', webApp: { name: 'Saved in the web app', tiles: [{ id: 'hidden', name: 'Hidden', config: promql }] } }],
    ...anAlert({ tileId: 'hidden' }),
  },
]
