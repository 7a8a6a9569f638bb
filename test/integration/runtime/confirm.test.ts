import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { toKebab } from '../../../src/platform/core/names.ts'
import { runCli } from '../../../src/runtime/cli/run-cli.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { asOptions, editDuring, ids, inputsFor, methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { allOperations, useExampleDirectory } from '../../support/examples.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

const flags = () => asOptions(inputsFor(emulator(), 'clickhouse-cloud')).flags

const env = { WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret }

const command = (args: readonly string[], options: Parameters<typeof runCliInside>[1] = {}) => runCliInside(args, { ...options, env })

const file = `dashboards:
  extra: { name: Extra, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }
`

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-confirm-'))
  await writeFile(join(directory, 'a.yml'), file)
})
afterAll(() => rm(directory, { recursive: true }))

const apply = (options: { readonly typed?: string; readonly files?: string } = {}, ...more: readonly string[]) =>
  command(['apply', ...flags(), '--files', options.files ?? 'a.yml', '--project', 'shop/confirm', ...more], { directory, ...options })

/** Does what `apply --yes` does, without its wait of a second for other runs. */
const applyAtOnce = (): Promise<void> =>
  withSite({ url: emulator().url, project: 'shop/confirm' }, 'clickhouse-cloud', async (site) => {
    const { objects } = await site.apply({ 'a.yml': file })
    if (objects[0]?.outcome !== 'created') throw new Error('apply created nothing')
  })

const writes = (): readonly string[] =>
  emulator().requests.flatMap(({ method, path }) => (method === 'GET' || path.endsWith('/validate') ? [] : [method]))

