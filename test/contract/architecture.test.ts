import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = new URL('../../src', import.meta.url).pathname

interface Folder {
  /** Other folders that it may import; type-only imports count. */
  readonly folders: readonly string[]
  /** Packages and modules of Node, each allowed in the whole folder. */
  readonly packages: readonly string[]
}

const kinds = ['alerts', 'dashboards', 'saved-searches', 'sources', 'webhooks'].map((kind) => `resources/${kind}`)

const features = ['core', 'http', 'api', 'documents', 'report', 'operation']

/** The rules of ARCHITECTURE.md. A folder that is listed with its parent's name in front has rules of its own. */
const rules: Readonly<Record<string, Folder>> = {
  core: { folders: [], packages: ['zod', 'big.js', 'node:timers/promises', 'node:crypto', 'node:util'] },
  http: { folders: ['core'], packages: ['undici', 'node:util', 'node:zlib'] },
  api: { folders: ['core', 'http'], packages: ['zod'] },
  documents: { folders: ['core'], packages: ['zod', 'yaml'] },
  report: { folders: ['core'], packages: ['node:util'] },
  operation: { folders: ['core', 'http', 'api', 'documents', 'report'], packages: ['zod'] },
  resources: { folders: features, packages: ['zod'] },
  'resources/alerts': { folders: [...features, 'resources'], packages: ['zod'] },
  'resources/dashboards': { folders: [...features, 'resources'], packages: ['zod'] },
  'resources/saved-searches': { folders: [...features, 'resources'], packages: ['zod'] },
  'resources/sources': { folders: [...features, 'resources'], packages: ['zod'] },
  'resources/webhooks': { folders: [...features, 'resources'], packages: ['zod'] },
  // It reads alerts, tiles and saved searches in the form of the API.
  backtest: { folders: [...features, 'resources', ...kinds], packages: ['zod'] },
  sync: {
    folders: [...features, 'resources', ...kinds, 'backtest'],
    packages: ['zod', 'yaml', 'diff'],
  },
  usage: { folders: features, packages: ['zod'] },
  backups: { folders: features, packages: ['zod'] },
  fleet: { folders: features, packages: ['zod'] },
  // It sends one harmless request of every kind, so it knows how each of them is sent.
  doctor: {
    folders: [...features, 'usage', 'backups', ...kinds],
    packages: ['zod'],
  },
  github: {
    folders: ['core', 'http', 'report'],
    packages: ['zod', 'node:crypto', 'node:fs/promises', '@actions/github'],
  },
  notifications: { folders: ['core', 'http', 'report'], packages: [] },
  runtime: {
    folders: ['core', 'http', 'api', 'documents', 'report', 'operation', 'notifications'],
    packages: ['zod', 'node:crypto', 'node:fs', 'node:fs/promises', 'node:path'],
  },
  'runtime/action': {
    folders: ['core', 'http', 'report', 'operation', 'github', 'runtime'],
    packages: ['@actions/core'],
  },
  'runtime/cli': {
    folders: ['core', 'http', 'documents', 'report', 'operation', 'runtime', 'emulator'],
    packages: [
      'commander',
      'yaml',
      'zod',
      'node:child_process',
      'node:crypto',
      'node:fs/promises',
      'node:os',
      'node:path',
      'node:readline/promises',
      'node:stream/consumers',
      'node:url',
      'node:util',
    ],
  },
  'runtime/library': { folders: ['core', 'api', 'operation', 'runtime'], packages: ['zod'] },
  emulator: {
    folders: ['core'],
    packages: ['zod', 'zod/v3', 'node:http', 'node:net', 'node:util', 'node:zlib', 'node:events'],
  },
}

/** The list of operations stands above the features; the entry points and the runtime are all that may import it. */
const rootFiles: Readonly<Record<string, readonly string[]>> = {
  'operations.ts': ['resources', 'sync', 'usage', 'backups', 'fleet', 'doctor'],
  'action.ts': ['runtime'],
  'cli.ts': ['core', 'runtime'],
  'index.ts': ['core', 'api', 'runtime', 'operations.ts'],
}

interface Import {
  readonly from: string
  readonly to: string
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

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

/** The folder whose rules hold for a file: the longest listed one; a file of the root is its own. */
function folderOf(path: string): string {
  const folders = Object.keys(rules).filter((folder) => path.startsWith(`${folder}/`))
  return folders.toSorted((a, b) => b.length - a.length)[0] ?? path
}

function isAllowed({ from, to }: Import): boolean {
  const folder = folderOf(from)
  const rootFolders = rootFiles[folder]
  if (!to.endsWith('.ts')) return rules[folder]?.packages.includes(to) === true
  const target = folderOf(to)
  if (rootFolders !== undefined) return rootFolders.some((allowed) => target === allowed || target.startsWith(`${allowed}/`))
  // The runtime looks operations up in the list, and one that all runs share may not know them.
  if (target === 'operations.ts') return folder.startsWith('runtime')
  return (
    target === folder || (folder === 'resources' && target.startsWith('resources/')) || rules[folder]?.folders.includes(target) === true
  )
}

/** The shortest way from a file back to itself, if there is one. */
function findCycle(start: string, importsOf: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const next of importsOf.get(file) ?? []) {
      if (next === start) {
        const way = [start]
        for (let at: string | undefined = file; at !== undefined && at !== start; at = cameFrom.get(at)) way.unshift(at)
        return [start, ...way]
      }
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return undefined
}

describe('architecture', () => {
  it('reads every import', () => {
    expect(imports.length).toBeGreaterThan(200)
    expect(imports.filter(({ to }) => !to.endsWith('.ts') && !/^(?:node:|@?[a-z])[\w./-]*$/.test(to))).toEqual([])
  })

  it('imports only what the rules of a folder allow', () => {
    expect(imports.filter((one) => !isAllowed(one)).map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('has no import cycle, type-only imports included', () => {
    const importsOf = new Map(
      Map.groupBy(imports, ({ from }) => from)
        .entries()
        .map(([from, all]) => [from, all.map(({ to }) => to)]),
    )
    const cycles = files.map((file) => findCycle(file, importsOf)).filter((cycle) => cycle !== undefined)
    expect(cycles.map((cycle) => cycle.join(' → '))).toEqual([])
  })

  it('sends two kinds of POST from operations that read, and no other', () => {
    const safe = files.filter((file) => /^\s*isSafe: true,$/m.test(readFileSync(join(src, file), 'utf8')))
    expect(safe.toSorted()).toEqual(['backtest/series-api.ts', 'resources/dashboards/dashboard.ts'])
  })

  it('has rules for every folder', () => {
    const unknown = files.map(folderOf).filter((folder) => rules[folder] === undefined && rootFiles[folder] === undefined)
    expect(unknown).toEqual([])
  })
})
