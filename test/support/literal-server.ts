// The API's first contract taken literally, by a server that shares nothing with the emulator: what a user's own gateway may be.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const organization = '11111111-2222-4333-8444-555555555555'
export const service = '66666666-7777-4888-8999-aaaaaaaaaaaa'
export const backup = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff'
const base = `/v1/organizations/${organization}`
export const observability = `${base}/services/${service}/observability`

const storedBackup = {
  id: backup,
  serviceId: service,
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: '2026-01-01T01:00:00Z',
  sizeInBytes: 1024,
  durationInSeconds: 3600,
  backupName: 'nightly',
  bucket: { bucketPath: 's3://b/p', iamRoleArn: 'arn:x', iamRoleSessionName: 's' },
}

/** Everything else, such as saved searches and webhooks, answers 404. */
const answers: Readonly<Record<string, unknown>> = {
  [`GET ${observability}/dashboards`]: [{ id: 'dash-1', name: 'Overview', tiles: [{ id: 'tile-1', name: 'Errors' }] }],
  [`GET ${observability}/alerts`]: [],
  [`GET ${observability}/sources`]: { data: [{ id: 'source-1', name: 'Logs', kind: 'log' }] },
  [`POST ${observability}/alerts`]: { data: { id: 'alert-1', name: 'Errors', state: 'OK' } },
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
  [`GET ${base}/services/${service}/backups/${backup}`]: { status: 200, requestId: 'req-2', result: storedBackup },
}

interface Received {
  readonly call: string
  readonly body: string
  readonly authorization: string | undefined
}

export async function startLiteralServer() {
  const received: Received[] = []
  const server = createServer((request, response) => {
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
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () => void server.close(),
  }
}
