import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { planRules, toSarifRules } from '../../../src/changes/rules.ts'
import { validate } from '../../../src/changes/validate.ts'
import { lintRules } from '../../../src/sync/declarations/lint.ts'
import { pullRules } from '../../../src/sync/pull/verify-draft.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { fileWith, passed, written } from '../../support/declarations.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx' })

const product = { profile: 'clickhouse-cloud' }

const run = (files: Readonly<Record<string, unknown>>, { inputs = {}, env = {} }: Partial<InvokeOptions> = {}) =>
  invokeText({
    inputs: { operation: 'validate', ...product, ...inputs },
    env,
    files: Object.fromEntries(
      Object.entries(files).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
  })

const file = 'observability/a.json'

describe('validate', () => {
  it('passes on valid files, and counts what they declare', async () => {
    const { document, exitCode } = await run({ [file]: fileWith() })
    expect(document).toMatchObject({ status: 'pass', valid: true, objectCount: 2, errorCount: 0, warningCount: 0, files: [file] })
    expect(document.objects).toMatchObject([
      { kind: 'dashboard', key: 'd', name: 'D' },
      { kind: 'alert', key: 'a', name: 'A' },
    ])
    expect(exitCode).toBe(0)
  })

  it('fails on an error as on wrong input, and passes with warnings, with notes, and with errors under warn-only', async () => {
    const failed = await run({ [file]: fileWith({ alert: { interval: '5min', tresholdMax: 3 } }) })
    expect(failed.document).toMatchObject({ status: 'fail', valid: false, objectCount: 2, errorCount: 2 })
    expect([failed.reason, failed.exitCode]).toEqual(['2 objects in 1 file: 2 errors', 2])
    const warned = await run({ [file]: fileWith({ alert: { thresholdType: 'below', threshold: 0 } }) })
    expect(warned.document).toMatchObject({ status: 'warn', valid: true, errorCount: 0, warningCount: 1 })
    expect(warned.exitCode).toBe(0)
    const noted = await run({ [file]: fileWith({ alert: { note: undefined } }) })
    expect(noted.document).toMatchObject({ status: 'pass', diagnostics: [{ rule: 'missing-runbook', severity: 'note' }] })
    const accepted = await run({ [file]: '- a' }, { inputs: { 'warn-only': 'true' } })
    expect(accepted.document).toMatchObject({ status: 'warn', valid: false, errorCount: 1 })
    expect(accepted.exitCode).toBe(0)
  })

  it('fails where a folder has recordings of incidents, which look like tests, and not where another program has such a folder', async () => {
    const recording = '{\n "recording": 1,\n "incident": "down"\n}\n'
    const { document } = await run({ [file]: fileWith(), 'recordings/down/errors.json': recording })
    expect([document.status, document.diagnostics]).toEqual([
      'fail',
      [
        {
          rule: 'recordings',
          severity: 'error',
          location: { file: 'recordings/down/errors.json' },
          message:
            'nothing reads recordings of incidents any more; delete the folder recordings: backtest tests incidents on the data of the service',
        },
      ],
    ])
    const others = Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`recordings/tape/${i}.json`, { length: i }]))
    for (const one of [{ 'recordings/tape/a.json': { length: 3 } }, { 'recordings/a.json': recording }, others])
      expect((await run({ [file]: fileWith(), ...one })).document).toMatchObject({ status: 'pass', errorCount: 0 })
  })

  it('validate is an error where no file matches', async () => {
    const { document, reason } = await run({ 'elsewhere/a.yml': 'alerts: {}' })
    expect(document.status).toBe('error')
    expect(reason).toBe('files: no file matches observability/**/*.{yml,yaml,json}; init, pull and import write files')
  })

  it('names the missing checkout in an empty workspace of a workflow, also where the last objects may be deleted', async () => {
    const env = { GITHUB_ACTIONS: 'true', WATCHKEEPER_ALLOW_EMPTY: 'true' }
    const inputs = { operation: 'plan', prune: 'true', project: 'shop/main', ...inputsFor(emulator(), 'hyperdx') }
    for (const one of [{ env }, { env, inputs }])
      expect((await run({}, one)).reason).toBe('files: the workspace is empty. Add a step with actions/checkout before this one')
    expect((await run({}, { env, inputs: { env: 'production' } })).reason).toMatch(/^env: the workspace is empty\. Add a step with/)
  })

  it('reads every folder and every spelling below observability and nothing else, or what is asked for, one glob a line', async () => {
    const { document } = await run({
      'observability/a.yml': 'alerts: {}',
      'observability/b/c.yaml': 'alerts: {}',
      'observability/b/d/e.json': '{}',
      'observability/README.md': '# no',
      'alerts/a.yml': 'name: x',
    })
    expect(document).toMatchObject({ files: ['observability/a.yml', 'observability/b/c.yaml', 'observability/b/d/e.json'], errorCount: 0 })
    const inputs = { files: 'x/*.yml\ny.json' }
    const asked = await run({ 'x/a.yml': 'alerts: {}', 'y.json': '{}', 'z.yml': '- a' }, { inputs })
    expect(asked.document).toMatchObject({ files: ['x/a.yml', 'y.json'], errorCount: 0 })
  })

  it('validate is an error where a named file does not exist, also beside other files', async () => {
    const { reason } = await run({ [file]: fileWith() }, { inputs: { files: `${file}\nobservability/b.json\nobservability/*.yml` } })
    expect(reason).toBe('files: no file matches observability/b.json')
    expect((await run({ [file]: fileWith() }, { inputs: { files: `./${file}\nobservability/*.yml` } })).document.status).toBe('pass')
  })

  it('reads nothing outside the workspace', () =>
    forEachEntry(['/etc/*.yml', '../*.yml', 'a/../../b.yml', 'C:\\x.yml', '~/a.yml', '\\\\host\\x'], async (files) => {
      const { document, reason } = await run({ [file]: fileWith() }, { inputs: { files } })
      expect(document.status).toBe('error')
      expect(reason).toMatch(/^files: .*is not accepted/)
    }))

  it('sorts diagnostics by file, line and column', async () => {
    const wrong = 'alerts:\n  b: { name: 1, threshold: x, interval: 5m }\n  a: {}\n'
    const { document } = await run({ 'observability/b.yml': wrong, 'observability/a.yml': '- x' })
    const places = (document.diagnostics as { location: { file: string; line: number; column: number } }[]).map(({ location }) => location)
    expect(places.map(({ file: name, line, column }) => `${name.slice(14)}:${line}:${column}`).slice(0, 4)).toEqual([
      'a.yml:1:1',
      'b.yml:2:3',
      'b.yml:2:14',
      'b.yml:2:28',
    ])
  })

  it('fills in variables of the environment, and says which is not set', async () => {
    const files = { [file]: fileWith({ alert: { threshold: written('‹env.MOST_ERRORS›') } }) }
    expect((await run(files, { env: passed({ MOST_ERRORS: '5' }) })).document.status).toBe('pass')
    const { document } = await run(files)
    expect(document.diagnostics).toMatchObject([
      { rule: 'variable', message: written('alerts.a.threshold: ‹env.MOST_ERRORS› is not set; set WATCHKEEPER_VAR_MOST_ERRORS') },
    ])
  })

  it('never shows a credential, not even where a file asks for it', async () => {
    const env = { WATCHKEEPER_API_KEY_SECRET: 'the-secret-0123456789', MY_TOKEN: 'the-token-0123456789' }
    const names = ['WATCHKEEPER_API_KEY_SECRET', 'MY_TOKEN']
    for (const name of names) {
      const { document } = await run({ [file]: fileWith({ alert: { interval: written(`‹env.${name}›`) } }) }, { env })
      expect(JSON.stringify(document)).not.toMatch(/the-(?:secret|token)/)
      expect(document).toMatchObject({ status: 'fail', errorCount: 1 })
    }
  })

  it('judges what only the cloud has by the profile', async () => {
    const alert = { channel: { type: 'email', emailRecipients: ['a@b.example'] }, interval: '30s' }
    const messages = async (profile: string, severity: string) => {
      const { document } = await run({ [file]: fileWith({ alert }) }, { inputs: { profile } })
      const all = document.diagnostics as { severity: string; message: string }[]
      return all.flatMap((one) => (one.severity === severity ? [one.message] : [])).toSorted()
    }
    expect(await messages('hyperdx', 'error')).toEqual([expect.stringContaining('email'), expect.stringContaining('30s')])
    expect(JSON.stringify([await messages('', 'error'), await messages('', 'warning')])).not.toContain('email')
    expect(JSON.stringify([await messages('clickhouse-cloud', 'error'), await messages('clickhouse-cloud', 'warning')])).not.toContain(
      'email',
    )
  })

  it('rejects more files than people write by hand', { tags: 'slow' }, async () => {
    const large = JSON.stringify({ alerts: {}, $schema: 'x'.repeat(4_900_000) })
    const files = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`observability/${i}.json`, large]))
    expect((await run(files)).reason).toBe('files: the files are larger than 20 MB in total')
  })
})

