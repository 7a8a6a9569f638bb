import { describe, expect, it } from 'vitest'
import { credentialsIn, partlyShownIn } from '../../../src/runtime/credentials.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'
import { runAsAction } from '../../support/run-as-action.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const run = (inputs: Readonly<Record<string, string>>, more: Omit<InvokeOptions, 'inputs'> = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator()), ...inputs }, ...more })

describe('wrong input', () => {
  it('suggests the nearest name for a misspelled operation', async () => {
    const ran = await run({ operation: 'usage-costs' })
    expect(ran.reason).toBe('operation: unknown operation "usage-costs"; did you mean "usage-cost"?')
  })

  it('names the operations when none is given', async () => {
    expect((await run({})).reason).toMatch(/^operation: is missing; accepted: validate, plan, .*doctor, backtest, .*list-webhooks$/)
  })

  it.each([
    ['bugdet', 'budget'],
    ['Budgett', 'budget'],
    ['api_key_id', 'api-key-id'],
    ['on_missing', 'on-missing'],
  ])('rejects the unknown input %s, so that it never means that nothing was set', async (misspelt, meant) => {
    const ran = await run({ operation: 'usage-cost', period: 'today', [misspelt]: '100' })
    expect(ran.document.status).toBe('error')
    expect(ran.reason).toBe(`${misspelt.toLowerCase()}: unknown input of usage-cost; did you mean "${meant}"?`)
    expect(emulator().requests).toHaveLength(0)
  })

  it.each(['constructor', '__proto__', 'to-string', 'has-own-property', 'length', '0'])('rejects an input called %s', async (name) => {
    const ran = await run({ operation: 'list-sources', [name]: 'x' })
    expect(ran.document.status).toBe('error')
    expect(ran.reason).toMatch(/unknown input of list-sources/)
  })

  it('rejects an input of another operation', async () => {
    const ran = await run({ operation: 'list-sources', budget: '100' })
    expect(ran.reason).toBe('budget: unknown input of list-sources')
  })

  it.each([
    [
      'WATCHKEEPER_BUDGET',
      /^WATCHKEEPER_BUDGET: is not read, because only common inputs have a variable; remove it, and set the input budget/,
    ],
    // An input of other operations: no operation reads it from a variable.
    [
      'WATCHKEEPER_MAX_DELETES',
      /^WATCHKEEPER_MAX_DELETES: is not read, .*; remove it, and set the input max-deletes where an operation needs it$/,
    ],
    // A short name resembles too many, and its own is one.
    ['WATCHKEEPER_ENV', /^WATCHKEEPER_ENV: is not read, .*; remove it, and set the input env where/],
    ['WATCHKEEPER_BUGET', /^WATCHKEEPER_BUGET: unknown variable; did you mean the input budget\? It has no variable, because only common/],
    ['WATCHKEEPER_MAX_DELETE', /^WATCHKEEPER_MAX_DELETE: unknown variable; did you mean the input max-deletes\?/],
    ['WATCHKEEPER_FORECAST', /^WATCHKEEPER_FORECAST: unknown variable; did you mean the input forecast-budget\?/],
    ['WATCHKEEPER_ORGANISATION_ID', /^WATCHKEEPER_ORGANISATION_ID: unknown variable; did you mean WATCHKEEPER_ORGANIZATION_ID\?$/],
    ['WATCHKEEPER_DEBGU', /^WATCHKEEPER_DEBGU: unknown variable; did you mean WATCHKEEPER_DEBUG\?$/],
    ['WATCHKEEPER_ApiUrl', /^WATCHKEEPER_ApiUrl: unknown variable; did you mean WATCHKEEPER_API_URL\?$/],
  ])('rejects the variable %s, which looks like an input and is never read', async (variable, reason) => {
    for (const inputs of [{ operation: 'usage-cost', period: 'today', budget: '1' }, { operation: 'list-sources' }]) {
      const ran = await run(inputs, { env: { [variable]: '1' } })
      expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringMatching(reason)])
    }
    expect(emulator().requests).toHaveLength(0)
  })

  it('accepts an empty variable as one that is not set', async () => {
    const ran = await run({ operation: 'list-sources' }, { env: { WATCHKEEPER_BUDGET: '', WATCHKEEPER_BUGET: ' ', WATCHKEEPER_XYZZY: '' } })
    expect([ran.document.status, ran.warnings]).toEqual(['pass', []])
  })

  it('R7: names the input whose value is not accepted', async () => {
    const env = {
      WATCHKEEPER_SERVICE_ID: 'nope',
      WATCHKEEPER_TIMEOUT_SECONDS: 'soon',
      WATCHKEEPER_API_URL: 'http://far.example',
      WATCHKEEPER_API_KEY_SECRET: 'short',
      WATCHKEEPER_NOTIFY_URL: 'ftp://x.example/short-secret',
    }
    const { reason } = await invokeText({
      inputs: { operation: 'list-sources', 'organization-id': 'c0ffee00-0000-4000-8000-000000000001', 'api-key-id': 'id' },
      env,
    })
    expect(reason.split('\n').slice(1).sort()).toEqual([
      expect.stringMatching(/^- WATCHKEEPER_API_KEY_SECRET: is not accepted; accepted: at least 8/),
      expect.stringMatching(/^- WATCHKEEPER_API_URL: "http:\/\/far.example" would send the key unencrypted/),
      expect.stringMatching(/^- WATCHKEEPER_NOTIFY_URL: is not accepted; accepted: an https URL/),
      expect.stringMatching(/^- WATCHKEEPER_SERVICE_ID: "nope" is not accepted/),
      expect.stringMatching(/^- WATCHKEEPER_TIMEOUT_SECONDS: "soon" is not accepted/),
    ])
  })

  it('S7: rejects an id that is not safe in a path, before any request', async () => {
    for (const [operation, input] of [
      ...['get-alert', 'delete-alert', 'get-dashboard', 'delete-dashboard', 'get-backup'].map((name) => [name, 'id'] as const),
      ['list-alerts', 'service-id'],
      ['list-alerts', 'observability-path'],
    ] as const)
      for (const value of ['..', 'a/b']) {
        const ran = await run({ operation, [input]: value })
        expect([operation, ran.document.error?.kind, ran.reason]).toEqual([operation, 'input', expect.stringContaining(`${input}: `)])
      }
    expect(emulator().requests).toEqual([])
  })

  it('shows the mistakes of a file on one screen, however many there are', async () => {
    const keys = (count: number, end: string): string => Array.from({ length: count }, (_, i) => `a${i}: 1`).join(end)
    const alert = await run({ operation: 'update-alert', id: 'a', alert: 'a.yml' }, { files: { 'a.yml': `{${keys(2000, ', ')}}` } })
    const config = await run({ operation: 'list-sources' }, { files: { '.watchkeeper.yml': keys(80, '\n') } })
    for (const [{ reason }, end] of [
      [alert, /\d+ more unknown fields$/],
      [config, /and \d+ more$/],
    ] as const) {
      expect(reason).toMatch(end)
      expect(reason.split('\n').length).toBeLessThanOrEqual(52)
    }
  })

  it('warns about an unknown variable', async () => {
    const env = {
      WATCHKEEPER_XYZZY: '1',
      WATCHKEEPER_DEPLOY_RING: '2',
      OTHER: '3',
      WATCHKEEPER_VAR_BUDGET: '4',
      WATCHKEEPER_TIMEOUT_SECONDS: '60',
    }
    const ran = await run({ operation: 'list-sources' }, { env })
    expect([ran.document.status, ran.warnings]).toEqual([
      'pass',
      ['Unknown variables with the prefix WATCHKEEPER_ are ignored: WATCHKEEPER_XYZZY, WATCHKEEPER_DEPLOY_RING. No input has such a name.'],
    ])
  })

  it('says what to do instead of a variable that was dropped', async () => {
    const { reason } = await run({ operation: 'list-sources' }, { env: { WATCHKEEPER_RESULTS: 'a.json', WATCHKEEPER_ADOPT_FROM: 'x' } })
    expect(reason.split('\n').filter((line) => line.startsWith('- '))).toEqual([
      '- WATCHKEEPER_RESULTS: is not supported any more; set results in a policy of the file in checks',
      '- WATCHKEEPER_ADOPT_FROM: is not supported any more; set previous-project or previous-repository in .watchkeeper.yml',
    ])
  })

  it('names ten unknown variables, and counts the others', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `WATCHKEEPER_XYZZY_${i}`)
    const ran = await run({ operation: 'list-sources' }, { env: Object.fromEntries(names.map((name) => [name, '1'])) })
    expect(ran.warnings).toEqual([expect.stringContaining(`ignored: ${names.slice(0, 10).join(', ')} and 2 more. No input`)])
  })

  it('accepts an empty input as one that is not given', async () => {
    const ran = await run({ operation: 'list-sources', select: '   ', budget: '' })
    expect(ran.document.status).toBe('pass')
    expect(ran.outputs.count).toBe('4')
  })

  it.each([
    [
      { period: '2026-02-30..2026-03-01' },
      /^period: "2026-02-30\.\.2026-03-01" is not accepted; accepted: today, .* a day such as 2026-01-31/,
    ],
    [{ period: '2026-03-02..2026-03-01' }, /^period: "2026-03-02\.\.2026-03-01" is not accepted/],
    [{ period: '2099-01-01..2099-01-02' }, /^period: begins on 1 Jan 2099, which is in the future/],
    [{ period: 'billing-cycle', 'billing-cycle-day': '32' }, /^billing-cycle-day: 32 is not accepted/],
    [{ period: 'today', select: 'team=x' }, /^select: "team=x" is not accepted; accepted: tag=TAG$/],
    [{ period: 'today', select: 'tag=my team' }, /^select: "tag=my team" is not accepted; accepted: tag=Key or tag=Key=Value/],
  ])('rejects the period %j', async (inputs, reason) => {
    const ran = await run({ operation: 'usage-cost', ...inputs })
    expect(ran.reason).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason))
    expect(emulator().requests).toHaveLength(0)
  })

  it.each([
    'http://api.example.com',
    'https://user:hunter2hunter2@h',
    'https://h?token=hunter2hunter2',
    'https://h#hunter2hunter2',
    'ftp://x',
    'https://h\\@evil',
  ])('rejects the address %s', async (url) => {
    const ran = await run({ operation: 'list-sources', 'api-url': url })
    expect(ran.reason).toMatch(/^api-url: /)
    expect(ran.reason).not.toContain('hunter2')
  })

  it.each([
    [{ 'api-key-secret': 'short' }, /^api-key-secret: is not accepted; accepted: at least 8 characters/],
    [{ 'api-key-secret': 'with\nnewline-inside' }, /^api-key-secret: is not accepted/],
    [{ 'api-key-id': 'a:b' }, /^api-key-id: "a:b" is not accepted/],
    [{ 'api-key-secret': '' }, /^api-key-secret: is missing; set the input or WATCHKEEPER_API_KEY_SECRET$/],
    [{ 'sql-key-id': 'query-key' }, /^sql-key-secret: is missing; sql-key-id needs it$/],
    [{ 'sql-key-secret': 'query-secret' }, /^sql-key-id: is missing; sql-key-secret needs it$/],
    [{ 'sql-url': 'http://queries.example' }, /^sql-url: "http:\/\/queries\.example" would send the key unencrypted/],
  ])('rejects the credentials %j', async (inputs, reason) => {
    const ran = await run({ operation: 'list-sources', ...inputs })
    expect(ran.reason).toMatch(reason)
  })

  it('says where a missing value is an empty one, as GitHub passes a secret or a variable that does not exist', async () => {
    const inAction = async (inputs: Readonly<Record<string, string>>, env = {}) =>
      (await run({ operation: 'list-sources', ...inputs }, { isAction: true, env: { GITHUB_ACTIONS: 'true', ...env } })).reason
    const isEmpty = 'is missing or empty: check the name of the secret or variable that it is set to'
    expect(await inAction({ 'sql-key-id': '', 'sql-key-secret': 'query-secret' })).toBe(`sql-key-id: ${isEmpty}; sql-key-secret needs it`)
    expect(await inAction({ 'service-id': '' })).toBe(`service-id: ${isEmpty}; set the input or WATCHKEEPER_SERVICE_ID`)
    expect(await inAction({ 'api-key-secret': '' })).toMatch(/^api-key-secret: is missing or empty; .* Pull requests from forks/)
    expect(await inAction({ 'sql-key-secret': 'query-secret' }, { WATCHKEEPER_SQL_KEY_ID: '' })).toBe(
      'sql-key-id: is missing, because WATCHKEEPER_SQL_KEY_ID is empty; sql-key-secret needs it',
    )
    const { reason } = await run({ operation: 'get-alert', id: '' }, { isAction: true })
    expect(reason).toContain(`id: ${isEmpty}; accepted:`)
  })

  it('hides the key for SQL, also as it is sent', () => {
    const inputs = { sqlKeyId: 'query-key-id', sqlKeySecret: 'query-secret' }
    expect(credentialsIn(inputs, {})).toEqual(['query-secret', Buffer.from('query-key-id:query-secret').toString('base64')])
    expect(credentialsIn({}, { WATCHKEEPER_SQL_KEY_SECRET: 'query-secret' })).toContain('query-secret')
    expect(partlyShownIn(inputs, {})).toEqual(['query-key-id'])
  })

  it('hides what files name as a secret of a webhook', () => {
    const secrets = credentialsIn({}, { WEBHOOK_ONCALL_URL: 'https://hooks.example/T0/B0/x0123456789' })
    expect(secrets).toContain('/T0/B0/x0123456789')
  })

  it('S3: rejects a run with certificate checks turned off, before anything is sent', async () => {
    const ran = await run({ operation: 'list-sources' }, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    expect(ran.reason).toMatch(/^NODE_TLS_REJECT_UNAUTHORIZED: is 0/)
  })

  it('rejects a proxy that is not a URL, by the name of its variable', async () => {
    const ran = await run({ operation: 'list-sources' }, { env: { HTTPS_PROXY: 'proxy-secret-password' } })
    expect(ran.reason).toMatch(/^HTTPS_PROXY: is not a proxy URL; accepted: http:\/\/\[user:password@\]host:port/)
  })
})

