import { describe, expect, it } from 'vitest'
import { keyGrammar } from '../../../../src/kinds/marker.ts'
import { digestOfText } from '../../../../src/platform/core/digest.ts'
import type { Plan } from '../../../../src/sync/decide/change.ts'
import type { DeclaredObjects } from '../../../../src/sync/declarations/declarations.ts'
import { claimKey, fileFor, selectObjects, toFileName, toSlug } from '../../../../src/sync/pull/select.ts'
import { hostile } from '../../../support/corpus.ts'
import { kinds, type Lists, project, pull, remoteStateWith, search, shop, verifiedPull } from '../../../support/plans.ts'

describe('selectObjects', () => {
  const mark = (key: string, of = project): string =>
    `wk:${digestOfText(of, 6)}:${key.length <= 15 ? key : `#${digestOfText(key, 10)}`}:abcdef`

  const board = (id: string, name: string | null, tags: readonly string[] = []) => ({ ...shop, id, name, tags })

  /** Key and reason of each, by id. */
  const became = (parts: Lists, text?: string): Readonly<Record<string, string>> => {
    const { objects } = verifiedPull(parts, text === undefined ? {} : { 'o/a.yml': text })
    return Object.fromEntries(objects.map(({ id = '-', outcome: what, key, reason }) => [id, `${what} ${reason ?? key}`]))
  }

  const yamlOf = (parts: Lists): string => Object.values(pull(parts).after).join('\n')

  describe('an unmanaged object', () => {
    it('an unmanaged object is adopted by its id', () => {
      const parts = { dashboard: [board('d2', 'Same'), board('d1', 'Same'), board('d3', 'Other')] }
      expect(became(parts)).toEqual({ d3: 'added other', d1: 'added same', d2: 'added same-2' })
      expect(yamlOf(parts)).toContain('  same:\n    name: Same\n    adopt: d1\n')
      expect(yamlOf(parts)).toContain('  same-2:\n    name: Same\n    adopt: d2\n')
      expect(yamlOf(parts)).toContain('    name: Other\n    adopt: d3\n')
    })

    it('an unmanaged object is added once when the list contains it twice', () => {
      expect(pull({ dashboard: [board('d1', 'One'), board('d1', 'One')] }).objects.map(({ key }) => key)).toEqual(['one'])
    })

    it('an unmanaged object gets a key that no other object of its section has, broken ones included', () => {
      const text = 'dashboards:\n  one:\n    name: Else\n    tiles: []\nsavedSearches:\n  two:\n    name: Else\n    sourceId: s1\n'
      expect(became({ dashboard: [board('d1', 'One'), board('d2', 'Two')] }, text)).toMatchObject({ d1: 'added one-2', d2: 'added two' })
    })

    it('an unmanaged object gets its key in the order of names, then ids', () => {
      const names = ['b', 'a', 'A', 'a']
      const { objects } = pull({ dashboard: names.map((name, i) => board(`d${9 - i}`, name)) })
      expect(objects.map(({ key, id }) => [key, id])).toEqual([
        ['a', 'd7'],
        ['a-2', 'd6'],
        ['a-3', 'd8'],
        ['b', 'd9'],
      ])
    })

    it('an unmanaged object with the name of a declaration updates it', () => {
      const text = 'dashboards:\n  mine:\n    name: Mine\n    tiles: []\n'
      expect(became({ dashboard: [board('d1', 'Mine')] }, text)).toEqual({ d1: 'updated mine' })
    })

    it('unmanaged objects are left out when it is not clear which of them a declaration is about', () => {
      const text = 'dashboards:\n  mine:\n    name: Mine\n    tiles: []\n'
      const reason = (id: string) =>
        `left-out may be dashboards.mine; if it is, set adopt of that to ${id}, otherwise to the id of another one`
      expect(became({ dashboard: [board('d1', 'Mine'), board('d2', 'Mine')] }, text)).toMatchObject({
        '-': 'left-out could be one of the unmanaged dashboards d1, d2, which differ; to keep the values of the file, set adopt to d1@2.50446ecafc.files or d2@2.50446ecafc.files; if it is another object, give the one in the file another name',
        d1: reason('d1'),
        d2: reason('d2'),
      })
    })

    it('an unmanaged object is added when a file declares the other object with its name by id', () => {
      const text = 'dashboards:\n  mine:\n    name: Same\n    adopt: d1\n    tiles: []\n'
      const parts = { dashboard: [{ ...board('d1', 'Same'), tiles: [] }, board('d2', 'Same')] }
      expect(became(parts, text)).toEqual({ d1: 'unchanged mine', d2: 'added same' })
    })

    it('an unmanaged object is not confused with an object of another section', () => {
      const text =
        'savedSearches:\n  gone:\n    name: One\n    sourceId: s1\n  slow:\n    name: Slow\n    adopt: d2\n    sourceId: s1\n    where: x\n'
      const parts = { dashboard: [board('d1', 'One'), board('d2', 'Two')], savedSearch: [{ ...search, id: 'd2' }] }
      const { objects } = verifiedPull(parts, { 'o/a.yml': text })
      expect(objects.map(({ kind, outcome, key }) => `${kind} ${outcome} ${key}`)).toEqual([
        'savedSearch missing gone',
        'savedSearch unchanged slow',
        'dashboard added one',
        'dashboard added two',
      ])
    })

    it('an unmanaged source is adopted by its name where no other can have the name, and otherwise has its id', () => {
      const source = ['Logs', 'Twin', 'Twin'].map((name, i) => ({ id: `s${i}`, name, kind: 'log', connection: 'c1' }))
      const [plan, declarations] = [
        { project, changes: [] },
        { objects: [], broken: [] },
      ] as unknown as readonly [Plan, DeclaredObjects]
      const adoptions = (incompleteLists = {}) =>
        selectObjects(kinds.source, remoteStateWith({ source, incompleteLists }), plan, declarations).map((one) =>
          'adoption' in one ? one.adoption : one.reason,
        )
      expect(adoptions()).toEqual([{ adopt: true }, { id: 's1' }, { id: 's2' }])
      expect(adoptions({ source: 'is incomplete' })).toEqual([{ id: 's0' }, { id: 's1' }, { id: 's2' }])
    })

    it('an unmanaged object is left out when it has no name', () => {
      expect(became({ dashboard: [board('d1', null)] }).d1).toMatch(/^left-out name/)
    })

    it('an unmanaged object is not added when a file adopts it', () => {
      const text = 'dashboards:\n  mine:\n    name: Mine\n    adopt: true\n    tiles: []\n'
      expect(became({ dashboard: [{ ...board('d1', 'Mine'), tiles: [] }] }, text)).toEqual({ d1: 'unchanged mine' })
    })
  })

  describe('an object with an ownership marker', () => {
    it('an object with an ownership marker of this project gets the key in its marker', () => {
      const cases = [
        ['short', 'Any name'],
        ['checkout-overview', 'Checkout overview'],
      ] as const
      for (const [key, name] of cases) {
        const parts = { dashboard: [board('d1', name, ['t', mark(key)])] }
        expect(became(parts), key).toEqual({ d1: `added ${key}` })
        expect(yamlOf(parts), key).not.toMatch(/adopt| id:|wk:/)
        expect(yamlOf(parts), key).toContain('tags: [t]')
      }
    })

    it('an object with an ownership marker is added beside others of this project', () => {
      const parts = { dashboard: [board('d1', 'A', [mark('one')]), board('d2', 'B', [mark('two')])] }
      expect(became(parts)).toEqual({ d1: 'added one', d2: 'added two' })
    })

    it('an object with an ownership marker gets its key before unmanaged objects do', () => {
      expect(became({ dashboard: [board('d1', 'A'), board('d2', 'Z', [mark('a')])] })).toEqual({ d2: 'added a', d1: 'added a-2' })
    })

    it('an object with an ownership marker is left out when its key or its owner is unknown', () => {
      const cases: readonly [string, Lists['dashboard'], string][] = [
        [
          'a key that cannot be derived',
          [board('d1', 'Renamed', [mark('a-key-longer-than-a-tag')])],
          'left-out has an ownership marker that contains only a hash of its key; remove the marker',
        ],
        [
          'a key that cannot be derived, and no name',
          [board('d1', null, [mark('a-key-longer-than-a-tag')])],
          'left-out has an ownership marker that contains only a hash of its key; remove the marker',
        ],
        [
          'the mark of another object',
          [board('d1', 'A', [mark('a')]), board('d2', 'B', [mark('a')])],
          'left-out has the same ownership marker as another object: two runs created them at the same time, or one is a copy',
        ],
        [
          'the mark of another project',
          [board('d1', 'A', [mark('a', 'other/project')])],
          'other-project has the ownership marker of another project',
        ],
      ]
      for (const [name, dashboards, expected] of cases) {
        expect(Object.values(became({ dashboard: dashboards ?? [] })), name).toEqual((dashboards ?? []).map(() => expected))
      }
    })

    it('an object with an ownership marker is left out when a broken declaration has its key', () => {
      const { objects } = pull({ dashboard: [board('d1', 'A', [mark('a')])] }, { 'o/a.yml': 'dashboards:\n  a:\n    tiles: 5\n' })
      expect(objects.map(({ outcome, reason }) => [outcome, reason])).toEqual([
        ['left-out', 'has the ownership marker of dashboards.a, which is the key of another object'],
      ])
    })

    it('an object with an ownership marker gets its key although another section has the same', () => {
      const text = 'savedSearches:\n  a:\n    name: Slow\n    sourceId: s1\n    adopt: true\n'
      expect(became({ dashboard: [board('d1', 'A', [mark('a')])], savedSearch: [search] }, text)).toMatchObject({ d1: 'added a' })
    })

    it('an object with an ownership marker gets a long key when the marker has all of it', () => {
      const note = `Call\n\nwatchkeeper: ${project} a-rather-long-key-of-an-alert abcdef`
      const { objects, after, unverified } = pull({
        dashboard: [shop],
        alert: [
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
      expect(unverified).toEqual({})
    })
  })
})

describe('keys and file names', () => {
  describe('a key', () => {
    it('a key is made from the name', () => {
      const cases = [
        ['Checkout errors', 'checkout-errors'],
        ['  p99 > 1.5 s  ', 'p99-1-5-s'],
        ['Überlast (süd)', 'uberlast-sud'],
        ['İstanbul', 'istanbul'],
        ['１２ ﬁles', '12-files'],
        ['障害 in EU', 'in-eu'],
        ['障害', ''],
        ['../../etc/passwd', 'etc-passwd'],
        ['--dashes--', 'dashes'],
        [`${'a'.repeat(54)} b`, 'a'.repeat(54)],
        [`${'a'.repeat(54)}bc`, `${'a'.repeat(54)}b`],
        [`${'☠'.repeat(499)}ab`, 'a'],
        [`${'long '.repeat(30)}end`, 'long-long-long-long-long-long-long-long-long-long-long'],
      ] as const
      for (const [name, slug] of cases) {
        expect(toSlug(name), name).toBe(slug)
      }
    })

    it('a key is valid and unique, whatever the name', () => {
      const taken = new Set<string>()
      const values = hostile.map(({ value }) => value)
      const keys = [...values, ...values].map((name, i) => claimKey({ name, id: `id-${i}-☠`, noun: 'saved search' }, taken))
      expect(new Set(keys).size).toBe(keys.length)
      expect(keys.filter((key) => !keyGrammar.test(key))).toEqual([])
    })

    it('a key gets a number when it is taken', () => {
      const taken = new Set(['errors', 'errors-3'])
      const take = (): string => claimKey({ name: 'Errors', id: 'x', noun: 'alert' }, taken)
      expect([take(), take(), take()]).toEqual(['errors-2', 'errors-4', 'errors-5'])
      expect([...taken]).toEqual(['errors', 'errors-3', 'errors-2', 'errors-4', 'errors-5'])
    })

    it('a key is made from the noun and the id when the name has no ASCII letters', () => {
      expect(claimKey({ name: '障害', id: '65f5e4a35eedc0de0000001f', noun: 'alert' }, new Set())).toBe('alert-00001f')
    })

    it('a key gives a file name that every system accepts', () => {
      const cases = [
        ['checkout', 'checkout'],
        ['v1.2', 'v1-2'],
        ['con', 'con-'],
        ['prn', 'prn-'],
        ['aux', 'aux-'],
        ['nul', 'nul-'],
        ['com1', 'com1-'],
        ['lpt9', 'lpt9-'],
        ['com', 'com'],
        ['com10', 'com10'],
        ['icon', 'icon'],
        ['a..b.c', 'a-b-c'],
        ['console', 'console'],
      ] as const
      for (const [key, name] of cases) {
        expect(toFileName(key), key).toBe(name)
      }
    })
  })
})

describe('createPlacement', () => {
  describe('a new object', () => {
    const place = (globs: readonly string[], paths: readonly string[] = []) => fileFor(globs, paths, new Set())

    it('a new object gets a path that the first glob matches', () => {
      const cases = [
        ['observability/**/*.{yml,yaml,json}', 'observability/checkout.yml'],
        ['observability/*.yaml', 'observability/checkout.yaml'],
        ['./observability//**/*.json', 'observability/checkout.json'],
        ['*.yml', 'checkout.yml'],
        ['**', 'checkout.yml'],
        ['deep/er/**/*', 'deep/er/checkout.yml'],
        ['all.yml', 'all.yml'],
        ['obs', 'obs/checkout.yml'],
        ['obs/team/', 'obs/team/checkout.yml'],
        ['./some/all.json', 'some/all.json'],
        ['a/**', 'a/checkout.yml'],
        ['a/**/**/*.yml', 'a/checkout.yml'],
        ['a/*', 'a/checkout.yml'],
        ['a/*.{json}', 'a/checkout.json'],
        ['a/*.{yaml,yml}', 'a/checkout.yaml'],
        ['././a/./b//*.yml', 'a/b/checkout.yml'],
        ['/var/a/*.yml', '/var/a/checkout.yml'],
        ['a//b.yml', 'a/b.yml'],
        ['a./b.yml', 'a./b.yml'],
      ] as const
      for (const [glob, path] of cases) {
        expect(place([glob, 'other/*.yml'])('checkout'), glob).toBe(path)
      }
    })

    it('a new object is placed in an existing file whose name differs only in case', () => {
      expect(place(['o/*.yml'], ['o/Checkout.yml'])('checkout')).toBe('o/Checkout.yml')
    })

    it('a new object gets a file with a number where a file has instances, unless the glob has only this file', () => {
      const closed = new Set(['o/checkout.yml', 'o/checkout-2.yml'])
      const place = (glob: string, key: string): string => fileFor([glob], [], closed)(key)
      expect([place('o/*.yml', 'checkout'), place('o/*.yml', 'cart')]).toEqual(['o/checkout-3.yml', 'o/cart.yml'])
      expect(fileFor(['o/*.yml'], [], new Set(['o/checkout.yml']))('checkout')).toBe('o/checkout-2.yml')
      expect(() => place('o/checkout.yml', 'cart')).toThrow(/pull adds no objects to o\/checkout\.yml, because it has instances/)
    })

    it('a new object has no place without a glob', () => {
      expect(() => place([])).toThrow('the first glob does not define where new files go')
      expect(() => place([''])).toThrow('the first glob does not define where new files go')
    })

    it('a new object has no place when the glob does not give one', () => {
      const cases = [
        'teams/*/observability/*.yml',
        'o/[ab]*.yml',
        'o/checkout-*.yml',
        'o/*.txt',
        '!o/*.yml',
        'o/?.yml',
        'o/*.{txt,yml}',
        'a*/*.yml',
        'o/*.yml/x',
        'o/*x',
        'o/**/a',
        'o/*.y*',
      ] as const
      for (const glob of cases) {
        expect(() => place([glob]), glob).toThrow('start with a glob such as observability/**/*.yml')
      }
    })
  })
})
