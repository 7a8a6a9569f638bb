import { describe, expect, it } from 'vitest'
import { describeOperations, settings } from '../../../scripts/reference/describe.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const run = (inputs: Readonly<Record<string, string>>, more: Omit<InvokeOptions, 'inputs'> = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator()), ...inputs }, ...more })

describe('the config file', () => {
  const config = (text: string, inputs: Readonly<Record<string, string>> = {}) =>
    run({ operation: 'list-sources', 'service-id': '', ...inputs }, { files: { '.watchkeeper.yml': text } })

  it('reads the settings that a repository may decide from the config file', async () => {
    const ran = await config('service-id: c0ffee00-0000-4000-8000-0000000000c2\nsummary: false\n')
    expect(ran.document.status).toBe('pass')
    expect(emulator().requests[0]?.path).toContain('0000000000c2')
    expect(ran.publishSettings.summary).toBe(false)
  })

  it('reads from the config file whether comments and issues are written, also after an error', async () => {
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

  it('S5: neither it nor the file of an environment sets what a pull request must not decide', { tags: 'slow' }, async () => {
    const operations = await describeOperations()
    const names = new Set([...settings, ...operations.flatMap(({ inputs }) => inputs)].map(({ name }) => name))
    const [inConfig, inEnvironment] = [new Set(), new Set()]
    for (const name of names) {
      const text = `${name}: 1\n`
      const isRefused = ({ reason }: { readonly reason: string }, file: string): boolean => reason.includes(`${file}:1:1: "${name}" `)
      const inputs = { operation: 'validate', files: 'a.json' }
      if (!isRefused(await run(inputs, { files: { 'a.json': '{}', '.watchkeeper.yml': text } }), '.watchkeeper.yml')) inConfig.add(name)
      const ran = await run({ ...inputs, env: 'staging' }, { files: { 'a.json': '{}', 'environments/staging.yml': text } })
      if (!isRefused(ran, 'environments/staging.yml')) inEnvironment.add(name)
    }
    const target = ['organization-id', 'service-id', 'profile', 'observability-path', 'project']
    expect([...inEnvironment].sort()).toEqual([...target].sort())
    expect([...inConfig].sort()).toEqual([...target, 'timeout-seconds', 'max-attempts', 'summary', 'comment', 'issue'].sort())
    const mustBeRefused =
      'api-url api-key-id api-key-secret api-key sql-key-id sql-key-secret sql-url allow-http read-only notify-url ui-url warn-only prune max-deletes allow-empty repair wake-service price reports plan-file budget gate max-notifications on-missing min-budget-left severities always-on'
    for (const name of mustBeRefused.split(' ')) expect([names.has(name), inConfig.has(name)], name).toEqual([true, false])
  })

  it('S9: a file sees no variable without the prefix, and no file of the repository adds one', async () => {
    const inputs = { operation: 'validate', files: 'a.json', profile: 'clickhouse-cloud' }
    const files = {
      'a.json': JSON.stringify({ dashboards: { d: { name: '\u0024{{ env.MY_VALUE }}', tiles: [] } } }),
      '.env': 'WATCHKEEPER_VAR_MY_VALUE=x\n',
    }
    const ran = await run(inputs, { files, env: { MY_VALUE: 'x' } })
    expect(JSON.stringify(ran.document.diagnostics)).toContain('is not set; set WATCHKEEPER_VAR_MY_VALUE')
    expect((await run(inputs, { files, env: { WATCHKEEPER_VAR_MY_VALUE: 'x' } })).document.errorCount).toBe(0)
    const { reason } = await run(inputs, { files: { ...files, '.watchkeeper.yml': 'variables:\n  MY_VALUE: x\n' } })
    expect(reason).toContain('"variables" is an unknown setting')
  })

  it('prefers the input project to WATCHKEEPER_PROJECT, and this variable to the config file and the repository', async () => {
    const files = { 'a.json': '{"alerts":{}}', '.watchkeeper.yml': 'project: of/the-config\n' }
    const env = { WATCHKEEPER_PROJECT: 'of/the-variable', GITHUB_REPOSITORY: 'shop/infra' }
    const planned = async (project: string, variables: Readonly<Record<string, string>>) =>
      (await run({ operation: 'plan', files: 'a.json', 'allow-empty': 'true', project }, { files, env: { ...env, ...variables } })).document
        .project
    expect(await planned('of/the-input', {})).toBe('of/the-input')
    expect(await planned('', {})).toBe('of/the-variable')
    expect(await planned('', { WATCHKEEPER_PROJECT: '' })).toBe('of/the-config')
    const { reason } = await run({ operation: 'plan', files: 'a.json' }, { files, env: { ...env, WATCHKEEPER_PROJECT: 'a b' } })
    expect(reason).toContain('WATCHKEEPER_PROJECT: "a b" is not accepted')
  })

  it('prefers inputs to variables, and variables to the config file', async () => {
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
    'reports: json=/etc/passwd',
    'config: other.yml',
    'github-token: ghs_0123456789',
    'comment-label: same-for-all',
    'pr-number: 1',
    'notify-url: https://evil.example/services/T0EVIL',
    'notify-format: json',
    'notify-on: always',
  ])('rejects a config file that sets %s', async (text) => {
    const ran = await config(text)
    expect(ran.reason).toContain(`.watchkeeper.yml:1:1: "${text.split(':')[0]}" cannot be set in a file of the repository`)
    expect(emulator().requests).toHaveLength(0)
  })

  it.each([
    ['# a comment\n\nservise-id: x', /\.watchkeeper\.yml:3:1: "servise-id" is an unknown setting; did you mean "service-id"\?/],
    ['recordings: x', /:1:1: "recordings" is not supported any more; backtest tests the incidents of the files/],
    ['https-proxy: http://evil', /\.watchkeeper\.yml:1:1: "https-proxy" is an unknown setting/],
    ['- a', /\.watchkeeper\.yml:1:1: must be a map of settings/],
    ['a: 1\na: 2', /\.watchkeeper\.yml:2:1: Map keys must be unique/],
    ['x: !!js/function "y"', /\.watchkeeper\.yml:1:4: Unresolved tag/],
  ])('rejects the config file %s', async (text, reason) => {
    expect((await config(text)).reason).toMatch(reason)
  })

  it('R7: names the config file and the line of each value that is not accepted', async () => {
    const text = [
      'service-id: nope',
      'timeout-seconds: 21601 # a comment',
      'comment: always',
      'summary: [1]',
      'project: a b',
      'profile: hyperdx',
      'organization-id: c0ffee00-0000-4000-8000-000000000001',
    ].join('\n')
    const { reason } = await run({ operation: 'plan', 'service-id': '', 'organization-id': '' }, { files: { '.watchkeeper.yml': text } })
    for (const line of [
      '- .watchkeeper.yml:1:13: service-id: "nope" is not accepted; accepted: a UUID',
      '- .watchkeeper.yml:2:18: timeout-seconds: 21601 is not accepted; accepted: a whole number from 1 to 21600',
      '- .watchkeeper.yml:4:10: summary: [1] is not accepted; accepted: true or false',
      '- .watchkeeper.yml:5:10: project: "a b" is not accepted',
      '- .watchkeeper.yml:7:18: organization-id: is not for profile hyperdx',
    ])
      expect(reason).toContain(line)
  })

  it('names a config file of another name, and does not blame it for an input or a variable', async () => {
    const files = { 'ci/watchkeeper.yml': 'max-attempts: many\nservice-id: nope\n' }
    const service = 'c0ffee00-0000-4000-8000-0000000000c1'
    const ofFile = await run({ operation: 'list-sources', config: 'ci/watchkeeper.yml', 'service-id': service }, { files })
    expect(ofFile.reason).toBe('ci/watchkeeper.yml:1:15: max-attempts: "many" is not accepted; accepted: a whole number from 1 to 20')
    const ofVariable = await run(
      { operation: 'list-sources', config: 'ci/watchkeeper.yml', 'service-id': service },
      { files, env: { WATCHKEEPER_MAX_ATTEMPTS: 'few' } },
    )
    expect(ofVariable.reason).toBe('WATCHKEEPER_MAX_ATTEMPTS: "few" is not accepted; accepted: a whole number from 1 to 20')
    const ofInput = await run(
      { operation: 'list-sources', config: 'ci/watchkeeper.yml', 'service-id': service, 'max-attempts': 'some' },
      { files, env: { WATCHKEEPER_MAX_ATTEMPTS: 'few' } },
    )
    expect(ofInput.reason).toBe('max-attempts: "some" is not accepted; accepted: a whole number from 1 to 20')
  })

  it('fails when the config file that was asked for does not exist', async () => {
    const ran = await config('', { config: 'other.yml' })
    expect(ran.reason).toContain('config: "other.yml" does not exist or cannot be read')
  })
})
