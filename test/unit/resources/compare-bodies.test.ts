// The line between what files say of an object and what they leave to others.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { managedPart, overlay } from '../../../src/resources/compare.ts'

const line = z.strictObject({ type: z.literal('line'), where: z.string().optional() })
const pie = z.strictObject({ type: z.literal('pie'), where: z.string().optional() })
const tile = z.strictObject({ name: z.string(), config: z.union([line, pie]).optional() })
const board = z.strictObject({ name: z.string(), tiles: z.array(tile).optional(), owner: z.strictObject({ team: z.string() }).optional() })

describe('what files have a say in', () => {
  it.each([
    ['the fields that they know', { name: 'D', theirs: 1 }, { name: 'E' }, { name: 'D' }],
    ['a field that they say although it is not known', { name: 'D', theirs: 1 }, { name: 'D', theirs: 2 }, { name: 'D', theirs: 1 }],
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
  ])('is %s', (_, actual, desired, expected) => {
    expect(managedPart(actual, desired, board)).toEqual(expected)
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
  ])('%s', (_, desired, actual, expected) => {
    expect(overlay(desired, actual, board)).toEqual(expected)
  })
})
