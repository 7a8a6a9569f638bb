import { describe, expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator()

const run = (inputs: Readonly<Record<string, string>>, more: Omit<InvokeOptions, 'inputs'> = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator()), ...inputs }, ...more })

describe('the config file', () => {
  const config = (text: string, inputs: Readonly<Record<string, string>> = {}) =>
    run({ operation: 'list-sources', 'service-id': '', ...inputs }, { files: { '.watchkeeper.yml': text } })

  it('sets what the repository may decide', async () => {
    const ran = await config('service-id: c0ffee00-0000-4000-8000-0000000000c2\nsummary: false\n')
    expect(ran.document.status).toBe('pass')
    expect(emulator().requests[0]?.path).toContain('0000000000c2')
    expect(ran.publishSettings.summary).toBe(false)
  })

  it('decides whether comments and issues are written, also after an error', async () => {
    const text = 'comment: changes\nissue: on-failure\n'
    expect((await config(text, { 'service-id': inputsFor(emulator())['service-id'] ?? '' })).publishSettings).toMatchObject({
      comment: 'changes',
      issue: 'on-failure',
    })
    expect((await config(text, { 'max-attempts': 'many' })).publishSettings).toMatchObject({
      comment: 'changes',
      issue: 'on-failure',
      summary: true,
    })
  })

  it('gives way to the environment, which gives way to the input', async () => {
    const text = 'service-id: c0ffee00-0000-4000-8000-0000000000c1\nmax-attempts: 2\n'
    const env = { WATCHKEEPER_SERVICE_ID: 'c0ffee00-0000-4000-8000-0000000000c2' }
    await run({ operation: 'list-sources', 'service-id': '' }, { files: { '.watchkeeper.yml': text }, env })
    await run(
      { operation: 'list-sources', 'service-id': 'c0ffee00-0000-4000-8000-0000000000c3' },
      { files: { '.watchkeeper.yml': text }, env },
    )
    expect(emulator().requests.map(({ path }) => /0000c\d/.exec(path)?.[0])).toEqual(['0000c2', '0000c3'])
  })

  it.each([
    'api-url: https://evil.example',
    'api-key-id: x',
    'api-key-secret: "0123456789"',
    'result-file: /etc/passwd',
    'config: other.yml',
    'github-token: ghs_0123456789',
    'comment-label: same-for-all',
    'pr-number: 1',
    'notify-url: https://evil.example/services/T0EVIL',
    'notify-format: json',
    'notify-on: always',
  ])('may not set %s', async (text) => {
    const ran = await config(text)
    expect(ran.reason).toContain(`.watchkeeper.yml: "${text.split(':')[0]}" cannot be set in a file of the repository`)
    expect(emulator().requests).toHaveLength(0)
  })

  it.each([
    ['servise-id: x', /"servise-id" is an unknown setting; did you mean "service-id"\?/],
    ['https-proxy: http://evil', /"https-proxy" is an unknown setting/],
    ['- a', /must be a map of settings/],
    ['a: 1\na: 2', /\.watchkeeper\.yml:2:1: Map keys must be unique/],
    ['x: !!js/function "y"', /\.watchkeeper\.yml:1:4: Unresolved tag/],
  ])('is strict: %s', async (text, reason) => {
    expect((await config(text)).reason).toMatch(reason)
  })

  it('must be there when it is asked for by name', async () => {
    const ran = await config('', { config: 'other.yml' })
    expect(ran.reason).toContain('config: "other.yml" does not exist or cannot be read')
  })
})
