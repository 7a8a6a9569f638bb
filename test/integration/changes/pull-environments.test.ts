import { expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { passed, written } from '../../support/declarations.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })

const path = 'observability/service.yml'

const text = written(`dashboards:
  overview:
    name: Overview (‹env.STAGE›)
    tags: ['‹env.STAGE›']
    tiles:
      - { name: Errors, x: 0, y: 0, w: 12, h: 6, config: { displayType: number, sourceId: { source: Logs }, select: [{ aggFn: count }] } }
alerts:
  errors:
    name: Errors (‹env.STAGE›)
    dashboard: overview
    tile: Errors
    threshold: ‹env.LIMIT›    # differs
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    message: More than ‹env.LIMIT› errors
    note: Look at the logs.
`)

const stages = { prod: demo.services.catalog, staging: demo.services.search }

const run = (operation: string, stage: keyof typeof stages, file = text) =>
  invokeText({
    inputs: {
      ...inputsFor(emulator(), 'clickhouse-cloud'),
      operation,
      project: 'shop',
      files: path,
      'service-id': stages[stage],
    },
    env: passed({ STAGE: stage, LIMIT: stage === 'prod' ? '5' : '50' }),
    files: { [path]: file },
  })

/** The services have nothing but what the file declares. */
async function applyBoth(): Promise<void> {
  for (const service of emulator().store.organizations[0]?.services ?? [])
    Object.assign(service, { dashboards: [], alerts: [], savedSearches: [] })
  for (const stage of ['prod', 'staging'] as const)
    if ((await run('apply', stage)).exitCode !== 0) throw new Error(`${stage} was not applied`)
}

it('pulls two services into one file with expressions without a change', async () => {
  await applyBoth()
  for (const stage of ['prod', 'staging'] as const)
    expect((await run('pull', stage)).document).toMatchObject({ status: 'pass', changed: false, unchanged: 2 })
})

it('warns when a value of one service replaces an expression', async () => {
  await applyBoth()
  const alert = emulator().store.organizations[0]?.services.find(({ id }) => id === stages.staging)?.alerts[0]
  if (alert !== undefined) alert.threshold = 60
  const { document, files } = await run('pull', 'staging')
  expect(document).toMatchObject({
    status: 'warn',
    updated: 1,
    diagnostics: [
      {
        rule: 'expression-replaced',
        message: expect.stringContaining(written('alerts.errors: the value in the service replaced ‹env.LIMIT›')),
      },
    ],
  })
  const pulled = files.find(({ path }) => !path.startsWith('environments/'))?.content
  // The base of the changed object is in the file, too.
  expect(pulled?.replace(/^ +adopt: \S+\n/m, '')).toBe(text.replace(written('threshold: ‹env.LIMIT›    #'), 'threshold: 60    #'))
  expect((await run('plan', 'staging', pulled)).document).toMatchObject({ changed: false })
  expect((await run('plan', 'prod', pulled)).document).toMatchObject({ toUpdate: 1 })
})
