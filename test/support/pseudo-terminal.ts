// Runs the command line where a person would sit: in a terminal of its own, by util-linux's `script`.
import { spawn, spawnSync } from 'node:child_process'

const cli = new URL('../../lib/cli.js', import.meta.url).pathname

/** Other systems have a `script` that works otherwise, or none. */
export const hasPseudoTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true

export interface Seen {
  readonly exitCode: number | null
  /** All that was on the screen, what was typed included. */
  readonly screen: string
}

export interface Typing {
  readonly directory: string
  /** Each is typed when the text before it is on the screen. */
  readonly answers: readonly { readonly after: string; readonly type: string }[]
}

export function runInTerminal(args: readonly string[], { directory, answers }: Typing): Promise<Seen> {
  const command = [process.execPath, cli, ...args].map((word) => `'${word}'`).join(' ')
  return new Promise((resolve, reject) => {
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: directory,
      env: { PATH: process.env.PATH, TERM: 'xterm' },
    })
    const left = [...answers]
    let [screen, unread] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      unread += text
      const [next] = left
      if (next === undefined || !unread.includes(next.after)) return
      left.shift()
      unread = ''
      child.stdin.write(next.type)
    })
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, screen }))
  })
}
