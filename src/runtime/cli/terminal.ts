import type { SingleBar } from 'cli-progress'
import { logLine } from '../../report/escape.ts'
import type { Signals } from '../cancellation.ts'
import type { Environment } from '../decode.ts'
import { toResultTexts, writeResultFile } from '../output-files.ts'
import type { Ports } from '../run.ts'

// Owns what the command line needs of a process.

export interface Terminal {
  readonly env: Environment
  readonly directory: string
  readonly signals: Signals
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

/** Colours only for people, and only for those who want them (no-color.org). */
export const hasColors = ({ stdout, env }: Terminal): boolean => stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'

// Owns what a person sees while an operation is at work: a bar on a terminal, a line for each step elsewhere.

export interface ProgressBar {
  readonly tell: NonNullable<Ports['onProgress']>
  end(): void
}

interface Options {
  readonly pathFor: (wanted: string | undefined) => string | undefined
  /** For callers that are programs. */
  readonly isQuiet: boolean
}

export function createProgressBar({ stderr, directory }: Terminal, { pathFor, isQuiet }: Options): ProgressBar {
  let bar: SingleBar | undefined
  const draw = async (done: number, total: number, text: string): Promise<void> => {
    if (bar === undefined) {
      const { SingleBar, Presets } = await import('cli-progress')
      const format = '{bar} {value}/{total}  {text}'
      bar = new SingleBar({ stream: stderr as NodeJS.WritableStream, format, hideCursor: false, linewrap: false }, Presets.shades_classic)
      bar.start(total, 0, { text: '' })
    }
    bar.update(done, { text })
  }
  const show = async (done: number, total: number, text: string): Promise<void> => {
    if (stderr.isTTY) await draw(done, total, text)
    else stderr.write(`${logLine(`${done}/${total} ${text}`)}\n`)
  }
  return {
    async tell({ done, total, text, document }, { resultFile }) {
      if (!isQuiet) await show(done, total, text)
      const path = pathFor(resultFile)
      // Whatever is wrong with the file is told at the end, where the whole result goes into it.
      if (path !== undefined) await writeResultFile(directory, path, toResultTexts(document)).catch(() => undefined)
    },
    end: () => bar?.stop(),
  }
}
