import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { compareBodies, composeUpdate, managedPart, overlay } from '../../../src/kinds/compare.ts'
import type { Body, Kind, StoredObject } from '../../../src/kinds/kind.ts'
import { createKinds } from '../../../src/kinds/kinds.ts'
import { profileNamed } from '../../../src/platform/api/profiles.ts'
import { nowMs } from '../../support/plans.ts'

// The line between what files say of an object and what they leave to others.

const line = z.strictObject({ type: z.literal('line'), where: z.string().optional() })
const pie = z.strictObject({ type: z.literal('pie'), where: z.string().optional() })
const tileSchema = z.strictObject({ name: z.string(), config: z.union([line, pie]).optional() })
const board = z.strictObject({
  name: z.string(),
  tiles: z.array(tileSchema).optional(),
  owner: z.strictObject({ team: z.string() }).optional(),
})

describe('what files have a say in', () => {
  it.each([
    ['the fields that they know', { name: 'D', theirs: 1 }, { name: 'E' }, { name: 'D' }],
    ['an unknown field that they declare', { name: 'D', theirs: 1 }, { name: 'D', theirs: 2 }, { name: 'D', theirs: 1 }],
    ['the same inside of what they say', { owner: { team: 'a', theirs: 1 } }, { owner: { team: 'b' } }, { owner: { team: 'a' } }],
    ['the same inside of what they leave out', { owner: { team: 'a', theirs: 1 } }, {}, { owner: { team: 'a' } }],
    [
      'items by their ids, wherever they stand',
      {
        tiles: [
          { id: '1', name: 'A', x: 1 },
          { id: '2', name: 'B', y: 2 },
        ],
      },
      {
        tiles: [
          { id: '2', name: 'B', y: 3 },
          { id: '1', name: 'A' },
        ],
      },
      {
        tiles: [
          { id: '1', name: 'A' },
          { id: '2', name: 'B', y: 2 },
        ],
      },
    ],
    [
      'items by their places, where they have no ids',
      {
        tiles: [
          { name: 'A', x: 1 },
          { name: 'B', y: 2 },
        ],
      },
      { tiles: [{ name: 'A' }, { name: 'B', y: 3 }] },
      { tiles: [{ name: 'A' }, { name: 'B', y: 2 }] },
    ],
    [
      'no item of another id in its place',
      { tiles: [{ name: 'A', x: 1 }] },
      { tiles: [{ id: '1', name: 'A', x: 2 }] },
      { tiles: [{ name: 'A' }] },
    ],
    [
      'all of what is to take another form',
      { tiles: [{ name: 'A', config: { type: 'pie', theirs: 1 } }] },
      { tiles: [{ name: 'A', config: { type: 'line' } }] },
      { tiles: [{ name: 'A', config: { type: 'pie', theirs: 1 } }] },
    ],
    [
      'the known part of what keeps its form',
      { tiles: [{ name: 'A', config: { type: 'line', theirs: 1 } }] },
      { tiles: [{ name: 'A', config: { type: 'line', where: 'x' } }] },
      { tiles: [{ name: 'A', config: { type: 'line' } }] },
    ],
    [
      'all of what has no form that they know',
      { tiles: [{ name: 'A', config: { type: 'new', theirs: 1 } }] },
      { tiles: [{ name: 'A', config: { type: 'new' } }] },
      { tiles: [{ name: 'A', config: { type: 'new', theirs: 1 } }] },
    ],
  ])('is %s', (_, stored, desired, expected) => {
    expect(managedPart(stored, desired, board)).toEqual(expected)
  })
})

