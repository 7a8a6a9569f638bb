import type { Variables } from '../../platform/core/variables.ts'
import type { Signals } from '../signals.ts'

export interface Terminal {
  /** The entry of the command line. In the single executable, the executable. */
  readonly script: string
  readonly env: Variables
  readonly directory: string
  readonly signals: Signals
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

export interface OutputStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** 80 where a terminal does not report its columns. Undefined for a file or a pipe, whose readers wrap lines themselves. */
export const columnsOf = ({ isTTY, columns }: OutputStream): number | undefined => (isTTY ? columns || 80 : undefined)

/** Colors are used only on a terminal, and not with `NO_COLOR` (no-color.org) or `TERM=dumb`. */
export const hasColors = ({ stdout, env }: Terminal): boolean => stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
