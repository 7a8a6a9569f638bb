// How messages spell an input: `prune: forget` in a workflow, and `--prune forget` on the command line.
import { AsyncLocalStorage } from 'node:async_hooks'
import { toEnvironmentName } from './names.ts'
import { shellQuote } from './text.ts'

// Rules deep in a run write messages, and only the entry point knows what its user types.
const usesFlags = new AsyncLocalStorage<true>()

export const withFlags = <T>(run: () => T): T => usesFlags.run(true, run)

/** `name` is in kebab-case. */
export function spellInput(name: string, value?: string): string {
  if (usesFlags.getStore() === undefined) return value === undefined ? name : `${name}: ${value}`
  return value === undefined || value === 'true' ? `--${name}` : `--${name} ${shellQuote(value)}`
}

/** A setting is a variable in the action. */
export const spellVariable = (name: string, value: string): string =>
  usesFlags.getStore() === undefined ? `${toEnvironmentName(name)}: ${value}` : spellInput(name, value)
