import { expect, it } from 'vitest'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud' })

const run = (operation: string) => invokeText({ inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation } })

it('lists webhooks by name without their URLs', async () => {
  const { document } = await run('list-webhooks')
  expect(document).toMatchObject({ status: 'pass' })
  expect(document.items).toContainEqual(expect.objectContaining({ name: expect.any(String), service: expect.any(String) }))
  expect(JSON.stringify(document)).not.toContain('https://')
})

it('lists the owner of a managed webhook, and no digest of its secrets', async () => {
  const webhook = { name: 'Pager', service: 'generic', urlFrom: 'WEBHOOK_URL', headersFrom: { Authorization: 'WEBHOOK_TOKEN' }, body: '{}' }
  const applied = await invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'apply', project: 'shop' },
    files: { 'observability/a.yml': JSON.stringify({ webhooks: { pager: webhook } }) },
    env: { WEBHOOK_URL: 'https://hooks.example.com/abcdefghij', WEBHOOK_TOKEN: 'token-1234567890' },
  })
  expect(applied.document).toMatchObject({ status: 'pass' })
  const stored = serviceOf(emulator()).webhooks.find(({ name }) => name === 'Pager')
  expect(stored?.description).toContain('watchkeeper-secrets')
  const { document } = await run('list-webhooks')
  expect(document.owners).toEqual({ [String(stored?.id)]: { project: 'shop', key: 'pager' } })
  expect(document.items).toContainEqual({ id: stored?.id, name: 'Pager', service: 'generic' })
  expect(JSON.stringify(document)).not.toContain('watchkeeper-secrets')
})

it('names the dashboard and the channel of each listed alert', async () => {
  const { blocks, document } = await run('list-alerts')
  const names = Object.values(document.names as Record<string, string>)
  expect(names.length).toBeGreaterThan(1)
  for (const name of names) expect(JSON.stringify(blocks)).toContain(name)
})

it('lists alerts with ids where the names cannot be read', async () => {
  emulator().addFault({ match: { method: 'GET', path: '/dashboards' }, times: 9, effect: { kind: 'status', status: 500 } })
  const { document } = await run('list-alerts')
  expect(document).toMatchObject({ status: 'pass', count: 6 })
})
