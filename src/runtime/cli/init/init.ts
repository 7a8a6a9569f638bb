import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inputDiagnostic } from '../../../platform/core/diagnostics.ts'
import { exitCodes, InputError, inputError } from '../../../platform/core/errors.ts'
import { didYouMean } from '../../../platform/core/names.ts'
import { quote } from '../../../platform/core/text.ts'
import { defaultConfigFile, reasonOf } from '../../workspace.ts'
import { readInstalled } from '../installation.ts'
import { remoteRepository, repositoryRoot } from '../repository.ts'
import type { Terminal } from '../terminal.ts'
import { type Kit, type KitFile, kits } from './kits.ts'
import { inColumns, type NewFile, nextSteps } from './next-steps.ts'

/** Copies the files of the kits into the repository, or lists the kits. A wrong input is an InputError before the first write. */
export async function runInit(words: readonly string[], { directory, script, env, stdout }: Terminal): Promise<number> {
  const chosen = requireKits(words)
  if (chosen.length === 0) {
    stdout.write(kitList)
    return exitCodes.ok
  }
  await requireRoot(directory)
  const files = new Map(filesOf(chosen).map((file) => [file.target, file] as const))
  const needsProject = chosen.some(({ hasProject }) => hasProject === true)
  const wanted = [
    ...(await Promise.all(
      [...files.values()].map(async (file) => ({ ...file, text: await readInstalled(script, `examples/${file.example}`) })),
    )),
    ...(needsProject ? [projectConfig(await remoteRepository(directory))] : []),
  ]
  const written: NewFile[] = []
  for (const file of wanted) written.push({ ...file, isNew: await writeKitFile(directory, file) })
  const lines = inColumns(written.map(({ target, isNew }) => [target, isNew ? 'written' : 'kept, because it exists']))
  stdout.write(`${[...lines, '', ...nextSteps(written, env)].join('\n')}\n`)
  return exitCodes.ok
}

const kitList = [
  'Kits are workflows for GitHub, and files for them:',
  '',
  ...inColumns(kits.map(({ name, summary }) => [`  ${name}`, summary])),
  '',
  'Write the kits that you choose into the root of a repository. No file is overwritten:',
  '  watchkeeper init plan-and-apply drift',
  '',
  'For a self-hosted server, choose from these. The other kits are for ClickHouse Cloud:',
  `  watchkeeper init ${kits.flatMap(({ name, selfHosted }) => (selfHosted === undefined ? [] : [name])).join(' ')}`,
  '',
  'https://github.com/watchkeeper/watchkeeper/blob/main/docs/self-hosted.md#in-a-github-workflow',
  '',
].join('\n')

function requireKits(words: readonly string[]): readonly Kit[] {
  const names = kits.map(({ name }) => name)
  const unknown = words.filter((word) => !names.includes(word))
  if (unknown.length > 0)
    throw new InputError(
      unknown.map((word) => inputDiagnostic(quote(word, 40), `unknown kit; available kits: ${names.join(', ')}${didYouMean(word, names)}`)),
    )
  return kits.filter(({ name }) => words.includes(name))
}

/** Refuses a kit that needs ClickHouse Cloud beside the kit of a self-hosted server. */
function filesOf(chosen: readonly Kit[]): readonly KitFile[] {
  if (!chosen.some(({ name }) => name === 'self-hosted')) return chosen.flatMap(({ files }) => files)
  const others = chosen.filter(({ selfHosted }) => selfHosted === undefined)
  if (others.length > 0)
    throw new InputError(
      others.map(({ name }) => inputDiagnostic(name, 'this kit is for ClickHouse Cloud; run init for it without self-hosted')),
    )
  return chosen.flatMap(({ selfHosted = [] }) => selfHosted)
}

async function requireRoot(directory: string) {
  const root = await repositoryRoot(directory)
  if (root === undefined || root === directory) return
  const message = `this directory is not the root of its repository, and GitHub reads workflows only at the root; run init in ${quote(root)}`
  throw inputError('init', message)
}

const projectConfig = (project: string | undefined) => ({
  example: defaultConfigFile,
  target: defaultConfigFile,
  ...(project === undefined && { check: 'set the name of your project' }),
  text: `# Owner of the alerts and dashboards in these files. Do not change it when the repository is renamed.
${project === undefined ? '# project: owner/repo' : `project: ${project}`}
`,
})

async function writeKitFile(root: string, { target, text }: { readonly target: string; readonly text: string }) {
  try {
    await mkdir(dirname(join(root, target)), { recursive: true })
    await writeFile(join(root, target), text, { flag: 'wx' })
    return true
  } catch (thrown) {
    const { code, syscall } = thrown as NodeJS.ErrnoException // Both calls fail with one.
    if (code === 'EEXIST' && syscall === 'open') return false
    throw inputError(target, `cannot be written: ${quote(reasonOf(thrown))}. The files before it are complete. Run init again`)
  }
}
