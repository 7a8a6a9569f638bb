// Owns where the repository begins that a directory is in: workflows and settings stand at its root, and are read there alone.
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The nearest directory with a `.git`, from here upwards; undefined where there is none. */
export async function repositoryRoot(directory: string): Promise<string | undefined> {
  // A directory, or the file that a worktree or a submodule has.
  const isThere = await lstat(join(directory, '.git')).then(
    () => true,
    () => false,
  )
  if (isThere) return directory
  const above = dirname(directory)
  return above === directory ? undefined : repositoryRoot(above)
}
