// `npm run generate` writes the generated files; with `--check` it only fails where one is out of date.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readPins, updateReferences } from './action-references.ts'
import { renderActionYml } from './reference/action-yml.ts'
import { defaultsTable } from './reference/defaults.ts'
import { describeOperations, type OperationFacts } from './reference/describe.ts'
import { renderSchemas } from './reference/json-schema.ts'
import {
  auditRulesTable,
  configTable,
  exitCodesTable,
  mainOperationsTable,
  ownershipTable,
  renderOperations,
  reusableParts,
  rulesTable,
} from './reference/markdown.ts'
import { promiseTable, readPromiseTests } from './reference/promises.ts'
import { lockedNode, readManifest } from './shipped.ts'

/** Resolves to the text of a file of the repository, with its references up to date. */
type ReadFile = (path: string) => Promise<string>

/** The content of every generated file, by its path under `root`. */
async function render(root: string): Promise<ReadonlyMap<string, string>> {
  const operations = await describeOperations()
  const { version } = readManifest(root)
  const schemas = Object.entries(renderSchemas()).map(([name, text]) => [`schemas/${name}`, text] as const)
  const workflows = await filesUnder(root, '.github/workflows', '.yml')
  const pins = readPins(await Promise.all(workflows.map((path) => readFile(join(root, path), 'utf8'))))
  const read: ReadFile = async (path) => updateReferences(await readFile(join(root, path), 'utf8'), pins, path)
  const trust = await read('docs/trust.md')
  const reusable = workflows.filter((path) => /\/reusable-[^/]*$/.test(path))
  const documents = [...(await documentsOf(root)), ...reusable].map(async (path) => [path, await read(path)] as const)
  const workflowExamples = ['alert-gates', 'check-slos', 'drift', 'drift-pull-request'].map(
    async (name) => [`examples/workflows/self-hosted-${name}.yml`, forSelfHosted(await read(`examples/workflows/${name}.yml`))] as const,
  )
  return new Map([
    ...(await Promise.all(documents)),
    ...(await Promise.all(workflowExamples)),
    ['action.yml', renderActionYml(operations.filter(({ isOutsideOfAction }) => isOutsideOfAction !== true))],
    ['docs/operations.md', renderOperations(operations)],
    [
      'README.md',
      fillMarkers(await read('README.md'), { 'main-operations': mainOperationsTable(operations, 'docs/operations.md') }, 'README.md'),
    ],
    [
      'docs/start.md',
      fillMarkers(await read('docs/start.md'), { 'main-operations': mainOperationsTable(operations, 'operations.md') }, 'docs/start.md'),
    ],
    ['docs/cost.md', fillMarkers(await read('docs/cost.md'), { 'audit-rules': await auditRulesTable() }, 'docs/cost.md')],
    ['docs/files.md', fillMarkers(await read('docs/files.md'), { rules: await rulesTable() }, 'docs/files.md')],
    ['docs/ownership.md', fillMarkers(await read('docs/ownership.md'), { ownership: ownershipTable() }, 'docs/ownership.md')],
    ['docs/defaults.md', fillMarkers(await read('docs/defaults.md'), { defaults: defaultsTable() }, 'docs/defaults.md')],
    [
      'docs/command-line.md',
      fillMarkers(
        await read('docs/command-line.md'),
        { 'config-keys': configTable(operations), 'exit-codes': exitCodesTable() },
        'docs/command-line.md',
      ),
    ],
    [
      'docs/reusable-workflows.md',
      fillMarkers(
        await read('docs/reusable-workflows.md'),
        reusableParts(await readReusable(reusable, read)),
        'docs/reusable-workflows.md',
      ),
    ],
    ['docs/trust.md', fillMarkers(trust, { promises: promiseTable(trust, readPromiseTests(root)) }, 'docs/trust.md')],
    ['.node-version', `${lockedNode(root)}\n`],
    ['scripts/install.sh', (await readFile(join(root, 'scripts/install.sh'), 'utf8')).replace(/^version=.*$/m, `version=${version}`)],
    ['src/platform/core/version.ts', `// GENERATED from package.json by \`npm run generate\`.\nexport const version = '${version}'\n`],
    ['src/runtime/cli/summaries.ts', renderSummaries(operations)],
    ['src/runtime/input-names.ts', renderInputNames(operations)],
    ['src/platform/report/page-assets.ts', await renderPageAssets(root)],
    ...schemas,
  ])
}

/** Everything that people copy from. The changelog is left out, because it describes past versions. */
async function documentsOf(root: string): Promise<readonly string[]> {
  const inRoot = (await readdir(root)).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
  const inFolders = [filesUnder(root, 'docs', '.md'), filesUnder(root, 'examples', '.yml')]
  return [...inRoot, ...(await Promise.all(inFolders)).flat()]
}

async function filesUnder(root: string, directory: string, extension: string): Promise<readonly string[]> {
  const names = await readdir(join(root, directory), { recursive: true })
  return names
    .filter((name) => name.endsWith(extension))
    .map((name) => join(directory, name))
    .sort()
}