describe('the rules in the config file', () => {
  const withRules = (rules: string) =>
    run({ [file]: fileWith({ alert: { note: undefined, thresholdType: 'below', threshold: 0 } }), '.watchkeeper.yml': `rules:\n${rules}` })

  it('the rules in the config file set the severity of a rule, or turn it off', async () => {
    expect((await withRules('  missing-runbook: error\n  threshold-never-fires: off\n')).document).toMatchObject({
      status: 'fail',
      diagnostics: [{ rule: 'missing-runbook', severity: 'error' }],
    })
    expect((await withRules('')).document.status).toBe('warn')
  })

  it('the rules in the config file are rejected by name and location', () =>
    forEachEntry(
      [
        ['  mising-runbook: off\n', '.watchkeeper.yml:2:3: rules: "mising-runbook" is an unknown field; did you mean "missing-runbook"?'],
        [
          '  missing-runbook: no\n',
          '.watchkeeper.yml:2:20: rules.missing-runbook: "no" is not accepted; accepted: error, warning, note, off',
        ],
        ['  syntax: off\n', '.watchkeeper.yml:2:3: rules: "syntax" is an unknown field; accepted: alert-without-channel, '],
        ['  - off\n', '.watchkeeper.yml:2:3: rules: ["off"] is not accepted; accepted: a map'],
      ],
      async (rules, reason) => {
        expect((await withRules(rules)).reason).toContain(reason)
      },
    ))
})

