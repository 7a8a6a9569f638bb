import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ids, inputsFor, methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

const flags = (): readonly string[] =>
  Object.entries(inputsFor(emulator(), 'clickhouse-cloud')).flatMap(([name, value]) => [`--${name}`, value])

const file = `dashboards:
  extra: { name: Extra, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }
`

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-confirm-'))
  await writeFile(join(directory, 'a.yml'), file)
})

const apply = (options: { readonly typed?: string } = {}, ...more: readonly string[]) =>
  runCliInside(['apply', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm', ...more], { directory, ...options })

const writes = (): readonly string[] =>
  emulator().requests.flatMap(({ method, path }) => (method === 'GET' || path.endsWith('/validate') ? [] : [method]))

describe('apply on the command line', () => {
  it('shows the plan at a terminal and applies it after a yes', async () => {
    const ran = await apply({ typed: 'y\n' })
    expect(ran.stderr).toContain('+ create dashboard extra "Extra"')
    expect(ran.stderr).toContain('Apply these changes to shop/confirm? [y/N]')
    expect(ran.exitCode).toBe(0)
    expect(writes()).toEqual(['POST'])
  })

  it.each(['n\n', '\n', 'maybe\n', ''])('writes nothing after the answer %j', async (typed) => {
    const ran = await apply({ typed })
    expect(ran.exitCode).toBe(130)
    expect(ran.stderr).toContain('Not confirmed. Nothing was written.')
    expect(writes()).toEqual([])
  })

  it('refuses to write without a terminal and without --yes', async () => {
    const ran = await apply()
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain('writes only with --yes')
    expect(writes()).toEqual([])
  })

  it('does not ask with --yes, with a plan file, or without changes', async () => {
    const plan = await runCliInside(
      ['plan', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm', '--plan-file', 'saved.plan.json'],
      { directory },
    )
    expect(plan.stderr).toContain('Wrote saved.plan.json')
    expect((await apply({}, '--plan-file', 'saved.plan.json')).exitCode).toBe(0)
    expect((await apply()).exitCode).toBe(0)
    expect(writes()).toEqual(['POST'])
    expect((await apply({}, '--yes')).exitCode).toBe(0)
  })
})

it('names the alerts that a deleted dashboard takes along, and asks', async () => {
  const before = serviceOf(emulator()).dashboards.length
  const ran = await runCliInside(['delete-dashboard', ...flags(), '--dashboard-id', ids.dashboard], { typed: 'no\n' })
  expect(ran.stderr).toMatch(/Delete this dashboard and \d+ alerts? on it\? \[y\/N\]/)
  expect(serviceOf(emulator()).dashboards).toHaveLength(before)
})

it('shows an alert before it deletes it', async () => {
  const ran = await runCliInside(['delete-alert', ...flags(), '--alert-id', ids.alert], { typed: 'yes\n' })
  expect(ran.stderr).toContain('Delete this alert? [y/N]')
  expect(methodsOf(emulator())).toEqual(['GET', 'DELETE'])
})

it('exits with 11 for a plan with changes only with --detailed-exitcode', async () => {
  const plan = (...more: readonly string[]) =>
    runCliInside(['plan', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm', ...more], { directory })
  expect((await plan()).exitCode).toBe(0)
  expect((await plan('--detailed-exitcode')).exitCode).toBe(11)
  await apply({}, '--yes')
  expect((await plan('--detailed-exitcode')).exitCode).toBe(0)
})

it('reads the YAML and JSON files of a directory', async () => {
  await mkdir(join(directory, 'files'))
  await writeFile(join(directory, 'files/a.yml'), file)
  await writeFile(join(directory, 'files/b.json'), '{"savedSearches":{}}')
  const ran = await runCliInside(['validate', '--profile', 'clickhouse-cloud', '--files', 'files'], { directory })
  expect(ran.stdout).toMatch(/files\/a\.yml[\s\S]*files\/b\.json|2 files/)
})

it('writes nothing when the service changed while the question was open', async () => {
  const { runCli } = await import('../../../src/runtime/cli/run-cli.ts')
  const { PassThrough } = await import('node:stream')
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  let stderr = ''
  const write = (text: string): void => {
    stderr += text
    if (!text.includes('[y/N]')) return
    void apply({}, '--yes').then(() => stdin.end('y\n'))
  }
  const exitCode = await runCli(['apply', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm'], {
    script: '',
    env: { NO_COLOR: '1' },
    directory,
    signals: { on: () => undefined, off: () => undefined, exit: () => undefined },
    stdin,
    stdout: { write: () => undefined },
    stderr: { write, isTTY: true },
  })
  expect({ exitCode, writes: writes() }).toEqual({ exitCode: 1, writes: ['POST'] })
  expect(stderr).toMatch(/have changed since\s+the plan was made/)
})

it('asks before an update of a dashboard deletes alerts', async () => {
  const ran = await runCliInside(
    ['update-dashboard', ...flags(), '--dashboard-id', ids.dashboard, '--dashboard', '{ name: Empty, tiles: [] }'],
    {
      typed: 'n\n',
    },
  )
  expect(ran.stderr).toMatch(/Change the dashboard, which deletes \d+ alerts?\? \[y\/N\]/)
  expect(ran.exitCode).toBe(130)
})

it('names the organization and the service before the question', async () => {
  expect((await apply({ typed: 'n\n' })).stderr).toMatch(/Organization [\s\S]+service[\s\S]+Apply these changes/)
})

it('prune deletes all objects of a project without declarations only with allow-empty', async () => {
  await apply({}, '--yes')
  await writeFile(join(directory, 'empty.yml'), 'alerts: {}\n')
  const prune = (...more: readonly string[]) =>
    runCliInside(['apply', ...flags(), '--files', 'empty.yml', '--project', 'shop/confirm', '--prune', '--yes', ...more], { directory })
  expect((await prune()).stderr).toContain('or set allow-empty to delete them')
  expect((await prune('--allow-empty')).stdout).toContain('Applied to shop/confirm (1 deleted)')
})
