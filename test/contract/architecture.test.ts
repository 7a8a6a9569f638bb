import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'
import { describe, expect, it } from 'vitest'

const src = new URL('../../src', import.meta.url).pathname

interface Rule {
  /** Other folders and files that it may import; type-only imports count. */
  readonly imports: readonly string[]
  /** Packages and modules of Node. */
  readonly packages: readonly string[]
}

const platform = ['core', 'http', 'api', 'documents', 'report', 'operation']

/** The table of ARCHITECTURE.md, by folder or file. `kinds/*` stands for each folder in `kinds`. */
const rules: ReadonlyMap<string, Rule> = new Map(
  (/^## Folders$.*?^## /ms.exec(readFileSync(join(src, '../ARCHITECTURE.md'), 'utf8'))?.[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => {
      const [folders = '', , imports = '', packages = ''] = line.split(' | ')
      const rule = { imports: [...(imports.startsWith('platform') ? platform : []), ...namesIn(imports)], packages: namesIn(packages) }
      return namesIn(folders).map((folder) => [folder, rule] as const)
    }),
)

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
}

interface Import {
  readonly from: string
  readonly to: string
}

const typeScriptIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

const files = typeScriptIn(src)

const imports: readonly Import[] = files.flatMap((file) => {
  const text = readFileSync(join(src, file), 'utf8')
  const specifiers = [
    ...text.matchAll(/^(?:import|export|\}) .*\bfrom '([^']+)'$|^import '([^']+)'$|\bimport\((?:\/\*.*?\*\/ )?'([^']+)'\)/gm),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
  return specifiers.map((specifier) => ({
    from: file,
    to: specifier.startsWith('.') ? relative(src, resolve(src, dirname(file), specifier)) : specifier,
  }))
})

const matches = (row: string, folder: string): boolean => row === folder || (row.endsWith('/*') && dirname(folder) === row.slice(0, -2))

const ruleFor = (folder: string): Rule | undefined => rules.get(folder) ?? [...rules].find(([row]) => matches(row, folder))?.[1]

/** The nearest folder with a rule. A file of the root has its own. Empty where there is none. */
function folderOf(path: string): string {
  if (path.endsWith('.ts')) return rules.has(path) ? path : folderOf(dirname(path))
  return path === '.' || ruleFor(path) !== undefined ? path.replace(/^\.$/, '') : folderOf(dirname(path))
}

function isAllowed({ from, to }: Import): boolean {
  const folder = folderOf(from)
  const rule = ruleFor(folder)
  if (!to.endsWith('.ts')) return rule?.packages.includes(to) === true
  const target = folderOf(to)
  return target === folder || rule?.imports.some((row) => matches(row, target)) === true
}

/** The lines with `as` and a type, without a comment on them or on the line before. */
function assertionsIn(text: string): readonly string[] {
  const lines = text.split('\n')
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length - 1
  const found: string[] = []
  new Visitor({
    TSAsExpression({ start, end, typeAnnotation }) {
      if (text.slice(typeAnnotation.start, typeAnnotation.end) === 'const') return
      const [first, last] = [lineAt(start), lineAt(end)]
      const isExplained = lines.slice(first, last + 1).some((line) => line.includes('// ')) || /^\s*\/\/ /.test(lines[first - 1] ?? '')
      if (!isExplained) found.push(lines[last]?.trim() ?? '')
    },
  }).visit(parseSync('file.ts', text).program)
  return found
}

describe('architecture', () => {
  it('reads every import', () => {
    expect(imports.length).toBeGreaterThan(200)
    expect(imports.filter(({ to }) => !to.endsWith('.ts') && !/^(?:node:|@?[a-z])[\w./-]*$/.test(to))).toEqual([])
  })

  it('imports only what the table in ARCHITECTURE.md allows', () => {
    expect(imports.filter((one) => !isAllowed(one)).map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('uses every permission of the table in ARCHITECTURE.md', () => {
    const isUsed = (row: string, name: string): boolean =>
      imports.some(({ from, to }) => matches(row, folderOf(from)) && (to === name || (to.endsWith('.ts') && matches(name, folderOf(to)))))
    const unused = [...rules].flatMap(([row, rule]) =>
      [...rule.packages, ...rule.imports.filter((name) => !platform.includes(name))]
        .filter((name) => !isUsed(row, name) && !(row.endsWith('.ts') && row !== 'operations.ts'))
        .map((name) => `${row} → ${name}`),
    )
    expect(unused).toEqual([])
  })

  it.each(['src', 'scripts', 'bench'])('gives a reason beside every type assertion in %s', (folder) => {
    const root = join(src, '..', folder)
    const found = typeScriptIn(root).flatMap((file) =>
      assertionsIn(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line}`),
    )
    expect(found).toEqual([])
  })

  it('the table in ARCHITECTURE.md has rules for every folder', () => {
    expect(files.map(folderOf).filter((folder) => folder === '')).toEqual([])
  })
})
