import type { Case } from '../case.ts'
import {
  aDashboard,
  average,
  count,
  dashboard,
  items,
  type Json,
  letters,
  line,
  sql,
  tile,
  tileCase,
  undocumented,
  without,
} from './bodies.ts'

const numberFormat = {
  output: 'number',
  numericUnit: 'bytes_iec',
  mantissa: 2,
  thousandSeparated: true,
  average: false,
  decimalBytes: true,
  factor: 0.5,
  currencySymbol: '€',
  unit: 'req',
}

const built = (displayType: string, more: Json = {}): Json => ({ displayType, sourceId: '$Logs', select: [count], ...more })
const bare = { aggFn: 'count' }

const link = { target: { mode: 'id', id: '$Logs' } }
const linkWithEverything = {
  type: 'search',
  target: { mode: 'template', template: '{{name}}' },
  whereTemplate: 'a:{{b}}',
  whereLanguage: 'lucene',
  filters: [{ kind: 'expressionTemplate', expression: 'Env', template: '{{env}}' }],
}

const displayTypes: readonly Case[] = [
  tileCase('a line with the least', built('line', { select: [bare] })),
  tileCase(
    'a line with everything',
    built('line', {
      select: [count, average],
      groupBy: 'Env',
      asRatio: true,
      alignDateRangeToGranularity: true,
      fillNulls: false,
      fitYAxisToData: true,
      compareToPreviousPeriod: true,
      numberFormat,
      seriesLimit: 20,
    }),
  ),
  tileCase('a stacked bar with the least', built('stacked_bar', { select: [bare] })),
  tileCase(
    'a stacked bar with everything',
    built('stacked_bar', {
      select: [count, average],
      groupBy: 'Env',
      asRatio: false,
      alignDateRangeToGranularity: false,
      fillNulls: true,
      numberFormat,
      seriesLimit: 0,
    }),
  ),
  tileCase('a table with the least', built('table', { select: [bare] })),
  tileCase(
    'a table with everything',
    built('table', {
      groupBy: 'Env',
      having: 'count() > 5',
      orderBy: 'count() DESC',
      asRatio: false,
      numberFormat,
      groupByColumnsOnLeft: true,
      onClick: linkWithEverything,
    }),
  ),
  tileCase('a number with the least', built('number', { select: [bare] })),
  tileCase(
    'a number with everything',
    built('number', {
      numberFormat,
      color: 'chart-light-blue',
      colorRules: [{ operator: 'gt', value: 5, color: 'chart-red', label: 'many' }],
      backgroundChart: { type: 'area', color: 'chart-gray' },
    }),
  ),
  tileCase('a pie with the least', built('pie', { select: [bare] })),
  tileCase('a pie with everything', built('pie', { groupBy: 'Env', orderBy: 'count() DESC', numberFormat, limit: 10 })),
  tileCase('a bar with the least', built('bar', { select: [bare] })),
  tileCase('a bar with everything', built('bar', { groupBy: 'Env', orderBy: 'count() DESC', numberFormat, limit: 0 })),
  tileCase('a heatmap with the least', { displayType: 'heatmap', sourceId: '$Traces', select: [{ valueExpression: 'Took' }] }),
  tileCase('a heatmap with everything', {
    displayType: 'heatmap',
    sourceId: '$Traces',
    select: [{ valueExpression: 'Took', countExpression: 'count()', heatmapScaleType: 'log' }],
    where: 'a:b',
    whereLanguage: 'sql',
    numberFormat,
  }),
  tileCase('a search with the least', { displayType: 'search', sourceId: '$Logs', select: '' }),
  tileCase('a search with everything', {
    displayType: 'search',
    sourceId: '$Logs',
    select: 'At, Text',
    where: "a = 'b'",
    whereLanguage: 'sql',
  }),
  tileCase('a search without select', { displayType: 'search', sourceId: '$Logs' }),
  tileCase('event patterns with the least', { displayType: 'event_patterns', sourceId: '$Logs' }),
  tileCase('event patterns with everything', {
    displayType: 'event_patterns',
    sourceId: '$Logs',
    select: 'Text',
    where: 'a:b',
    whereLanguage: 'lucene',
  }),
  tileCase('a text with the least', { displayType: 'markdown' }),
  tileCase('a text', { displayType: 'markdown', markdown: '# Notes\n' }),
  tileCase('a text of 50000 characters', { displayType: 'markdown', markdown: letters(50_000) }),
  tileCase('a text of 50001 characters', { displayType: 'markdown', markdown: letters(50_001) }),
  tileCase('a text with a source', { displayType: 'markdown', markdown: 'x', sourceId: '$Logs' }, undocumented('tiles.0.config.sourceId')),
  tileCase('an unknown display type', built('hologram')),
  tileCase('no display type', without(built('line'), 'displayType')),
  tileCase('null', null),
  tileCase('a config that is a text', 'line'),
  tileCase('an empty config', {}),
  tileCase('an unknown field', line({ nonsense: 1 }), undocumented('tiles.0.config.nonsense')),
  tileCase('config type builder', line({ configType: 'builder' }), undocumented('tiles.0.config.configType')),
  tileCase('config type promql', line({ configType: 'promql', promqlExpression: 'up' }), undocumented('tiles.0.config.configType')),
  tileCase('a field of another display type', line({ having: 'count() > 5' }), undocumented('tiles.0.config.having')),
  tileCase('what only the web app saves', line({ granularity: '5 minute', where: 'a:b' }), undocumented('tiles.0.config.granularity')),
]

