import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Line, say, strong, trusted, untrusted, untrustedSentence } from '../../../../src/platform/core/line.ts'
import type { Block } from '../../../../src/platform/report/blocks.ts'
import { renderMarkdown } from '../../../../src/platform/report/markdown.ts'
import { renderPage } from '../../../../src/platform/report/page.ts'
import { kindsIn } from '../../../support/output-oracle.ts'

const table = (rows: number): Block => ({
  kind: 'table',
  title: 'By entity',
  columns: [{ title: 'Entity' }, { title: 'Amount', align: 'right' }],
  rows: Array.from({ length: rows }, (_, i) => [[untrusted(`entity ${i}`)], say`${i}`]),
})

describe('renderMarkdown', () => {
  it('starts with the verdict', () => {
    const text = renderMarkdown([{ kind: 'verdict', status: 'fail', line: say`Spend of ${'checkout'} is ${strong('too high')}` }])
    expect(text).toBe('### ❌ Spend of `checkout` is **too high**\n\n')
  })

  it('aligns numbers to the right', () => {
    expect(renderMarkdown([table(1)])).toBe('**By entity**\n\n| Entity | Amount |\n| --- | ---: |\n| `entity 0` | 0 |\n\n')
  })

  it('shows the lines of a message as sentences, and only what is no word as code', () => {
    const text = 'The API answered 401: the key is wrong\n- Check api-key-id, #12 and @all.\n  # Not a title'
    expect(renderMarkdown([{ kind: 'message', text }])).toBe(
      'The API answered 401: the key is wrong\n\n- Check api-key-id, `#12` and `@all`.\n\n`#` Not a title\n\n',
    )
  })

  it('S6: no address in a text from outside becomes a link, also none of the documents of this project', () => {
    const docs = 'https://github.com/watchkeeper/watchkeeper/blob/main/docs'
    const lineOf = (text: string) => renderMarkdown([{ kind: 'message', text }]).trim()
    const name = `${docs}/help.md#two-runs`
    expect(lineOf(`See ${name}.`)).toBe(`See \`${name}\`.`)
    expect(renderMarkdown([{ kind: 'paragraph', line: say`Alert ${name}` }])).toBe(`Alert \`${name}\`\n\n`)
    const diagnostic = { rule: 'r', severity: 'note' as const, message: `${name} is odd. See ${docs}/help.md`, location: { file: 'a.yml' } }
    const cellOf = (page?: string) =>
      renderMarkdown([{ kind: 'diagnostics', diagnostics: [{ ...diagnostic, ...(page !== undefined && { page }) }] }])
    expect(cellOf()).not.toContain('](http')
    expect(cellOf(`${docs}/help.md`)).toContain(`| \`${name}\` is odd. See [\`help.md\`](${docs}/help.md) |`)
    expect(renderPage('x', [{ kind: 'paragraph', line: say`Alert ${name}` }])).not.toContain('href')
    for (const other of [
      `${docs}/../x.md`,
      `${docs}/help.md?x=1`,
      `x${docs}/help.md`,
      'https://evil.example/docs/help.md',
      `${docs}/a](x).md`,
    ])
      expect(lineOf(`See ${other} now`), other).not.toContain('](http')
  })

  it('has the reason in the title, or below where the title would be longer than 80 characters', () => {
    const verdict = (reason: Line) => renderMarkdown([{ kind: 'verdict', status: 'fail', line: say`A plan`, reason }])
    expect(verdict(say`${'a'.repeat(72)}`)).toBe(`### ❌ A plan: \`${'a'.repeat(72)}\`\n\n`)
    expect(verdict(say`${'a'.repeat(73)}`)).toBe(`### ❌ A plan\n\n\`${'a'.repeat(73)}\`\n\n`)
    expect(verdict(say`no answer from ${'b'.repeat(80)}`)).toMatch(/^### ❌ A plan\n\nNo answer from `b+`\n\n$/)
  })

  it('ends a title of more than 80 characters where a sentence ends, or else a clause, and never in a name or in parentheses', () => {
    const titled = (line: Line) => renderMarkdown([{ kind: 'verdict', status: 'fail', line }]).trimEnd()
    const name = 'shop: checkout, and more'
    const more = trusted('and so on '.repeat(8).trimEnd())
    expect(titled(say`Service ${name}: it is late, and old. See the limits: ${more}`)).toBe(
      `### ❌ Service \`${name}\`: it is late, and old.\n\nSee the limits: ${more.text}`,
    )
    expect(titled(say`2 checks failed: ${name}, ${name}, ${name}`)).toBe(`### ❌ 2 checks failed\n\n\`${name}\`, \`${name}\`, \`${name}\``)
    expect(titled(say`Service ${name}: it is late (by 2 h, or more), ${more}`)).toBe(
      `### ❌ Service \`${name}\`: it is late (by 2 h, or more)\n\nAnd so${more.text.slice('and so'.length)}`,
    )
    expect(titled(say`Plan for ${name}, environment ${name} (1 to create, 2 to update, 3 to delete)`)).toBe(
      `### ❌ Plan for \`${name}\`, environment \`${name}\`\n\n1 to create, 2 to update, 3 to delete`,
    )
    expect(titled(say`Applied to ${name} (1 failed, 2 created): alert ${name}: it is wrong, and so on`)).toBe(
      `### ❌ Applied to \`${name}\` (1 failed, 2 created)\n\nAlert \`${name}\`: it is wrong, and so on`,
    )
    expect(titled(say`${more} ${name}`)).toBe(`### ❌ ${more.text} \`${name}\``)
  })

  it('has an error once, where the table of problems has what is too long for the title', () => {
    const message = `alerts.a: ${'no such thing '.repeat(6)}, see below`
    const textWith = (shown: string) =>
      renderMarkdown([
        { kind: 'verdict', status: 'fail', line: say`The plan failed`, reason: untrustedSentence(shown) },
        { kind: 'diagnostics', diagnostics: [{ rule: 'r', severity: 'error', message, location: { file: 'a.yml' } }] },
      ])
    expect(textWith(message)).toMatch(/^### ❌ The plan failed\n\n\|/)
    expect(textWith(`${message.slice(0, 90)}… (16 more characters)`)).toMatch(/^### ❌ The plan failed\n\n\|/)
    expect(textWith('another reason '.repeat(6))).toMatch(/^### ❌ The plan failed\n\nAnother reason /)
  })

  it('keeps the verdict and what to know, and shortens the diff, where not all fits', () => {
    const lines = Array.from({ length: 1000 }, (_, i) => ({ sign: '+' as const, text: `line ${i}` }))
    const text = renderMarkdown(
      [
        { kind: 'verdict', status: 'pass', line: say`A plan` },
        { kind: 'diff', lines },
        { kind: 'details', title: 'All fields', blocks: [{ kind: 'diff', lines }] },
        { kind: 'paragraph', line: say`Apply deletes hidden parts.${trusted('!'.repeat(500))}` },
        table(2),
        { kind: 'footer', line: say`The end` },
      ],
      5000,
      'the summary of the run',
    )
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(5000)
    expect(text).toMatch(/^### ✅ A plan\n\n```diff\n\+ line 0\n/)
    expect(text).toMatch(/\*\d+ more lines did not fit\. See the summary of the run\.\*\n*<\/details>\n\nApply deletes hidden parts\./)
    expect(text).toContain('`entity 1`')
    expect(text.endsWith('*1 more section did not fit. See the summary of the run.*\n\nThe end\n')).toBe(true)
  })

  it('folds what is longer than 20 rows or 80 lines, and no more inside of a section', () => {
    const lines = Array.from({ length: 81 }, (_, i) => ({ sign: '+' as const, text: `line ${i}` }))
    expect(renderMarkdown([table(20), { kind: 'diff', lines: lines.slice(1) }])).not.toContain('<details>')
    const text = renderMarkdown([table(42), { kind: 'diff', lines }])
    expect(text.match(/<summary>[^<]*/g)).toEqual(['<summary>By entity&#58; 22 more rows', '<summary>21 more lines'])
    expect(text.indexOf('`entity 19`')).toBeLessThan(text.indexOf('<summary>'))
    expect(text.indexOf('`entity 20`')).toBeGreaterThan(text.indexOf('<summary>'))
    expect(text).toMatch(/\+ line 59\n```\n\n<details><summary>21 more lines<\/summary>\n\n```diff\n\+ line 60\n/)
  })

  it('folds a diff of more than 20 objects, or of 80 lines, between objects', () => {
    const objects = (count: number, linesEach: number): Block => ({
      kind: 'diff',
      lines: Array.from({ length: count * linesEach }, (_, i) => ({
        sign: '+',
        text: `line ${i}`,
        ...(i % linesEach === 0 && { isHead: true }),
      })),
    })
    const folded = (block: Block) => {
      const text = renderMarkdown([block])
      const [open = ''] = text.split('<details>', 1)
      return [open.match(/line/g)?.length, ...(text.match(/(?<=<summary>)[^<]*/g) ?? [])]
    }
    expect(folded(objects(20, 1))).toEqual([20])
    expect(folded(objects(21, 1))).toEqual([20, '1 more object'])
    expect(folded(objects(10, 8))).toEqual([80])
    expect(folded(objects(9, 9))).toEqual([54, '3 more objects'])
    expect(folded(objects(1, 81))).toEqual([60, '21 more lines'])
  })

  it('folds details, with Markdown inside', () => {
    const text = renderMarkdown([{ kind: 'details', title: '2 records <x>', blocks: [table(2)] }])
    expect(text).toContain('<details><summary>2 records &#60;x&#62;</summary>\n\n**By entity**')
    expect(kindsIn(text)).toContain('table')
  })

  it('draws bars from zero below a title', () => {
    const points = [1, 2, 0.5].map((value, i) => ({ label: `0${i + 1}`, value }))
    const text = renderMarkdown([{ kind: 'chart', title: 'Credits per day', unit: 'Credits', points }])
    expect(text).toMatch(/^\*\*Credits per day\*\*\n\n```mermaid\n/)
    expect(text).toContain('y-axis "Credits" 0 --> 2.1')
    expect(text).toContain('bar [1, 2, 0.5]')
  })

  it('draws the running total with a line for the forecast and for each limit that is near', () => {
    const points = [1, 2, 0.5].map((value, i) => ({ label: `0${i + 1}`, value }))
    const forecast = [
      { label: '03', value: 1 },
      { label: '04', value: 4 },
    ]
    const limits = [
      { label: 'Budget 6.00 Credits', value: 6 },
      { label: 'Forecast budget 900.00 Credits', value: 900 },
    ]
    const text = renderMarkdown([{ kind: 'chart', title: 'Credits per day', unit: 'Credits', points, forecast, limits }])
    expect(text.split('\n')[0]).toBe(
      '**Credits, running total:** 🟦\u00a0Used 🟧\u00a0Forecast 🟥\u00a0Budget 6.00 Credits · Forecast budget 900.00 Credits, above the chart',
    )
    const drawn = ['y-axis "Credits" 0 --> 8.4', 'bar [1, 3, 3.5]', 'line [1, 3, 4, 8]', 'line [6, 6, 6, 6]']
    expect(text).toContain(`${drawn.map((line) => `    ${line}\n`).join('')}\`\`\``)
    expect(text).toContain('"plotColorPalette":"#0969da, #e16f24, #d1242f"')
  })

  it('draws a budget in its color where there is no forecast', () => {
    const points = [1, 2].map((value, i) => ({ label: `0${i + 1}`, value }))
    const text = renderMarkdown([{ kind: 'chart', title: 't', unit: 'u', points, limits: [{ label: 'Budget', value: 4 }] }])
    expect(text).toContain('🟦\u00a0Used 🟥\u00a0Budget\n')
    expect(text).toContain('"plotColorPalette":"#0969da, #d1242f"')
  })

  it('gives every bar a different label, most of them invisible, because Mermaid merges equal ones', () => {
    const points = Array.from({ length: 365 }, (_, i) => ({ label: `${i}`, value: i }))
    const [, axis = ''] = /x-axis \[(.*)\]/.exec(renderMarkdown([{ kind: 'chart', title: 't', unit: 'u', points }])) ?? []
    const labels = axis.split(', ')
    expect(new Set(labels).size).toBe(365)
    expect(labels.filter((label) => /\d/.test(label)).length).toBeLessThanOrEqual(12)
    expect(new Set(labels.map((label) => label.trim())).size).toBe(365)
  })

  it('shows only as many labels as fit beside each other', () => {
    const shownOf = (count: number, label: string): readonly string[] => {
      const start = label.slice(0, -2)
      const points = Array.from({ length: count }, (_, i) => ({ label: `${start}${10 + i}`, value: i }))
      const [, axis = ''] = /x-axis \[(.*)\]/.exec(renderMarkdown([{ kind: 'chart', title: 't', unit: 'u', points }])) ?? []
      return axis.split(', ').filter((one) => one.includes(start))
    }
    // In a browser, a digit of the axis is 8 pixels wide, and the axis 820.
    for (const label of ['9 Dec', '28 Nov', '28 Nov 2026', '28 Nov 2026 14:00'])
      for (let count = 1; count <= 62; count++)
        expect(shownOf(count, label).length * (label.length * 8 + 16), `${count} × ${label}`).toBeLessThanOrEqual(820)
    expect(shownOf(12, '28 Nov')).toHaveLength(12)
  })

  it('writes facts as a column when a row would be too wide', () => {
    const fact = (value: string) => ({ label: 'Id', value: [trusted(value)] })
    expect(renderMarkdown([{ kind: 'facts', facts: [fact('1'), fact('2')] }])).toBe('| Id | Id |\n| --- | --- |\n| 1 | 2 |\n\n')
    expect(renderMarkdown([{ kind: 'facts', facts: [fact('x'.repeat(60)), fact('y'.repeat(60))] }])).toMatch(
      /^\| Field \| Value \|\n.*\n\| Id \| x+ \|\n\| Id \| y+ \|\n/,
    )
  })

  it('colors differences by the marks that GitHub knows', () => {
    const lines = [
      { sign: '+', text: 'new' },
      { sign: '-', text: 'old' },
      { sign: '~', text: 'a → b' },
      { sign: ' ', text: '```' },
    ] as const
    expect(renderMarkdown([{ kind: 'diff', lines }])).toBe('````diff\n+ new\n- old\n! a → b\n  ```\n````\n\n')
  })

  it('writes no exponent into a chart', () => {
    const text = renderMarkdown([{ kind: 'chart', title: 't', unit: 'u', points: [{ label: 'a', value: 1e-9 }] }])
    expect(text).not.toMatch(/\de-/)
  })
})

describe('the size limit', () => {
  const limit = 1024 * 1024

  it('cuts a table between two rows and says how many are missing', { tags: 'slow' }, () => {
    const text = renderMarkdown([{ kind: 'verdict', status: 'pass', line: [trusted('ok')] }, table(100_000)], limit)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit)
    expect(Buffer.byteLength(text)).toBeGreaterThan(limit * 0.95)
    const written = text.match(/^\| `entity/gm)?.length ?? 0
    expect(text).toContain(`*${100_000 - written} more rows did not fit. See the result file.*`)
  })

  it('counts bytes, not characters', () => {
    const rows = Array.from({ length: 3000 }, () => [[untrusted('😀'.repeat(99))]])
    expect(Buffer.byteLength(renderMarkdown([{ kind: 'table', columns: [{ title: 'x' }], rows }], limit))).toBeLessThanOrEqual(limit)
  })

  it('closes details that it had to cut', () => {
    const text = renderMarkdown([{ kind: 'details', title: 'records', blocks: [table(100_000)] }], 10_000)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000)
    expect(text.trimEnd().endsWith('</details>')).toBe(true)
    expect(text).toContain('more rows did not fit')
  })

  it('keeps the last line of the report when everything else is cut', () => {
    const footer: Block = { kind: 'footer', line: say`Organization ${'o'.repeat(36)} · service ${'checkout'} · 22 Nov 2026 10:48 UTC` }
    for (const room of [400, 1000, 5000]) {
      const text = renderMarkdown([{ kind: 'verdict', status: 'fail', line: [trusted('bad')] }, table(1000), footer], room)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(room)
      expect(text.endsWith('\n\nOrganization `oooooooooooooooooooooooooooooooooooo` · service `checkout` · 22 Nov 2026 10:48 UTC\n')).toBe(
        true,
      )
    }
  })

  it('holds for any blocks and any room, with the last line of the report', { tags: 'slow' }, () => {
    // A control character is shown as an escape, and backticks need a longer fence.
    const text = fc.string({ unit: fc.constantFrom('a', '`', '\u0001', '😀', '|'), maxLength: 60 })
    const texts = fc.array(text, { maxLength: 30 })
    const leaf: fc.Arbitrary<Block> = fc.oneof(
      text.map((one): Block => ({ kind: 'verdict', status: 'fail', line: say`${one}` })),
      texts.map((all): Block => ({ kind: 'list', items: all.map((one) => say`${one}`) })),
      texts.map((all): Block => ({ kind: 'table', title: 'T', columns: [{ title: 'c' }], rows: all.map((one) => [[untrusted(one)]]) })),
      texts.map((all): Block => ({ kind: 'diff', lines: all.map((one) => ({ sign: '+', text: one })) })),
      text.map((one): Block => ({ kind: 'preformatted', text: one })),
      text.map((one): Block => ({ kind: 'footer', line: say`${one}` })),
    )
    const details = fc.tuple(text, fc.array(leaf, { maxLength: 4 })).map(([title, blocks]): Block => ({ kind: 'details', title, blocks }))
    const room = fc.integer({ min: -100, max: 3000 })
    fc.assert(
      fc.property(fc.array(fc.oneof(leaf, details), { maxLength: 6 }), room, (blocks, maxBytes) => {
        expect(Buffer.byteLength(renderMarkdown(blocks, maxBytes))).toBeLessThanOrEqual(Math.max(0, maxBytes))
      }),
      { numRuns: 2000 },
    )
  })

  it('leaves out whole blocks that do not fit and says so', () => {
    const text = renderMarkdown(
      [
        { kind: 'preformatted', text: 'x'.repeat(5000) },
        { kind: 'paragraph', line: [trusted('short')] },
      ],
      1000,
    )
    expect(text).toBe('short\n\n*1 more section did not fit. See the result file.*\n')
  })

  it('cuts differences between two lines and says how many are missing', () => {
    const lines = Array.from({ length: 60 }, (_, i) => ({ sign: '+' as const, text: `line ${i}` }))
    const text = renderMarkdown([{ kind: 'diff', lines }], 800)
    const written = text.match(/^\+ line/gm)?.length ?? 0
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(800)
    expect(written).toBeGreaterThan(20)
    expect(text.endsWith(`\n\`\`\`\n\n*${60 - written} more lines did not fit. See the result file.*\n\n`)).toBe(true)
  })

  it('leaves out details whose frame does not fit', () => {
    const text = renderMarkdown(
      [{ kind: 'details', title: 'x'.repeat(500), blocks: [{ kind: 'paragraph', line: [trusted('short')] }] }],
      400,
    )
    expect(text).toBe('*1 more section did not fit. See the result file.*\n')
  })
})
