// Owns the commands that are no operation: the emulator and the demo. Both are loaded only when they are asked for.
import type { Command } from 'commander'
import type { Terminal } from './run-cli.ts'

export function addTools(_program: Command, _terminal: Terminal, _exitWith: (code: number) => void): void {}
