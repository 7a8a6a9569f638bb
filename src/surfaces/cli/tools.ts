// Owns the commands that are no operation: init, the demo and the emulator. Each is loaded only when it is asked for.
import type { Command } from 'commander'
import type { Terminal } from './terminal.ts'
import { hasColors } from './terminal.ts'

export const toolNames: readonly string[] = ['init', 'demo', 'emulator']

export function addTools(program: Command, terminal: Terminal, exitWith: (code: number) => void): void {
  const write = (text: string): void => void terminal.stdout.write(text)

  program
    .command('init')
    .description('Writes workflows and sample files into this repository. Asks which, and overwrites nothing.')
    .argument('[kits...]', 'what to write, instead of asking')
    .option('--list', 'show what there is, with its files')
    .exitOverride()
    .action(async (words: readonly string[], { list = false }: { list?: boolean }) => {
      const { runInit } = await import('./init.ts')
      exitWith(await runInit({ words, list }, terminal))
    })

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
    .option('--dialect <name>', 'neutral, clickhouse-cloud or hyperdx', 'neutral')
    .exitOverride()
    .action(async (options: { port: string; dialect: string }) => {
      const { serveEmulator } = await import('./serve-emulator.ts')
      exitWith(await serveEmulator(options, terminal.signals, write))
    })
}
