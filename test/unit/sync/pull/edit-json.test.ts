// Files of JSON: written as every tool writes them, unless they are no JSON after all.
import { describe, expect, it } from 'vitest'
import { edit } from '../../../support/edits.ts'

const path = 'a.json'

const value = (threshold: number) => ({ alerts: { a: { name: 'A', threshold, interval: '5m' }, b: { name: 'B' } } })

describe('a file of JSON', () => {
  it.each([
    ['as it was', 0],
    ['with other columns', 4],
    ['with two columns', 2],
  ])('is JSON of two columns after a change, whether it was written %s', (_, columns) => {
    const before = JSON.stringify(value(1), null, columns)
    expect(edit(before, { 'alerts.a': { threshold: 2 } }, { path })).toBe(`${JSON.stringify(value(2), null, 2)}\n`)
  })

  it('keeps its mark and the ends of its lines', () => {
    const before = `\ufeff${JSON.stringify(value(1), null, 2).replaceAll('\n', '\r\n')}\r\n`
    expect(edit(before, { 'alerts.a': { threshold: 2 } }, { path })).toBe(before.replace('"threshold": 1', '"threshold": 2'))
  })

  it('gets new objects and sections behind those that it has, in double quotes', () => {
    const additions = [
      { section: 'alerts', key: 'c', fields: { name: 'C', note: 'one\ntwo' } },
      { section: 'dashboards', key: 'd', fields: { name: 'D', tiles: [] } },
    ] as const
    const { alerts } = value(1)
    expect(edit(JSON.stringify(value(1)), {}, { path, additions })).toBe(
      `${JSON.stringify({ alerts: { ...alerts, c: additions[0].fields }, dashboards: { d: additions[1].fields } }, null, 2)}\n`,
    )
  })

  it('keeps its comments where it has some, and so is none', () => {
    const before = '{\n  # a comment\n  "alerts": {\n    "a": { "threshold": 1 } # why\n  }\n}\n'
    const after = edit(before, { 'alerts.a': { threshold: 2 } }, { path })
    expect(after).toMatch(/^\{\n {2}# a comment\n {2}"alerts":\s+\{\n +"a": \{ "threshold": 2 \} # why\n +\}\n\}\n$/)
  })

  it('stays as it is in a file of another name', () => {
    const before = '{"alerts": {"a": {"name": "A", "threshold": 1}}}\n'
    expect(edit(before, { 'alerts.a': { threshold: 2 } }, { path: 'a.yml' })).toBe(
      '{ "alerts": { "a": { "name": "A", "threshold": 2 } } }\n',
    )
  })
})
