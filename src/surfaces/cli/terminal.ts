// Owns what the command line needs of a process.
import type { Signals } from '../cancellation.ts'
import type { Environment } from '../setting-sources.ts'

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
