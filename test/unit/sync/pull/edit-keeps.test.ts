// What changes in the service changes in the text, and every other byte stays as somebody wrote it.
import { describe, expect, it } from 'vitest'
import { edit, linesBetween } from '../../../support/edits.ts'

const text = `# The payments team, ask #payments
alerts:
    declined:   # see the wiki
        name: "Declined"
        threshold: 50.0         # agreed with finance
        interval: 1h
        note: 'Call'
        channel: {type: email,emailRecipients: [ a@shop.example ]}

    # paged at night
    queue:
        name: 'Queue'
        message: >-
            The queue is longer
            than 500
        threshold: 500
# the end
`

const changed = text.replace('50.0         #', '75 #')

describe('an edit', () => {
  it('of nothing leaves the text as it is', () => {
    expect(edit(text, { 'alerts.declined': {}, 'alerts.queue': {} })).toBe(text)
  })

  it('of one value touches no other line, and keeps the comment beside it', () => {
    expect(edit(text, { 'alerts.declined': { threshold: 75 } })).toBe(changed)
  })

  it.each([
    ['carriage returns', (one: string) => one.replaceAll('\n', '\r\n')],
    ['a byte order mark', (one: string) => `\ufeff${one}`],
    ['a byte order mark and carriage returns', (one: string) => `\ufeff${one.replaceAll('\n', '\r\n')}`],
    ['no end to its last line', (one: string) => one.trimEnd()],
    ['blanks at the ends of lines', (one: string) => one.replaceAll("'Call'\n", "'Call'  \n")],
    ['empty lines at its end', (one: string) => `${one}\n\n`],
    ['empty lines at its beginning', (one: string) => `\n\n${one}`],
    ['a sign where its document begins', (one: string) => `---\n${one}`],
    ['a sign where its document ends', (one: string) => `${one}...\n`],
    ['brackets around everything', () => '{alerts: {declined: {threshold: 50}, queue: {  name: x  }}}\n'],
  ])('keeps that the text has %s', (_, spell) => {
    const [before, after] = [spell(text), spell(changed)]
    const expected = after === before ? '{ alerts: { declined: { threshold: 75 }, queue: { name: x } } }\n' : after
    expect(edit(before, { 'alerts.declined': { threshold: 75 } })).toBe(expected)
    expect(edit(before, { 'alerts.declined': {} })).toBe(before)
  })

  it.each([
    ['in the middle', text.replace('1h\n', '1h\r\n')],
    ['at the very beginning', `\n${text.replaceAll('\n', '\r\n')}`],
    ['everywhere but at one', text.replaceAll('\n', '\r\n').replace('1h\r\n', '1h\n')],
  ])('does not make the ends of lines alike that somebody mixed: %s', (_, mixed) => {
    expect(edit(mixed, { 'alerts.queue': {} })).toBe(mixed)
  })

  it('gives new lines the ends that the others have', () => {
    const after = edit(text.replaceAll('\n', '\r\n'), { 'alerts.queue': { note: 'Call\nthe bank' } })
    expect(after).toContain('threshold: 500\r\n        note: |-\r\n            Call\r\n            the bank\r\n')
    expect(after).not.toMatch(/[^\r]\n/)
  })

  it('changes every object that it is about, and only those', () => {
    expect(linesBetween(text, edit(text, { 'alerts.declined': { interval: '5m' }, 'alerts.queue': { threshold: 7 } }))).toEqual([
      '-        interval: 1h',
      '+        interval: 5m',
      '-        threshold: 500',
      '+        threshold: 7',
    ])
  })

  it('finds an object whose key looks like a number', () => {
    expect(edit('alerts:\n  404: { threshold: 1 }\n  405: { threshold: 1 }\n', { 'alerts.405': { threshold: 2 } })).toBe(
      'alerts:\n  404: { threshold: 1 }\n  405: { threshold: 2 }\n',
    )
  })

  it('finds an object whose section and key are in quotes', () => {
    expect(edit('"alerts":\n  \'a\':\n    "threshold": 1\n', { 'alerts.a': { threshold: 2 } })).toBe(
      '"alerts":\n  \'a\':\n    "threshold": 2\n',
    )
  })

  it('leaves a text alone that would become too large to be read again', () => {
    const large = `alerts:\n  a:\n    note: x\n# ${'x'.repeat(5 * 1024 * 1024 - 100)}\n`
    expect(edit(large, { 'alerts.a': { note: 'xy' } })).toBe(large.replace('note: x', 'note: xy'))
    expect(edit(large, { 'alerts.a': { note: 'x'.repeat(100) } })).toBe(large)
  })
})

describe('a text that spells everything in its own way', () => {
  const rows = Array.from({ length: 30 }, (_, i) => `  a${i}:   {name:   'n${i}',threshold:  ${i}}   # ${i}\n  b${i}: { threshold: ${i} }`)
  const odd = `alerts:\n${rows.join('\n')}\n`

  it('is spelt by the machine on the lines that change, and on no others', () => {
    expect(linesBetween(odd, edit(odd, { 'alerts.a7': { threshold: 70 }, 'alerts.a21': { threshold: 210 } }))).toEqual([
      `-${rows[7]?.split('\n')[0]}`,
      "+  a7: { name: 'n7', threshold: 70 } # 7",
      `-${rows[21]?.split('\n')[0]}`,
      "+  a21: { name: 'n21', threshold: 210 } # 21",
    ])
  })
})
