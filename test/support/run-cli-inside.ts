import { PassThrough } from 'node:stream'
import { runCli } from '../../src/runtime/cli/run-cli.ts'

interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly directory?: string
  /** The lines that a person types at the terminal. Without it, there is no terminal. */
  readonly typed?: string
}

/** The command line in this process. */
export async function runCliInside(args: readonly string[], { env = {}, directory = import.meta.dirname, typed }: Options = {}) {
  const printed = { stdout: '', stderr: '' }
  const isTTY = typed !== undefined
  const streamTo = (name: keyof typeof printed) => ({
    isTTY,
    columns: 80,
    write: (text: string) => {
      printed[name] += text
    },
  })
  const stdin = Object.assign(new PassThrough(), { isTTY })
  stdin.end(typed ?? '')
  const exitCode = await runCli(args, {
    script: new URL('../../src/cli.ts', import.meta.url).pathname,
    env: { NO_COLOR: '1', ...env },
    directory,
    signals: { on: () => undefined, off: () => undefined, exit: () => undefined },
    stdin,
    stdout: streamTo('stdout'),
    stderr: streamTo('stderr'),
  })
  return { exitCode, ...printed }
}
