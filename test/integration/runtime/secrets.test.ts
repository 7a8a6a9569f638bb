// Every run of `runAsAction` is searched for the secrets that it was given.
import { describe, expect, it } from 'vitest'
import { demo, type Effect, type Emulator } from '../../../src/emulator/index.ts'
import { createClient } from '../../../src/runtime/library/create-client.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { runWithFailure, type TestApi } from '../../support/faults.ts'
import { useReceiver, webhookPath } from '../../support/receiver.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { expectNoSecret } from '../../support/secret-scanner.ts'

const cloud = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
const selfHosted = useEmulator({ dialect: 'hyperdx' })
const receiver = useReceiver()

/** As harmless as a secret can be: it passes for a name, an id, a unit. */
const secret = 'Canary0123456789abcdefABCDEF'

/** The server accepts the secret from then on. */
function accept({ store }: Emulator): void {
  for (const key of store.keys) if (key.id === demo.apiKeyId) key.secret = secret
}

interface More {
  readonly inputs?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

const run = ({ inputs = {}, ...more }: More = {}) => {
  accept(cloud())
  const all = { ...inputsFor(cloud()), operation: 'list-sources', 'api-key-secret': secret, 'max-attempts': '2', ...inputs }
  return runAsAction({ ...more, inputs: all, secrets: [secret] })
}

const status = (code: number, body: string, headers: Readonly<Record<string, string>> = {}): Effect => ({
  kind: 'status',
  status: code,
  body,
  headers,
})

describe('S1: no sink has the key', () => {
  it('no sink has the key when the API repeats it anywhere in an answer', async () => {
    await forEachEntry<[string, Effect]>(
      [
        ['as the id of the request', status(400, JSON.stringify({ error: 'no', requestId: secret }))],
        ['as the id of the request in a header', status(400, '{"error":"no"}', { 'x-request-id': secret })],
        ['as the id of a request that was fine', { kind: 'body', text: `{"status":200,"requestId":"${secret}","result":[]}` }],
        ['as the name of a field', { kind: 'body', text: `[{"id":"a","${secret}":1}]` }],
        ['as an id', { kind: 'body', text: `[{"id":"${secret}","name":"${secret}","kind":"${secret}"}]` }],
        ['as a host', status(302, '', { location: `https://${secret}.example/${secret}?${secret}` })],
        ['as an encoding', { kind: 'body', text: '[]', headers: { 'content-encoding': secret } }],
        ['as a page', status(502, `<html><title>${secret}</title></html>`)],
        ['as no JSON', { kind: 'body', text: `{"${secret}` }],
      ],
      async (_, effect) => {
        cloud().addFault({ times: 9, effect })
        expect((await run({ env: { WATCHKEEPER_DEBUG: '1' } })).outputs.get('status')).toMatch(/^(?:error|pass)$/)
        expect(cloud().requests.length).toBeGreaterThan(0)
      },
      { before: () => cloud().reset() },
    )
    // At an address of its own: the runs of this process remember its limit.
    const effect: Effect = { kind: 'rate-limited', headers: { 'retry-after': '9999', 'x-ratelimit-policy': secret } }
    const options = { prepare: ({ emulator }: TestApi) => accept(emulator), inputs: { 'api-key-secret': secret } }
    expect((await runWithFailure('read', { effect }, options)).outcome).toMatchObject({ conclusion: 'rate-limited', problems: [] })
  })

  it('no sink has a part of the key that the API repeats in other letters', async () => {
    const text = [secret.slice(0, 20), secret.toUpperCase(), `${secret.slice(0, 16)}<b></b>${secret.slice(16)}`]
    cloud().addFault({ effect: status(403, JSON.stringify({ error: `no: ${text.join(' ')} is no key` })) })
    const { stdout } = await run()
    const shown = stdout.replace(/^::add-mask::.*\n/gm, '')
    expect(shown).toContain('no: ***')
    for (const piece of text) expect(shown).not.toContain(piece.slice(0, 16))
  })

  it('no sink has the key when doctor reads the user of a self-hosted server', () =>
    forEachEntry<[string, unknown]>(
      [
        ['where the product shows it', { version: 'v2', user: { accessKey: secret, name: 'Ada', email: 'ada@shop.example' } }],
        ['as name and address', { user: { name: secret, email: `${secret}@shop.example` } }],
        ['in another form', { user: Buffer.from(secret).toString('base64') }],
      ],
      async (_, body) => {
        accept(selfHosted())
        selfHosted().addFault({ match: { path: '/api/v2' }, effect: { kind: 'body', text: JSON.stringify(body) } })
        selfHosted().addFault({ match: { path: '/health' }, effect: { kind: 'body', text: JSON.stringify({ version: secret }) } })
        const inputs = { ...inputsFor(selfHosted(), 'hyperdx'), operation: 'doctor', 'api-key': secret }
        const ran = await runAsAction({ inputs, env: { WATCHKEEPER_DEBUG: '1' }, secrets: [secret] })
        expect(ran.stdout).toContain('/api/v2 answered 200')
        expect(ran.stdout).toContain('Server version: unknown')
      },
      { before: () => selfHosted().reset() },
    ))

  it('no report or export has the key when names contain it', async () => {
    const record = { date: '2026-01-01', entityName: secret, entityId: secret, entityType: secret, totalCredits: 3 }
    const costs = [{ ...record, metrics: { [`${secret}Credits`]: 3 } }]
    cloud().addFault({ times: 9, effect: { kind: 'body', text: JSON.stringify({ result: { grandTotalCredits: 3, costs } }) } })
    const reports = 'csv=a.csv\nfocus=b.csv\nopenmetrics=c.txt\nhtml=d.html'
    const ran = await run({ inputs: { operation: 'usage-cost', period: '2026-01-01..2026-01-01', budget: '9', reports } })
    expect([ran.exitCode, Object.keys(ran.written).length]).toEqual([0, 4])
    cloud().reset()
    for (const alert of serviceOf(cloud()).alerts) alert.name = secret
    expect((await run({ inputs: { operation: 'list-alerts' } })).summary).toContain('***')
  })

  it('no sink has the key when the repository or the workflow has it in a wrong place', () =>
    forEachEntry<[string, More]>(
      [
        ['in the config file', { files: { '.watchkeeper.yml': `${secret}: ${secret}\n` } }],
        [
          'in the file of an alert',
          { files: { 'a.yml': `${secret}: [${secret}]` }, inputs: { operation: 'create-alert', alert: 'a.yml' } },
        ],
        ['as the name of a file', { files: { 'a.yml': '' }, inputs: { operation: 'create-alert', alert: `${secret}.yml` } }],
        ['as other inputs', { inputs: { profile: secret, 'organization-id': secret, 'api-url': `https://${secret}@h`, reports: secret } }],
        ['as the operation', { inputs: { operation: secret } }],
        ['as the name of an input', { env: { [`INPUT_${secret}`]: secret } }],
      ],
      async (_, more) => {
        expect((await run(more)).outputs.get('failure-reason')).toContain('***')
      },
    ))

  it('the URL of a webhook is in no sink when it is rejected, and given as other inputs', async () => {
    const url = `http://hooks.example${webhookPath}`
    const inputs = { 'notify-url': url, profile: url, 'organization-id': url, reports: url, 'comment-label': url }
    expect((await run({ inputs })).outputs.get('status')).toBe('error')
    receiver().answer({ status: 302, headers: { location: `https://elsewhere.example${webhookPath}?${webhookPath}` } })
    const { stdout } = await run({ inputs: { 'notify-url': receiver().url, 'notify-on': 'always' } })
    expect(stdout).toContain('a redirect to https://elsewhere.example. Redirects are not followed.')
  })

  it('the command line does not quote the key that is given in a wrong place', () =>
    forEachEntry<[string, ...string[]]>(
      [
        ['list-sources', '--profile', secret],
        ['list-sources', '--profile', `${'p'.repeat(44)}${secret}`],
        ['list-sources', '--api-key-id', `id:${secret}`],
        [`--api-key-secret=${secret}`, 'list-sources'],
        ['--api-key-secret', secret, 'list-sources'],
        ['emulator', `--api-key-secret=${secret}`],
        ['init', `--api-key-secrt=${secret}`],
      ],
      async (...args) => {
        const ran = await runCliInside(args, { env: { WATCHKEEPER_API_KEY_SECRET: secret } })
        expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringMatching(/\*\*\*|^Unknown option /)])
        expectNoSecret(`${ran.stdout}${ran.stderr}`, [secret])
      },
    ))

