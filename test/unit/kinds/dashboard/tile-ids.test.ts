// A tile that loses its id loses its alerts, and one that gets the id of another has the alerts of that one.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withFilterIds, withTileIds } from '../../../../src/kinds/dashboard/tiles.ts'
import { line, tile } from '../../../support/shop-declaration.ts'

const shows = (where: string) => ({ ...line, sourceId: 'logs', select: [{ aggFn: 'count', where }] })

const known = (id: string, name: string, where = name) => ({ ...tile(name, 0, shows(where)), id })

/** `name=id`, or the name alone. */
const ids = (desired: readonly object[], before: readonly object[], pair: typeof withTileIds = withTileIds): readonly string[] =>
  pair(desired as never, before as never).map(({ name, id }) => `${name}${id === undefined ? '' : `=${id}`}`)

describe('a tile of a changed dashboard', () => {
  it.each([
    ['keeps its id by its name, whatever it shows', [tile('A', 0, shows('other'))], [known('1', 'A')], ['A=1']],
    [
      'keeps its id in another place',
      [tile('B', 0, shows('b')), tile('A', 0, shows('a'))],
      [known('1', 'A'), known('2', 'B')],
      ['B=2', 'A=1'],
    ],
    ['keeps its id under another name, by what it shows', [tile('New', 5, shows('A'))], [known('1', 'A')], ['New=1']],
    ['is new where neither is known', [tile('New', 0, shows('new'))], [known('1', 'A')], ['New']],
    ['is new on a dashboard without tiles', [tile('A')], [], ['A']],
    ['gets no id that another has by its name', [tile('New', 0, shows('A')), tile('A', 0, shows('A'))], [known('1', 'A')], ['New', 'A=1']],
    [
      'gets no id where two that were there show the same',
      [tile('New', 0, shows('x'))],
      [known('1', 'A', 'x'), known('2', 'B', 'x')],
      ['New'],
    ],
    [
      'gets no id where two that are to be show the same',
      [tile('New', 0, shows('x')), tile('Newer', 0, shows('x'))],
      [known('1', 'A', 'x')],
      ['New', 'Newer'],
    ],
    [
      'has the same name as another and keeps the id of its content, and none where two could be the same tile',
      [tile('A', 0, shows('x')), tile('A', 4, shows('z')), tile('A', 8, shows('y')), tile('A', 12, shows('new'))],
      [known('1', 'A', 'y'), known('2', 'A', 'x'), known('3', 'A', 'old')],
      ['A=2', 'A', 'A=1', 'A'],
    ],
    [
      'has the same name as one that goes, and keeps its id',
      [tile('A', 4, shows('y'))],
      [known('1', 'A', 'x'), known('2', 'A', 'y')],
      ['A=2'],
    ],
    [
      'has the same name as another and keeps the id of the rest, once the other is found by its content',
      [tile('A', 0, shows('y')), tile('A', 4, shows('new'))],
      [known('1', 'A', 'old'), known('2', 'A', 'y')],
      ['A=2', 'A=1'],
    ],
    [
      'has the same name as another and keeps the id of its type, whatever it shows',
      [tile('A', 0, { ...shows('b'), displayType: 'number' }), tile('A', 4, shows('a'))],
      [known('1', 'A', 'x'), { ...tile('A', 0, { ...shows('y'), displayType: 'number' }), id: '2' }],
      ['A=2', 'A=1'],
    ],
    [
      'has the same name as another and no id where both show something else',
      [tile('A', 0, shows('b')), tile('A', 4, shows('a'))],
      [known('1', 'A', 'x'), known('2', 'A', 'y')],
      ['A', 'A'],
    ],
    [
      'without a name keeps the id of its content, else that of the only one of its type',
      [tile('', 0, shows('y')), tile('', 4, shows('new')), tile('', 8, { ...shows('a'), displayType: 'number' })],
      [known('1', '', 'x'), known('2', '', 'y'), { ...tile('', 0, { ...shows('z'), displayType: 'number' }), id: '3' }],
      ['=2', '=1', '=3'],
    ],
    [
      'without a name has no id where two of its type could be the same tile',
      [tile('', 0, shows('b')), tile('', 4, shows('a'))],
      [known('1', '', 'x'), known('2', '', 'y')],
      ['', ''],
    ],
    [
      'is distinguished from another renamed one by what it shows',
      [tile('New', 0, shows('b')), tile('Newer', 0, shows('a'))],
      [known('1', 'A', 'a'), known('2', 'B', 'b')],
      ['New=2', 'Newer=1'],
    ],
    [
      'keeps its id where the server cut the blanks off its name',
      [tile(' A', 0, shows('x')), tile('B ', 4, shows('y'))],
      [known('2', 'B'), known('1', 'A')],
      [' A=1', 'B =2'],
    ],
    [
      'keeps its id where the name that is stored has blanks around it',
      [tile('A', 0, shows('x')), tile('B', 4, shows('y'))],
      [known('2', 'B '), known('1', ' A')],
      ['A=1', 'B=2'],
    ],
    [
      'goes by its exact name before a trimmed one, whatever the order',
      [tile('A ', 0, shows('x')), tile('A', 4, shows('y'))],
      [known('1', 'A'), known('2', 'A ')],
      ['A =2', 'A=1'],
    ],
    [
      'gets no id by its trimmed name that another has by its exact one',
      [tile('A ', 0, shows('x')), tile('A', 4, shows('y'))],
      [known('1', 'A')],
      ['A ', 'A=1'],
    ],
    [
      'goes by its trimmed name before what it shows',
      [tile('A ', 0, shows('b')), tile('New', 4, shows('a'))],
      [known('1', 'A', 'a'), known('2', 'B', 'b')],
      ['A =1', 'New'],
    ],
    [
      'keeps its id under another name beside one that was found by its trimmed name',
      [tile('New', 0, shows('x')), tile('A ', 4, shows('x'))],
      [known('1', 'A', 'x'), known('2', 'B', 'x')],
      ['New=2', 'A =1'],
    ],
  ])('%s', (_, desired, before, expected) => {
    expect(ids(desired, before)).toEqual(expected)
  })

  it('a tile of a changed dashboard is the same whatever the server adds to what it shows', () => {
    const before = { ...known('1', 'Old', 'x'), config: { ...shows('x'), somethingNew: true, groupByColumnsOnLeft: false } }
    expect(ids([tile('New', 0, shows('x'))], [before])).toEqual(['New=1'])
  })

  it('a tile of a changed dashboard is otherwise as it was written', () => {
    const [first] = withTileIds([tile('A', 3, shows('x'))], [known('1', 'A')] as never)
    expect(first).toEqual({ ...tile('A', 3, shows('x')), id: '1' })
  })

  it('never shares an id with another', () => {
    const word = fc.constantFrom('a', 'b', 'c')
    const tiles = fc.array(fc.tuple(word, word), { maxLength: 5 })
    fc.assert(
      fc.property(tiles, tiles, (desired, before) => {
        const result = withTileIds(
          desired.map(([name, where]) => tile(name, 0, shows(where))),
          before.map(([name, where], i) => known(String(i), name, where)),
        )
        const given = result.flatMap(({ id }) => (id === undefined ? [] : [id]))
        expect(new Set(given).size).toBe(given.length)
        expect(result.map(({ name }) => name)).toEqual(desired.map(([name]) => name))
      }),
    )
  })
})