describe('an update', () => {
  it.each([
    ['keeps fields that files do not know', { name: 'E' }, { name: 'D', theirs: 1 }, { theirs: 1, name: 'E' }],
    ['leaves out known fields that files leave out', { name: 'E' }, { name: 'D', owner: { team: 'a' } }, { name: 'E' }],
    [
      'keeps them inside of what it sends',
      { owner: { team: 'b' } },
      { owner: { team: 'a', theirs: 1 } },
      { owner: { theirs: 1, team: 'b' } },
    ],
    [
      'keeps those of an item by its id',
      {
        tiles: [
          { id: '2', name: 'B' },
          { id: '1', name: 'A' },
        ],
      },
      {
        tiles: [
          { id: '1', name: 'A', x: 1 },
          { id: '2', name: 'B', y: 2 },
        ],
      },
      {
        tiles: [
          { y: 2, id: '2', name: 'B' },
          { x: 1, id: '1', name: 'A' },
        ],
      },
    ],
    [
      'keeps those of an item by its place, where none has an id',
      { tiles: [{ name: 'A' }] },
      { tiles: [{ name: 'Z', x: 1 }, { name: 'B' }] },
      { tiles: [{ x: 1, name: 'A' }] },
    ],
    [
      'gives a new item nothing of the one that has an id in its place',
      { tiles: [{ name: 'New' }] },
      { tiles: [{ id: '1', name: 'A', x: 1 }] },
      { tiles: [{ name: 'New' }] },
    ],
    [
      'brings nothing of the old form into another',
      { tiles: [{ name: 'A', config: { type: 'line' } }] },
      { tiles: [{ name: 'A', config: { type: 'pie', theirs: 1 } }] },
      { tiles: [{ name: 'A', config: { type: 'line' } }] },
    ],
    ['sends a list where none was', { tiles: [{ name: 'A' }] }, { tiles: null }, { tiles: [{ name: 'A' }] }],
    ['sends a map where none was', { owner: { team: 'a' } }, { owner: null }, { owner: { team: 'a' } }],
  ])('%s', (_, desired, stored, expected) => {
    expect(overlay(desired, stored, board)).toEqual(expected)
  })
})

// A field that this tool does not know belongs to somebody else: it is no difference, and it survives every update.

const kinds = createKinds(profileNamed('clickhouse-cloud'), nowMs)

const select = { aggFn: 'count', where: 'level:error', whereLanguage: 'lucene' }
const chart = { displayType: 'line', sourceId: 's', select: [select] }
const tile = { name: 'Errors', x: 0, y: 0, w: 12, h: 6, config: chart }
const filter = { type: 'QUERY_EXPRESSION', name: 'Environment', expression: 'env', sourceId: 's' }
const container = { id: 'c', title: 'C', collapsed: false }
const channel = { type: 'webhook', webhookId: 'w' }

const dashboard: Body = { name: 'Shop', tags: ['shop'], tiles: [tile], filters: [filter], containers: [container] }
const alert: Body = {
  name: 'Errors',
  source: 'tile',
  dashboardId: 'd',
  tileId: 't',
  threshold: 1,
  thresholdType: 'above',
  interval: '5m',
  channel,
}
const savedSearch: Body = { name: 'Errors', sourceId: 's', whereLanguage: 'lucene', filters: [{ type: 'sql', condition: 'a = 1' }] }

const storedDashboard: Body = { ...dashboard, tiles: [{ ...tile, id: 't' }], filters: [{ ...filter, id: 'f' }] }
const future = { future: { deep: [1, null, 'x'] } }

type Case = readonly [where: string, kind: Kind, desired: Body, stored: Body, changed: Body]