const selfHostedInputs = `profile: hyperdx
api-url: $\{{ vars.WATCHKEEPER_API_URL }}
api-key: $\{{ secrets.WATCHKEEPER_API_KEY }}
`

/** The same workflow for a self-hosted server: its address and key, on a runner that reaches it, without what only the cloud has. */
export const forSelfHosted = (text: string): string =>
  text
    .replaceAll(/(?:^ *#.*\n)?^ *sql-key-id: .*\n^ *sql-key-secret: .*\n/gm, '')
    .replaceAll(/^ *(?:price|max-monthly-increase): .*\n/gm, '')
    .replaceAll(/ #.* in ClickHouse Cloud$| , and what they add to the bill/gm, '')
    .replaceAll(
      /^( *)profile: clickhouse-cloud\n(?:^ *(?:organization-id|service-id|api-key-id|api-key-secret): .*\n){4}/gm,
      (_, margin: string) => selfHostedInputs.replaceAll(/^(?=.)/gm, margin),
    )
    .replaceAll('profile: clickhouse-cloud', 'profile: hyperdx')
    .replaceAll(/^( *)runs-on: ubuntu-latest$/gm, '$1# A runner that reaches the server.\n$1runs-on: [self-hosted, linux]')

/** What `watchkeeper --help` shows of every operation without loading it. */
function renderSummaries(operations: readonly OperationFacts[]): string {
  const summaries = Object.fromEntries(operations.map(({ name, summary }) => [name, summary]))
  return `// GENERATED from the operations by \`npm run generate\`.\nexport const summaries = ${JSON.stringify(summaries, null, 2)} as const\n`
}

/** The inputs of all operations, for suggestions. A run loads only its own operation. */
function renderInputNames(operations: readonly OperationFacts[]): string {
  const names = [...new Set(operations.flatMap(({ inputs }) => inputs.map(({ name }) => name)))].sort()
  const variables = operations.flatMap(({ inputs }) => inputs.filter(({ setting }) => setting === 'variable').map(({ name }) => name))
  return [
    '// GENERATED from the operations by `npm run generate`.',
    `export const inputNames: readonly string[] = ${JSON.stringify(names, null, 2)}\n`,
    '/** Inputs that are variables in the action. */',
    `export const variableInputs: readonly string[] = ${JSON.stringify([...new Set(variables)].sort())}\n`,
  ].join('\n')
}

/** The libraries of the HTML page as they are published, and its own style and script. */
async function renderPageAssets(root: string): Promise<string> {
  const read = async (paths: readonly string[]): Promise<string> => {
    const texts = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')))
    return texts.map((text) => text.trim()).join('\n')
  }
  const style = await read(['node_modules/uplot/dist/uPlot.min.css', 'src/platform/report/page/page.css'])
  const script = await read([
    'src/platform/report/page/language.js',
    'node_modules/uplot/dist/uPlot.iife.min.js',
    'node_modules/sortable-tablesort/dist/sortable.min.js',
    'node_modules/sortable-tablesort/dist/sortable.a11y.min.js',
    'src/platform/report/page/page.js',
  ])
  const source =
    '// GENERATED from src/platform/report/page and two libraries, uPlot (MIT) and sortable (Unlicense), by `npm run generate`.'
  const hash = createHash('sha256').update(script).digest('base64')
  return [
    source,
    `export const pageStyle = ${JSON.stringify(style)}`,
    `export const pageScript = ${JSON.stringify(script)}`,
    '/** Hash of the script, for the content security policy. */',
    `export const pageScriptHash = '${hash}'\n`,
  ].join('\n')
}

/** The reusable workflows by their names without `.yml`. */
async function readReusable(paths: readonly string[], read: ReadFile): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [basename(path, '.yml'), await read(path)] as const)))
}

/** Replaces the text between `<!-- generated:x -->` and `<!-- /generated:x -->`. Throws when a marker is missing. */
export function fillMarkers(text: string, parts: Readonly<Record<string, string>>, file: string): string {
  return Object.entries(parts).reduce((filled, [name, part]) => {
    const [start, end] = [`<!-- generated:${name} -->`, `<!-- /generated:${name} -->`]
    const [before, rest] = filled.split(start)
    const after = rest?.split(end)[1]
    if (before === undefined || after === undefined) throw new Error(`${file} lacks ${start} … ${end}`)
    return `${before}${start}\n${part}\n${end}${after}`
  }, text)
}

/** Writes, or with `check` only compares. Returns the paths that differ. */
export async function generate(root: string, check: boolean): Promise<readonly string[]> {
  const stale: string[] = []
  for (const [path, wanted] of await render(root)) {
    const file = join(root, path)
    const present = await readFile(file, 'utf8').catch(() => undefined)
    if (present === wanted) continue
    stale.push(path)
    if (check) continue
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, wanted)
  }
  return stale
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = await generate(new URL('..', import.meta.url).pathname, check)
  if (stale.length === 0) console.log('generated files are up to date')
  else console.log(`${check ? 'not what `npm run generate` writes' : 'written'}: ${stale.join(', ')}`)
  if (check && stale.length > 0) process.exitCode = 1
}
