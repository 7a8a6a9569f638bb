import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { token, useGitHub } from '../../support/github-server.ts'
import { runGitHubStep } from '../../support/notify.ts'
import { useReceiver, webhookPath } from '../../support/receiver.ts'
import { runCli } from '../../support/run-process.ts'
import { expectNoSecret } from '../../support/secret-scanner.ts'

const emulator = useEmulator({ rateLimit: 'off' })
const github = useGitHub()
const receiver = useReceiver()

/** Every encoding of it looks different. */
const secret = `p%a"s\\s<&>é'-canary-01234/5678+9=`
const pair = Buffer.from(`${demo.apiKeyId}:${secret}`).toString('base64')
const pagerUrl = 'https://hooks.example.com/services/T0PAGER/B0PAGER/canary-0123456789'

describe('S1, S2: every secret is masked before any other line, and no sink has one that a server repeats', () => {
  it('the action masks each secret in each form, no id and no host, and redacts what API, GitHub and webhook repeat', async () => {
    const key = emulator().store.keys.find(({ id }) => id === demo.apiKeyId)
    if (key === undefined) throw new Error('the demo has no such key')
    key.secret = secret
    const body = JSON.stringify({ error: `bad key ${secret}, ${pair}` })
    emulator().addFault({ effect: { kind: 'status', status: 400, body } })
    github().addFault({ on: 'POST /repos', effect: { kind: 'answer', status: 422, body: { message: `bad ${token}` } } })
    receiver().answer({ status: 404, body: `nothing at ${webhookPath}` })
    const inputs = { 'api-key-secret': secret, comment: 'always', 'notify-url': receiver().url }
    // Everything that leaves the process is searched for the secrets.
    const ran = await runGitHubStep(github(), {
      preload: {},
      inputs: { ...inputsFor(emulator()), operation: 'list-sources', ...inputs },
      env: { WEBHOOK_PAGER_URL: pagerUrl, WATCHKEEPER_DEBUG: '1' },
      secrets: [secret, pair, new URL(pagerUrl).pathname],
    })
    expect(ran).toMatchObject({ exitCode: 1, result: { error: { kind: 'refused' } } })
    for (const line of ['bad key ***', 'comment: GitHub answered 422: bad ***', `${receiver().host} answered 404: nothing at ***`])
      expect(ran.stdout).toContain(line)
    const lines = ran.stdout.split('\n')
    const masks = lines.filter((line) => line.startsWith('::add-mask::'))
    expect(lines.slice(0, masks.length)).toEqual(masks)
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), pair]
    for (const form of [...forms, token, receiver().url, webhookPath, pagerUrl])
      expect(masks).toContain(`::add-mask::${form.replaceAll('%', '%25')}`)
    for (const shown of [demo.organizationId, demo.services.checkout]) expect(masks.join('\n')).not.toContain(shown)
    expect(masks).not.toContain(`::add-mask::${receiver().host}`)
    const [message] = receiver().messages
    expect(message?.text).toContain('***')
    expectNoSecret(JSON.stringify([receiver().messages, github().received.map(({ call, body: sent }) => [call, sent])]), [secret, pair])
  })

  it('the command line prints no secret that is in a wrong place', async () => {
    for (const args of [
      ['list-sources', `--api-key-secret=${secret}`, '--profile', secret],
      [pagerUrl, '--notify-url', pagerUrl],
    ]) {
      const ran = await runCli(args, { WATCHKEEPER_API_KEY_SECRET: secret, WATCHKEEPER_NOTIFY_URL: pagerUrl })
      expect(ran.exitCode).toBe(2)
      expectNoSecret(`${ran.stdout}${ran.stderr}`, [secret, secret.slice(0, 12)])
    }
  })
})
