// Owns writing the files that an operation makes: those that it is there for, and copies that a user asked for.
import { WatchkeeperError } from '../kernel/errors.ts'
import { toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import type { OutputFile } from '../operations/operation.ts'
import { type About, type Finished, finishWithError } from './finished.ts'
import { writeFileFrom, writeWorkspaceFile } from './workspace.ts'

/** What keeps one file from being written keeps most of them. */
const mostNamed = 3

/** Writes what the operation is there for. A run that cannot is an error, whatever it was before. */
export async function writeEssentials<F extends Finished>(finished: F, directory: string): Promise<F> {
  const essential = finished.files.filter(({ isEssential }) => isEssential)
  if (essential.length === 0) return finished
  const failures = await attemptAll(essential, ({ path, content }) => writeWorkspaceFile(directory, path, content))
  if (failures.length === 0) return finished
  const rest = failures.length > mostNamed ? [`… and ${failures.length - mostNamed} more`] : []
  const summary = `${essential.length - failures.length} of ${essential.length} files were written.`
  const message = [...failures.slice(0, mostNamed), ...rest, summary].join('\n')
  return { ...finished, ...finishWithError(finished.document.operation, new WatchkeeperError('input', message), aboutOf(finished)) }
}

const aboutOf = ({ document: { requestId, organizationId, serviceId } }: Finished): About => ({
  ...(requestId !== undefined && { requestId }),
  ...(organizationId !== undefined && { organizationId }),
  ...(serviceId !== undefined && { serviceId }),
})

/** Writes the other files that can be written. Returns a line for each that could not be; none of them changes a verdict. */
export const writeOutputFiles = (files: readonly OutputFile[], directory: string): Promise<readonly string[]> =>
  attemptAll(
    files.filter(({ isEssential }) => !isEssential),
    ({ path, content }) => writeFileFrom(directory, path, content),
  )

async function attemptAll(files: readonly OutputFile[], write: (file: OutputFile) => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = []
  // One after the other: a thousand files at once are more than some systems open.
  for (const file of files) lines.push(...(await attempt(file, write)))
  return lines
}

async function attempt(file: OutputFile, write: (file: OutputFile) => Promise<void>): Promise<readonly string[]> {
  try {
    await write(file)
    return []
  } catch (thrown) {
    const reason = thrown instanceof Error ? quote(thrown.message) : String(thrown)
    return [`${toKebab(file.input)}: "${quote(file.path)}" could not be written: ${reason}`]
  }
}
