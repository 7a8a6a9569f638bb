// What is installed with the command line: beside its script, or inside of the single executable.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const isExecutable = (): boolean => process.getBuiltinModule('node:sea').isSea()

/** The text of a file of the package, such as `examples/backups.yml`. `scripts/build-executable.ts` lists the files in the executable. */
export async function readInstalled(script: string, path: string): Promise<string> {
  return isExecutable() ? process.getBuiltinModule('node:sea').getAsset(path, 'utf8') : readFile(join(dirname(script), '..', path), 'utf8')
}
