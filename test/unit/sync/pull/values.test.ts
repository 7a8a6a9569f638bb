// How a single value of the API stands in a file.
import { describe, expect, it } from 'vitest'
import { readDeclarations } from '../../../../src/sync/declarations.ts'
import { hasExpression, renderDashboard } from '../../../../src/sync/pull/render.ts'
import { writeNewFile } from '../../../../src/sync/pull/write-yaml.ts'
import { hostile } from '../../../support/corpus.ts'
import { awkwardNames } from '../../../support/random-words.ts'

const naming = {
  source: (id: unknown) => (id === 's1' ? { source: 'Logs' } : id),
  webhook: () => ({}),
  target: () => '',
  tile: () => '',
}

const tile = (fields: object) => ({ id: 't', name: 'T', x: 0, y: 0, w: 1, h: 1, ...fields })

const written = (fields: object, tiles: readonly object[] = []) =>
  renderDashboard({ name: 'D', tiles, ...fields }, { references: naming }).fields

const writtenTile = (fields: object) => (written({}, [tile(fields)]).tiles as readonly unknown[])[0]

const place = { x: 0, y: 0, w: 1, h: 1 }
const line = { displayType: 'line', sourceId: 's1', select: [{ aggFn: 'count' }] }
const writtenLine = { ...line, sourceId: { source: 'Logs' } }

describe('a dashboard', () => {
  it('loses what the server adds, what is empty and what nobody knows', () => {
    expect(
      written({
        tags: ['b', 'a', 'wk:0a1b2c:key:abcdef'],
        savedQuery: null,
        savedQueryLanguage: null,
        savedFilterValues: [],
        containers: [{ id: 'c', title: 'C', collapsed: false, collapsible: true, bordered: true }],
        filters: [{ id: 'f', type: 'QUERY_EXPRESSION', name: 'F', expression: 'x', sourceId: 's1', isBroadcastEnabled: true }],
        novel: 1,
      }),
    ).toEqual({
      name: 'D',
      tags: ['b', 'a'],
      tiles: [],
      filters: [{ name: 'F', expression: 'x', sourceId: { source: 'Logs' } }],
      containers: [{ id: 'c', title: 'C' }],
    })
  })

  it('keeps what its types do not accept, unchecked', () => {
    const containers = [{ id: 'c', title: 'C', layout: 5, collapsed: 'sometimes' }]
    expect(written({ containers })).toEqual({ name: 'D', tiles: [], raw: { containers } })
  })
})

describe('a tile', () => {
  it.each<[string, object, object]>([
    ['of a known type', { config: { ...line, asRatio: false, novel: 1 } }, { name: 'T', ...place, config: writtenLine }],
    [
      'with fields that must be there',
      { config: { displayType: 'search', sourceId: 's2', select: '', whereLanguage: 'sql', where: '' } },
      { name: 'T', ...place, config: { displayType: 'search', sourceId: 's2', select: '', whereLanguage: 'sql' } },
    ],
    [
      'of an unknown type',
      { config: { displayType: 'hologram', sourceId: 's1', novel: [1] } },
      { name: 'T', ...place, raw: { config: { displayType: 'hologram', sourceId: 's1', novel: [1] } } },
    ],
    [
      'with a word that no type accepts',
      { config: { ...line, select: [{ aggFn: 'entropy' }] } },
      { name: 'T', ...place, raw: { config: { ...line, select: [{ aggFn: 'entropy' }] } } },
    ],
    ['of the time before config', { series: [{ type: 'time' }] }, { name: 'T', ...place, raw: { series: [{ type: 'time' }] } }],
    ['without a name', { name: '', config: line }, { name: 'Tile 1', ...place, config: writtenLine, raw: { name: '' } }],
    [
      'of a number that only its text holds',
      { config: { ...line, numberFormat: { output: 'number', factor: JSON.rawJSON('0.12345678901234567890') } } },
      { name: 'T', ...place, config: { ...writtenLine, numberFormat: { output: 'number', factor: 0.12345678901234568 } } },
    ],
  ])('%s', (_, fields, expected) => {
    expect(writtenTile(fields)).toEqual(expected)
  })
})

describe('a text in a file', () => {
  const corpus = [...awkwardNames, ...hostile.filter(({ id }) => !id.startsWith('size-')).map(({ value }) => value)].filter(
    (value) => value !== '' && !hasExpression(value),
  )

  it.each(['observability/a.yml', 'observability/a.json'])('of %s is the same when it is read', (path) => {
    const alert = {
      dashboard: { id: 'x' },
      tile: { id: 'y' },
      threshold: 1,
      interval: '5m',
      channel: { type: 'email', emailRecipients: ['a@b'] },
    }
    const additions = corpus.map((value, i) => ({
      section: 'alerts' as const,
      key: `a${i}`,
      fields: { name: value.slice(0, 512), ...alert, message: value.slice(0, 3900), note: `1. ${value}\n2. ${value}`.slice(0, 3900) },
    }))
    const text = writeNewFile(path, additions)
    const read = readDeclarations([{ path, text }], () => undefined)
    expect(read.diagnostics).toEqual([])
    expect(read.objects.map(({ value }) => value)).toEqual(additions.map(({ fields }) => ({ ...fields, thresholdType: 'above' })))
    if (path.endsWith('.yml'))
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/)
    expect(text.isWellFormed()).toBe(true)
  })
})
