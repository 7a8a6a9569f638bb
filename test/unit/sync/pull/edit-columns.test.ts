// Files whose columns are not those of the machine: what cannot be mixed with them is spelt anew, and no more than that.
import { describe, expect, it } from 'vitest'
import { edit, parsed } from '../../../support/edits.ts'

const rest = `alerts:
    a:
        name:   A   # odd
`

const dashes = `dashboards:
    d:
        name: D
        tiles:
        -   name: A # a
            x: 1

        -   name: B # b
            x: 2
    e:
        name:   E # e
`

describe('an edit', () => {
  it('spells a whole object anew where its lists stand in other columns, and leaves the others', () => {
    const tiles = [
      { name: 'A', x: 1 },
      { name: 'B', x: 9 },
    ]
    expect(edit(dashes + rest, { 'dashboards.d': { tiles } })).toBe(`dashboards:
    d:
        name: D
        tiles:
            - name: A # a
              x: 1

            - name: B # b
              x: 9
    e:
        name:   E # e
${rest}`)
  })

  it('never makes a field of a map one of the map around it', () => {
    const deep = `dashboards:
  d:
    raw:
        one:
          x: 1 # x

          y: 2 # y
  e:
    name:   E
`
    const raw = { one: { x: 1, y: 3 } }
    const after = edit(deep, { 'dashboards.d': { raw } })
    expect(parsed(after)).toEqual({ dashboards: { d: { raw }, e: { name: 'E' } } })
    expect(after).toContain('x: 1 # x\n\n        y: 3 # y\n  e:\n    name:   E\n')
  })

  it('spells the whole file anew where nothing less would do', () => {
    const mixed = `# top
dashboards:
  d:
    name:   D
alerts:
   a:
     threshold: 1 # one

   b:
     threshold: 2 # two
`
    expect(edit(mixed, { 'alerts.b': { threshold: 3 } })).toBe(`# top
dashboards:
  d:
    name: D
alerts:
  a:
    threshold: 1 # one

  b:
    threshold: 3 # two
`)
  })

  it('takes the columns of the first object that stands on lines of its own', () => {
    const text = `# top\ndefaults: {}\nsavedSearches: { s: { name: S } }\nalerts:\n    a:\n        name: A\n`
    expect(edit(text, { 'alerts.a': { raw: { one: 'x'.repeat(120) } } })).toBe(`${text}        raw:\n            one: ${'x'.repeat(120)}\n`)
  })

  it('has lists where other lists of the file are, even if one of them is in brackets', () => {
    const list = (dash: string) => `dashboards:\n  d:\n    tags: [a]\n    filters:\n${dash}- { name: F }\n    name: D\n`
    for (const dash of ['    ', '      '])
      expect(edit(list(dash), { 'dashboards.d': { tiles: [{ name: 'T' }] } })).toBe(`${list(dash)}    tiles:\n${dash}- name: T\n`)
  })
})
