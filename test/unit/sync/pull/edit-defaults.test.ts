// What a file says once for many objects: an object denies it where the service has something else.
import { describe, expect, it } from 'vitest'
import { edit } from '../../../support/edits.ts'

const head =
  'defaults:\n  alerts:\n    interval: 1h\n    message: Look\n    thresholdType: below\n    channel: { type: email, emailRecipients: [a@b] }\n'

const text = `${head}alerts:\n  a:\n    name: A\n    threshold: 1\n`

describe('an object beside defaults', () => {
  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['says what is other than they say', { interval: '5m' }, '    interval: 5m\n'],
    ['denies a text that it does not have', { message: undefined }, '    message: null\n'],
    ['says what is assumed where they say something else', { thresholdType: undefined }, '    thresholdType: above\n'],
    ['says nothing where the service has what they say', {}, ''],
    ['says nothing of what can only be left out', { channel: undefined }, ''],
  ])('%s', (_, change, lines) => {
    expect(edit(text, { 'alerts.a': change })).toBe(`${text}${lines}`)
  })

  it('denies a list with an empty one', () => {
    const dashboards = 'defaults:\n  dashboards:\n    tags: [t]\ndashboards:\n  d:\n    name: D\n    tiles: []\n'
    expect(edit(dashboards, { 'dashboards.d': { tags: undefined } })).toBe(`${dashboards}    tags: []\n`)
  })

  it('loses a field of its own where they say nothing of it', () => {
    expect(edit(`${text}    note: Call\n`, { 'alerts.a': { note: undefined } })).toBe(text)
  })

  it('denies what they would say in place of a field of its own', () => {
    expect(edit(`${text}    message: Mine\n`, { 'alerts.a': { message: undefined } })).toBe(`${text}    message: null\n`)
  })

  it('is not told by the defaults of another kind', () => {
    const other = text.replace('  alerts:\n', '  dashboards:\n    tags: [t]\n  alerts:\n')
    expect(edit(other.replace('    message: Look\n', ''), { 'alerts.a': { name: 'B', message: undefined } })).toBe(
      other.replace('    message: Look\n', '').replace('name: A', 'name: B'),
    )
  })

  it('says what it does not share with them when it is new', () => {
    const fields = { name: 'B', threshold: 2, interval: '1h', channel: { type: 'webhook', webhook: 'w' } }
    expect(edit(text, {}, { additions: [{ section: 'alerts', key: 'b', fields }] })).toBe(
      `${text}
  b:
    name: B
    threshold: 2
    channel: { type: webhook, webhook: w }
    message: null
    thresholdType: above
`,
    )
  })
})
