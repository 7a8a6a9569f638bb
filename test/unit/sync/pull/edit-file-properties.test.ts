// Anchors in lists whose items come, go and change places: what an alias stood for is still said, and every text can be read.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { editFile } from '../../../../src/sync/pull/edit-yaml.ts'

type Fields = Readonly<Record<string, unknown>>

const edit = (list: string, after: Fields): Fields => {
  const text = `dashboards:\n  errors:\n    name: Errors\n${list}`
  const { errors: before } = (parse(text) as { dashboards: { errors: Fields } }).dashboards
  const side = (fields: Fields) => ({ fields, itemIds: new Map<unknown, string>() })
  const updates = [{ section: 'dashboards' as const, key: 'errors', before: side(before), after: side({ name: 'Errors', ...after }) }]
  const { text: edited } = editFile({ path: 'a.yml', text, defaults: {}, updates, additions: [] })
  return (parse(edited) as { dashboards: { errors: Fields } }).dashboards.errors
}

describe('an alias in a list', () => {
  it.each<[string, string, Fields]>([
    [
      'stays when its anchor goes',
      '    filters:\n      - &one { where: a }\n      - *one\n',
      { filters: [{ name: 'new', where: 'b' }, { where: 'a' }] },
    ],
    [
      'stays when its anchor changes',
      '    filters:\n      - &one { name: A, where: a }\n      - { name: B, more: *one }\n',
      {
        filters: [
          { name: 'A', where: 'z' },
          { name: 'B', more: { name: 'A', where: 'a' } },
        ],
      },
    ],
    [
      'says by itself what it stands for when it comes before its anchor',
      '    tiles:\n      - { name: A, config: &c { x: 1 } }\n      - { name: B, config: *c }\n',
      {
        tiles: [
          { name: 'B', config: { x: 1 } },
          { name: 'A', config: { x: 1 } },
        ],
      },
    ],
    [
      'is the heir of an anchor for the others',
      '    tiles:\n      - &t { name: A, x: 1 }\n      - { name: B, like: *t }\n      - { name: C, like: *t }\n',
      {
        tiles: [
          { name: 'C', like: { name: 'A', x: 1 } },
          { name: 'B', like: { name: 'A', x: 1 } },
        ],
      },
    ],
  ])('%s', (_, list, after) => {
    expect(edit(list, after)).toEqual({ name: 'Errors', ...after })
  })

  it('whatever becomes of the items', () => {
    const item = fc.constantFrom('&a { name: A, x: 1 }', '{ name: B, x: 2 }', '&c { x: 3 }', '{ name: D, y: &d [1, 2] }', '{ name: E }')
    const alias = fc.constantFrom('*a', '{ name: F, like: *a }', '*c', '{ name: G, like: *c }', '{ name: H, y: *d }')
    const value = fc.constantFrom<Fields>(
      { name: 'A', x: 1 },
      { name: 'A', x: 9 },
      { name: 'B', x: 2 },
      { x: 3 },
      { x: 4 },
      { name: 'D', y: [1, 2] },
      { name: 'D', y: [2] },
      { name: 'F', like: { name: 'A', x: 1 } },
      { name: 'G', like: { x: 3 } },
      { name: 'H', y: [1, 2] },
      { name: 'H', y: [1, 2, 3] },
    )
    fc.assert(
      fc.property(fc.uniqueArray(item, { minLength: 1 }), fc.array(alias), fc.array(value, { maxLength: 6 }), (anchors, aliases, after) => {
        const known = aliases.filter((text) => {
          const name = /\*(\w)/.exec(text)?.[1] ?? ''
          return anchors.some((one) => one.includes(`&${name} `))
        })
        const list = `    tiles:\n${[...anchors, ...known].map((one) => `      - ${one}\n`).join('')}`
        expect(edit(list, { tiles: after })).toEqual({ name: 'Errors', tiles: after })
      }),
      { numRuns: 150 },
    )
  })
})
