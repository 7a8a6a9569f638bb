import { type Case, copy } from '../case.ts'
import { alertOnSearch, aSavedSearch, items, type Json, letters, list, savedSearch, undocumented, without } from './bodies.ts'

const create = (name: string, more: Json, changes: Partial<Case> = {}): Case => ({
  name: `create a saved search: ${name}`,
  request: 'POST saved-searches',
  body: savedSearch(more),
  ...changes,
})

const everything = {
  select: 'At, Text',
  where: 'level:error',
  whereLanguage: 'lucene',
  orderBy: 'At DESC',
  tags: ['a', 'a', 'b'],
  filters: [{ type: 'sql', condition: "Env IN ('prod')" }],
}

const fields: readonly Case[] = [
  create('the least', {}, { after: [list('saved-searches')] }),
  create('everything', everything),
  create('a name with blanks around is trimmed', { name: '  Errors  ' }, { show: ['name'] }),
  create('a name of blanks', { name: '   ' }),
  create('an empty name', { name: '' }),
  create('a name of 1024 characters', { name: letters(1024) }, { show: ['name.length'] }),
  create('a name of 1025 characters', { name: letters(1025) }),
  create('without name', {}, { body: { sourceId: '$Logs' } }),
  create('the same name twice', {}, { given: [aSavedSearch()], show: ['name'] }),
  create('without source', {}, { body: { name: 'x' } }),
  create('a source that does not exist', { sourceId: '$gone' }),
  create('a source id that is none', { sourceId: 'nonsense' }),
  create('a source id of 12 characters', { sourceId: 'abcdefghijkl' }),
  create('a source id in capitals', { sourceId: '$Logs.id.upper' }, { show: ['sourceId'] }),
  create('a source of metrics', { sourceId: '$Metrics' }, { show: ['sourceId'] }),
  create('language sql', { where: "a = 'b'", whereLanguage: 'sql' }, { show: ['where', 'whereLanguage'] }),
  create('language promql', { whereLanguage: 'promql' }),
  create(
    'texts with blanks around are kept as they are',
    { select: ' a ', where: ' b ', orderBy: ' c ' },
    { show: ['select', 'where', 'orderBy'] },
  ),
  create('texts of null', { select: null, where: null, whereLanguage: null, orderBy: null }),
  create(
    'texts of the greatest length',
    { select: letters(4096), where: letters(8192), orderBy: letters(1024) },
    { show: ['select.length', 'where.length', 'orderBy.length'] },
  ),
  create('texts one character longer', { select: letters(4097), where: letters(8193), orderBy: letters(1025) }),
  create('51 tags, one of them too long', { tags: items(51, (index) => (index === 0 ? letters(33) : 'x')) }),
  create('tags of null', { tags: null }),
  create('an unknown field', { nonsense: 1 }, undocumented('nonsense')),
  create('an id', { id: '$gone' }, undocumented('id')),
  create('nothing', {}, { body: {} }),
]

const filter = (name: string, condition: string): Case =>
  create(`filter: ${name}`, { filters: [{ type: 'sql', condition }] }, { show: ['filters'] })

