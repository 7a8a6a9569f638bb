import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { backup, observability, organization, service, startLiteralServer } from '../../../support/literal-server.ts'
import { runAsAction } from '../../../support/run-as-action.ts'

let server: Awaited<ReturnType<typeof startLiteralServer>>

beforeAll(async () => {
  server = await startLiteralServer()
})
beforeEach(() => void server.received.splice(0))
afterAll(() => server.close())

let runs = 0

/** A key for each run, because all runs of a process share the rate limit of a key. */
const keyId = (): string => `key-${++runs}`

const run = (operation: string, inputs: Readonly<Record<string, string>> = {}) =>
  runAsAction({
    inputs: {
      operation,
      'api-url': server.url,
      'api-key-id': keyId(),
      'api-key-secret': 'key-secret',
      'organization-id': organization,
      'service-id': service,
      ...inputs,
    },
    env: { WATCHKEEPER_OBSERVABILITY_PATH: 'observability' },
    files: { 'a.yml': 'dashboards: { overview: { name: Overview, tiles: [] } }\n' },
    secrets: ['key-secret'],
  })

/** The only request that writes. */
function sentAlert(): unknown {
  const [write, second] = server.received.filter(({ call }) => !call.startsWith('GET '))
  if (write?.call !== `POST ${observability}/alerts` || second !== undefined) throw new Error(`it sent ${write?.call}, ${second?.call}`)
  return JSON.parse(write.body)
}

describe('on a server that follows the first contract to the letter', () => {
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
    expect(server.received).toHaveLength(1)
    expect(server.received[0]?.authorization).toBe(`Basic ${Buffer.from(`key-${runs}:key-secret`).toString('base64')}`)
    expect(sentAlert()).toEqual({
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
    expect(server.received).toHaveLength(1)
    expect(sentAlert()).toEqual(payload)
  })

  it('sends only fields that were set', async () => {
    await run('create-alert', {
      alert: `{ name: Errors, dashboard: ${dashboardId}, tile: ${tileId}, threshold: 0.5, interval: 5m, channel: { type: webhook, webhook: ${webhookId} } }`,
    })
    expect(Object.keys(sentAlert() as object).toSorted()).toEqual([
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

  it('finds the dashboard and the tile of an alert by their names, and lists nothing else for that', async () => {
    const ran = await run('create-alert', {
      alert:
        '{ name: Errors, dashboard: Overview, tile: Errors, threshold: 5, interval: 1h, channel: { type: webhook, webhookId: hook-1 } }',
    })
    expect(ran.outputs.get('id')).toBe('alert-1')
    expect(server.received.map(({ call }) => call)).toEqual([`GET ${observability}/dashboards`, `POST ${observability}/alerts`])
    expect(sentAlert()).toMatchObject({ dashboardId: 'dash-1', tileId: 'tile-1' })
  })

  it('says that a webhook cannot be found by its name', async () => {
    const ran = await run('create-alert', {
      alert: '{ name: Errors, dashboard: Overview, tile: Errors, threshold: 5, interval: 1h, channel: { type: webhook, webhook: oncall } }',
    })
    expect(ran.outputs.get('failure-reason')).toBe('This server has no webhooks, which this operation needs: it answers 404 for them.')
  })

  it.each(['plan', 'apply', 'drift', 'pull'])(
    'says in one sentence what the server lacks for %s, and writes nothing',
    async (operation) => {
      const ran = await run(operation, { project: 'shop/first', files: operation === 'pull' ? 'observability' : 'a.yml' })
      expect([ran.exitCode, ran.outputs.get('failure-reason')]).toEqual([
        1,
        'This server has no saved searches and no webhooks, which this operation needs: it answers 404 for them.',
      ])
      expect(server.received.filter(({ call }) => !call.startsWith('GET '))).toEqual([])
    },
  )

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
