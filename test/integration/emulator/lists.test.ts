import { describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../../src/emulator/index.ts'
import { alertBody, call, callHyperdx, clickstack, dashboardBody, observability, start, startCloud, startHyperdx } from './support.ts'

describe('ids', () => {
  it('say nothing about the order of creation, and are the same after a reset', async () => {
    const emulator = await startCloud()
    const create = async (): Promise<string[]> => {
      const ids: string[] = []
      for (let i = 0; i < 5; i++)
        ids.push((await call(emulator, 'POST', `${clickstack}/alerts`, { body: alertBody(emulator) })).json.result.id)
      return ids
    }
    const created = await create()
    expect(new Set(created).size).toBe(5)
    expect(created.every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true)
    expect(created.toSorted()).not.toEqual(created)
    expect(created.toSorted()).not.toEqual(created.toReversed())
    const { json } = await call(emulator, 'GET', `${clickstack}/alerts`)
    const listed = json.result.map(({ id }: { id: string }) => id)
    expect(listed).toEqual(listed.toSorted())
    emulator.reset()
    expect(await create()).toEqual(created)
  })
})

describe('a list that is paged', () => {
  const read = async (options: EmulatorOptions, query = '') => {
    const emulator = await startCloud(options)
    const { json, headers } = await call(emulator, 'GET', `${clickstack}/alerts${query}`)
    return [json.result.length, headers.get('x-total-count'), Object.keys(json)]
  }
  const envelope = ['status', 'requestId', 'result']

  it('comes with its total in a header, and nothing more in the envelope', async () => {
    expect(await read({})).toEqual([6, '6', envelope])
    expect(await read({}, '?limit=2&offset=5')).toEqual([1, '6', envelope])
  })

  it('comes without total when the gateway drops it', async () => {
    expect(await read({ totalCount: 'hidden' }, '?limit=2')).toEqual([2, null, envelope])
    const emulator = await startHyperdx({ totalCount: 'hidden' })
    const { json, headers } = await callHyperdx(emulator, 'GET', 'alerts')
    expect([Object.keys(json), headers.get('x-total-count')]).toEqual([['data'], null])
  })

  it('comes whole when the gateway does not forward the query', async () => {
    expect(await read({ paging: 'ignored' }, '?limit=2&offset=5')).toEqual([6, '6', envelope])
  })

  it('is cut at the page limit without a word', async () => {
    expect(await read({ pageLimit: 4 }, '?limit=1000')).toEqual([4, '6', envelope])
    expect(await read({ pageLimit: 4 }, '?offset=4')).toEqual([2, '6', envelope])
    expect(await read({ pageLimit: 4, totalCount: 'hidden', paging: 'ignored' }, '?offset=4')).toEqual([4, null, envelope])
  })

  it('has no total in the neutral dialect, whose contract shows none', async () => {
    const { headers } = await call(await start(), 'GET', `${observability}/alerts`)
    expect(headers.get('x-total-count')).toBeNull()
  })
})

describe('a list that is not paged', () => {
  it('is answered whole, also beyond a thousand, unless there is a page limit', async () => {
    const emulator = await startHyperdx({ rateLimit: 'off' })
    const { id: _, ...plain } = dashboardBody(emulator)
    for (let i = 0; i < 1001; i++) emulator.saveInWebApp({ ...plain, name: `Dashboard ${i}`, tiles: [] })
    expect((await callHyperdx(emulator, 'GET', 'dashboards?limit=1')).json.data).toHaveLength(1004)
    const limited = await startHyperdx({ pageLimit: 2 })
    expect((await callHyperdx(limited, 'GET', 'dashboards')).json.data).toHaveLength(2)
  })
})