const sources: readonly Case[] = [
  tileCase('a source that does not exist', line({ sourceId: '$gone' })),
  tileCase('a source id that is none', line({ sourceId: 'nonsense' })),
  tileCase('a source id of 12 characters', line({ sourceId: 'abcdefghijkl' })),
  tileCase('a source id in capitals', line({ sourceId: '$Logs.id.upper' })),
  tileCase('no source', without(line(), 'sourceId')),
  tileCase('an empty source id', line({ sourceId: '' })),
  {
    name: 'tile: several sources that do not exist',
    request: 'POST dashboards',
    body: dashboard({
      tiles: [tile(line({ sourceId: '$gone' })), tile(line({ sourceId: 'abcdefghijkl' })), tile(line({ sourceId: '$gone' }))],
    }),
  },
  tileCase('a heatmap on logs', { displayType: 'heatmap', sourceId: '$Logs', select: [{ valueExpression: 'Took' }] }),
  tileCase('a heatmap with an empty expression', { displayType: 'heatmap', sourceId: '$Traces', select: [{ valueExpression: '' }] }),
  tileCase('a heatmap with two items', {
    displayType: 'heatmap',
    sourceId: '$Traces',
    select: items(2, () => ({ valueExpression: 'Took' })),
  }),
  tileCase('a heatmap with another scale', {
    displayType: 'heatmap',
    sourceId: '$Traces',
    select: [{ valueExpression: 'Took', heatmapScaleType: 'cubic' }],
  }),
  tileCase('a line on sessions', line({ sourceId: '$Sessions' })),
]

const selects = (name: string, select: unknown, more: Partial<Case> = {}): Case => tileCase(`select: ${name}`, line({ select }), more)

