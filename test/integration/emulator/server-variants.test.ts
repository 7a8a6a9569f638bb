import { expect, it } from 'vitest'
import { call, checkoutOf, clickstack, dashboardBody, lineConfig, startCloud, tile } from './support.ts'

it('a newer server keeps new fields until an update leaves them out', async () => {
  const emulator = await startCloud({ newFieldPrefix: 'novel' })
  const config = { ...lineConfig(emulator), novelty: 1, select: [{ aggFn: 'count', novelItem: { deep: [null] } }] }
  const body = dashboardBody(emulator, { novel: true, tiles: [tile(config, { novelTile: 'x' })] })
  const created = await call(emulator, 'POST', `${clickstack}/dashboards`, { body })
  const path = `${clickstack}/dashboards/${created.json.result.id}`
  const { json } = await call(emulator, 'GET', path)
  expect(json.result).toEqual(created.json.result)
  expect(json.result).toMatchObject({
    novel: true,
    tiles: [{ novelTile: 'x', config: { novelty: 1, select: [{ novelItem: { deep: [null] } }] } }],
  })
  const { id: _, novel: __, ...kept } = json.result
  expect((await call(emulator, 'PUT', path, { body: kept })).json.result).toEqual({ id: json.result.id, ...kept })
  expect(checkoutOf(emulator).dashboards.at(-1)).not.toHaveProperty('novel')
  expect((await call(emulator, 'POST', `${clickstack}/dashboards`, { body: { ...body, owner: 'me' } })).status).toBe(400)
})

it('the gateway rejects new fields without that option', async () => {
  const emulator = await startCloud()
  const { json } = await call(emulator, 'POST', `${clickstack}/dashboards`, { body: dashboardBody(emulator, { novel: true }) })
  expect(json.error).toBe("BAD_REQUEST: request body property can't be validated: novel")
})
