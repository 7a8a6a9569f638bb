// The neutral contract taken literally, by a server that shares nothing with the emulator: what a user's own gateway may be.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runAsAction } from '../../support/run-as-action.ts'

const organization = '11111111-2222-4333-8444-555555555555'
const service = '66666666-7777-4888-8999-aaaaaaaaaaaa'
const backup = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff'
const base = `/v1/organizations/${organization}`

const answers: Readonly<Record<string, unknown>> = {
  [`GET ${base}/services/${service}/observability/dashboards`]: [
    { id: 'dash-1', name: 'Overview', tiles: [{ id: 'tile-1', name: 'Errors' }] },
  ],
  [`GET ${base}/services/${service}/observability/sources`]: { data: [{ id: 'source-1', name: 'Logs', kind: 'log' }] },
  [`POST ${base}/services/${service}/observability/alerts`]: { data: { id: 'alert-1', name: 'Errors', state: 'OK' } },
  [`GET ${base}/usageCost?from_date=2026-01-01&to_date=2026-01-31`]: {
    status: 200,
    requestId: 'req-1',
    result: {
      grandTotalCredits: 12.5,
      costs: {
        dataWarehouseId: 'w',
        serviceId: null,
        date: '2026-01-01',
        entityId: 'w',
        entityName: 'warehouse',
        metrics: { storageCredits: 2.5, backupCredits: 10, interRegionTier1DataTransferCredits: 0 },
        totalCredits: 12.5,
        locked: true,
      },
    },
  },
  [`GET ${base}/services/${service}/backups/${backup}`]: {
    status: 200,
    requestId: 'req-2',
    result: {
      id: backup,
      serviceId: service,
      startedAt: '2026-01-01T00:00:00Z',
      finishedAt: '2026-01-01T01:00:00Z',
      sizeInBytes: 1024,
      durationInSeconds: 3600,
      backupName: 'nightly',
      bucket: { bucketPath: 's3://b/p', iamRoleArn: 'arn:x', iamRoleSessionName: 's' },
    },
  },
}

const received: { call: string; body: string; authorization: string | undefined }[] = []
let server: Server
let url: string

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = `${request.method} ${request.url}`
      received.push({ call, body: Buffer.concat(chunks).toString(), authorization: request.headers.authorization })
      response
        .writeHead(call in answers ? 200 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(answers[call] ?? { error: 'nope' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => void received.splice(0))
afterAll(() => void server.close())

const run = (operation: string, inputs: Readonly<Record<string, string>> = {}) =>
  runAsAction({
    inputs: {
      operation,
      'api-url': url,
      'api-key-id': 'key-id',
      'api-key-secret': 'key-secret',
      'organization-id': organization,
      'service-id': service,
      ...inputs,
    },
    secrets: ['key-secret'],
  })

describe('on a server that follows the neutral contract to the letter', () => {
  it('lists dashboards', async () => {
    const ran = await run('list-dashboards')
    expect(ran.outputs.get('ids')).toBe('["dash-1"]')
    expect(ran.exitCode).toBe(0)
  })

  it('lists sources', async () => {
    expect((await run('list-sources')).outputs.get('ids')).toBe('["source-1"]')
  })

  const [dashboardId, tileId, webhookId] = ['c', 'e', 'b'].map((end) => end.padStart(24, '0'))

  it('creates an alert with exactly the documented payload and exactly one request', async () => {
    const ran = await run('create-alert', {
      alert: `{ name: Errors, dashboard: ${dashboardId}, tile: ${tileId}, threshold: 5, interval: 1h, message: Too many, channel: { type: webhook, webhook: ${webhookId} } }`,
    })
    expect(ran.outputs.get('id')).toBe('alert-1')
    expect(ran.outputs.get('changed')).toBe('true')
    expect(received).toHaveLength(1)
    expect(received[0]?.call).toBe(`POST ${base}/services/${service}/observability/alerts`)
    expect(received[0]?.authorization).toBe(`Basic ${Buffer.from('key-id:key-secret').toString('base64')}`)
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      dashboardId,
      tileId,
      threshold: 5,
      interval: '1h',
      source: 'tile',
      thresholdType: 'above',
      channel: { type: 'webhook', webhookId },
      name: 'Errors',
      message: 'Too many',
    })
  })

  it('takes the documented payload word for word, with any ids, and sends exactly that', async () => {
    const payload = {
      dashboardId: 'dash-1',
      tileId: 'tile-1',
      threshold: 100,
      interval: '1h',
      source: 'tile',
      thresholdType: 'above',
      channel: { type: 'webhook', webhookId: 'hook-1' },
      name: 'Error Spike Alert',
      message: 'Error rate has exceeded 100 in the last hour',
    }
    const ran = await run('create-alert', { alert: JSON.stringify(payload) })
    expect(ran.outputs.get('id')).toBe('alert-1')
    expect(received.map(({ call }) => call)).toEqual([`POST ${base}/services/${service}/observability/alerts`])
    expect(JSON.parse(received[0]?.body ?? '')).toEqual(payload)
  })

  it('sends only fields that were set', async () => {
    await run('create-alert', {
      alert: `{ name: Errors, dashboard: ${dashboardId}, tile: ${tileId}, threshold: 0.5, interval: 5m, channel: { type: webhook, webhook: ${webhookId} } }`,
    })
    expect(Object.keys(JSON.parse(received[0]?.body ?? '')).toSorted()).toEqual([
      'channel',
      'dashboardId',
      'interval',
      'name',
      'source',
      'threshold',
      'thresholdType',
      'tileId',
    ])
  })

  it('reads the usage cost, one record as an object', async () => {
    const ran = await run('usage-cost', { period: '2026-01-01..2026-01-31', budget: '12.5', 'on-missing': 'ignore' })
    expect(ran.outputs.get('grand-total-credits')).toBe('12.5')
    expect(ran.outputs.get('unit')).toBe('Credits')
    expect(ran.result).toMatchObject({ requestId: 'req-1' })
    expect(ran.outputs.get('status')).toBe('pass')
  })

  it('reads a backup', async () => {
    const ran = await run('get-backup', { id: backup })
    expect(ran.result).toMatchObject({
      id: backup,
      backupName: 'nightly',
      backupSizeBytes: 1024,
      backupDurationSeconds: 3600,
      backupBucketPath: 's3://b/p',
      backupStartedAt: '2026-01-01T00:00:00.000Z',
    })
  })
})
