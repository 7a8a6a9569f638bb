import { describe, expect, it } from 'vitest'
import { say, trusted, untrusted } from '../../../src/core/line.ts'
import type { Block } from '../../../src/report/blocks.ts'
import { renderTerminal } from '../../../src/report/terminal.ts'

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

  it('adds colors only when asked, without moving columns', () => {
    const plain = renderTerminal(blocks, { color: false })
    const colored = renderTerminal(blocks, { color: true })
    expect(colored.join('\n')).not.toBe(plain.join('\n'))
    expect(colored.map((line) => line.replace(/\u001b\[[0-9;]*m/g, ''))).toEqual(plain)
  })

  it('says what a long table leaves out', () => {
    const rows = Array.from({ length: 100 }, (_, i) => [say`${i}`])
    expect(renderTerminal([{ kind: 'table', columns: [{ title: 'n' }], rows }], { color: false }).at(-1)).toBe(
      '… 60 more rows: see the result file',
    )
  })
})
