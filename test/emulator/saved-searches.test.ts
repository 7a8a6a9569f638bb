import { describe, expect, it } from 'vitest'
import { call, checkoutOf, clickstack, logsId, startCloud } from './support.ts'

const path = `${clickstack}/saved-searches`

describe('a saved search', () => {
  it('is created, read, replaced and deleted', async () => {
    const emulator = await startCloud()
    const body = { name: 'Slow', sourceId: logsId(emulator), where: 'x', whereLanguage: 'sql', filters: [{ condition: 'a = 1' }] }
    const { json } = await call(emulator, 'POST', path, { body })
    const { id } = json.result
    expect(json.result).toMatchObject({ ...body, filters: [{ type: 'sql', condition: 'a = 1' }], createdAt: '2026-03-21T09:30:00.000Z' })
    expect((await call(emulator, 'GET', path)).json.result).toHaveLength(2)
    const replaced = await call(emulator, 'PUT', `${path}/${id}`, { body: { name: 'Slower', sourceId: logsId(emulator) } })
    expect(replaced.json.result).toEqual({ ...json.result, name: 'Slower', where: undefined, whereLanguage: undefined, filters: undefined })
    expect((await call(emulator, 'GET', `${path}/${id}`)).json.result).toEqual(replaced.json.result)
    expect((await call(emulator, 'DELETE', `${path}/${id}`)).status).toBe(200)
    expect((await call(emulator, 'GET', `${path}/${id}`)).status).toBe(404)
  })

  it('takes its alerts with it', async () => {
    const emulator = await startCloud()
    const { savedSearches } = checkoutOf(emulator)
    await call(emulator, 'DELETE', `${path}/${savedSearches[0]?.id}`)
    expect(checkoutOf(emulator).alerts.filter(({ source }) => source === 'saved_search')).toEqual([])
    expect(checkoutOf(emulator).alerts).toHaveLength(5)
  })

  it.each([
    [{ sourceId: 'ffffffffffffffffffffffff' }, 'sourceId: source ffffffffffffffffffffffff does not exist'],
    [{ name: '' }, 'name: '],
    [{ id: 'x' }, "request body property can't be validated: id"],
  ])('is refused with %j', async (change, text) => {
    const emulator = await startCloud()
    const { status, json } = await call(emulator, 'POST', path, { body: { name: 'N', sourceId: logsId(emulator), ...change } })
    expect(status).toBe(400)
    expect(json.error).toContain(`BAD_REQUEST: ${text}`)
  })
})