const filters: readonly Case[] = [
  create('filters: without type', { filters: [{ condition: "a IN ('x')" }] }, { show: ['filters'] }),
  create('filters: lucene', { filters: [{ type: 'lucene', condition: 'a:x' }] }),
  create('filters: a tree', { filters: [{ type: 'sql_ast', operator: '=', left: 'a', right: '1' }] }, undocumented('filters.0.operator')),
  create(
    'filters: a tree with another operator',
    { filters: [{ type: 'sql_ast', operator: 'LIKE', left: 'a', right: '1' }] },
    undocumented('filters.0.operator'),
  ),
  create('filters: of another type', { filters: [{ type: 'nonsense', condition: 'x' }] }),
  create('filters: without condition', { filters: [{ type: 'sql' }] }),
  create('filters: the second cannot be shown', { filters: [{ condition: "a IN ('x')" }, { condition: 'b = 1' }] }),
  create('filters: 100', { filters: items(100, (index) => ({ condition: `a IN ('${index}')` })) }, { show: ['filters.length'] }),
  create('filters: 101', { filters: items(101, (index) => ({ condition: `a IN ('${index}')` })) }),
  create('filters: of 8193 characters', { filters: [{ condition: letters(8193) }] }),
  create('filters: null', { filters: null }),
  create('filters: an unknown field', { filters: [{ condition: "a IN ('x')", nonsense: 1 }] }, undocumented('filters.0.nonsense')),
  filter('several values', "ServiceName IN ('a', 'b')"),
  filter('none of several values', "ServiceName NOT IN ('a', 'b')"),
  filter('a range', 'Took BETWEEN 1 AND 2.5'),
  filter('a range of dates', "At BETWEEN '2026-01-01' AND '2026-01-02'"),
  filter('outside of a range', 'Took NOT BETWEEN 1 AND 2'),
  filter('an equation', "a = 'x'"),
  filter('a comparison', 'a > 5'),
  filter('two conditions', "a IN ('x') AND b IN ('y')"),
  filter('one of two conditions', "a IN ('x') OR b IN ('y')"),
  filter('a range and a condition', "Took BETWEEN 1 AND 2 AND a IN ('x')"),
  filter('no values', 'a IN ()'),
  filter('an empty value', "a IN ('')"),
  filter('a value with an apostrophe', "a IN ('it''s')"),
  filter('a value with words of the language', "a IN ('x AND y', 'p OR q', 'a = b')"),
  filter('an attribute', "ResourceAttributes['env'] IN ('prod')"),
  filter('an expression with parentheses', "if(a = 'x' OR b = 'y', 'p', 'q') IN ('p')"),
  filter('a negation around', "NOT (a IN ('x'))"),
  filter('in small letters', "a in ('x')"),
  filter('numbers', 'a IN (1, 2)'),
  filter('without parentheses', "a IN 'x'"),
  filter('empty', ''),
  filter('nonsense', 'x'),
]

const update = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `update a saved search: ${name}`,
  given: [aSavedSearch(everything)],
  request: 'PUT saved-searches/$search',
  body,
  ...changes,
})

const updates: readonly Case[] = [
  update('what it answers', copy('search'), undocumented('id')),
  update('what it answers, without what the server owns', copy('search', { omit: ['id', 'teamId', 'createdAt', 'updatedAt'] })),
  update('the least: the rest gets its defaults again', savedSearch({ name: 'New' })),
  update('a filter that cannot be shown', savedSearch({ filters: [{ condition: 'a = 1' }] })),
  update('a source that does not exist', savedSearch({ sourceId: '$gone' })),
  update('without name', { sourceId: '$Logs' }),
  update('one that does not exist', savedSearch(), { given: [], request: 'PUT saved-searches/$gone' }),
  update('one that does not exist, with a source that does not exist', savedSearch({ sourceId: '$gone' }), {
    given: [],
    request: 'PUT saved-searches/$gone',
  }),
  update('by an id that is none', savedSearch(), { given: [], request: 'PUT saved-searches/nonsense' }),
  update('by an id that is none, with a body that is none', {}, { given: [], request: 'PUT saved-searches/nonsense' }),
]

const three = [aSavedSearch({ name: 'a' }, 'a'), aSavedSearch({ name: 'b' }, 'b'), aSavedSearch({ name: 'c' }, 'c')]
const page = (query: string): Case => ({
  name: `list saved searches: ${query}`,
  given: three,
  request: `GET saved-searches?${query}`,
  show: ['length'],
})

const reads: readonly Case[] = [
  { name: 'get a saved search', given: [aSavedSearch()], request: 'GET saved-searches/$search' },
  { name: 'get a saved search that does not exist', request: 'GET saved-searches/$gone' },
  { name: 'get a saved search by an id that is none', request: 'GET saved-searches/nonsense' },
  { name: 'list saved searches', given: three, request: 'GET saved-searches' },
  ...['limit=2', 'limit=2&offset=2', 'limit=1001', 'limit=0', 'offset=-1'].map(page),
  {
    name: 'delete a saved search: its alerts go with it',
    given: [
      aSavedSearch(),
      { request: 'POST alerts', body: alertOnSearch() },
      aSavedSearch({ name: 'Other' }, 'other'),
      { request: 'POST alerts', body: alertOnSearch({ savedSearchId: '$other', name: 'Stays' }) },
    ],
    request: 'DELETE saved-searches/$search',
    after: [list('alerts'), { request: 'GET saved-searches/$search' }],
  },
  { name: 'delete a saved search that does not exist', request: 'DELETE saved-searches/$gone' },
  { name: 'delete a saved search by an id that is none', request: 'DELETE saved-searches/nonsense' },
  {
    name: 'create a saved search: fields left out are not null',
    request: 'POST saved-searches',
    body: without(savedSearch(everything), 'tags', 'filters'),
    show: ['tags', 'filters'],
  },
]

export const savedSearchCases: readonly Case[] = [...fields, ...filters, ...updates, ...reads]
