// A proxy in between that refuses, hangs or does not exist. Its password is in no message.

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { type FailureRunOptions, runWithFailure, type TestAction, toHttp } from '../../support/faults.ts'
import { pullRequestEvent, runnerEnvironment } from '../../support/notify.ts'
import { type Play, startRawServer } from '../../support/raw-server.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const password = 'proxy-pass%word-0123456789'

/** Runs through a proxy that does that with each request for a tunnel, by default to a host of its own. */
async function through(action: TestAction, play: Play, { url = `https://${randomUUID()}.example`, ...options }: FailureRunOptions = {}) {
  const proxy = await startRawServer(play)
  const result = await runWithFailure(action, undefined, {
    ...options,
    url,
    env: { HTTPS_PROXY: `http://user:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}` },
    inputs: { 'max-attempts': '2', ...options.inputs },
    secrets: [password, Buffer.from(`user:${password}`).toString('base64')],
  })
  await proxy.close()
  return { ...result, proxy, reason: result.ran.outputs.get('failure-reason') ?? '' }
}

const answer =
  (head: string): Play =>
  async (wire) => {
    await wire.write(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`)
    wire.end()
  }

describe.concurrent('R4: a proxy that refuses or hangs ends the run in time, and is named in the error', () => {
  it.each<[string, string, TestAction, number, RegExp]>([
    ['wants other credentials', '407 Proxy Authentication Required', 'create', 1, /the proxy answered 407\n/],
    ['forbids the host', '403 Forbidden', 'read', 2, /the proxy answered 403\n/],
    ['cannot reach the host', '502 Bad Gateway', 'create', 2, /the proxy answered 502\n/],
    // biome-ignore lint/complexity/useMaxParams: one column of the table each
  ])('names the proxy that %s', async (_, head, action, attempts, words) => {
    const { outcome, proxy, reason } = await through(action, answer(head))
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'network', problems: [] })
    expect(proxy.requests.filter(({ method }) => method === 'CONNECT')).toHaveLength(attempts)
    expect(reason).toMatch(words)
    expect(reason).toContain(`The proxy 127.0.0.1:${proxy.port} refused the connection: `)
  })

  it.each<[string, TestAction, Play, string]>([
    ['never answers', 'read', () => undefined, 'deadline'],
    ['never answers', 'create', () => undefined, 'may-exist'],
    ['answers without an end', 'read', (wire) => wire.write('HTTP/1.1 200 OK\r\nx'), 'deadline'],
  ])('abandons in time a proxy that %s', async (_, action, play, conclusion) => {
    const { outcome, activeMs, proxy, reason } = await through(action, play, { inputs: { 'timeout-seconds': '1' } })
    expect(outcome).toMatchObject({ exitCode: action === 'read' ? 1 : 4, conclusion, problems: [] })
    expect(reason).toMatch(
      new RegExp(`^No answer within [\\d.]+ s \\(REQUEST_TIMEOUT\\) through the proxy 127\\.0\\.0\\.1:${proxy.port}\n`),
    )
    expect(activeMs).toBeLessThan(9000)
  })

  it('reports that a proxy closed the connection without an answer', async () => {
    const { outcome, proxy, reason } = await through('read', (wire) => wire.reset())
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'network', problems: [] })
    expect(reason).toContain(`No answer through the proxy 127.0.0.1:${proxy.port}: `)
  })

  it('a proxy that does not listen is named by its host', async () => {
    const env = { HTTPS_PROXY: `http://user:${encodeURIComponent(password)}@127.0.0.1:9` }
    const { outcome, ran } = await runWithFailure('create', undefined, {
      url: 'https://127.0.0.1:1',
      env,
      inputs: { 'max-attempts': '2' },
      secrets: [password],
    })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'network', problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain(
      'No answer through the proxy 127.0.0.1:9: nothing listens at this address (ECONNREFUSED)',
    )
  })

  it('a proxy with an invalid address is named by its variable, and nothing is sent', async () => {
    const env = { HTTPS_PROXY: `http://user:${password}@:port` }
    const { outcome, ran } = await runWithFailure('read', undefined, { env, secrets: [password] })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '', problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain('HTTPS_PROXY: is not a proxy URL')
  })

  it('a proxy with a % in its password that begins no escape sequence is named by its variable, by action and command line', async () => {
    const wrong = 'proxy-pass%word-0123456789'
    const env = { HTTPS_PROXY: `http://user:${wrong}@127.0.0.1:9` }
    const expected = 'HTTPS_PROXY: is not a proxy URL; accepted: http://[user:password@]host:port'
    const { outcome, ran } = await runWithFailure('read', undefined, { env, secrets: [wrong] })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '', problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain(expected)
    const settings = { WATCHKEEPER_ORGANIZATION_ID: demo.organizationId, WATCHKEEPER_SERVICE_ID: demo.services.checkout }
    const keys = {
      WATCHKEEPER_API_URL: 'https://127.0.0.1:1',
      WATCHKEEPER_API_KEY_ID: 'key',
      WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
    }
    const typed = await runCliInside(['list-alerts'], { env: { ...env, ...settings, ...keys } })
    expect(typed.exitCode).toBe(2)
    expect(typed.stderr).toContain(expected)
  })

  it('a proxy for plain http that refuses is named', async () => {
    const proxy = await startRawServer(answer('407 Proxy Authentication Required'))
    const { outcome, ran } = await runWithFailure('create', undefined, {
      url: 'http://127.0.0.1:9',
      env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    })
    await proxy.close()
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'network', problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain(`The proxy 127.0.0.1:${proxy.port} refused the connection: the proxy answered 407`)
  })

  it('S2: a message hides the user of a proxy that repeats it, and the log masks only the password and its pair', async () => {
    const user = 'proxy-user-of-the-shop'
    const pair = Buffer.from(`${user}:${password}`).toString('base64')
    const body = JSON.stringify({ error: `${user} may not do that with Basic ${pair}` })
    const proxy = await startRawServer((wire) => wire.write(toHttp({ status: 403, body })))
    const { ran } = await runWithFailure('read', undefined, {
      url: 'http://127.0.0.1:9',
      env: { HTTP_PROXY: `http://${user}:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}` },
      secrets: [password, pair],
    })
    await proxy.close()
    expect(ran.outputs.get('failure-reason')).toContain('The API answered 403: *** may not do that with Basic ***')
    expect(ran.stdout).toContain(`::add-mask::${pair}\n`)
    expect(ran.stdout).not.toContain(user)
  })

  it('a proxy that does not listen prevents the comment on GitHub, but not the verdict', async () => {
    const token = 'ghs_abcdefghijklmnop0123456789'
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-proxy-'))
    const event = join(directory, 'event.json')
    await writeFile(event, JSON.stringify(pullRequestEvent(12)))
    const { outcome, ran } = await runWithFailure('read', undefined, {
      env: {
        ...runnerEnvironment('https://127.0.0.1:1'),
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: event,
        HTTPS_PROXY: `http://user:${encodeURIComponent(password)}@127.0.0.1:9`,
      },
      inputs: { comment: 'always', 'github-token': token },
      secrets: [password, token],
    })
    await rm(directory, { recursive: true })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', problems: ['its commands are notice'] })
    expect(ran.stdout).toMatch(
      /^::notice title=Watchkeeper::comment: GitHub through the proxy 127\.0\.0\.1:9: nothing listens at this address \(ECONNREFUSED\)/m,
    )
  })
})
