import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { sendNotification } from '../../../../src/delivery/notifications/send-notification.ts'
import { say } from '../../../../src/platform/core/line.ts'
import { version } from '../../../../src/platform/core/version.ts'
import { createScaledClock, createVirtualClock } from '../../../support/clocks.ts'
import { messageWith } from '../../../support/message.ts'
import { useReceiver, webhookPath } from '../../../support/receiver.ts'
import { expectNoSecret } from '../../../support/secret-scanner.ts'

const receiver = useReceiver()

interface SendCase {
  readonly url?: string
  readonly message?: ReturnType<typeof messageWith>
  readonly env?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly stop?: AbortSignal
  readonly onNote?: () => void
}

async function send({ url = receiver().url, message = messageWith(), env = {}, secrets = [], stop, onNote }: SendCase = {}) {
  const clock = createVirtualClock()
  const notes: string[] = []
  const never = new AbortController().signal
  const failure = await sendNotification({ url, format: 'slack', message, secrets: [webhookPath, ...secrets] }, env, {
    clock,
    random: () => 0.5,
    note(line) {
      notes.push(line)
      onNote?.()
    },
    cancellation: { stop: stop ?? never, abort: stop ?? never },
  })
  expectNoSecret([failure ?? '', ...notes].join('\n'), [webhookPath])
  return { failure, notes, waitedMs: clock.elapsedMs() }
}

