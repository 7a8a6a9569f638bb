import { expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud' })

const run = (operation: string) => invokeText({ inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation } })

it('lists webhooks by name without their URLs', async () => {
  const { document } = await run('list-webhooks')
  expect(document).toMatchObject({ status: 'pass' })
  expect(document.items).toContainEqual(expect.objectContaining({ name: expect.any(String), service: expect.any(String) }))
  expect(JSON.stringify(document)).not.toContain('https://')
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
