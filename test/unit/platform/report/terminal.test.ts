import { describe, expect, it } from 'vitest'
import { say, strong, trusted, untrusted } from '../../../../src/platform/core/line.ts'
import type { Block } from '../../../../src/platform/report/blocks.ts'
import { renderMarkdown } from '../../../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../../../src/platform/report/terminal.ts'

const blocks: readonly Block[] = [
  { kind: 'verdict', status: 'warn', line: say`Alert ${'a\u001b[2Jb'}` },
  {
    kind: 'facts',
    facts: [
      { label: 'Total', value: [trusted('1.00')] },
      { label: 'Budget used', value: [trusted('5 %')] },
    ],
  },
  {
    kind: 'table',
    title: 'By entity',
    columns: [{ title: 'Entity' }, { title: 'Amount', align: 'right' }],
    rows: [
      [[untrusted('漢字')], [trusted('1.00')]],
      [[untrusted('checkout')], [trusted('12.00')]],
    ],
  },
]

describe('renderTerminal', () => {
  it('aligns columns by what a terminal shows, wide characters too', () => {
    expect(renderTerminal(blocks, { color: false })).toEqual([
      '▲ warning: Alert a\\u001b[2Jb',
      '',
      'Total        1.00',
      'Budget used  5 %',
      '',
      'By entity',
      'Entity    Amount',
      '漢字        1.00',
      'checkout   12.00',
    ])
  })

  it('counts an emoji as two columns, also one that is made of two characters', () => {
    const rows = ['⏭️ skipped', '❌ failed', 'x'].map((text) => [[trusted(text)], [trusted('1')]])
    const table: Block = { kind: 'table', columns: [{ title: 'Outcome' }, { title: 'Key' }], rows }
    expect(renderTerminal([table], { color: false }).slice(1)).toEqual(['⏭️ skipped  1', '❌ failed   1', 'x           1'])
  })

  it('ends with the last line of the report, dimmed where colors are on', () => {
    const footer: Block = { kind: 'footer', line: say`Organization ${'a\u001b[2Jb'} · 22 Nov 2026 10:48 UTC` }
    expect(renderTerminal([...blocks, footer], { color: false }).slice(-2)).toEqual([
      '',
      'Organization a\\u001b[2Jb · 22 Nov 2026 10:48 UTC',
    ])
    expect(renderTerminal([footer], { color: true })[0]).toMatch(/^\u001b\[2mOrganization/)
  })

  it('adds colors only when asked, without moving columns', () => {
    const plain = renderTerminal(blocks, { color: false })
    const colored = renderTerminal(blocks, { color: true })
    expect(colored.join('\n')).not.toBe(plain.join('\n'))
    expect(colored.map((line) => line.replace(/\u001b\[[0-9;]*m/g, ''))).toEqual(plain)
  })

  it.each([
    ['pass', '✔ Done'],
    ['warn', '▲ warning: Done'],
    ['fail', '✖ failed: Done'],
    ['error', '✖ error: Done'],
  ] as const)('says the verdict without color: %s', (status, expected) => {
    expect(renderTerminal([{ kind: 'verdict', status, line: say`Done` }], { color: false })).toEqual([expected])
  })

  it('shows lists, differences, charts, details and texts in lines', () => {
    const all: readonly Block[] = [
      { kind: 'list', items: [say`one ${'\u001b'}`, say`two`] },
      {
        kind: 'diff',
        lines: [
          { sign: '~', text: 'a: 1 → 2' },
          { sign: ' ', text: '' },
          { sign: ' ', text: '  # note' },
          { sign: '+', text: 'new \u001b' },
        ],
      },
      {
        kind: 'chart',
        title: 'Credits per day',
        unit: 'Credits',
        points: [
          { label: '03-01', value: 3.5 },
          { label: '03-02', value: 7 },
          { label: '03-03', value: 1 },
        ],
      },
      { kind: 'details', title: '2 records', blocks: [{ kind: 'paragraph', line: say`x` }] },
      { kind: 'preformatted', text: 'a\n\u001bb' },
    ]
    expect(renderTerminal(all, { color: false })).toEqual([
      '- one \\u001b',
      '- two',
      '',
      '~ a: 1 → 2',
      '',
      '    # note',
      '+ new \\u001b',
      '',
      'Credits per day  ▅█▂',
      '03-01 to 03-03: lowest 1.00, highest 7.00 Credits',
      '',
      '2 records: see the summary of the run',
      '',
      'a',
      '\\u001bb',
    ])
    expect(renderTerminal(all.slice(3, 4), { color: false, rest: 'the summary' })).toEqual(['2 records: see the summary'])
  })

  it('shows a diagnostic in a line that begins with its location, and of many the most severe', () => {
    const diagnostic = (file: string, severity: 'error' | 'warning' | 'note', message = 'It is wrong.') => ({
      rule: 'some-rule',
      severity,
      location: { file, line: 1, column: 2 },
      message,
    })
    const diagnostics = [diagnostic('a.yml', 'error'), diagnostic('longer.yml', 'warning'), diagnostic('漢.yml', 'note', 'No\u001b.')]
    expect(renderTerminal([{ kind: 'diagnostics', diagnostics }], { color: false })).toEqual([
      'a.yml:1:2       error    It is wrong.  (some-rule)',
      'longer.yml:1:2  warning  It is wrong.  (some-rule)',
      '漢.yml:1:2      note     No\\u001b.  (some-rule)',
    ])
    const many = [...Array.from({ length: 120 }, () => diagnostic('n.yml', 'note')), diagnostic('e.yml', 'error')]
    const lines = renderTerminal([{ kind: 'diagnostics', diagnostics: many }], { color: false })
    expect([lines.length, lines.at(-1)]).toEqual([101, '… 21 more: see the summary of the run'])
    expect(lines.filter((line) => line.startsWith('e.yml'))).toHaveLength(1)
  })

  describe('at a width', () => {
    const table = (titles: readonly string[], ...rows: readonly (readonly string[])[]): Block => ({
      kind: 'table',
      columns: titles.map((title) => ({ title, align: title.endsWith('#') ? 'right' : 'left' })),
      rows: rows.map((cells) => cells.map((cell) => [trusted(cell)])),
    })
    const linesOf = (block: Block, width: number, color = false) => renderTerminal([block], { color, width })

    it('leaves a table that fits as it is', () => {
      const block = table(['Name', 'n #'], ['checkout', '1'])
      expect(linesOf(block, 13)).toEqual(renderTerminal([block], { color: false }))
    })

    it('wraps long cells between words, and no numbers', () => {
      expect(linesOf(table(['Check', 'Used #', 'Detail'], ['a', '12.00', 'The API rejects the key. Check it.']), 40)).toEqual([
        'Check  Used #  Detail',
        'a       12.00  The API rejects the key.',
        '               Check it.',
      ])
    })

    it('leaves out columns without values before it wraps', () => {
      const block = table(['Name', 'Last error', 'Id'], ['No orders', '–', '65f5e4a35eedc0de'], ['Slow', '', '75f5e4a35eedc0de'])
      expect(linesOf(block, 30)).toEqual(['Name       Id', 'No orders  65f5e4a35eedc0de', 'Slow       75f5e4a35eedc0de'])
    })

    it('turns the rows of a table that is still too wide into paragraphs', () => {
      const block = table(
        ['Budget', 'Used #', 'Limit #', 'Exceeded on', 'Period'],
        ['shop', '12.00', '10.00', '–', '1\u00a0–\u00a02\u00a0Mar\u00a02026'],
      )
      expect(linesOf(block, 30)).toEqual(['shop', '  Used # 12.00 · Limit # 10.00', '  Period 1\u00a0–\u00a02\u00a0Mar\u00a02026'])
    })

    it('wraps facts below their values', () => {
      const block: Block = { kind: 'facts', facts: [{ label: 'Limit', value: [trusted('1 day, from the configuration of the backups')] }] }
      expect(linesOf(block, 30)).toEqual(['Limit  1 day, from the', '       configuration of the', '       backups'])
    })

    it('wraps sentences and items of lists, and keeps a long word in one piece', () => {
      const text = say`The dashboard 65f5e4a35eedc0de00000014 is gone.`
      expect(linesOf({ kind: 'verdict', status: 'fail', line: text }, 20)).toEqual([
        '✖ failed: The',
        'dashboard',
        '65f5e4a35eedc0de00000014',
        'is gone.',
      ])
      expect(linesOf({ kind: 'list', items: [say`one two three`] }, 9)).toEqual(['- one two', '  three'])
    })

    it('breaks the bars of a chart into rows', () => {
      const points = Array.from({ length: 50 }, (_, i) => ({ label: `${i}`, value: i % 2 }))
      const lines = linesOf({ kind: 'chart', title: 'CHC per day', unit: 'CHC', points }, 40)
      expect(lines.slice(0, 3).map(({ length }) => length)).toEqual([11, 40, 10])
      expect(lines.every(({ length }) => length <= 40)).toBe(true)
    })

    it('colors wrapped lines without moving them, and ends each color on its line', () => {
      const block: Block = { kind: 'paragraph', line: [strong('one two three four')] }
      const colored = linesOf(block, 9, true)
      expect(colored.map((line) => line.replace(/\u001b\[[0-9;]*m/g, ''))).toEqual(['one two', 'three', 'four'])
      for (const line of colored) expect(line).toMatch(/\u001b\[22m$/)
    })
  })

  it('shows each item of a cell in its own line: in its column, and below the row where the table is too wide or the width unknown', () => {
    const block: Block = {
      kind: 'table',
      columns: [{ title: 'Service' }, { title: 'Findings' }, { title: 'Awake', align: 'right' }],
      rows: [
        [[untrusted('checkout')], say`${strong('one')}: first\n${strong('two')}: second`, [trusted('100%')]],
        [[untrusted('a')], say`${strong('three')}: a long finding`, [trusted('9%')]],
      ],
    }
    expect(renderTerminal([block], { color: false, width: 50 })).toEqual([
      'Service   Findings               Awake',
      'checkout  one: first              100%',
      '          two: second',
      'a         three: a long finding     9%',
    ])
    const flowing = ['checkout', '  one: first', '  two: second', '  Awake 100%', 'a', '  three: a long finding', '  Awake 9%']
    expect(renderTerminal([block], { color: false, width: 25 })).toEqual(flowing)
    expect(renderTerminal([block], { color: false })).toEqual(flowing)
    expect(renderMarkdown([block])).toContain('| `checkout` | **one**: first **two**: second | 100% |\n| `a` |')
  })

  it('names what a long table leaves out', () => {
    const rows = Array.from({ length: 100 }, (_, i) => [say`${i}`])
    expect(renderTerminal([{ kind: 'table', columns: [{ title: 'n' }], rows }], { color: false }).at(-1)).toBe(
      '… 60 more rows: see the summary of the run',
    )
  })
})
