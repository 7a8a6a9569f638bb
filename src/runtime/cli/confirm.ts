import { createInterface } from 'node:readline/promises'
import { inputError } from '../../core/errors.ts'
import { logLine } from '../../core/escape.ts'
import { renderTerminal } from '../../report/terminal.ts'
import type { Surface } from '../run.ts'
import { columnsOf, type Terminal } from './terminal.ts'

/** Shows what would be written and asks. Undefined with `--yes`. */
export function createConfirm({ stdin, stderr }: Terminal, isConfirmed: boolean, stop: AbortSignal): Surface['confirm'] {
  if (isConfirmed) return undefined
  return async ({ blocks, question }) => {
    if (stdin.isTTY !== true || stderr.isTTY !== true)
      throw inputError('--yes', 'is missing. Without a terminal to ask at, this command writes only with --yes')
    for (const line of renderTerminal(blocks, { color: false, rest: 'plan', width: columnsOf(stderr) ?? 80 }))
      stderr.write(`${logLine(line)}\n`)
    stderr.write(`\n${question} [y/N] `)
    return isYes(await readAnswer(stdin, stop))
  }
}

const isYes = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer)

/** Resolves to an empty answer when the input ends, or a signal stops the run. */
async function readAnswer(input: NodeJS.ReadableStream, stop: AbortSignal): Promise<string> {
  const lines = createInterface({ input, signal: stop })
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
  }
}