const cases: readonly Case[] = [
  ['an alert', kinds.alert, alert, { ...alert, ...future }, { threshold: 2 }],
  [
    'a channel',
    kinds.alert,
    alert,
    { ...alert, channel: { ...channel, ...future }, channels: [{ ...channel, ...future }] },
    { threshold: 2 },
  ],
  ['a dashboard', kinds.dashboard, dashboard, { ...storedDashboard, ...future }, { name: 'New' }],
  ['a tile', kinds.dashboard, dashboard, { ...storedDashboard, tiles: [{ ...tile, id: 't', ...future }] }, { name: 'New' }],
  [
    'a chart',
    kinds.dashboard,
    dashboard,
    { ...storedDashboard, tiles: [{ ...tile, id: 't', config: { ...chart, ...future } }] },
    { name: 'New' },
  ],
  [
    'a series of a chart',
    kinds.dashboard,
    dashboard,
    { ...storedDashboard, tiles: [{ ...tile, id: 't', config: { ...chart, select: [{ ...select, ...future }] } }] },
    { name: 'New' },
  ],
  ['a filter', kinds.dashboard, dashboard, { ...storedDashboard, filters: [{ ...filter, id: 'f', ...future }] }, { name: 'New' }],
  ['a container', kinds.dashboard, dashboard, { ...storedDashboard, containers: [{ ...container, ...future }] }, { name: 'New' }],
  ['a saved search', kinds.savedSearch, savedSearch, { ...savedSearch, ...future }, { name: 'New' }],
  [
    'a filter of a saved search',
    kinds.savedSearch,
    savedSearch,
    { ...savedSearch, filters: [{ type: 'sql', condition: 'a = 1', ...future }] },
    { name: 'New' },
  ],
]

const actualOf = (body: Body): StoredObject => ({ id: 'x', ...body }) as StoredObject

describe('an unknown field', () => {
  it.each(cases)('an unknown field of %s is no difference', (_where, kind, desired, stored) => {
    const { before, after } = compareBodies(kind, desired, actualOf(stored))
    expect(before).toEqual(after)
  })

  it.each(cases)('an unknown field of %s survives an update of something else', (...[, kind, desired, stored, changed]) => {
    const sent = composeUpdate(kind, { ...desired, ...changed }, actualOf(stored))
    expect(sent).toEqual({ ...stored, ...changed })
  })

  it('an unknown field of a tile survives that the tile moves, and goes with the tile to its new place in the list', () => {
    const other = { ...tile, name: 'Other', id: 'o' }
    const moved = {
      ...dashboard,
      tiles: [
        { ...tile, name: 'Other' },
        { ...tile, x: 5 },
      ],
    }
    const sent = composeUpdate(kinds.dashboard, moved, actualOf({ ...storedDashboard, tiles: [{ ...tile, id: 't', ...future }, other] }))
    expect(sent.tiles).toEqual([other, { ...tile, id: 't', x: 5, ...future }])
  })

  it('an unknown field of a chart does not survive that the chart becomes another: the two have nothing in common', () => {
    const text = { ...dashboard, tiles: [{ ...tile, config: { displayType: 'markdown', markdown: 'x' } }] }
    const stored = { ...storedDashboard, tiles: [{ ...tile, id: 't', config: { ...chart, ...future } }] }
    expect(composeUpdate(kinds.dashboard, text, actualOf(stored)).tiles).toEqual([
      { ...tile, id: 't', config: { displayType: 'markdown', markdown: 'x' } },
    ])
  })

  it('keeps the fields of a chart without a declared type', () => {
    const { config: _, ...bare } = tile
    const stored = { ...storedDashboard, tiles: [{ ...tile, id: 't', config: { displayType: 'hologram', ...future } }] }
    const desired = { ...dashboard, tiles: [{ ...bare, config: { displayType: 'hologram', ...future } }] }
    expect(composeUpdate(kinds.dashboard, desired, actualOf(stored))).toEqual(stored)
  })
})