describe('a filter of a changed dashboard', () => {
  const filter = (name: string, id?: string) => ({ name, expression: 'ServiceName', ...(id !== undefined && { id }) })
  const filterIds = (desired: readonly object[], before: readonly object[]) => ids(desired, before, withFilterIds)

  it.each([
    ['keeps its id by its name', [filter('B'), filter('A')], [filter('A', '1'), filter('B', '2')], ['B=2', 'A=1']],
    ['keeps its id where the server cut the blanks off its name', [filter(' A')], [filter('B', '2'), filter('A', '1')], [' A=1']],
    ['keeps its id where the name that is stored has blanks around it', [filter('A')], [filter('A ', '1')], ['A=1']],
    ['goes by its exact name before a trimmed one', [filter('A '), filter('A')], [filter('A', '1'), filter('A ', '2')], ['A =2', 'A=1']],
    ['keeps its id by the id before the name', [filter('A', '2')], [filter('A', '1'), filter('B', '2')], ['A=2']],
  ])('%s', (_, desired, before, expected) => {
    expect(filterIds(desired, before)).toEqual(expected)
  })

  it('a filter of a changed dashboard gets an id of its own where it is new, although another has its name with a blank more', () => {
    const [blank, exact] = filterIds([filter('A '), filter('A')], [filter('A', '1')])
    expect(exact).toBe('A=1')
    expect(blank).toMatch(/^A =[0-9a-f]{24}$/)
  })
})
