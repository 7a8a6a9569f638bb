import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = new URL('../../src', import.meta.url).pathname

interface Layer {
  /** Other layers, or single files of them, that it may import. */
  readonly layers: readonly string[]
  /** Single files that may import more layers, because they are loaded only when they are asked for. */
  readonly exceptions?: Readonly<Record<string, readonly string[]>>
  /** Packages and Node modules, by file where only one file may. */
  readonly packages: Readonly<Record<string, readonly string[] | 'any'>>
}

/** ARCHITECTURE.md's table. `packages` says which files may import what; `any` is the whole layer. */
const layers: Readonly<Record<string, Layer>> = {
  kernel: {
    layers: [],
    packages: {
      'big.js': ['decimal.ts'],

      'node:timers/promises': ['clock.ts'],
      'node:crypto': ['digest.ts'],
      'node:util': ['same.ts'],
    },
  },
  api: {
    layers: ['kernel'],
    packages: { undici: ['dispatcher.ts', 'transport.ts'], zod: 'any', 'node:util': ['body.ts'], 'node:zlib': ['body.ts'] },
  },
  rules: { layers: ['kernel'], packages: {} },
  report: { layers: ['kernel'], packages: { 'node:util': ['terminal.ts'] } },
  provision: { layers: ['kernel', 'api'], packages: { zod: 'any', yaml: 'any', diff: ['pull/keep-lines.ts'] } },
  operations: {
    layers: ['kernel', 'api', 'rules', 'provision', 'report'],
    packages: { zod: 'any', diff: ['provisioning/plan-result.ts', 'provisioning/pull-result.ts'] },
  },
  github: {
    layers: ['kernel', 'api', 'report'],
    packages: {
      zod: 'any',
      'node:crypto': ['marker.ts'],
      'node:fs/promises': ['event.ts'],
      '@actions/github': ['octokit.ts'],
    },
  },
  reference: {
    layers: ['kernel', 'api', 'provision', 'operations'],
    packages: {
      zod: 'any',
      yaml: 'any',
      'node:crypto': ['generate.ts'],
      'node:fs/promises': ['generate.ts'],
      'node:path': ['generate.ts'],
    },
  },
  surfaces: {
    layers: ['kernel', 'api', 'operations', 'provision', 'report'],
    exceptions: {
      'action/tell.ts': ['github'],
      'cli/demo.ts': ['emulator'],
      'cli/demo-steps.ts': ['emulator'],
      'cli/serve-emulator.ts': ['emulator'],
    },
    packages: {
      zod: 'any',
      'node:crypto': 'any',
      'node:fs': ['workspace.ts'],
      'node:fs/promises': [
        'workspace.ts',
        'new-file.ts',
        'action/summary.ts',
        'cli/demo-process.ts',
        'cli/init-files.ts',
        'cli/repository.ts',
      ],
      'node:path': [
        'workspace.ts',
        'new-file.ts',
        'result-file.ts',
        'cli/demo.ts',
        'cli/demo-process.ts',
        'cli/init-files.ts',
        'cli/repository.ts',
      ],
      'node:readline/promises': ['cli/init-choice.ts'],
      'node:child_process': ['cli/demo-process.ts', 'cli/repository.ts'],
      'node:os': ['cli/demo-process.ts'],
      'node:url': ['cli/demo.ts', 'cli/init-files.ts'],
      'node:util': ['cli/demo.ts'],
      '@actions/core': ['action/log.ts', 'action/masks.ts', 'action/publish.ts', 'action/summary.ts', 'action/tell.ts'],
      'cli-progress': ['cli/progress-bar.ts'],
      commander: ['cli/program.ts', 'cli/run-cli.ts', 'cli/tools.ts'],
    },
  },
  emulator: {
    layers: ['kernel'],
    packages: {
      zod: 'any',
      'zod/v3': 'any',
      'node:http': 'any',
      'node:net': 'any',
      'node:util': ['product/alert-schema.ts'],
      'node:zlib': 'any',
      'node:events': 'any',
    },
  },
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

const layerOf = (path: string): string => path.split('/')[0] ?? ''

function isAllowed({ from, to }: Import): boolean {
  const layer = layers[layerOf(from)]
  if (layer === undefined) return true
  const file = from.slice(layerOf(from).length + 1)
  if (!to.endsWith('.ts')) {
    const users = layer.packages[to]
    return users === 'any' || users?.includes(file) === true
  }
  return [layerOf(from), ...layer.layers, ...(layer.exceptions?.[file] ?? [])].includes(layerOf(to))
}

describe('layers', () => {
  it('reads every import there is', () => {
    expect(imports.length).toBeGreaterThan(200)
    expect(imports.filter(({ to }) => !to.endsWith('.ts') && !/^(?:node:|@?[a-z])[\w./-]*$/.test(to))).toEqual([])
  })

  it('import only downwards, and touch only what is theirs', () => {
    expect(imports.filter((one) => !isAllowed(one)).map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('know no room that is not in the table', () => {
    expect([...new Set(files.filter((file) => file.includes('/')).map(layerOf))].sort()).toEqual(Object.keys(layers).sort())
    expect(files.filter((file) => !file.includes('/')).sort()).toEqual(['action.ts', 'cli.ts', 'index.ts'])
  })
})
