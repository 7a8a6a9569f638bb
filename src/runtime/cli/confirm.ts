import { createInterface } from 'node:readline/promises'
import { inputError } from '../../platform/core/errors.ts'
import { logLine } from '../../platform/core/escape.ts'
import { renderTerminal } from '../../platform/report/terminal.ts'
import type { Surface } from '../publish.ts'
import { columnsOf, type Terminal } from './terminal.ts'

/** Undefined with `--yes`. */
export function createConfirm({ stdin, stderr }: Terminal, isConfirmed: boolean, stop: AbortSignal): Surface['confirm'] {
  if (isConfirmed) return undefined
  return async ({ blocks, question }) => {
    if (stdin.isTTY !== true || stderr.isTTY !== true)
      throw inputError('--yes', 'is missing. Nothing was written: without a terminal to ask at, this command writes only with --yes')
    for (const line of renderTerminal(blocks, { color: false, rest: 'plan', width: columnsOf(stderr) ?? 80 }))
      stderr.write(`${logLine(line)}\n`)
    stderr.write(`\n${question} [y/N] `)
    const reader = createInterface({ input: stdin, signal: stop })
    try {
      // The input ends without a line, or a signal ends the question.
      const { value, done } = await reader[Symbol.asyncIterator]().next()
      return done !== true && /^\s*y(?:es)?\s*$/i.test(value)
    } finally {
      reader.close()
    }
  }
}
