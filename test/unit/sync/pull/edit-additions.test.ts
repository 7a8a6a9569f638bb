// New objects in a file that exists: they stand behind their neighbours, with an empty line before them.
import { describe, expect, it } from 'vitest'
import type { Addition } from '../../../../src/sync/pull/write-yaml.ts'
import { edit, editWith, parsed } from '../../../support/edits.ts'

const added = (text: string, ...additions: readonly Addition[]): string => edit(text, {}, { additions })

const alert = (key: string): Addition => ({ section: 'alerts', key, fields: { name: key, threshold: 1 } })
const dashboard = (key: string): Addition => ({ section: 'dashboards', key, fields: { name: key, tiles: [] } })

const lines = (key: string): string => `  ${key}:\n    name: ${key}\n    threshold: 1\n`
const dashboardLines = (key: string): string => `  ${key}:\n    name: ${key}\n    tiles: []\n`

describe('a new object', () => {
  it.each<[string, string, string]>([
    ['behind those of its section', `alerts:\n${lines('a')}`, `alerts:\n${lines('a')}\n${lines('b')}`],
    [
      'behind those of its section, before the next one',
      `alerts:\n${lines('a')}\n# about dashboards\ndashboards:\n${dashboardLines('d')}`,
      `alerts:\n${lines('a')}\n${lines('b')}\n# about dashboards\ndashboards:\n${dashboardLines('d')}`,
    ],
    [
      'in a new section where there is none',
      `# first\ndashboards:\n${dashboardLines('d')}`,
      `# first\ndashboards:\n${dashboardLines('d')}\nalerts:\n${lines('b')}`,
    ],
    ['in an empty file', '{}\n', `alerts:\n${lines('b')}`],
    ['in an empty section', 'alerts: {}\n', `alerts:\n${lines('b')}`],
    ['in a section that was only begun', 'alerts:\n  a: {}\n', `alerts:\n  a: {}\n\n${lines('b')}`],
    [
      'with the columns of the file',
      'alerts:\n    a:\n        name: a\n',
      'alerts:\n    a:\n        name: a\n\n    b:\n        name: b\n        threshold: 1\n',
    ],
  ])('stands %s', (_, before, after) => {
    expect(added(before, alert('b'))).toBe(after)
  })

  it('stands before the next one', () => {
    expect(added(`alerts:\n${lines('a')}`, alert('b'), alert('c'), dashboard('d'), dashboard('e'))).toBe(
      `alerts:\n${lines('a')}\n${lines('b')}\n${lines('c')}\ndashboards:\n${dashboardLines('d')}\n${dashboardLines('e')}`,
    )
  })

  it('leaves the comments of the others where they are', () => {
    const before = `# top\nalerts: # all\n  # about a\n  a: # beside\n    name:   a\n    # inside\n    threshold: 1 # low\n\n# bottom\n`
    const after = added(before, alert('b'))
    expect(after).toBe(before.replace('# bottom\n', `${lines('b')}\n# bottom\n`))
  })

  it('stands in brackets where everything stands in brackets', () => {
    const after = added('{ alerts: { a: {} } }\n', alert('b'), dashboard('d'))
    expect(after).toMatch(/^\{.*\}\n$/s)
    expect(parsed(after)).toEqual({
      alerts: { a: {}, b: alert('b').fields },
      dashboards: { d: dashboard('d').fields },
    })
  })

  it('comes in the same go as a change', () => {
    const { text, replacedExpressions: lost } = editWith(
      `alerts:\n${lines('a')}`,
      { 'alerts.a': { threshold: 9 } },
      { additions: [alert('b')] },
    )
    expect(text).toBe(`alerts:\n${lines('a').replace('1', '9')}\n${lines('b')}`)
    expect([...lost]).toEqual([])
  })
})
