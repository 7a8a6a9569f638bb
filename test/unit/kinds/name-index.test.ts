import { describe, expect, it } from 'vitest'
import { createNameIndex } from '../../../src/kinds/name-index.ts'
import { remoteStateWith } from '../../support/plans.ts'

const named = (...names: readonly (string | null)[]) => names.map((name, i) => ({ id: `i${i}`, name, tiles: [] }))

const nameIndex = createNameIndex(
  remoteStateWith({
    dashboard: [{ id: 'd1', name: 'Shop', tiles: [{ id: 't1', name: 'Errors' }, { id: 't2' }] }],
    savedSearch: [
      { id: 's1', name: 'Slow' },
      { id: 's2', name: 'Slow' },
    ],
    source: [{ id: 'l', name: 'Logs' }, { id: 'x' }],
    webhook: named('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'),
  }),
)

describe('finding things by their names', () => {
  it.each([
    ['the one that has it', 'source', 'Logs', { id: 'l' }],
    ['no other kind of thing', 'source', 'Shop', { message: 'no source is named "Shop"; existing names: Logs' }],
    ['none, but one that is nearly called so', 'dashboard', 'Shap', { message: 'no dashboard is named "Shap"; did you mean "Shop"?' }],
    ['several', 'savedSearch', 'Slow', { message: 'several saved searches are named "Slow" (s1, s2); use the id' }],
    ['none of many, which are not all named', 'webhook', 'zzz', { message: 'no webhook is named "zzz"' }],
  ] as const)('finds %s', (_, noun, name, expected) => {
    expect(nameIndex.byName(noun, name)).toEqual(expected)
  })

  it('names the others as long as they are few', () => {
    const eight = createNameIndex(remoteStateWith({ webhook: named('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h') }))
    expect(eight.byName('webhook', 'zzz')).toEqual({ message: 'no webhook is named "zzz"; existing names: a, b, c, d, e, f, g, h' })
    const none = createNameIndex(remoteStateWith({ webhook: [] }))
    expect(none.byName('webhook', 'zzz')).toEqual({ message: 'no webhook is named "zzz"' })
  })

  it('leaves what has no name out of what it names', () => {
    const some = createNameIndex(remoteStateWith({ webhook: named('a', null, '') }))
    expect(some.byName('webhook', 'zzz')).toEqual({ message: 'no webhook is named "zzz"; existing names: a' })
  })

  it('tells each missing name by itself, also the second time', () => {
    const all = ['one', 'two', 'one'].map((name) => nameIndex.byName('webhook', name))
    expect(all).toEqual(['one', 'two', 'one'].map((name) => ({ message: `no webhook is named "${name}"` })))
    expect(nameIndex.byName('source', 'one')).toEqual({ message: 'no source is named "one"; existing names: Logs' })
  })

  it('finds no object by its name that is not to be found by it, and knows its id', () => {
    const shop = nameIndex.all('dashboard')
    const without = nameIndex.withoutNames(shop)
    expect(without.byName('dashboard', 'Shop')).toMatchObject({ message: expect.stringMatching(/^no dashboard is named "Shop"/) })
    expect([without.byId('dashboard', 'd1'), without.nameOf('d1'), without.byName('source', 'Logs')]).toEqual([
      { id: 'd1' },
      'Shop',
      { id: 'l' },
    ])
    expect(without.withoutNames(nameIndex.all('savedSearch').slice(0, 1)).byName('savedSearch', 'Slow')).toEqual({ id: 's2' })
    expect(nameIndex.withoutNames([]).byName('dashboard', 'Shop')).toEqual({ id: 'd1' })
  })

  it('knows an id by its kind', () => {
    expect(nameIndex.byId('dashboard', 'd1')).toEqual({ id: 'd1' })
    expect(nameIndex.byId('source', 'd1')).toEqual({ message: 'source d1 does not exist' })
    expect(nameIndex.byId('savedSearch', 'd1')).toEqual({ message: 'saved search d1 does not exist' })
  })

  it('finds the name for any id, including those of tiles', () => {
    expect(['d1', 't1', 't2', 's1', 'l', 'x', 'nobody', 5].map(nameIndex.nameOf)).toEqual([
      'Shop',
      'Errors',
      undefined,
      'Slow',
      'Logs',
      undefined,
      undefined,
      undefined,
    ])
  })
})