describe('S3: the webhook of notifications is accepted over https, or over http to loopback addresses', () => {
  const path = '/services/T0SECRET/B0SECRET/qWeRtYuIoPaSdFgH'
  const list = { operation: 'list-sources' }

  it.each([
    `https://hooks.slack.com${path}`,
    `https://host:8443${path}?sig=a%2Fb&sv=1`,
    `http://127.0.0.1:9${path}`,
    `http://localhost:9${path}`,
  ])('accepts the webhook %s', async (url) => {
    expect((await run({ ...list, 'notify-url': url })).publishSettings).toMatchObject({
      notifyUrl: url,
      notifyFormat: 'slack',
      notifyOn: 'failure',
    })
  })

  it.each([
    `http://hooks.slack.com${path}`,
    `https://user:hunter2-hunter2@hooks.slack.com${path}`,
    `https://hooks.slack.com${path}#fragment`,
    `https://hooks.slack.com\\${path}`,
    `https:${path}`,
    `ftp://hooks.slack.com${path}`,
    'T0SECRET/B0SECRET/qWeRtYuIoPaSdFgH',
  ])('rejects the webhook %s without showing it', async (url) => {
    const ran = await run({ ...list, 'notify-url': url, 'allow-http': 'true' })
    expect(ran.reason).toBe('notify-url: is not accepted; accepted: an https URL without user and fragment; http for loopback addresses')
    expect(ran.publishSettings.notifyUrl).toBeUndefined()
  })

  it('reads the webhook from a variable', async () => {
    const ran = await run(list, { env: { WATCHKEEPER_NOTIFY_URL: `https://hooks.slack.com${path}` } })
    expect(ran.publishSettings.notifyUrl).toContain(path)
  })

  it.each([
    [{}, true, /^notify-on: `change` needs `issue: on-failure`, because the issue remembers the last result/],
    [{ issue: 'on-failure' }, true, /^$/],
    [
      { issue: 'on-failure' },
      false,
      /^notify-on: `change` works only in the GitHub Action, which remembers the last result in an issue. Use `failure`.$/,
    ],
  ] as const)('judges notify-on: change with %j where an issue can be written: %s', async (more, isAction, reason) => {
    expect((await run({ ...list, 'notify-on': 'change', ...more }, { isAction })).reason).toMatch(reason)
  })

  it.each(['notify-on', 'notify-format'])(
    'notes in the log that the webhook is missing when %s is set, because a misspelled secret is empty',
    async (name) => {
      const notes: string[] = []
      const value = name === 'notify-on' ? 'always' : 'teams'
      await run({ ...list, [name]: value, 'notify-url': '' }, { note: (line) => notes.push(line) })
      expect(notes).toContain('No notification is sent, because notify-url is empty')
    },
  )
})