describe('the language of an empty condition', () => {
  const tileWith = (fields: object) => ({ ...tile, id: 't', config: { ...chart, select: [{ aggFn: 'count', ...fields }] } })
  const bodyWith = (fields: object) => ({ ...storedDashboard, tiles: [tileWith(fields)] })
  const search = (fields: object) => ({
    ...storedDashboard,
    tiles: [{ ...tile, id: 't', config: { displayType: 'search', select: '', ...fields } }],
  })
  const filtered = (fields: object) => ({ ...storedDashboard, filters: [{ ...filter, id: 'f', ...fields }] })

  it('is no difference, in any place, on either side', () => {
    for (const withFields of [bodyWith, search, filtered])
      for (const [stored, declared] of [
        [{ where: '', whereLanguage: 'sql' }, {}],
        [
          { where: '', whereLanguage: 'sql' },
          { where: '', whereLanguage: 'lucene' },
        ],
        [{ whereLanguage: 'lucene' }, { whereLanguage: 'sql' }],
      ] as const) {
        const { before, after } = compareBodies(kinds.dashboard, withFields(declared), actualOf(withFields(stored)))
        expect(before).toEqual(after)
      }
  })

  it('is one as soon as there is a condition', () => {
    for (const withFields of [bodyWith, search, filtered]) {
      const stored = actualOf(withFields({ where: 'a = 1', whereLanguage: 'sql' }))
      const { before, after } = compareBodies(kinds.dashboard, withFields({ where: 'a = 1', whereLanguage: 'lucene' }), stored)
      expect(before).not.toEqual(after)
    }
  })

  it('stays in an update, unless the file states one or removes the condition', () => {
    const updated = (declared: object, stored: object) =>
      composeUpdate(kinds.dashboard, { ...bodyWith(declared), name: 'New' }, actualOf(bodyWith(stored))).tiles
    expect(updated({}, { where: '', whereLanguage: 'sql' })).toEqual([tileWith({ whereLanguage: 'sql' })])
    expect(updated({ whereLanguage: 'lucene' }, { where: '', whereLanguage: 'sql' })).toEqual([tileWith({ whereLanguage: 'lucene' })])
    expect(updated({}, { where: 'a = 1', whereLanguage: 'sql' })).toEqual([tileWith({ whereLanguage: 'lucene' })])
  })
})

describe('what files have a say in, and leave out', () => {
  it('a field that a file leaves out is cleared where an update can', () => {
    const stored = actualOf({ ...alert, note: 'n', message: 'm', numConsecutiveWindows: 2, scheduleOffsetMinutes: 3 })
    expect(composeUpdate(kinds.alert, alert, stored)).toEqual({
      ...alert,
      note: null,
      message: null,
      numConsecutiveWindows: null,
      scheduleOffsetMinutes: 0,
    })
    const filled = { ...storedDashboard, savedQuery: 'x', savedQueryLanguage: 'sql', savedFilterValues: [{ condition: 'a' }] }
    expect(composeUpdate(kinds.dashboard, { name: 'Shop', tiles: [tile] }, actualOf(filled))).toEqual({
      name: 'Shop',
      tiles: storedDashboard.tiles,
      tags: [],
      filters: [],
      containers: [],
      savedQuery: null,
      savedFilterValues: [],
    })
  })

  it.each(['severity', 'slackChannelId'])(
    'a field that a file leaves out is a difference, and is cleared, inside a channel: %s',
    (field) => {
      const full = { ...channel, webhookService: 'slack_api', [field]: 'critical' }
      const stored = actualOf({ ...alert, channel: full, channels: [full] })
      const { before, after } = compareBodies(kinds.alert, alert, stored)
      expect(before).not.toEqual(after)
      const kept = { ...channel, webhookService: 'slack_api' }
      expect(composeUpdate(kinds.alert, alert, stored)).toMatchObject({ channel: kept, channels: [kept] })
      expect(composeUpdate(kinds.alert, alert, stored).channel).toEqual(kept)
    },
  )

  it('a field that a file leaves out is a difference inside a chart, and goes', () => {
    const stored = { ...storedDashboard, tiles: [{ ...tile, id: 't', config: { ...chart, groupBy: 'host' } }] }
    const { before, after } = compareBodies(kinds.dashboard, dashboard, actualOf(stored))
    expect(before).not.toEqual(after)
    expect(composeUpdate(kinds.dashboard, dashboard, actualOf(stored)).tiles).toEqual(storedDashboard.tiles)
  })
})
