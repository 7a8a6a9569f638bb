import { describe, expect, it } from 'vitest'
import { type Backup, demo } from '../../../src/emulator/index.ts'
import { call, checkoutOf, now, servicePath, start, startCloud } from './support.ts'

const list = async (name: keyof typeof demo.services): Promise<Backup[]> =>
  (await call(await start(), 'GET', `${servicePath(name)}/backups`)).json.result

const ageHours = (time: string | undefined): number => (now - Date.parse(time ?? '')) / 3_600_000

describe('backups', () => {
  it('are listed most recent first, in whatever order they are stored', async () => {
    const emulator = await start()
    const before = checkoutOf(emulator).backups.map(({ id }) => id)
    checkoutOf(emulator).backups.reverse()
    const { json } = await call(emulator, 'GET', `${servicePath('checkout')}/backups`)
    expect(json.result.map(({ id }: Backup) => id)).toEqual(before)
  })

  it('are read by their uuid', async () => {
    const emulator = await start()
    const [, second] = checkoutOf(emulator).backups
    const { json } = await call(emulator, 'GET', `${servicePath('checkout')}/backups/${second?.id}`)
    expect(json.result).toEqual(second)
    expect((await call(emulator, 'GET', `${servicePath('catalog')}/backups/${second?.id}`)).status).toBe(404)
  })

  it('say when, how large, how long and where', async () => {
    const [newest] = await list('checkout')
    expect(newest).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'done',
      serviceId: demo.services.checkout,
      startedAt: '2026-03-21T06:21:00.000Z',
      finishedAt: '2026-03-21T06:30:00.000Z',
      sizeInBytes: expect.any(Number),
      durationInSeconds: 540,
      type: 'incremental',
      backupName: 'checkout-2026-03-21',
      bucket: {
        bucketProvider: 'AWS',
        bucketPath: expect.any(String),
        iamRoleArn: expect.any(String),
        iamRoleSessionName: expect.any(String),
      },
    })
  })

  it('of the shop are fresh for checkout, stale for catalog, and failing for search', async () => {
    const [checkout, catalog, search] = [await list('checkout'), await list('catalog'), await list('search')]
    expect([checkout.length, catalog.length, search.length]).toEqual([10, 10, 10])
    expect([checkout[0]?.status, ageHours(checkout[0]?.finishedAt)]).toEqual(['done', 3])
    expect([catalog[0]?.status, ageHours(catalog[0]?.finishedAt)]).toEqual(['done', 50])
    expect([search[0]?.status, search[0]?.finishedAt]).toEqual(['error', undefined])
    expect([search[1]?.status, ageHours(search[1]?.finishedAt)]).toEqual(['done', 29])
  })

  it('have a configuration in the cloud dialect', async () => {
    const { json } = await call(await startCloud(), 'GET', `${servicePath('checkout')}/backupConfiguration`)
    expect(json.result).toEqual({ backupPeriodInHours: 24, backupRetentionPeriodInHours: 240 })
  })
})
