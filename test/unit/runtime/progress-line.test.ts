import { describe, expect, it } from 'vitest'
import type { Command } from '../../../src/runtime/cli/command.ts'
import { helpOf } from '../../../src/runtime/cli/help.ts'
import { createProgressLine } from '../../../src/runtime/cli/progress-line.ts'
import { hasColors, type Terminal } from '../../../src/runtime/cli/terminal.ts'

/** What a terminal shows after the given writes: `\r` with an erase clears the current line. */
function openTerminal(columns: number | undefined) {
  const lines = ['']
  const write = (text: string): void => {
    for (const piece of text.split(/(\r\u001b\[K|\n)/)) {
      if (piece === '\n') lines.push('')
      else if (piece === '\r\u001b[K') lines[lines.length - 1] = ''
      else lines[lines.length - 1] += piece
    }
  }
  return { lines, stream: { write, isTTY: true, ...(columns !== undefined && { columns }) } }
}

const step = (done: number) => ({ done, total: 10, text: `created alert a-${done}` })

describe('the progress at a terminal', () => {
  it('the progress at a terminal is one line, below the lines that stay', () => {
    const { lines, stream } = openTerminal(80)
    const progress = createProgressLine(stream, false)
    progress.show(step(1))
    progress.show(step(2))
    progress.note('Waiting 10.0 s for the rate limit')
    expect(lines).toEqual(['Waiting 10.0 s for the rate limit', '██░░░░░░░░ 2/10 created alert a-2'])
    progress.show(step(3))
    expect(lines.at(-1)).toBe('███░░░░░░░ 3/10 created alert a-3')
  })

  it('leaves nothing behind when it is erased', () => {
    const { lines, stream } = openTerminal(80)
    const progress = createProgressLine(stream, false)
    progress.show(step(10))
    progress.note('Waiting')
    progress.erase()
    progress.erase()
    expect(lines).toEqual(['Waiting', ''])
  })

  it.each([20, 12, 5])('the progress at a terminal is never wrapped, because a wrapped line cannot be erased: %i columns', (columns) => {
    const { lines, stream } = openTerminal(columns)
    createProgressLine(stream, false).show({ done: 1, total: 10, text: 'created 漢字漢字漢字漢字' })
    expect(lines[0]?.length).toBeLessThan(columns)
  })

  it('breaks the lines that stay between words', () => {
    const { lines, stream } = openTerminal(20)
    createProgressLine(stream, false).note('Waiting 10.0 s for the rate limit')
    expect(lines).toEqual(['Waiting 10.0 s for', 'the rate limit', ''])
  })

  it('the progress at a terminal has 80 columns where the terminal does not report them', () => {
    const { lines, stream } = openTerminal(undefined)
    createProgressLine(stream, false).show({ done: 1, total: 10, text: 'x'.repeat(200) })
    expect(lines[0]).toHaveLength(79)
  })
})

it.each([
  ['a file', { isTTY: false }, false],
  ['a terminal without control sequences', { isTTY: true }, true],
])('the progress in %s is a line every ten seconds, and notes are lines', (_, more, isDumb) => {
  let [text, nowMs] = ['', 0]
  const write = (piece: string): void => {
    text += piece
  }
  const progress = createProgressLine({ write, ...more }, isDumb, { monotonicMs: () => nowMs })
  for (const [done, atMs] of [9999, 10_000, 19_999, 20_500, 30_499, 30_500].entries()) {
    nowMs = atMs
    progress.show(step(done))
    progress.note('Waiting')
  }
  progress.erase()
  expect(text.replaceAll('Waiting\n', '')).toBe('1/10 created alert a-1\n3/10 created alert a-3\n5/10 created alert a-5\n')
  expect(text.match(/Waiting/g)).toHaveLength(6)
})

it('a terminal has colors, and a pipe, NO_COLOR and a dumb terminal have none', () => {
  const at = (isTTY: boolean | undefined, env = {}): boolean => hasColors({ stdout: { isTTY }, env } as Terminal)
  expect([at(true), at(true, { NO_COLOR: '' }), at(true, { TERM: 'xterm' })]).toEqual([true, true, true])
  expect([at(undefined), at(true, { NO_COLOR: '1' }), at(true, { TERM: 'dumb' })]).toEqual([false, false, false])
})

it('the help has lines of at most 80 columns, each from the column of its text', () => {
  const options = [{ name: 'b', kind: 'flag' as const, text: `${'abcde '.repeat(9)}ends here` }]
  const help = helpOf({ name: 'a', summary: `${'abc '.repeat(19)}abcd more`, options } as unknown as Command)
  expect(help.split('\n').filter((line) => /abc|more|here/.test(line))).toEqual([
    `${'abc '.repeat(19)}abcd`,
    'more',
    `  --b                     ${'abcde '.repeat(9).trim()}`,
    `${' '.repeat(26)}ends here`,
  ])
})
