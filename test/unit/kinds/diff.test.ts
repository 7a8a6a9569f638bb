import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffFields } from '../../../src/kinds/compare.ts'
import { isSame } from '../../../src/platform/core/equality.ts'
import { fieldLines } from '../../support/plans.ts'

const diff = (before: unknown, after: unknown): readonly string[] => fieldLines(diffFields(before, after))

describe('what differs between two bodies', () => {
  it.each([
    ['a value that changed', { a: 1, b: 2 }, { a: 1, b: 3 }, ['b: 2 → 3']],
    ['a value that came', {}, { a: 1 }, ['a: – → 1']],
    ['a value that went', { a: 1 }, {}, ['a: 1 → –']],
    ['a value inside', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, ['a.c: 2 → 3']],
    ['nothing where one side says null', { a: null }, {}, []],
    ['a map that came, by its fields', {}, { a: { b: 1, c: { d: 2 } } }, ['a.b: – → 1', 'a.c.d: – → 2']],
    ['a map that went, by its fields', { a: { b: 1, c: 2 } }, {}, ['a.b: 1 → –', 'a.c: 2 → –']],
    ['a map that becomes a value, whole', { a: { b: 1 } }, { a: 2 }, ['a: {"b":1} → 2']],
    ['a list of values, whole', { a: [1, 2] }, { a: [2, 1] }, ['a: [1,2] → [2,1]']],
    ['a list of values that came, whole', {}, { a: [1, 2] }, ['a: – → [1,2]']],
    ['an empty list that came', {}, { a: [] }, ['a: – → []']],
    ['an empty list that went', { a: [] }, {}, ['a: [] → –']],
    ['a list with values among its maps, whole', { a: [{ b: 1 }, 2] }, { a: [{ b: 2 }, 2] }, ['a: [{"b":1},2] → [{"b":2},2]']],
    ['the order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['fields of the old side first, then those that are new', { a: 1, c: 1 }, { b: 2, c: 2 }, ['a: 1 → –', 'c: 1 → 2', 'b: – → 2']],
    ['no id that the server gave', { id: 'x', a: 1 }, { a: 2 }, ['a: 1 → 2']],
    ['an id that a file gives', { a: { id: 'x' } }, { a: { id: 'y' } }, ['a.id: "x" → "y"']],
    ['an id alone that came', {}, { a: { id: 'y' } }, ['a: – → {"id":"y"}']],
    ['an empty map that came', {}, { a: {} }, ['a: – → {}']],
  ])('shows %s', (_, before, after, expected) => {
    expect(diff(before, after)).toEqual(expected)
  })

  it.each([
    ['an item that changed, by its name', [{ name: 'T', x: 1 }], [{ name: 'T', x: 2 }], ['a["T"].x: 1 → 2']],
    ['an item that was renamed, by its old name', [{ id: 'i', name: 'Old' }], [{ id: 'i', name: 'New' }], ['a["Old"].name: "Old" → "New"']],
    ['an item by its title, where it has no name', [{ title: 'C', x: 1 }], [{ title: 'C', x: 2 }], ['a["C"].x: 1 → 2']],
    ['an item by its place, where it has neither', [{ x: 1 }, { x: 2 }], [{ x: 1 }, { x: 3 }], ['a[1].x: 2 → 3']],
    ['an item by its place, where its name is no text', [{ name: 5, x: 1 }], [{ name: 5, x: 2 }], ['a[0].x: 1 → 2']],
    [
      'an item with a type, by this and its place in the grid',
      [
        { config: { displayType: 'line' }, w: 1 },
        { config: { displayType: 'pie' }, x: 3, y: 4, w: 1 },
      ],
      [
        { config: { displayType: 'line' }, w: 2 },
        { config: { displayType: 'pie' }, x: 3, y: 4, w: 2 },
      ],
      ['a[line at 0,0].w: 1 → 2', 'a[pie at 3,4].w: 1 → 2'],
    ],
    ['an item that came, without its name again', [], [{ name: 'T', x: 1, y: 2 }], ['a["T"].x: – → 1', 'a["T"].y: – → 2']],
    ['an item that went, without its name again', [{ name: 'T', x: 1 }], [], ['a["T"].x: 1 → –']],
    ['an item that came with a name that is no text, with it', [], [{ name: 5 }], ['a[0].name: – → 5']],
    [
      'items by their ids, and their order',
      [
        { id: 'i', name: 'A', x: 1 },
        { id: 'j', name: 'B', x: 2 },
      ],
      [
        { id: 'j', name: 'B', x: 3 },
        { id: 'i', name: 'A', x: 1 },
      ],
      ['a["B"].x: 2 → 3', 'a (order): ["A","B"] → ["B","A"]'],
    ],
    [
      'no order where an item only came or went',
      [
        { id: 'i', name: 'A' },
        { id: 'j', name: 'B' },
        { id: 'k', name: 'C' },
      ],
      [
        { id: 'l', name: 'D' },
        { id: 'i', name: 'A' },
        { id: 'k', name: 'C' },
      ],
      ['a["D"].name: – → "D"', 'a["B"].name: "B" → –'],
    ],
    ['an item that went by the place that it had', [{ x: 1 }, { id: 'j', x: 2 }, { x: 3 }], [{ x: 1 }], ['a[1].x: 2 → –', 'a[2].x: 3 → –']],
    ['an item that came and is nothing but a name', [], [{ name: 'T' }], ['a["T"].name: – → "T"']],
    ['an item that came and is nothing but an id', [], [{ id: 'i' }], ['a[0]: – → {"id":"i"}']],
    ['a list inside of an item', [{ name: 'T', s: [{ v: 1 }] }], [{ name: 'T', s: [{ v: 2 }] }], ['a["T"].s[0].v: 1 → 2']],
    ['a list that came inside of an item', [{ name: 'T' }], [{ name: 'T', s: [{ v: 2 }] }], ['a["T"].s[0].v: – → 2']],
    ['a name with quotes in it', [{ name: 'a"b', x: 1 }], [{ name: 'a"b', x: 2 }], ['a["a\\"b"].x: 1 → 2']],
  ])('shows %s', (_, before, after, expected) => {
    expect(diff({ a: before }, { a: after })).toEqual(expected)
  })

  it('shows each item of a list that goes altogether', () => {
    expect(diff({ a: [{ name: 'T', x: 1 }] }, {})).toEqual(['a["T"].x: 1 → –'])
  })

  const value = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.integer({ min: 0, max: 2 }), fc.constant(null), tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'name', 'id'), tie('value')),
  })).value

  it('shows something whenever anything differs but an id of the server', () => {
    fc.assert(
      fc.property(value, value, (before, after) => {
        const shown = diffFields(before, after)
        for (const { before: was, after: is } of shown) expect(isSame(was, is)).toBe(false)
        if (shown.length === 0) expect(isSame(withoutIds(before), withoutIds(after))).toBe(true)
        if (isSame(before, after)) expect(shown).toEqual([])
      }),
    )
  })
})

const withoutIds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (key === 'id' ? [] : [[key, withoutIds(item)]])))
}
