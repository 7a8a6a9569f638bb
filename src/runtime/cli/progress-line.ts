import { createPace, systemClock } from '../../platform/core/clock.ts'
import { progressBar } from '../../platform/core/text.ts'
import { displayWidth, wrap } from '../../platform/report/terminal.ts'
import { columnsOf, type OutputStream } from './terminal.ts'

/** A line that the next message replaces. Files and pipes get one every ten seconds. */
export interface ProgressLine {
  show(progress: { readonly done: number; readonly total: number; readonly text: string }): void
  note(line: string): void
  erase(): void
}

export function createProgressLine(stream: OutputStream, isDumb: boolean, clock: { monotonicMs(): number } = systemClock): ProgressLine {
  const isDue = createPace(clock)
  let shown = ''
  const erase = (): void => {
    if (shown !== '') stream.write('\r\u001b[K')
    shown = ''
  }
  const note = (line: string): void => {
    const below = shown
    erase()
    for (const part of wrap(line, columnsOf(stream) ?? Number.POSITIVE_INFINITY)) stream.write(`${part}\n`)
    if (below !== '') stream.write(below)
    shown = below
  }
  return {
    note,
    erase,
    show({ done, total, text }) {
      const columns = isDumb ? undefined : columnsOf(stream)
      if (columns === undefined) return isDue() ? note(`${done}/${total} ${text}`) : undefined
      erase()
      // A line that the terminal wraps cannot be erased.
      shown = cutLine(`${progressBar((100 * done) / total)} ${done}/${total} ${text}`, columns - 1)
      stream.write(shown)
    },
  }
}

function cutLine(text: string, columns: number) {
  let end = text.length
  while (displayWidth(text.slice(0, end)) > columns) end -= 1
  return text.slice(0, end)
}
