import { expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud' })

const list = () => invokeText({ inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'list-alerts' } })

const firstAlert = () => {
  const alert = emulator().store.organizations[0]?.services[0]?.alerts[0]
  if (alert === undefined) throw new Error('The demo service has no alert')
  return alert
}

it('shows the last execution error of an alert', async () => {
  firstAlert().executionErrors = [{ timestamp: '2026-11-01T00:00:00.000Z', type: 'QUERY_ERROR', message: 'Unknown identifier' }]
  const { blocks } = await list()
  expect(JSON.stringify(blocks)).toContain('Unknown identifier')
})

it('says once why ids are shown in place of names', async () => {
  emulator().addFault({ match: { path: '/dashboards' }, effect: { kind: 'status', status: 403 } })
  const { blocks, document } = await list()
  expect(document).toMatchObject({ status: 'pass', namesFailure: expect.stringContaining('403') })
  expect(JSON.stringify(blocks).match(/Ids are shown in place of names/g)).toHaveLength(1)
  expect(JSON.stringify((await list()).blocks)).not.toContain('Ids are shown')
})

it('lists alerts whose execution errors have an unknown shape', async () => {
  firstAlert().executionErrors = ['a text'] as never
  const { document } = await list()
  expect(document).toMatchObject({ status: 'pass', count: 6 })
})