describe('the list of rules', () => {
  it('the list of rules has every id once, with a sentence', () => {
    expect(new Set(planRules.map(({ id }) => id)).size).toBe(planRules.length)
    for (const { id, description } of planRules) expect(`${id} ${description}`).toMatch(/^[a-z][a-z-]* [A-Z].*\.$/)
  })

  it('docs/files.md says for each rule what can be set', () => {
    const text = readFileSync(new URL('../../../docs/files.md', import.meta.url), 'utf8')
    const rows = [...text.matchAll(/^\| `([\w-]+)` \| .* \| (error|warning|note) \| (yes)? *\|$/gm)]
    expect(rows.map(([, id, severity, set]) => [id, severity, set === 'yes'])).toEqual(
      [...planRules, ...toSarifRules(pullRules)].map(({ id, severity }) => [id, severity, Object.hasOwn(lintRules, id)]),
    )
  })
})

it('writes SARIF only where it was asked for', async () => {
  expect((await run({ [file]: '- a' })).files).toEqual([])
  const { files } = await run({ [file]: '- a' }, { inputs: { reports: 'sarif=out.sarif' } })
  const byPath = new Map(files.map(({ path, content }) => [path, JSON.parse(content)]))
  expect(byPath.get('out.sarif')).toMatchObject({ runs: [{ results: [{ ruleId: 'schema', level: 'error' }] }] })
})

it('validate needs neither address nor key nor service', () => {
  expect([validate.scope, validate.effect]).toEqual(['none', 'read'])
})
