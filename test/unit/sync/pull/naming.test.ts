// How a file refers to what exists: by a key of these files, by a name that only one thing bears, else by its id.
import { describe, expect, it } from 'vitest'
import { createDirectory } from '../../../../src/resources/directory.ts'
import { PendingId } from '../../../../src/resources/resolve.ts'
import { createReferenceRenderer } from '../../../../src/sync/pull/render.ts'
import { written } from '../../../support/declarations.ts'
import { shop, tile, worldOf } from '../../../support/drafts.ts'

const expression = written('‹env.X›')

const world = worldOf({
  dashboards: [
    { ...shop, tiles: [tile('t1', 'A'), tile('t2', 'Twin'), tile('t3', 'Twin'), tile('t4', ''), tile('t5', expression)] },
    { ...shop, id: 'd2', name: 'Twins' },
    { ...shop, id: 'd3', name: 'Twins' },
    { ...shop, id: 'd4', name: 'Logs' },
  ],
  savedSearches: [
    { id: 'q1', name: 'Slow' },
    { id: 'q2', name: 'Shop' },
  ],
  sources: [
    { id: 's1', name: 'Logs' },
    { id: 's2', name: 'Twins' },
    { id: 's3', name: 'Twins' },
    { id: 's4', name: expression },
    { id: 's5', name: '' },
  ],
  webhooks: [
    { id: 'w1', name: 'oncall' },
    { id: 'w2', name: 'hook' },
    { id: 'w3', name: 'hook' },
  ],
})

const keys = { dashboards: new Map([['d2', 'twins']]), savedSearches: new Map<string, string>() }
const naming = createReferenceRenderer(world, createDirectory(world), keys)

describe('a reference', () => {
  it.each([
    ['s1', { source: 'Logs' }],
    ['s2', 's2'],
    ['s4', 's4'],
    ['s5', 's5'],
    ['gone', 'gone'],
    ['w1', 'w1'],
    ['d4', 'd4'],
    [undefined, undefined],
  ])('to the source %s is %j', (id, expected) => {
    expect(naming.source(id)).toEqual(expected)
  })

  it.each([
    ['w1', { webhook: 'oncall' }],
    ['w2', { webhookId: 'w2' }],
    ['gone', { webhookId: 'gone' }],
    ['s1', { webhookId: 's1' }],
  ])('to the webhook %s is %j', (id, expected) => {
    expect(naming.webhook(id)).toEqual(expected)
  })

  it.each<['dashboards' | 'savedSearches', unknown, unknown]>([
    ['dashboards', 'd1', { name: 'Shop' }],
    ['dashboards', 'd2', 'twins'],
    ['dashboards', 'd3', { id: 'd3' }],
    ['dashboards', 'gone', { id: 'gone' }],
    ['dashboards', 'q1', { id: 'q1' }],
    ['dashboards', new PendingId('dashboards', 'new'), 'new'],
    ['savedSearches', 'q1', { name: 'Slow' }],
    ['savedSearches', 'q2', { name: 'Shop' }],
    ['savedSearches', 'd2', { id: 'd2' }],
  ])('to one of the %s, %s, is %j', (section, id, expected) => {
    expect(naming.target(section, id)).toEqual(expected)
  })

  it.each<[unknown, unknown, unknown]>([
    ['d1', 't1', 'A'],
    ['d1', 't2', { id: 't2' }],
    ['d1', 't4', { id: 't4' }],
    ['d1', 't5', { id: 't5' }],
    ['d1', 'gone', { id: 'gone' }],
    ['d9', 't1', { id: 't1' }],
    [new PendingId('dashboards', 'new'), new PendingId('dashboards', 'new', 'T'), 'T'],
  ])('to a tile of %s, %s, is %j', (dashboard, id, expected) => {
    expect(naming.tile(dashboard, id)).toEqual(expected)
  })
})
