import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { basicPair, inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { expectNoSecret, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

/** As nasty as a secret can be: every encoding of it looks different. */
const canary = `p%a"s\\s<&>é'-canary-0123456789`

function useCanary(): string {
  const key = emulator().store.keys.find(({ id }) => id === demo.apiKeyId)
  if (key === undefined) throw new Error('the shop has changed')
  key.secret = canary
  return Buffer.from(`${demo.apiKeyId}:${canary}`).toString('base64')
}

describe('the key secret', () => {
  it('the key secret is masked before anything else is printed, with the base64 pair', async () => {
    const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' }, secrets })
    const lines = ran.stdout.split('\n')
    const masks = lines.filter((line) => line.startsWith('::add-mask::'))
    expect(lines.slice(0, masks.length)).toEqual(masks)
    expect(masks).toContain(`::add-mask::${demo.apiKeySecret}`)
    expect(masks).toContain(`::add-mask::${basicPair}`)
    expect(masks).toContain(`::add-mask::${demo.apiKeyId}`)
  })

  it('the key secret is masked when the environment gives it, and when everything else is wrong', async () => {
    const env = { WATCHKEEPER_API_KEY_ID: demo.apiKeyId, WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret }
    const ran = await runAsAction({ inputs: { operation: 'nope' }, env, secrets })
    expect(ran.stdout.split('\n')[0]).toMatch(/^::add-mask::/)
    expect(ran.stdout).toContain(`::add-mask::${basicPair}`)
    expect(ran.exitCode).toBe(1)
  })

  it.each([
    ['as another input', ['--profile', canary]],
    ['at the end of a long input', ['--profile', `${'p'.repeat(64)}${canary}`]],
    ['as part of the key id', ['--api-key-id', `id:${canary}`]],
  ])('the key secret is not quoted when it was given %s', async (_, flags) => {
    const env = { WATCHKEEPER_API_KEY_SECRET: canary, WATCHKEEPER_API_URL: emulator().url }
    const ran = await runCli(['list-sources', ...flags], env)
    expect(ran.exitCode).toBe(2)
    expectNoSecret(`${ran.stdout}${ran.stderr}`, [canary.slice(0, 12)])
  })

  it.each([
    ['before the command', [`--api-key-secret=${canary}`, 'list-sources']],
    ['before the command, with a blank', ['--api-key-secret', canary, 'list-sources']],
    ['as a token before the command', [`--github-token=${canary}`, 'list-sources']],
    ['to a command that wants none', ['emulator', `--api-key-secret=${canary}`]],
    ['by a flag that is misspelt', ['init', `--api-key-secrt=${canary}`]],
    ['beside the one that the environment gives', ['list-sources', '--api-key-secret', 'another-secret', '--profile', canary]],
  ])('the key secret is not quoted when it was given %s', async (_, args) => {
    const ran = await runCli(args, { WATCHKEEPER_API_KEY_SECRET: args.includes('list-sources') && args.length > 2 ? canary : '' })
    expect(ran.exitCode).toBe(2)
    expectNoSecret(`${ran.stdout}${ran.stderr}`, [canary])
  })

  it.each([
    ['cut short', canary.slice(0, 20)],
    ['without its beginning', canary.slice(-20)],
    ['in capitals', canary.toUpperCase()],
    ['in two pieces', `${canary.slice(0, 16)}<b></b>${canary.slice(16)}`],
  ])('the key secret is not shown when a server answers it %s', async (_, piece) => {
    useCanary()
    emulator().addFault({ effect: { kind: 'status', status: 403, body: JSON.stringify({ error: `no: ${piece} is no key` }) } })
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), 'api-key-secret': canary, operation: 'list-sources' },
      secrets: [canary],
    })
    expect(ran.exitCode).toBe(1)
    const shown = ran.stdout.replace(/^::add-mask::.*\n/gm, '') + ran.summary
    expect(shown).toContain('no: ***')
    expect(shown).not.toContain(piece.slice(0, 16))
  })

  it('masks no id: a masked output would be dropped', async () => {
    const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' } })
    const masked = ran.stdout.split('\n').filter((line) => line.startsWith('::add-mask::'))
    for (const id of [demo.organizationId, demo.services.checkout]) expect(masked.join('\n')).not.toContain(id)
  })

  it.each<[string, (pair: string) => string]>([
    ['in an error', (pair) => JSON.stringify({ status: 400, error: `bad key ${canary} or ${pair}` })],
    ['in an error, in HTML', () => `<html>${canary}</html>`],
    ['in an error, encoded for a url', () => JSON.stringify({ error: encodeURIComponent(canary) })],
  ])('appears nowhere when the API answers it %s', async (_, body) => {
    const pair = useCanary()
    emulator().addFault({ effect: { kind: 'status', status: 400, body: body(pair) } })
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'list-sources', 'api-key-secret': canary },
      secrets: [canary, pair],
    })
    expect(ran.exitCode).toBe(1)
    expect(ran.outputs.get('failure-reason')).toContain('***')
  })

  it('appears nowhere when a name holds it', async () => {
    const pair = useCanary()
    const service = emulator().store.organizations[0]?.services[0]
    for (const alert of service?.alerts ?? []) alert.name = `x ${canary} y ${pair}`
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'list-alerts', 'api-key-secret': canary },
      secrets: [canary, pair],
    })
    expect(ran.exitCode).toBe(0)
    expect(ran.summary).toContain('x *** y ***')
  })

  it('appears nowhere on the command line either', async () => {
    const pair = useCanary()
    emulator().addFault({ effect: { kind: 'status', status: 400, body: JSON.stringify({ error: `bad ${canary} ${pair}` }) } })
    const { 'api-key-secret': _, ...flags } = inputsFor(emulator())
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
    const ran = await runCli(['list-sources', ...args, '--json'], { WATCHKEEPER_API_KEY_SECRET: canary })
    expectNoSecret(`${ran.stdout}\n${ran.stderr}`, [canary, pair])
    expect(ran.stdout).toContain('***')
  })

  it('the key secret is trimmed, as a newline at its end makes another credential', async () => {
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'list-sources', 'api-key-secret': `  ${demo.apiKeySecret}\n` },
      secrets,
    })
    expect(ran.exitCode).toBe(0)
  })

  it('the key secret stays out of what a proxy refuses', async () => {
    const env = { HTTP_PROXY: 'http://user:proxy-password-123@127.0.0.1:9' }
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'list-sources', 'max-attempts': '1' },
      env,
      secrets: [...secrets, 'proxy-password-123'],
    })
    expect(ran.exitCode).toBe(1)
    expect(ran.outputs.get('failure-reason')).toContain('through the proxy 127.0.0.1:9')
  })
})
