// Which alerts a write takes with it: the server deletes them without a warning.
import { describe, expect, it } from 'vitest'
import type { Body } from '../../../src/kinds/kind.ts'
import { findLostAlerts, findLostTiles, lostAlertBlocks } from '../../../src/kinds/lost-alerts.ts'
import { line, tile } from '../../support/plans.ts'

const other = { ...line, select: [{ aggFn: 'count', where: 'other' }] }
const number = { ...other, displayType: 'number' }
const a = tile('t1', 'A')
const nameless = { ...tile('t2', ''), config: { ...line, displayType: 'number' } }
const before = [a, nameless]

/** A tile without an id, as a file may have it. */
const fresh = (name: string, config: object = other): Body => ({ name, x: 0, y: 0, w: 6, h: 4, config })

const couldBe = (label: string, id: string) =>
  `is deleted, because it could be ${label}, and no tile has its id ${id} (in files: raw: { id: … })`

describe('a tile of an updated dashboard is lost with its alerts', () => {
  it.each<[string, readonly Body[], readonly string[]]>([
    [
      'not where its id stays, whatever else changes',
      [
        { ...a, name: 'B', config: number },
        { ...nameless, config: other },
      ],
      [],
    ],
    ['where it is gone', [], ['A is deleted', 'tiles[1] (number) is deleted']],
    [
      'where its type can have no alerts',
      [{ ...a, config: { displayType: 'markdown', markdown: '' } }, nameless],
      ['A gets the type markdown, which cannot have alerts'],
    ],
    ['and may be the new tile with its name', [nameless, fresh('A')], [`A ${couldBe('tiles[1] (line)', 't1')}`]],
    [
      'and may be one of two such tiles',
      [fresh('A'), nameless, fresh('A', number)],
      [`A ${couldBe('tiles[0] (line) or tiles[2] (number)', 't1')}`],
    ],
    ['and is no tile that was there and only gets its name', [{ ...nameless, name: 'A' }], ['A is deleted']],
    [
      'and may be a tile that was there and gets its name and content',
      [{ ...nameless, ...a, id: 't2' }],
      [`A ${couldBe('tiles[0] (line)', 't1')}`],
    ],
    [
      'and, without a name, may be a new one of its type without a name',
      [a, fresh('', number)],
      [`tiles[1] (number) ${couldBe('tiles[1] (number)', 't2')}`],
    ],
    ['and, without a name, is none of another type', [a, fresh('')], ['tiles[1] (number) is deleted']],
    ['and, without a name, is none that has a name', [a, fresh('B', number)], ['tiles[1] (number) is deleted']],
  ])('%s', (_, after, expected) => {
    const lost = findLostTiles(before, after)
    expect(lost.map(({ label, reason }) => `${label} ${reason}`)).toEqual(expected)
    expect(lost.map(({ isUnclear }) => isUnclear === true)).toEqual(expected.map((text) => text.includes('could be')))
  })
})

it('an alert is lost with the object or the tile that it watches, and with a tile that the API does not list unless it is patched', () => {
  const alerts = [
    { id: 'on-tile', dashboardId: 'd1', tileId: 't1' },
    { id: 'on-nameless', dashboardId: 'd1', tileId: 't2' },
    { id: 'on-hidden', dashboardId: 'd1', tileId: 't9' },
    { id: 'of-old-server', tileId: 't1' },
    { id: 'on-copy', dashboardId: 'd2', tileId: 't1' },
    { id: 'on-search', savedSearchId: 'd1' },
    { id: 'elsewhere', savedSearchId: 'q1' },
  ]
  const lostBy = (tilesAfter: readonly Body[] | undefined, isPatch = false) =>
    findLostAlerts({ id: 'd1', tiles: before, tilesAfter, isPatch }, alerts as never).map(({ id }) => id)
  expect(lostBy(undefined)).toEqual(['on-tile', 'on-nameless', 'on-hidden', 'of-old-server', 'on-search'])
  expect(lostBy([nameless])).toEqual(['on-tile', 'on-hidden', 'of-old-server'])
  expect(lostBy([nameless], true)).toEqual(['on-tile', 'of-old-server'])
  expect(lostBy(before, true)).toEqual([])
})

it('the alerts that a write deleted are listed by their names, and one without a name by its id', () => {
  expect(lostAlertBlocks([])).toEqual([])
  const [block] = lostAlertBlocks([
    { id: 'a1', name: 'Errors' },
    { id: 'a2', name: '' },
  ])
  expect(block).toMatchObject({
    rows: [
      [[{ text: 'Errors' }], [{ text: 'a1' }]],
      [[{ text: 'a2' }], [{ text: 'a2' }]],
    ],
  })
})
