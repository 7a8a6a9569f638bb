// What is installed with the command line: beside its script, or inside of the single executable.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export const isExecutable = (): boolean => process.getBuiltinModule('node:sea').isSea()

/** The program and its first arguments that start this command line again. */
export const startCommand = (script: string): readonly [string, ...string[]] =>
  isExecutable() ? [process.execPath] : [process.execPath, script]

/** The text of a file of the package, such as `examples/fleet.yml`. `scripts/build-executable.ts` lists the files in the executable. */
export async function readInstalled(script: string, path: string): Promise<string> {
  return isExecutable() ? process.getBuiltinModule('node:sea').getAsset(path, 'utf8') : readFile(join(dirname(script), '..', path), 'utf8')
}