describe('a setting of the operator', () => {
  const list = { operation: 'list-sources' }

  it('is no input of the action, and the error names its variable', async () => {
    const inputs = { ...list, 'timeout-seconds': '60', 'allow-http': 'true' }
    const { reason } = await run(inputs, { isAction: true })
    for (const name of ['timeout-seconds', 'allow-http']) {
      const variable = `WATCHKEEPER_${name.replace('-', '_').toUpperCase()}`
      expect(reason).toContain(`${name}: is not an input of the action, but a variable; set ${variable} in env`)
    }
    expect((await run(inputs)).document.status).toBe('pass')
  })

  it('is read from its variable, also where only one operation has it', async () => {
    const cost = (env: Readonly<Record<string, string>>) => run({ operation: 'usage-cost', gate: 'off' }, { env, isAction: true })
    expect((await cost({ WATCHKEEPER_CREDIT_PRICE: '1.05 USD' })).document).toMatchObject({
      creditPrice: { amount: '1.05', currency: 'USD' },
    })
    expect((await cost({ WATCHKEEPER_CREDIT_PRICE: 'cheap' })).reason).toContain('WATCHKEEPER_CREDIT_PRICE: "cheap" is not accepted')
    expect((await run(list, { env: { WATCHKEEPER_BILLING_CYCLE_DAY: '15' } })).document.status).toBe('pass')
  })
})

