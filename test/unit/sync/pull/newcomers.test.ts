// Which objects of a service come into the files, under which key, and which do not and why.
import { describe, expect, it } from 'vitest'
import { digestOfText } from '../../../../src/core/digest.ts'
import { project, provenPull, pull, search, shop } from '../../../support/drafts.ts'
import type { Lists } from '../../../support/planning.ts'

const mark = (key: string, of = project): string =>
  `wk:${digestOfText(of, 6)}:${key.length <= 15 ? key : `#${digestOfText(key, 10)}`}:abcdef`

const board = (id: string, name: string | null, tags: readonly string[] = []) => ({ ...shop, id, name, tags })

/** Key and reason of each, by id. */
const became = (parts: Lists, text?: string): Readonly<Record<string, string>> => {
  const { objects } = provenPull(parts, text === undefined ? {} : { 'o/a.yml': text })
  return Object.fromEntries(objects.map(({ id = '-', outcome: what, key, reason }) => [id, `${what} ${reason ?? key}`]))
}

const yamlOf = (parts: Lists): string => Object.values(pull(parts).after).join('\n')

describe('an object without a mark', () => {
  it('is taken over by its name where no other has it', () => {
    const parts = { dashboards: [board('d1', 'One'), board('d2', 'Two')] }
    expect(became(parts)).toEqual({ d1: 'added one', d2: 'added two' })
    expect(yamlOf(parts)).toContain('    name: One\n    adopt: true\n')
    expect(yamlOf(parts)).not.toContain(' id:')
  })

  it('is taken over by its id where another has its name', () => {
    const parts = { dashboards: [board('d2', 'Same'), board('d1', 'Same'), board('d3', 'Other')] }
    expect(became(parts)).toEqual({ d3: 'added other', d1: 'added same', d2: 'added same-2' })
    expect(yamlOf(parts)).toContain('  same:\n    name: Same\n    id: d1\n')
    expect(yamlOf(parts)).toContain('  same-2:\n    name: Same\n    id: d2\n')
    expect(yamlOf(parts)).toContain('    name: Other\n    adopt: true\n')
  })

  it('is taken over by its name where the other one bears a mark', () => {
    const parts = { dashboards: [board('d1', 'Same'), board('d2', 'Same', [mark('theirs', 'other/project')])] }
    expect(became(parts)).toEqual({ d1: 'added same', d2: 'other-project has the ownership marker of another project' })
    expect(yamlOf(parts)).toContain('adopt: true')
  })

  it('is taken over by its id where the list of its kind may not be whole', () => {
    const parts = { dashboards: [board('d1', 'One')], savedSearches: [search], doubts: { dashboards: 'is long' } }
    expect(yamlOf(parts)).toContain('    name: One\n    id: d1\n')
    expect(yamlOf(parts)).toContain('    name: Slow\n    adopt: true\n')
  })

  it('is no two objects where the list was read while it changed', () => {
    expect(pull({ dashboards: [board('d1', 'One'), board('d1', 'One')] }).objects.map(({ key }) => key)).toEqual(['one'])
  })

  it('gets a key that no object of its kind has, be it right or wrong', () => {
    const text = 'dashboards:\n  one:\n    name: Else\n    tiles: []\nsavedSearches:\n  two:\n    name: Else\n    sourceId: s1\n'
    expect(became({ dashboards: [board('d1', 'One'), board('d2', 'Two')] }, text)).toMatchObject({ d1: 'added one-2', d2: 'added two' })
  })

  it('gets its key in the order of the names, and then of the ids', () => {
    const names = ['b', 'a', 'A', 'a']
    const { objects } = pull({ dashboards: names.map((name, i) => board(`d${9 - i}`, name)) })
    expect(objects.map(({ key, id }) => [key, id])).toEqual([
      ['a', 'd7'],
      ['a-2', 'd6'],
      ['a-3', 'd8'],
      ['b', 'd9'],
    ])
  })

  it('is left alone where a declaration of its name does not take it over', () => {
    const text = 'dashboards:\n  mine:\n    name: Mine\n    tiles: []\n'
    expect(became({ dashboards: [board('d1', 'Mine')] }, text)).toMatchObject({
      '-': 'missing mine',
      d1: 'left-out dashboards.mine has this name and does not adopt it: add adopt: true there, or rename one of the two',
    })
  })

  it('is no rival of one that a file has under the same name and knows by its id', () => {
    const text = 'dashboards:\n  mine:\n    name: Same\n    id: d1\n    tiles: []\n'
    const parts = { dashboards: [{ ...board('d1', 'Same'), tiles: [] }, board('d2', 'Same')] }
    expect(became(parts, text)).toEqual({ d1: 'unchanged mine', d2: 'added same' })
  })

  it('has nothing to do with one of another kind that has its name, or its id', () => {
    const text =
      'savedSearches:\n  gone:\n    name: One\n    sourceId: s1\n  slow:\n    name: Slow\n    id: d2\n    sourceId: s1\n    where: x\n'
    const parts = { dashboards: [board('d1', 'One'), board('d2', 'Two')], savedSearches: [{ ...search, id: 'd2' }] }
    const { objects } = provenPull(parts, { 'o/a.yml': text })
    expect(objects.map(({ section, outcome: what, key }) => `${section} ${what} ${key}`)).toEqual([
      'savedSearches missing gone',
      'savedSearches unchanged slow',
      'dashboards added one',
      'dashboards added two',
    ])
  })

  it('is left out where it has no name', () => {
    expect(became({ dashboards: [board('d1', null)] }).d1).toMatch(/^left-out name/)
  })

  it('is known already where a file takes it over', () => {
    const text = 'dashboards:\n  mine:\n    name: Mine\n    adopt: true\n    tiles: []\n'
    expect(became({ dashboards: [{ ...board('d1', 'Mine'), tiles: [] }] }, text)).toEqual({ d1: 'unchanged mine' })
  })
})