const selections: readonly Case[] = [
  selects('nothing', []),
  selects(
    '20 items',
    items(20, () => count),
    { show: ['tiles.0.config.select.length'] },
  ),
  selects(
    '21 items',
    items(21, () => count),
  ),
  selects('a text', 'count()'),
  tileCase('select: no list at all', without(line(), 'select')),
  selects('every aggregation', [
    bare,
    ...['avg', 'count_distinct', 'last_value', 'max', 'min', 'sum', 'any', 'none', 'increase', 'quantile'].map((aggFn) => ({
      ...average,
      aggFn,
    })),
  ]),
  selects('an unknown aggregation', [{ ...average, aggFn: 'entropy' }]),
  selects('an aggregation of the product only', [{ ...average, aggFn: 'histogram' }]),
  selects('without aggregation', [{ where: '' }]),
  selects('an average without expression', [{ aggFn: 'avg' }]),
  selects('an average with an empty expression', [{ aggFn: 'avg', valueExpression: '' }]),
  selects('a count with an expression', [{ ...count, valueExpression: 'Took' }]),
  selects('a count with an empty expression', [{ ...count, valueExpression: '' }]),
  selects(
    'each quantile',
    [0.5, 0.9, 0.95, 0.99].map((level) => ({ ...average, aggFn: 'quantile', level })),
  ),
  selects('a quantile at 0.42', [{ ...average, aggFn: 'quantile', level: 0.42 }]),
  selects('a quantile as a text', [{ ...average, aggFn: 'quantile', level: '0.5' }]),
  selects('a level beside an average', [{ ...average, level: 0.5 }]),
  selects('a level and an expression beside a count', [{ ...count, level: 0.5, valueExpression: 'Took' }]),
  selects('everything about metrics', [
    { ...average, aggFn: 'sum', metricType: 'exponential histogram', metricName: 'requests', periodAggFn: 'delta' },
  ]),
  selects(
    'every type of metric',
    ['gauge', 'histogram', 'sum', 'summary'].map((metricType) => ({ ...average, metricType })),
  ),
  selects('another type of metric', [{ ...average, metricType: 'counter' }]),
  selects('another aggregation over periods', [{ ...average, periodAggFn: 'ratio' }]),
  selects('an alias and a format', [{ ...count, alias: 'errors', numberFormat }]),
  selects('an empty alias', [{ ...count, alias: '' }]),
  selects('a condition in sql', [{ ...count, where: "a = 'b'", whereLanguage: 'sql' }]),
  selects('a condition in promql', [{ ...count, whereLanguage: 'promql' }]),
  selects('a condition in another language', [{ ...count, whereLanguage: 'nonsense' }]),
  selects('a condition that is null', [{ ...count, where: null }]),
  selects('a language that is null', [{ ...count, whereLanguage: null }]),
  selects('a condition of 10000 characters', [{ ...count, where: letters(10_000) }], { show: ['tiles.length'] }),
  selects('a condition of 10001 characters', [{ ...count, where: letters(10_001) }]),
  selects('an expression of 10001 characters', [{ ...average, valueExpression: letters(10_001) }]),
  selects('an alias of 10001 characters', [{ ...count, alias: letters(10_001) }]),
  selects('an unknown field', [{ ...count, nonsense: 1 }], undocumented('tiles.0.config.select.0.nonsense')),
  tileCase('select: two items on a pie', built('pie', { select: [count, count] })),
  tileCase('select: two items on a number', built('number', { select: [count, count] })),
  tileCase(
    'select: two items on a number of type builder',
    built('number', { configType: 'builder', select: [count, average] }),
    undocumented('tiles.0.config.configType'),
  ),
  tileCase('a ratio of one', line({ asRatio: true })),
  tileCase('a ratio of three', line({ asRatio: true, select: [count, count, count] })),
  tileCase('a ratio in a table', built('table', { asRatio: true, select: [count, average] })),
  tileCase('a group of 10001 characters', line({ groupBy: letters(10_001) })),
  tileCase('an empty group', line({ groupBy: '' })),
  tileCase('empty texts in a table', built('table', { groupBy: '', having: '', orderBy: '' })),
  tileCase('fillNulls null', line({ fillNulls: null })),
  tileCase('fillNulls 0', line({ fillNulls: 0 })),
  tileCase('seriesLimit -1', line({ seriesLimit: -1 })),
  tileCase('seriesLimit 1.5', line({ seriesLimit: 1.5 })),
  tileCase('limit -1', built('pie', { limit: -1 })),
]

const formula = (name: string, formulas: unknown, more: Json = {}): Case =>
  tileCase(`formulas: ${name}`, line({ select: [count, average], formulas, ...more }))

const expression = (name: string, text: string): Case => formula(name, [{ expression: text }])