describe('apply on the command line', () => {
  it('shows the plan at a terminal and applies it after a yes', async () => {
    const ran = await apply({ typed: 'y\n' })
    expect(ran.stderr).toContain('+ dashboard extra "Extra"')
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

  it('asks for a change beside an object that stays as it is', async () => {
    await applyAtOnce()
    const before = writes()
    await writeFile(join(directory, 'two.yml'), `${file}  more: { name: More, tiles: [] }\n`)
    const ran = await apply({ typed: 'n\n', files: 'two.yml' })
    expect([ran.exitCode, writes()]).toEqual([130, before])
    expect(ran.stderr).toContain('+ dashboard more "More"')
  })

  it('refuses to write without a terminal and without --yes', async () => {
    const ran = await apply()
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain('writes only with --yes')
    expect(writes()).toEqual([])
  })

  it('does not ask with --yes, with a plan file, or without changes', async () => {
    const plan = await command(['plan', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm', '--plan-file', 'saved.plan.json'], {
      directory,
    })
    expect(plan.stderr).toContain('Wrote saved.plan.json')
    expect((await apply({}, '--plan-file', 'saved.plan.json')).exitCode).toBe(0)
    expect((await apply()).exitCode).toBe(0)
    expect(writes()).toEqual(['POST'])
    expect((await apply({}, '--yes')).exitCode).toBe(0)
  })
})

describe('apply that asks', () => {
  const server = useEmulator({ dialect: 'hyperdx' })

  it('shows the warnings of a plan about the queries of its alerts, and their values, before it asks', async () => {
    const alert = (where: string): string =>
      `{ query: { source: Logs, select: [{ aggFn: count, where: '${where}' }] }, threshold: 1, interval: 5m, channel: { type: webhook, webhook: oncall } }`
    const path = join(directory, 'queries.yml')
    await writeFile(path, `alerts:\n  wrong: ${alert('Bdy:no')}\n  right: ${alert('ServiceName:cart')}\n`)
    const { flags: own, variables } = asOptions(inputsFor(server(), 'hyperdx'))
    const run = (operation: string) =>
      runCliInside([operation, ...own, '--files', 'queries.yml', '--project', 'a/b'], { directory, env: variables, typed: 'n\n' })
    const { stdout } = await run('plan')
    const asked = await run('apply')
    const [warning] = /alerts\.wrong: it would never fire.*/.exec(stdout) ?? ['no warning']
    const [values] = /^right +.*$/m.exec(stdout) ?? ['no values']
    expect(asked.stderr).toContain(warning)
    expect(asked.stderr).toContain(values)
    expect(asked.exitCode).toBe(130)
  })
})

describe('an operation that writes', () => {
  const root = useExampleDirectory()
  const writing = allOperations.filter(({ operation }) => operation.effect === 'write')

  it('accepts --yes, and without it changes and deletes nothing outside of a terminal', { tags: 'slow' }, async () => {
    await forEachEntry(writing, async ({ name, operation }) => {
      const example = Object.entries(operation.example).flatMap(([input, value]) => [
        ...(input === operation.positional ? [] : [`--${toKebab(input)}`]),
        String(value),
      ])
      const run = async (...more: readonly string[]) => {
        emulator().reset()
        // So that there is a silence to end.
        await command(['silence-alerts', ...flags(), '--select', 'name~checkout', '--for', '1m', '--yes'])
        const silenced = writes().length
        const { exitCode, stderr } = await command([name, ...flags(), ...example, ...more], { directory: root() })
        return { exitCode, stderr, writes: writes().slice(silenced) }
      }
      const confirmed = await run('--yes')
      const changesExisting = confirmed.writes.some((method) => method !== 'POST')
      expect([name, confirmed.exitCode, confirmed.writes.length > 0]).toEqual([name, 0, true])
      const unconfirmed = await run()
      // apply asks before it creates, too.
      if (!changesExisting && name !== 'apply') expect([name, unconfirmed.exitCode, unconfirmed.writes]).toEqual([name, 0, ['POST']])
      else {
        expect([name, operation.asksFirst, unconfirmed.exitCode, unconfirmed.writes]).toEqual([name, true, 2, []])
        expect(unconfirmed.stderr).toContain('writes only with --yes')
      }
    })
  })

  it('the help of an operation says whether it asks', async () => {
    for (const { name, operation } of writing) {
      const help = (await command([name, '--help'])).stdout.replaceAll(/\s+/g, ' ')
      const asks = operation.asksFirst === true ? 'write without asking' : 'accepted; this command never asks'
      expect(help, name).toContain(`--yes ${name === 'create-alert' ? 'accepted; this command only asks with --if-exists update' : asks}`)
    }
  })
})

describe('silencing at a terminal', () => {
  const name = 'Checkout errors'
  const silence = (typed?: string, ...more: readonly string[]) =>
    command(['silence-alerts', ...flags(), '--select', `name~${name}`, '--for', '30m', ...more], typed === undefined ? {} : { typed })
  const endSilence = (typed: string) => command(['silence-alerts', ...flags(), '--select', `name~${name}`, '--for', '0m'], { typed })

  it('shows the alerts with the end of their silence, and asks once for all', async () => {
    const refused = await silence('n\n')
    expect(refused).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('Silence 1 alert for 30m? [y/N]') })
    expect(refused.stderr).toMatch(/Silenced until[\s\S]*Checkout errors/)
    expect(writes()).toEqual([])
    expect((await silence('y\n')).stdout).toContain('1 alert silenced')
    expect(writes()).toEqual(['PUT'])
  })

  it('asks nothing where no alert would change', async () => {
    await silence(undefined, '--yes')
    expect(await silence()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 alert silenced') })
    expect(writes()).toEqual(['PUT'])
  })

  it('asks before it ends a silence', async () => {
    await silence(undefined, '--yes')
    expect((await endSilence('n\n')).stderr).toContain('End the silence of 1 alert? [y/N]')
    expect(writes()).toEqual(['PUT'])
    expect((await endSilence('y\n')).stdout).toContain('Silence of 1 alert ended')
  })
})

describe('a change of one alert at a terminal', () => {
  const update = (typed?: string, ...more: readonly string[]) =>
    command(['update-alert', ...flags(), ids.alert, '--alert', '{ threshold: 77 }', ...more], typed === undefined ? {} : { typed })

  it('shows what changes, and asks', async () => {
    const refused = await update('n\n')
    expect(refused).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('Change this alert? [y/N]') })
    expect(refused.stderr).toContain('threshold: 0.02 → 77')
    expect(writes()).toEqual([])
    expect((await update('y\n')).exitCode).toBe(0)
    expect(writes()).toEqual(['PUT'])
    expect((await update()).exitCode).toBe(0)
  })

  it('a change of one alert at a terminal is not written when the alert changed while the question was open', async () => {
    const alert = serviceOf(emulator()).alerts.find(({ id }) => id === ids.alert)
    const ran = await whileAsked(['update-alert', ...flags(), ids.alert, '--alert', '{ threshold: 77 }'], () =>
      Object.assign(alert ?? {}, { interval: '1d' }),
    )
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr.replaceAll(/\s+/g, ' ')).toContain('has changed while the question was open. Nothing was written.')
    expect(writes()).toEqual([])
  })

  it('asks before create-alert changes the alert that exists', async () => {
    const create = (threshold: string, typed?: string) =>
      command(
        ['create-alert', ...flags(), ...newAlert('New', Number(threshold)), '--if-exists', 'update'],
        typed === undefined ? {} : { typed },
      )
    expect((await create('1')).exitCode).toBe(0)
    expect((await create('2', 'n\n')).stderr).toContain('Change this alert? [y/N]')
    expect((await create('2')).exitCode).toBe(2)
    expect(writes()).toEqual(['POST'])
  })
})

