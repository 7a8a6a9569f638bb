import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { inputsFor, secrets, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type RanAction, runAction } from '../../support/run-process.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

it('pull writes an installation into files, apply manages it, and the next pull writes only what changed', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'watchkeeper-pull-'))
  onTestFinished(() => rm(workspace, { recursive: true }))
  const directory = join(workspace, 'observability')
  const run = (operation: string): Promise<RanAction> =>
    runAction({
      inputs: {
        ...inputsFor(emulator(), 'clickhouse-cloud'),
        operation,
        // A dashboard with an alert is written whole, which needs `rewrite: true`.
        ...(operation === 'pull' && { select: 'kind=savedSearch' }),
      },
      env: { GITHUB_WORKSPACE: workspace, GITHUB_REPOSITORY: 'shop/infra' },
      secrets,
    })
  const pulled = await run('pull')
  expect([pulled.exitCode, pulled.outputs.get('changed'), await readdir(directory)]).toEqual([0, 'true', ['saved-searches.yml']])
  expect(emulator().requests.filter(({ method }) => method !== 'GET')).toEqual([])
  expect(pulled.summary).toContain('| added | saved search |')
  expect((await run('apply')).exitCode).toBe(0)
  const file = join(directory, 'saved-searches.yml')
  const snapshot = async () => [await readFile(file, 'utf8'), (await stat(file)).mtimeMs]
  const before = await snapshot()
  expect((await run('pull')).outputs.get('changed')).toBe('false')
  expect(await snapshot()).toEqual(before)
  for (const search of serviceOf(emulator()).savedSearches) search.where = 'level:changed'
  const { summary } = await run('pull')
  expect(summary).toMatch(/^### (?:✅|⚠️) Pulled into 1 file for `shop\/infra`: 1 updated/u)
  expect(summary).toContain('| updated | saved search |')
  expect(summary).toContain('+     where: level:changed\n')
})
