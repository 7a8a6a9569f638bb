import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { ErrorKind } from '../../src/core/errors.ts'
import type { Effect } from '../../src/emulator/index.ts'
import { alertCollection } from '../../src/kinds/alert/alert.ts'
import { dashboardCollection } from '../../src/kinds/dashboard/dashboard-wire.ts'
import { useEmulator } from '../support/emulator.ts'
import { apiErrorOf, service, type TestSession, withSession } from '../support/session.ts'

const emulator = useEmulator()

const list = ({ api }: TestSession) => alertCollection.list(api, service)

const gzipped = (text: string) => ({ kind: 'body', bytes: gzipSync(text), headers: { 'content-encoding': 'gzip' } }) as const

// Each of these once took minutes, with deadline and signals unheard: nothing else runs while one of them is read.
describe('an answer that is made to be slow is refused while it can still be canceled', () => {
  it.each<[string, Effect, ErrorKind]>([
    [
      'a page of nothing but opening brackets',
      { kind: 'status', status: 400, body: '<'.repeat(1_000_000), contentType: 'text/html' },
      'refused',
    ],
    ['thirty million numbers in 60 kB', gzipped(`[${'0,'.repeat(30_000_000)}0]`), 'bad-answer'],
    ['a million elements that do not fit', gzipped(`[${'0,'.repeat(1_000_000)}0]`), 'bad-answer'],
    [
      'a mistake at the end of 36 MB',
      gzipped(`[${'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",'.repeat(650_000)}}`),
      'bad-answer',
    ],
  ])('%s', async (_, effect, kind) => {
    const startedAt = performance.now()
    const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ times: 2, effect }] }))
    expect(error.kind).toBe(kind)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})

describe('a 404', () => {
  it.each([
    ['without a body', ''],
    ['with a page', '<html><body>Cannot GET /x</body></html>'],
  ])('%s is an address that does not serve the API', async (_, body) => {
    const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ effect: { kind: 'status', status: 404, body } }] }))
    expect(error.kind).toBe('not-served')
  })

  it('a 404 without a body deletes nothing', async () => {
    const remove = ({ api }: TestSession) => alertCollection.remove(api, service, '65f5e4a35eedc0de0000001f')
    const error = await apiErrorOf(withSession(emulator(), remove, { faults: [{ effect: { kind: 'status', status: 404, body: '' } }] }))
    expect(error.kind).toBe('not-served')
  })

  it('a 404 of a list is about the service', async () => {
    const elsewhere = { ...service, serviceId: 'c0ffee00-0000-4000-8000-0000000000ff' }
    const error = await apiErrorOf(withSession(emulator(), ({ api }) => dashboardCollection.list(api, elsewhere)))
    expect(error.message).toContain('The service does not exist')
  })
})

describe('closing a session', () => {
  it('ends what is still under way: the report of a failed window does not wait for the others', async () => {
    const ended = withSession(
      emulator(),
      async (session) => {
        const waiting = list(session).catch((thrown: unknown) => thrown)
        while (emulator().requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
        await session.close()
        return waiting
      },
      { faults: [{ effect: { kind: 'hang' } }] },
    )
    expect(await ended).toMatchObject({ kind: 'canceled' })
  })
})
