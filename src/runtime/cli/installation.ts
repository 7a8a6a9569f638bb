import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** `scripts/build-executable.ts` lists the files in the executable. */
export async function readInstalled(script: string, path: string): Promise<string> {
  return process.getBuiltinModule('node:sea').isSea()
    ? process.getBuiltinModule('node:sea').getAsset(path, 'utf8')
    : readFile(join(dirname(script), '..', path), 'utf8')
}