it('ignores the variables that Kubernetes sets for a Service with the same name, and short words', async () => {
  const variables = {
    WATCHKEEPER_SERVICE_HOST: '10.0.0.1',
    WATCHKEEPER_SERVICE_PORT_HTTP: '80',
    WATCHKEEPER_PORT: 'tcp://10.0.0.1:80',
    WATCHKEEPER_FOO: 'x',
  }
  expect((await run({ operation: 'list-sources' }, { env: variables })).document).toMatchObject({ status: 'pass' })
})

describe('the profile', () => {
  const nothing = () => Object.fromEntries(Object.keys(inputsFor(emulator())).map((name) => [name, '']))

  it('the profile is clickhouse-cloud where none is given, and a message without its settings names the other one', async () => {
    expect((await run({ operation: 'list-saved-searches' })).document).toMatchObject({ status: 'pass' })
    for (const given of [{}, { 'api-url': emulator().url }]) {
      const { reason } = await run({ ...nothing(), ...given, operation: 'list-alerts' })
      for (const name of ['api-key-id', 'api-key-secret', 'organization-id', 'service-id']) expect(reason).toContain(`${name}: is missing`)
      expect(reason).toContain('profile: is clickhouse-cloud by default; for a self-hosted server, set profile: hyperdx')
      expect(reason).toMatch(/^4 errors in the input:\n(?:- .*\n){4}- profile: /)
    }
  })

  it('the profile is asked for where only the key of a self-hosted server is given', async () => {
    const { reason } = await run({ ...nothing(), 'api-url': emulator().url, 'api-key': 'a-key-of-hyperdx', operation: 'list-alerts' })
    expect(reason).toBe('api-key: is the key of a self-hosted server: set profile: hyperdx, or use api-key-id and api-key-secret')
  })
})

describe('an address that is given and empty', () => {
  it('an empty variable is an error, so that no key goes to a host that the user did not choose', async () => {
    const { 'api-url': url = '', ...inputs } = inputsFor(emulator())
    const env = { WATCHKEEPER_API_URL: ' ' }
    const { reason } = await invokeText({ inputs: { ...inputs, operation: 'list-alerts' }, env })
    expect(reason).toBe('WATCHKEEPER_API_URL: is empty; set it to the address of the server, or remove it')
    expect((await run({ operation: 'list-alerts', 'api-url': url }, { env })).document.status).toBe('pass')
  })

  it('an empty input of the action is an error, and the default of action.yml is none', async () => {
    const { 'api-url': url = '', ...inputs } = inputsFor(emulator())
    const reasonOf = async (given: string, env: Readonly<Record<string, string>> = {}) =>
      (await runAsAction({ inputs: { ...inputs, 'api-url': given, operation: 'list-alerts' }, env })).outputs.get('failure-reason')
    expect(await reasonOf('')).toBe('api-url: is empty; give api-url a value, or leave it out')
    expect(await reasonOf('auto', { WATCHKEEPER_API_URL: url })).toBe('')
  })
})
