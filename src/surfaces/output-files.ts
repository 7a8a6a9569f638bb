// Owns writing the files that a user asked an operation for.
import { toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import type { OutputFile } from '../operations/operation.ts'
import { writeFileFrom } from './workspace.ts'

/** Writes what can be written. Returns a line for each file that could not be; none of them changes a verdict. */
export async function writeOutputFiles(files: readonly OutputFile[], directory: string): Promise<readonly string[]> {
  const lines = await Promise.all(files.map((file) => write(file, directory)))
  return lines.flatMap((line) => line ?? [])
}

async function write({ input, path, content }: OutputFile, directory: string): Promise<string | undefined> {
  try {
    await writeFileFrom(directory, path, content)
    return undefined
  } catch (thrown) {
    return `${toKebab(input)}: "${quote(path)}" could not be written: ${thrown instanceof Error ? quote(thrown.message) : String(thrown)}`
  }
}
