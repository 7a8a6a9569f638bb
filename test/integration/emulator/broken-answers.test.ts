import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../../src/emulator/index.ts'
import { admin, basic, call, callRaw, observability, start } from './support.ts'

const alerts = `${observability}/alerts`

async function under(effect: Effect) {
  const emulator = await start()
  const { text: whole } = await call(emulator, 'GET', alerts)
  emulator.addFault({ effect })
  const { text, end } = await callRaw(emulator, alerts)
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return { emulator, whole, text, head: head.toLowerCase(), body: rest.join('\r\n\r\n'), end, status: emulator.requests.at(-1)?.status }
}

describe('an answer that breaks off', () => {
  it('is reset before any byte', async () => {
    expect(await under({ kind: 'reset' })).toMatchObject({ text: '', end: 'reset', status: undefined })
  })

  it('is reset in the middle of its headers', async () => {
    const { text, end, status } = await under({ kind: 'reset-in-headers' })
    expect([text, end, status]).toEqual(['HTTP/1.1 200 OK\r\nContent-Type: applicat', 'reset', undefined])
  })

  it('is reset in the middle of its body', async () => {
    const { head, body, whole, end, status } = await under({ kind: 'reset-in-body' })
    expect(head).toContain(`content-length: ${whole.length}`)
    expect([body, end, status]).toEqual([whole.slice(0, Math.floor(whole.length / 2)), 'reset', 200])
    expect((await under({ kind: 'reset-in-body', bytes: 3 })).body).toBe(whole.slice(0, 3))
  })

  it('ends cleanly after half of its body, and never said how long it would be', async () => {
    const { head, body, whole, end } = await under({ kind: 'truncate' })
    expect(head).toContain('connection: close')
    expect(head).not.toMatch(/content-length|transfer-encoding/)
    expect([body, end]).toEqual([whole.slice(0, Math.floor(whole.length / 2)), 'end'])
    expect((await under({ kind: 'truncate', bytes: 0 })).body).toBe('')
  })

  it('looks whole to a client that believes the end of the connection', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'truncate', bytes: 10 } })
    expect(await call(emulator, 'GET', alerts)).toMatchObject({ status: 200, text: '[{"id":"65', json: undefined })
  })

  it('ends before the length that it promised', async () => {
    const { head, body, whole, end } = await under({ kind: 'short-length' })
    expect(head).toContain(`content-length: ${whole.length + 64}`)
    expect([body, end]).toEqual([whole, 'end'])
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'short-length' } })
    await expect(call(emulator, 'GET', alerts)).rejects.toThrow()
  })

  it('leaves the server able to answer the next one', async () => {
    const emulator = await start()
    const effects: Effect[] = [{ kind: 'reset' }, { kind: 'reset-in-headers' }, { kind: 'reset-in-body' }, { kind: 'short-length' }]
    for (const [index, effect] of effects.entries()) emulator.addFault({ nth: index + 1, effect })
    for (const _ of effects) await expect(call(emulator, 'GET', alerts)).rejects.toThrow()
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
  })
})

describe('an answer that takes too long', () => {
  it('never begins', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'hang' } })
    const waiting = fetch(`${emulator.url}${alerts}`, { headers: { authorization: basic(admin) }, signal: AbortSignal.timeout(150) })
    await expect(waiting).rejects.toThrow('timeout')
    expect(emulator.requests[0]?.status).toBeUndefined()
  })

  it('drips, a few bytes at a time, and is whole in the end', async () => {
    const emulator = await start()
    const { json: whole } = await call(emulator, 'GET', alerts)
    emulator.addFault({ effect: { kind: 'drip', bytesPerTick: 200, everyMs: 10 } })
    const startedAt = performance.now()
    const { json } = await call(emulator, 'GET', alerts)
    expect(json).toEqual(whole)
    expect(performance.now() - startedAt).toBeGreaterThan((JSON.stringify(whole).length / 200 - 1) * 10)
  })

  it('drips one byte at a time', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'drip', everyMs: 20 } })
    const response = await fetch(`${emulator.url}${alerts}`, { headers: { authorization: basic(admin) } })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toBe('[')
    await reader?.cancel()
  })

  it('never ends', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'endless' } })
    const response = await fetch(`${emulator.url}${alerts}`, { headers: { authorization: basic(admin) } })
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > 4 * 1024 * 1024) break
    }
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024)
    const startedAt = performance.now()
    await emulator.close()
    expect(performance.now() - startedAt).toBeLessThan(500)
  })

  it('grows a thousandfold when it is unpacked, also for a client that never asked for gzip', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'gzip-bomb', mebibytes: 8 } })
    const response = await fetch(`${emulator.url}${alerts}`, { headers: { authorization: basic(admin), 'accept-encoding': 'identity' } })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    const text = await response.text()
    expect(text.length).toBeGreaterThan(8 * 1024 * 1024)
    expect(JSON.parse(text)).toMatchObject({ status: 200 })
  })

  it('is small on the wire when it is a bomb', async () => {
    const { gzipped } = await gzipBombOf(16)
    expect(gzipped.length).toBeLessThan(64 * 1024)
    expect(gunzipSync(gzipped).length).toBeGreaterThan(16 * 1024 * 1024)
  })
})

async function gzipBombOf(mebibytes: number): Promise<{ gzipped: Buffer }> {
  const emulator = await start()
  emulator.addFault({ effect: { kind: 'gzip-bomb', mebibytes } })
  const { get } = await import('node:http')
  return new Promise((resolve, reject) => {
    const sent = get(`${emulator.url}${alerts}`, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ gzipped: Buffer.concat(chunks) })
    })
    sent.on('error', reject)
  })
}