const newAlert = (name: string, threshold: number) => [
  '--alert',
  JSON.stringify({
    ...{ name, dashboard: ids.dashboard, tile: ids.tile, threshold, interval: '1h' },
    channel: { type: 'webhook', webhookId: ids.webhook },
  }),
]

it('names the alerts that a deleted dashboard takes along, and asks', async () => {
  const before = serviceOf(emulator()).dashboards.length
  const ran = await command(['delete-dashboard', ...flags(), ids.dashboard], { typed: 'no\n' })
  expect(ran.stderr).toMatch(/Delete this dashboard and \d+ alerts? on it\? \[y\/N\]/)
  expect(serviceOf(emulator()).dashboards).toHaveLength(before)
})

it('shows an alert before it deletes it', async () => {
  const ran = await command(['delete-alert', ...flags(), ids.alert], { typed: 'yes\n' })
  expect(ran.stderr).toContain('Delete this alert? [y/N]')
  expect(methodsOf(emulator())).toEqual(['GET', 'GET', 'DELETE'])
})

it('exits with 11 for a plan with changes only with --detailed-exitcode', async () => {
  const plan = (...more: readonly string[]) =>
    command(['plan', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm', ...more], { directory })
  expect((await plan()).exitCode).toBe(0)
  expect((await plan('--detailed-exitcode')).exitCode).toBe(11)
  await applyAtOnce()
  expect((await plan('--detailed-exitcode')).exitCode).toBe(0)
})

it('exits with 10 for a plan with changes that holds an object, also with --detailed-exitcode', async () => {
  const missing = `${file}  wrong: { name: Wrong, tiles: [{ name: A, config: { displayType: line, source: Nowhere, select: [{ aggFn: count }] } }] }\n`
  await writeFile(join(directory, 'failing.yml'), missing)
  const ran = await command(['plan', ...flags(), '--files', 'failing.yml', '--project', 'shop/confirm', '--detailed-exitcode'], {
    directory,
  })
  expect([ran.exitCode, ran.stdout]).toEqual([10, expect.stringContaining('+ dashboard extra "Extra"')])
})

it('exits with 11 for a plan with --detailed-exitcode where apply only writes markers', async () => {
  const plan = async (content: string) => {
    await writeFile(join(directory, 'marked.yml'), content)
    const ran = await command(['plan', ...flags(), '--files', 'marked.yml', '--project', 'shop/confirm', '--detailed-exitcode', '--json'], {
      directory,
    })
    const { changed, toAdopt, toMark }: { changed: boolean; toAdopt: number; toMark: number } = JSON.parse(ran.stdout)
    return { exitCode: ran.exitCode, changed, toAdopt, toMark }
  }
  const asItIs = `alerts:
  errors:
    name: Checkout errors
    adopt: true
    dashboard: { name: Checkout overview }
    tile: Error rate
    threshold: 0.02
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    message: More than 2% of checkouts fail
`
  expect(await plan(asItIs)).toEqual({ exitCode: 11, changed: false, toAdopt: 1, toMark: 0 })
  await command(['apply', ...flags(), '--files', 'marked.yml', '--project', 'shop/confirm', '--yes'], { directory })
  expect(await plan(asItIs)).toEqual({ exitCode: 0, changed: false, toAdopt: 0, toMark: 0 })
  // The file follows a change that was made in the UI.
  for (const alert of serviceOf(emulator()).alerts) if (alert.name === 'Checkout errors') alert.threshold = 0.03
  expect(await plan(asItIs.replace('0.02', '0.03'))).toEqual({ exitCode: 11, changed: false, toAdopt: 0, toMark: 1 })
})

it('reads the YAML and JSON files of a directory', async () => {
  await mkdir(join(directory, 'files'))
  await writeFile(join(directory, 'files/a.yml'), file)
  await writeFile(join(directory, 'files/b.json'), '{"savedSearches":{}}')
  const ran = await command(['validate', '--profile', 'clickhouse-cloud', '--files', 'files'], { directory })
  expect(ran.stdout).toMatch(/files\/a\.yml[\s\S]*files\/b\.json|2 files/)
})

/** Does something while the question is open, and then says yes. */
async function whileAsked(args: readonly string[], act: () => unknown) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  let stderr = ''
  const write = (text: string): void => {
    stderr += text
    if (text.includes('[y/N]')) void Promise.resolve(act()).then(() => stdin.end('y\n'))
  }
  const exitCode = await runCli(args, {
    script: '',
    env: { ...env, NO_COLOR: '1' },
    directory,
    signals: { on: () => undefined, off: () => undefined, exit: () => undefined },
    stdin,
    stdout: { write: () => undefined },
    stderr: { write, isTTY: true },
  })
  return { exitCode, stderr }
}

it('writes nothing when the service changed while the question was open', async () => {
  const args = ['apply', ...flags(), '--files', 'a.yml', '--project', 'shop/confirm']
  const { exitCode, stderr } = await whileAsked(args, applyAtOnce)
  expect({ exitCode, writes: writes() }).toEqual({ exitCode: 1, writes: ['POST'] })
  expect(stderr).toMatch(/have changed since\s+the plan was made/)
})

it('asks before an update of a dashboard, and says what changes', async () => {
  const { tiles } = serviceOf(emulator()).dashboards.find(({ id }) => id === ids.dashboard) ?? {}
  const document = JSON.stringify({ name: 'Renamed', tiles: (tiles ?? []).map(({ id: _, ...tile }) => tile) })
  const ran = await command(['update-dashboard', ...flags(), ids.dashboard, '--dashboard', document], {
    typed: 'n\n',
  })
  expect(ran.stderr).toContain('name: Checkout overview → Renamed')
  expect(ran.stderr).toContain('Change this dashboard? [y/N]')
  expect(writes()).toEqual([])
})

it('asks before an update of a dashboard deletes alerts, and deletes only those that it named', async () => {
  const args = ['update-dashboard', ...flags(), ids.dashboard, '--dashboard', '{ name: Empty, tiles: [] }']
  const ran = await command(args, { typed: 'n\n' })
  expect(ran.stderr).toMatch(/Change the dashboard, which deletes \d+ alerts?\? \[y\/N\]/)
  expect(ran.exitCode).toBe(130)
  const { alerts } = serviceOf(emulator())
  const [alert] = alerts.filter(({ dashboardId }) => dashboardId === ids.dashboard)
  if (alert === undefined) throw new Error('the shop has changed')
  const added = { ...alert, id: 'f'.repeat(24) }
  const refused = await whileAsked(args, () => void alerts.push(added))
  expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(
    `Alert ${added.id} was added to the dashboard while the question was open. Nothing was written.`,
  )
  expect([refused.exitCode, writes()]).toEqual([1, []])
  expect(await command(args, { typed: 'y\n' })).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Dashboard Empty') })
  expect([writes(), serviceOf(emulator()).alerts.some(({ dashboardId }) => dashboardId === ids.dashboard)]).toEqual([['PUT'], false])
})

it('names the organization and the service before the question', async () => {
  expect((await apply({ typed: 'n\n' })).stderr).toMatch(/Organization [\s\S]+service[\s\S]+Apply these changes/)
})

it('prune deletes all objects of a project without declarations only with allow-empty', async () => {
  await applyAtOnce()
  await writeFile(join(directory, 'empty.yml'), 'alerts: {}\n')
  const prune = (...more: readonly string[]) =>
    command(['apply', ...flags(), '--files', 'empty.yml', '--project', 'shop/confirm', '--prune', '--yes', ...more], { directory })
  expect((await prune()).stderr).toContain('or set --allow-empty to delete them')
  expect((await prune('--allow-empty')).stdout).toContain('Applied to shop/confirm (1 deleted)')
})

describe('prune after the last file was deleted', () => {
  const prune = (glob: string, ...more: readonly string[]) =>
    command(['apply', ...flags(), '--files', glob, '--project', 'shop/confirm', '--prune', '--yes', ...more], { directory })

  it.each(['gone/**/*.yml', 'gone', 'gone/a.yml'])('deletes all objects only with allow-empty: %s', async (glob) => {
    await applyAtOnce()
    const refused = await prune(glob)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(
      `files: no file matches ${glob}, so --prune would delete all objects of the project; check the globs, or set --allow-empty to delete them`,
    )
    expect(writes()).toEqual(['POST'])
    const pruned = await prune(glob, '--allow-empty')
    expect(pruned.stdout).toContain('Applied to shop/confirm (1 deleted)')
    expect(pruned.exitCode).toBe(0)
    expect(writes()).toEqual(['POST', 'DELETE'])
  })

  it('shows the deletes in a plan', async () => {
    await applyAtOnce()
    const plan = (...more: readonly string[]) =>
      command(['plan', ...flags(), '--files', 'gone', '--project', 'shop/confirm', ...more], { directory })
    expect((await plan('--prune', '--allow-empty')).stdout).toContain('Plan for shop/confirm (1 to delete)')
    expect((await plan('--prune')).exitCode).toBe(2)
  })

  it('does not accept missing files with allow-empty where nothing is pruned', async () => {
    const ran = await command(['apply', ...flags(), '--files', 'gone', '--project', 'shop/confirm', '--yes', '--allow-empty'], {
      directory,
    })
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('files: no file matches gone')])
    expect(ran.stderr).not.toContain('set allow-empty')
  })

  it('refuses a file that is missing beside another, whatever is set', async () => {
    await applyAtOnce()
    const ran = await command(
      ['apply', ...flags(), '--files', 'a.yml', '--files', 'b.yml', '--project', 'shop/confirm', '--prune', '--allow-empty', '--yes'],
      { directory },
    )
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('no file matches b.yml')])
    expect(writes()).toEqual(['POST'])
  })
})

it('R6: after a signal during a write, the exit code says whether the server may have carried it out', async () => {
  const alert = {
    ...{ name: 'Lost', dashboard: ids.dashboard, tile: ids.tile, threshold: 1, interval: '1h' },
    channel: { type: 'webhook', webhookId: '0'.repeat(24) },
  }
  for (const [args, method, code] of [
    [['delete-alert', ids.alert], 'DELETE', 4],
    // The server knows no such webhook.
    [['create-alert', '--alert', JSON.stringify(alert)], 'POST', 130],
  ] as const) {
    let interrupt = (): void => undefined
    editDuring(emulator(), { method }, () => interrupt())
    const exitCode = await runCli([...args, ...flags(), '--yes'], {
      script: '',
      env: { ...env, NO_COLOR: '1' },
      directory,
      signals: {
        on(name, handler) {
          if (name === 'SIGINT') interrupt = handler
        },
        off: () => undefined,
        exit: () => undefined,
      },
      stdin: new PassThrough(),
      stdout: { write: () => undefined },
      stderr: { write: () => undefined },
    })
    expect(exitCode).toBe(code)
  }
})