  it('the progress of the library has no key', async () => {
    accept(cloud())
    cloud().addFault({ effect: status(503, JSON.stringify({ error: secret }), { 'retry-after': '0' }) })
    const lines: string[] = []
    const { apiKeyId, organizationId, services } = demo
    const connection = { apiUrl: cloud().url, apiKeyId, apiKeySecret: secret, organizationId, serviceId: services.checkout }
    await createClient({ ...connection, onProgress: (line) => lines.push(line) }).listSources()
    expect(lines.join('\n')).toContain('***')
    expectNoSecret(lines.join('\n'), [secret])
  })
})

it('S2: every key is masked before any other line, from input and variable, also when the operation is unknown', async () => {
  const other = 'Other/0123456789+abcdefABCDEF='
  const inputs = { ...inputsFor(selfHosted(), 'hyperdx'), operation: 'nonsense', 'api-key': secret }
  const { stdout } = await runAsAction({ inputs, env: { WATCHKEEPER_API_KEY: ` ${other}\n` }, secrets: [other] })
  const lines = stdout.split('\n')
  const masks = lines.filter((line) => line.startsWith('::add-mask::'))
  expect(lines.slice(0, masks.length)).toEqual(masks)
  for (const key of [secret, other])
    for (const form of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')])
      expect(masks).toContain(`::add-mask::${form.replaceAll('%', '%25')}`)
})

it('white space around the key is ignored, with a warning', async () => {
  const sqlKey = { WATCHKEEPER_SQL_KEY_ID: 'sql-key', WATCHKEEPER_SQL_KEY_SECRET: `${secret}\n` }
  const ran = await run({ inputs: { 'api-key-secret': ` ${secret}\r\n` }, env: sqlKey })
  expect(ran.exitCode).toBe(0)
  for (const name of ['api-key-secret', 'sql-key-secret'])
    expect(ran.stdout).toContain(`${name} has leading or trailing white space, which is ignored`)
})