describe('an object with a mark', () => {
  it.each([
    ['short', 'Any name'],
    ['checkout-overview', 'Checkout overview'],
  ])('of this project comes back under its key %s', (key, name) => {
    const parts = { dashboards: [board('d1', name, ['t', mark(key)])] }
    expect(became(parts)).toEqual({ d1: `added ${key}` })
    expect(yamlOf(parts)).not.toMatch(/adopt| id:|wk:/)
    expect(yamlOf(parts)).toContain('tags: [t]')
  })

  it('comes back beside others of this project', () => {
    const parts = { dashboards: [board('d1', 'A', [mark('one')]), board('d2', 'B', [mark('two')])] }
    expect(became(parts)).toEqual({ d1: 'added one', d2: 'added two' })
  })

  it('takes its key before those that only have the name', () => {
    expect(became({ dashboards: [board('d1', 'A'), board('d2', 'Z', [mark('a')])] })).toEqual({ d2: 'added a', d1: 'added a-2' })
  })

  it.each<[string, Lists['dashboards'], string]>([
    [
      'a key that nobody can guess',
      [board('d1', 'Renamed', [mark('a-key-longer-than-a-tag')])],
      'left-out has an ownership marker with only a hash of its key: remove the marker',
    ],
    [
      'a key that nobody can guess, and no name',
      [board('d1', null, [mark('a-key-longer-than-a-tag')])],
      'left-out has an ownership marker with only a hash of its key: remove the marker',
    ],
    [
      'the mark of another object',
      [board('d1', 'A', [mark('a')]), board('d2', 'B', [mark('a')])],
      'left-out has the same ownership marker as another object: two runs created them at once, or one is a copy',
    ],
    [
      'the mark of another project',
      [board('d1', 'A', [mark('a', 'other/project')])],
      'other-project has the ownership marker of another project',
    ],
  ])('is left out with %s', (_, dashboards, expected) => {
    expect(Object.values(became({ dashboards: dashboards ?? [] }))).toEqual((dashboards ?? []).map(() => expected))
  })

  it('is left out where a file has its key for something in which much is wrong', () => {
    const { objects } = pull({ dashboards: [board('d1', 'A', [mark('a')])] }, { 'o/a.yml': 'dashboards:\n  a:\n    tiles: 5\n' })
    expect(objects.map(({ outcome: what, reason }) => [what, reason])).toEqual([
      ['left-out', 'has the ownership marker of dashboards.a, a key of another object'],
    ])
  })

  it('has its key before one that another kind has', () => {
    const text = 'savedSearches:\n  a:\n    name: Slow\n    sourceId: s1\n    adopt: true\n'
    expect(became({ dashboards: [board('d1', 'A', [mark('a')])], savedSearches: [search] }, text)).toMatchObject({ d1: 'added a' })
  })

  it('of an alert comes back with its key, which stands in the mark as a whole', () => {
    const note = `Call\n\nwatchkeeper: ${project} a-rather-long-key-of-an-alert abcdef`
    const { objects, after, inexact } = pull({
      dashboards: [shop],
      alerts: [
        {
          id: 'a1',
          name: 'Any',
          source: 'tile',
          dashboardId: 'd1',
          tileId: 't1',
          threshold: 1,
          thresholdType: 'above',
          interval: '5m',
          channels: [{ type: 'webhook', webhookId: 'w1' }],
          note,
        },
      ],
    })
    expect(objects.map(({ key }) => key)).toEqual(['shop', 'a-rather-long-key-of-an-alert'])
    expect(after['o/shop.yml']).toMatch(/note: Call\n$/)
    expect(inexact).toEqual({})
  })
})