const formulas: readonly Case[] = [
  formula('one', [{ expression: 'A / (A + B) * 100' }]),
  formula('one with everything', [{ expression: '-A * .5 + 2.', alias: 'share', numberFormat }], { showOperandSeries: false }),
  formula('operands shown', [{ expression: 'A' }], { showOperandSeries: true }),
  formula('none, with operands hidden', [], { showOperandSeries: false }),
  tileCase('formulas: not sent, with operands hidden', line({ showOperandSeries: false })),
  tileCase('formulas: on a stacked bar', built('stacked_bar', { formulas: [{ expression: 'A' }], showOperandSeries: true })),
  tileCase('formulas: on a table', built('table', { formulas: [{ expression: 'A' }], showOperandSeries: false })),
  tileCase('formulas: on a number', built('number', { select: [count, average], formulas: [{ expression: 'A / B' }] })),
  tileCase(
    'formulas: on a number with operands',
    built('number', { formulas: [{ expression: 'A' }], showOperandSeries: true }),
    undocumented('tiles.0.config.showOperandSeries'),
  ),
  tileCase('formulas: two on a number', built('number', { formulas: [{ expression: 'A' }, { expression: 'A' }] })),
  tileCase('formulas: on a pie', built('pie', { formulas: [{ expression: 'A' }] }), undocumented('tiles.0.config.formulas')),
  formula('beside a ratio', [{ expression: 'A' }], { asRatio: true }),
  formula(
    'ten',
    items(10, () => ({ expression: 'A' })),
  ),
  formula(
    'eleven',
    items(11, () => ({ expression: 'A' })),
  ),
  formula('on sessions', [{ expression: 'A' }], { sourceId: '$Sessions' }),
  formula('on metrics', [{ expression: 'A' }], { sourceId: '$Metrics' }),
  tileCase(
    'formulas: an unknown field',
    line({ formulas: [{ expression: 'A', nonsense: 1 }] }),
    undocumented('tiles.0.config.formulas.0.nonsense'),
  ),
  expression('empty', ''),
  expression('blank', '  '),
  expression('of 1024 characters', `A${'+A'.repeat(511)}+`),
  expression('of 1025 characters', letters(1025)),
  expression('that ends too early', 'A +'),
  expression('with a series that does not exist', 'A + C + C + D'),
  expression('without series', '1 + 2'),
  expression('in small letters', 'a + b'),
  expression('with a function', 'ABS(A)'),
  expression('with a strange character', 'A # B'),
  expression('with two operands in a row', 'A B'),
  expression('with two numbers in a row', 'A + 1 2'),
  expression('with two operators in a row', 'A * / B'),
  expression('with a parenthesis too few', '(A + B'),
  expression('with a parenthesis too many', 'A + B)'),
  expression('with empty parentheses', 'A + ()'),
  expression('nested 64 deep', `${'('.repeat(64)}A${')'.repeat(64)}`),
  expression('nested 65 deep', `${'('.repeat(65)}A${')'.repeat(65)}`),
  formula('two wrong ones', [{ expression: 'A +' }, { expression: 'Z' }]),
]

const number = (name: string, more: Json, changes: Partial<Case> = {}): Case => tileCase(`number: ${name}`, built('number', more), changes)
const rule = (more: Json = {}): Json => ({ operator: 'gt', value: 5, color: 'chart-red', ...more })

const colors: readonly Case[] = [
  number('every rule', {
    colorRules: [
      rule(),
      rule({ operator: 'gte' }),
      rule({ operator: 'lt' }),
      rule({ operator: 'lte' }),
      rule({ operator: 'between', value: [1, 2] }),
      rule({ operator: 'eq', value: 'down' }),
      rule({ operator: 'neq', value: 0 }),
    ],
  }),
  number('every color', {
    colorRules: ['orange', 'cyan', 'green', 'pink', 'purple', 'brown', 'success', 'warning', 'error'].map((name) =>
      rule({ color: `chart-${name}` }),
    ),
  }),
  number('a color of an older version', { color: 'chart-1' }),
  number('a color that is none', { color: '#ff0000' }),
  number('no rules', { colorRules: [] }),
  number('10 rules', { colorRules: items(10, () => rule()) }, { show: ['tiles.0.config.colorRules.length'] }),
  number('11 rules', { colorRules: items(11, () => rule()) }),
  number('a rule for texts', { colorRules: [rule({ operator: 'contains', value: 'x' })] }),
  number('a rule with a text for a number', { colorRules: [rule({ value: '5' })] }),
  number('a range with one end', { colorRules: [rule({ operator: 'between', value: [1] })] }),
  number('a label of 40 characters', { colorRules: [rule({ label: letters(40) })] }, { show: ['tiles.0.config.colorRules.length'] }),
  number('a label of 41 characters', { colorRules: [rule({ label: letters(41) })] }),
  number('a value of 201 characters', { colorRules: [rule({ operator: 'eq', value: letters(201) })] }),
  number('a background without color', { backgroundChart: { type: 'line' } }),
  number('another background', { backgroundChart: { type: 'pie' } }),
  number('a format without output', { numberFormat: { mantissa: 2 } }),
  number('a format with another output', { numberFormat: { output: 'roman' } }),
  number('a format with another unit', { numberFormat: { output: 'byte', numericUnit: 'furlongs' } }),
  number('a format with half a digit', { numberFormat: { output: 'number', mantissa: 0.5 } }),
  number(
    'a format with an unknown field',
    { numberFormat: { output: 'number', nonsense: 1 } },
    undocumented('tiles.0.config.numberFormat.nonsense'),
  ),
  number('every output', {
    select: items(7, (index) => ({
      ...count,
      numberFormat: { output: ['currency', 'percent', 'byte', 'time', 'duration', 'data_rate', 'throughput'][index] },
    })),
    formulas: [{ expression: 'A' }],
  }),
]