/** A port where nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('a delivery', () => {
  it('a delivery is one POST with JSON and without a key, and the log names the host only', async () => {
    expect(await send()).toEqual({ failure: undefined, notes: [`notification: sent to ${receiver().host}`], waitedMs: 0 })
    const [received] = receiver().messages
    expect(receiver().messages).toHaveLength(1)
    expect([received?.method, received?.path]).toEqual(['POST', webhookPath])
    expect(received?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': `watchkeeper/${version}` })
    expect(received?.headers).not.toHaveProperty('authorization')
    expect(received?.json.text).toContain('*Cost gate:* Budget exceeded')
  })

  it.each([201, 202, 204])('a delivery is done with the status %i', async (status) => {
    receiver().answer({ status })
    expect((await send()).failure).toBeUndefined()
  })

  it('sends the query of the URL, where some receivers have their secret', async () => {
    await send({ url: `${receiver().url}?sig=abc%2Fdef&sv=1.0` })
    expect(receiver().messages[0]?.path).toBe(`${webhookPath}?sig=abc%2Fdef&sv=1.0`)
  })

  it('redacts secrets in the message before they are escaped', async () => {
    const secret = 'p<a>ss&word-0123456789'
    await send({ message: messageWith({ sentence: say`The key ${secret} is wrong.` }), secrets: [secret] })
    expect(receiver().messages[0]?.json.text).toContain('The key `***` is wrong.')
  })
})

describe('a message that certainly did not arrive', () => {
  it('a message is sent again after a 429, when the receiver says so', async () => {
    receiver().answer({ status: 429, headers: { 'retry-after': '7' } })
    const { failure, notes, waitedMs } = await send()
    expect(failure).toBeUndefined()
    expect(waitedMs).toBe(7000)
    expect(notes[0]).toBe(`Trying again in 7.0 s (attempt 1 of 3): notification: ${receiver().host} answered 429. It asks to wait 7.0 s`)
    expect(receiver().messages).toHaveLength(2)
  })

  it('a message is abandoned when the receiver asks for a longer wait than there is time', async () => {
    receiver().answer({ status: 429, headers: { 'retry-after': '120' } })
    expect((await send()).failure).toBe(`notification: not delivered: ${receiver().host} answered 429. It asks to wait 120.0 s.`)
    expect(receiver().messages).toHaveLength(1)
  })

  it('a message is sent three times at most', async () => {
    const limited = { status: 429, headers: { 'retry-after': '0' } }
    receiver().answer(limited, limited, limited, limited)
    expect((await send()).failure).toContain('answered 429')
    expect(receiver().messages).toHaveLength(3)
  })

  it('a message is not sent again after a signal during the wait', async () => {
    receiver().answer({ status: 429, headers: { 'retry-after': '5' } })
    const stop = new AbortController()
    const { failure } = await send({ stop: stop.signal, onNote: () => stop.abort() })
    expect(failure).toContain('answered 429')
    expect(receiver().messages).toHaveLength(1)
  })

  it('a message is sent again after a refused connection', async () => {
    const port = await freePort()
    const { failure, notes } = await send({ url: `http://127.0.0.1:${port}${webhookPath}` })
    expect(failure).toBe(`notification: not delivered: 127.0.0.1:${port}: nothing listens at this address (ECONNREFUSED).`)
    expect(notes).toHaveLength(2)
  })
})

describe('a message that may have arrived', () => {
  it.each([500, 502, 503, 504, 408])('W15: a message that may have arrived is not sent again after a %i', async (status) => {
    receiver().answer({ status, body: 'try again' })
    expect((await send()).failure).toBe(
      `notification: not delivered: ${receiver().host} answered ${status}: try again. The message may have been delivered.`,
    )
    expect(receiver().messages).toHaveLength(1)
  })

  it('W15: a message that may have arrived is not sent again after a lost connection', async () => {
    receiver().answer('reset')
    expect((await send()).failure).toMatch(/The message may have been delivered\.$/)
    expect(receiver().messages).toHaveLength(1)
  })

  it('R4: a message that may have arrived is not waited for any longer after ten seconds', async () => {
    receiver().answer('hang')
    const never = new AbortController().signal
    const failure = await sendNotification(
      { url: receiver().url, format: 'slack', message: messageWith(), secrets: [] },
      {},
      { clock: createScaledClock(100), random: () => 0.5, note: () => undefined, cancellation: { stop: never, abort: never } },
    )
    expect(failure).toContain('no answer within 10 s (REQUEST_TIMEOUT). The message may have been delivered.')
    expect(receiver().messages).toHaveLength(1)
  })

  it('a message that may have arrived is not waited for any longer after a signal', async () => {
    receiver().answer('hang')
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 100)
    expect((await send({ stop: stop.signal })).failure).toContain('canceled')
    expect(receiver().messages).toHaveLength(1)
  })
})

describe('a message that the receiver refuses', () => {
  it.each([400, 401, 403, 404, 410])(
    'a message that the receiver refuses is reported after a %i with the words of the receiver, and with what to check',
    async (status) => {
      receiver().answer({ status, body: ' invalid_payload\n' })
      expect((await send()).failure).toBe(
        `notification: not delivered: ${receiver().host} answered ${status}: invalid_payload. Check notify-url and notify-format.`,
      )
      expect(receiver().messages).toHaveLength(1)
    },
  )

  it('a message that the receiver refuses is reported without the secret that the receiver repeats', async () => {
    receiver().answer({ status: 404, body: `nothing at ${webhookPath}` })
    expect((await send()).failure).toContain('answered 404: nothing at ***.')
  })

  it('a message that the receiver refuses is reported with a hundred characters of its answer, in one line', async () => {
    receiver().answer({ status: 404, body: `no\n\n${'x'.repeat(200)}.` })
    expect((await send()).failure).toContain(`answered 404: no ${'x'.repeat(97)}… (104 more characters). Check`)
  })

  it('a message that the receiver refuses is reported without the beginning of a secret where the answer is cut', async () => {
    receiver().answer({ status: 404, body: `${'-'.repeat(85)} at ${webhookPath}` })
    const { failure } = await send()
    expect(failure).toContain('- at ***')
    expect(failure).not.toContain(webhookPath.slice(0, 8))
  })

  it.each([301, 302, 303, 307, 308])('S4: reports a redirect of the webhook (%i) and does not follow it', async (status) => {
    receiver().answer({ status, headers: { location: `https://elsewhere.example${webhookPath}` } })
    expect((await send()).failure).toBe(
      `notification: not delivered: ${receiver().host} answered ${status}: a redirect to https://elsewhere.example. Redirects are not followed. Check notify-url. The message may have been delivered.`,
    )
    expect(receiver().messages).toHaveLength(1)
  })
})

describe('a message that must not be sent', () => {
  it('S3: sends no notification over https when certificates are not checked', async () => {
    const { failure } = await send({ url: `https://hooks.example${webhookPath}`, env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    expect(failure).toBe(
      'notification: not sent: NODE_TLS_REJECT_UNAUTHORIZED is 0, which disables the check of certificates; to trust a private certificate authority, set NODE_EXTRA_CA_CERTS.',
    )
  })

  it('a message is not sent when the proxy is not valid', async () => {
    expect((await send({ env: { HTTPS_PROXY: 'nonsense' } })).failure).toMatch(/^notification: not sent: HTTPS_PROXY is not a proxy URL/)
    expect(receiver().messages).toHaveLength(0)
  })

  it('a message is not sent over http through a proxy on another machine, which could read it', async () => {
    const { failure } = await send({ env: { HTTP_PROXY: 'http://192.0.2.2:18998' } })
    expect(failure).toBe('notification: not sent: a proxy could read it, because the URL is http; add its host to NO_PROXY.')
    expect(receiver().messages).toHaveLength(0)
  })

  it('a message goes through the proxy, which messages name without its password', async () => {
    const port = await freePort()
    const env = { HTTPS_PROXY: `http://user:hunter2-hunter2@127.0.0.1:${port}` }
    const { failure } = await send({ url: `https://hooks.example${webhookPath}`, env, secrets: ['hunter2-hunter2'] })
    expect(failure).toContain(`hooks.example through the proxy 127.0.0.1:${port}: `)
    expect(failure).not.toContain('hunter2')
  })
})
