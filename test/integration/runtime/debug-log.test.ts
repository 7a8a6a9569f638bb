import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { createClient } from '../../../src/runtime/library/create-client.ts'
import { useEmulator } from '../../support/emulator.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const settings = () => ({
  apiUrl: emulator().url,
  apiKeyId: demo.apiKeyId,
  apiKeySecret: demo.apiKeySecret,
  organizationId: demo.organizationId,
  serviceId: demo.services.checkout,
})

describe('the debug log', () => {
  it('names each request, its answer, and why it is sent again', { tags: 'slow' }, async () => {
    emulator().addFault({ match: { path: '/sources' }, effect: { kind: 'status', status: 503 } })
    const lines: string[] = []
    await createClient({ ...settings(), onDebug: (line) => lines.push(line) }).listSources()
    const [given, failed, decision, answered] = lines
    expect(given).toMatch(/^list-sources \(read\), profile clickhouse-cloud, http:\S+; settings given: .*api-key-secret \(input\)/)
    expect(failed).toMatch(/^GET \/v1\/\S+\/sources answered 503 in \d+ ms/)
    expect(decision).toMatch(/^GET \/v1\/\S+\/sources: retry in \d+\.\d s$/)
    expect(answered).toMatch(/^GET \/v1\/\S+\/sources answered 200 in \d+ ms/)
  })

  it('prints no secret, not even one that the API repeats', async () => {
    emulator().addFault({ times: 9, effect: { kind: 'status', status: 400, body: JSON.stringify({ error: `bad ${demo.apiKeySecret}` }) } })
    const lines: string[] = []
    const client = createClient({ ...settings(), onDebug: (line) => lines.push(line) })
    await expect(client.listAlerts()).rejects.toThrow()
    expect(lines.join('\n')).toContain('bad ***')
    expect(lines.join('\n')).not.toContain(demo.apiKeySecret)
  })
})