const click = (name: string, onClick: unknown, changes: Partial<Case> = {}): Case =>
  tileCase(`link: ${name}`, built('table', { onClick }), { show: ['tiles.0.config.onClick'], ...changes })

const clicks: readonly Case[] = [
  click('to a search', { type: 'search', ...link }),
  click('to a search of metrics', { type: 'search', target: { mode: 'id', id: '$Metrics' } }),
  click('to a search of a source that does not exist', { type: 'search', target: { mode: 'id', id: '$gone' } }),
  click('to a search by an id that is none', { type: 'search', target: { mode: 'id', id: 'nonsense' } }),
  click('to a dashboard', { type: 'dashboard', target: { mode: 'id', id: '$other' } }, { given: [aDashboard({ name: 'Other' }, 'other')] }),
  click('to a dashboard that does not exist', { type: 'dashboard', target: { mode: 'id', id: '$gone' } }),
  click('to a dashboard by its name', { type: 'dashboard', target: { mode: 'template', template: '{{name}}' } }),
  click('to an empty name', { type: 'dashboard', target: { mode: 'template', template: '' } }),
  click('to an address', { type: 'external', urlTemplate: 'https://example.com/{{id}}' }),
  click('to an empty address', { type: 'external', urlTemplate: '' }),
  click('of another type', { type: 'nonsense' }),
  click('without target', { type: 'search' }),
  click('with an empty expression in a filter', {
    type: 'search',
    ...link,
    filters: [{ kind: 'expressionTemplate', expression: '', template: '' }],
  }),
  click('with 51 filters', {
    type: 'search',
    ...link,
    filters: items(51, () => ({ kind: 'expressionTemplate', expression: 'a', template: 'b' })),
  }),
  click('with an unknown field', { type: 'external', urlTemplate: 'x', nonsense: 1 }, undocumented('tiles.0.config.onClick.nonsense')),
  tileCase('link: on a line', line({ onClick: { type: 'external', urlTemplate: 'x' } }), undocumented('tiles.0.config.onClick')),
]

const raw = (name: string, more: Json, changes: Partial<Case> = {}): Case => tileCase(`sql: ${name}`, sql(more), changes)

const otherConnection: Partial<Case> = {
  dialects: ['hyperdx'],
  given: [
    { request: 'POST connections', as: 'other', body: { name: 'Conformance', host: 'http://clickhouse.example:8123', username: 'nobody' } },
  ],
}

const sqlTiles: readonly Case[] = [
  raw('a line with the least', {}),
  raw('a line with everything', {
    sourceId: '$Logs',
    numberFormat,
    compareToPreviousPeriod: true,
    fillNulls: false,
    alignDateRangeToGranularity: true,
    fitYAxisToData: true,
  }),
  raw('a line with a limit', { seriesLimit: 5 }, undocumented('tiles.0.config.seriesLimit')),
  raw('a stacked bar', { displayType: 'stacked_bar', fillNulls: true, alignDateRangeToGranularity: false }),
  raw('a table', { displayType: 'table', onClick: { type: 'external', urlTemplate: 'x' } }),
  raw('a number', { displayType: 'number', color: 'chart-red' }),
  raw('a pie', { displayType: 'pie' }),
  raw('a bar', { displayType: 'bar' }),
  raw('a search', { displayType: 'search' }),
  raw('a text', { displayType: 'markdown' }),
  raw('no display type', { displayType: undefined }),
  raw('an unknown field', { nonsense: 1 }, undocumented('tiles.0.config.nonsense')),
  raw('a number with rules', { displayType: 'number', colorRules: [rule()] }, undocumented('tiles.0.config.colorRules')),
  raw('a connection that does not exist', { connectionId: '$gone' }),
  raw('a connection id that is none', { connectionId: 'nonsense' }),
  raw('no connection', { connectionId: undefined }),
  raw('a source that does not exist', { sourceId: '$gone' }),
  raw('a source of another connection', { connectionId: '$other', sourceId: '$Logs' }, otherConnection),
  raw('another connection', { connectionId: '$other' }, otherConnection),
  raw('no query', { sqlTemplate: undefined }),
  raw('an empty query', { sqlTemplate: '' }),
  raw('a query of 100000 characters', { sqlTemplate: letters(100_000) }, { show: ['tiles.length'] }),
  raw('a query of 100001 characters', { sqlTemplate: letters(100_001) }),
]

export const tileCases: readonly Case[] = [...displayTypes, ...sources, ...selections, ...formulas, ...colors, ...clicks, ...sqlTiles]
