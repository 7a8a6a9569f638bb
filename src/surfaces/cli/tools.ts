// Owns the commands that are no operation: the emulator and the demo. Both are loaded only when they are asked for.
import type { Command } from 'commander'
import type { Terminal } from './terminal.ts'
import { hasColors } from './terminal.ts'

export function addTools(program: Command, terminal: Terminal, exitWith: (code: number) => void): void {
  const write = (text: string): void => void terminal.stdout.write(text)

  program
    .command('demo')
    .description('Shows the main operations against an emulator: no account, no network.')
    .option('--bundle <file>', "run the action's bundle as a runner would, instead of this command line")
    .exitOverride()
    .action(async ({ bundle }: { bundle?: string }) => {
      const { runDemo } = await import('./demo.ts')
      exitWith(await runDemo({ bundle, write, color: hasColors(terminal) }))
    })

  program
    .command('emulator')
    .description('Serves the API with demo data on this machine, for tests of your own. Ends on Ctrl-C.')
    .option('--port <number>', 'port to listen on; any free one by default', '0')
    .option('--dialect <name>', 'neutral or clickhouse-cloud', 'neutral')
    .exitOverride()
    .action(async (options: { port: string; dialect: string }) => {
      const { serveEmulator } = await import('./serve-emulator.ts')
      exitWith(await serveEmulator(options, terminal.signals, write))
    })
}
