// What somebody gets who calls a reusable workflow: its conditions evaluated, its steps run. Where it applies is a matter of
// test/contract/reusable-workflows.test.ts.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Call, type Called, callWorkflow, onMain, reusable } from '../../support/run-workflow.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

const secrets = { 'api-key-id': demo.apiKeyId, 'api-key-secret': demo.apiKeySecret }

const call = (name: string, { inputs = {}, ...more }: Partial<Call> = {}): Promise<Called> =>
  callWorkflow(name, {
    inputs: { 'organization-id': demo.organizationId, ...inputs },
    secrets,
    env: { WATCHKEEPER_API_URL: emulator().url },
    github: onMain,
    ...more,
  })

const pullRequest = (head: string) => ({
  ...onMain,
  event_name: 'pull_request',
  ref: 'refs/pull/7/merge',
  event: { ...onMain.event, pull_request: { head: { repo: { full_name: head } } } },
})

const starter = { 'observability/service.yml': read('examples/starter/service.yml') }

const asCode = {
  'service-id': demo.services.checkout,
  variables: 'SERVICE=checkout\nWEBHOOK=oncall\n\nERRORS_PER_FIVE_MINUTES=20\n',
} as const

const planAndApply = ({ inputs = {}, ...more }: Partial<Call> = {}): Promise<Called> =>
  call('plan-and-apply', { inputs: { ...asCode, ...inputs }, files: starter, ...more })

const writes = (): readonly string[] =>
  emulator()
    .requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/validate'))
    .map(({ method }) => method)

/** What each job did, by its id: its result and its operations. */
const ran = ({ jobs }: Called) =>
  Object.fromEntries(Object.entries(jobs).map(([id, { result, operations }]) => [id, [result, ...operations]]))

it('the cost gate passes within a budget or a file of budgets, and is red above it and without one', async () => {
  const within = await call('cost-gate', { inputs: { period: 'last-30-days', budget: '500' } })
  expect([within.jobs.cost?.result, within.outputs]).toEqual(['success', { status: 'pass', 'failure-reason': '' }])
  const above = await call('cost-gate', { inputs: { period: 'last-30-days', budget: '1' } })
  const failed = { status: 'fail', 'failure-reason': expect.stringContaining('Budget exceeded: ') }
  expect([above.jobs.cost?.result, above.outputs]).toEqual(['failure', failed])
  const files = { 'cost/budgets.yml': read('examples/budgets.yml') }
  expect((await call('cost-gate', { inputs: { budgets: 'cost/budgets.yml' }, files })).outputs.status).toBe('pass')
  const none = await call('cost-gate')
  expect([none.jobs.cost?.result, none.outputs.status]).toEqual(['failure', 'fail'])
  expect(none.outputs['failure-reason']).toMatch(/^No budget is set: nothing was checked\./)
})

it('the workflow of backups judges the services that it is given, and none is a mistake', async () => {
  const statusFor = async (services: readonly string[]) => {
    const { jobs, outputs } = await call('backups', { inputs: { services: services.join('\n') } })
    return [jobs.backups?.result, outputs.status]
  }
  expect(await statusFor([demo.services.checkout])).toEqual(['success', 'pass'])
  expect(await statusFor(Object.values(demo.services))).toEqual(['failure', 'fail'])
  expect(await statusFor([])).toEqual(['failure', 'error'])
})

it('a push applies the plan that was shown, nothing without changes, and nothing when the service has moved meanwhile', async () => {
  const first = await planAndApply()
  expect(ran(first)).toEqual({ plan: ['success', 'plan'], apply: ['success', 'apply'] })
  expect(first.outputs).toMatchObject({ status: 'pass', applied: 'true' })
  const before = writes().length
  expect(before).toBeGreaterThan(0)
  const again = await planAndApply()
  expect(ran(again)).toEqual({ plan: ['success', 'plan'], apply: ['skipped'] })
  expect(again.outputs).toMatchObject({ status: 'pass', applied: 'false' })
  const files = { 'observability/service.yml': starter['observability/service.yml'].replace('threshold: 0.02', 'threshold: 0.03') }
  const somebody = (): void => {
    for (const alert of serviceOf(emulator()).alerts) alert.threshold = 0.5
  }
  const moved = await planAndApply({ files, before: { apply: somebody } })
  expect(moved.jobs.apply?.result).toBe('failure')
  const reason = expect.stringContaining('have changed since the plan was made')
  expect(moved.outputs).toMatchObject({ status: 'error', applied: 'false', 'failure-reason': reason })
  expect(writes()).toHaveLength(before)
})

it('a pull request is planned, and that of a fork is only checked, without a key; a mistake in the call fails', async () => {
  const planned = await planAndApply({ github: pullRequest('shop/infra') })
  expect(ran(planned)).toEqual({ plan: ['success', 'plan'], apply: ['skipped'] })
  expect(planned.outputs).toMatchObject({ status: 'pass', applied: 'false' })
  expect(writes()).toEqual([])
  emulator().reset()
  const fork = await planAndApply({ github: pullRequest('eve/infra'), secrets: { 'api-key-id': '', 'api-key-secret': '' } })
  expect(ran(fork)).toEqual({ plan: ['success', 'validate'], apply: ['skipped'] })
  expect([fork.outputs.status, methodsOf(emulator())]).toEqual(['pass', []])
  expect(ran(await planAndApply({ inputs: { mode: 'aply' } }))).toEqual({ plan: ['failure'], apply: ['skipped'] })
  const unset = await planAndApply({ inputs: { variables: 'SERVICE=checkout' } })
  expect(unset.outputs.status).toBe('fail')
})

it('the secrets of webhooks reach plan, apply and drift, no output has them, and a pull request has none', async () => {
  const url = 'https://hooks.example.com/pager/only-in-the-secret'
  const files = {
    'observability/webhooks.yml':
      'webhooks: { pager: { name: pager, service: generic, urlFrom: WEBHOOK_PAGER_URL, headersFrom: { Authorization: WEBHOOK_PAGER_TOKEN } } }',
  }
  const given = { ...secrets, 'webhook-variables': `WEBHOOK_PAGER_URL=${url}\nWEBHOOK_PAGER_TOKEN=Bearer only-in-the-secret\n` }
  const stored = () => serviceOf(emulator()).webhooks.filter(({ name }) => name === 'pager')
  const drift = async (more: Partial<Call>) => call('drift', { inputs: asCode, files, secrets: given, ...more })

  // Without the secrets, nothing is compared, and nothing is created.
  const planned = await planAndApply({ files, secrets: given, github: pullRequest('shop/infra') })
  expect([planned.outputs.status, planned.jobs.plan?.outputs['needs-apply']]).toEqual(['pass', 'true'])
  const { jobs, outputs } = await planAndApply({ files })
  expect([jobs.plan?.result, jobs.apply?.result, outputs.status, outputs.applied]).toEqual(['success', 'failure', 'error', 'false'])
  expect(outputs['failure-reason']).toContain('WEBHOOK_PAGER_URL, WEBHOOK_PAGER_TOKEN are not set, so the secret cannot be sent')
  const missing = await drift({})
  expect([missing.jobs.drift?.result, missing.outputs.status, stored()]).toEqual(['failure', 'fail', []])

  const applied = await planAndApply({ files, secrets: given })
  expect([applied.jobs.apply?.result, applied.outputs.applied]).toEqual(['success', 'true'])
  expect(stored()).toMatchObject([{ url, headers: { Authorization: 'Bearer only-in-the-secret' } }])
  const moved = await drift({ secrets: { ...given, 'webhook-variables': given['webhook-variables'].replace('/pager/', '/moved/') } })
  const same = await drift({})
  expect([same.jobs.drift?.result, same.outputs.status, moved.outputs.status]).toEqual(['success', 'pass', 'fail'])
  // A pull request gets the secrets of the repository, but its files do not decide where they go.
  const shown = await planAndApply({
    files,
    secrets: { ...given, 'webhook-variables': given['webhook-variables'].replace('/pager/', '/moved/') },
    github: pullRequest('shop/infra'),
  })
  expect(shown.jobs.plan?.outputs['needs-apply']).toBe('false')
  expect(JSON.stringify([planned, missing, applied, same, moved, shown])).not.toContain('only-in-the-secret')
})

it('an address makes the workflows work with a self-hosted server', async () => {
  const own = { inputs: { 'organization-id': '', 'api-url': selfHosted().url }, secrets: { 'api-key': demo.apiKeySecret }, env: {} }
  const files = {
    'observability/a.yml':
      'dashboards: { notes: { name: Notes, tiles: [{ name: A, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: x } }] } }',
  }
  expect((await call('drift', { ...own, files })).outputs.status).toBe('fail')
  expect((await call('plan-and-apply', { ...own, files })).outputs).toMatchObject({ status: 'pass', applied: 'true' })
  expect((await call('drift', { ...own, files })).outputs.status).toBe('pass')
  expect(emulator().requests).toEqual([])
})

const [webhookScript = '', variableScript = ''] = [...reusable.values()]
  .flatMap(({ jobs }) =>
    Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => (run.includes('GITHUB_ENV') ? [run] : []))),
  )
  .sort((a, b) => Number(b.includes('::error::webhook-variables')) - Number(a.includes('::error::webhook-variables')))
  .filter((script, i, all) => all.indexOf(script) === i)

interface RanScript {
  readonly status: number
  readonly output: string
  readonly written: string
}

/** Runs a script as the runner does, once with each value of a variable: all in one process, because one for each takes long. */
function runScript(script: string, variable: string, values: readonly string[]): readonly RanScript[] {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-variables-'))
  try {
    writeFileSync(join(directory, 'script'), script)
    values.forEach((value, i) => {
      writeFileSync(join(directory, `value-${i}`), value)
      writeFileSync(join(directory, `env-${i}`), '')
    })
    const loop = `for i in {0..${values.length - 1}}; do
      IFS= read -r -d '' value < "value-$i"
      ( export ${variable}="$value" GITHUB_ENV="env-$i"; set -eo pipefail; . ./script ) > "output-$i" 2>&1
      echo $?
    done`
    const { stdout } = spawnSync('bash', ['--noprofile', '--norc', '-c', loop], {
      cwd: directory,
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    })
    const statuses = stdout.trim().split('\n').map(Number)
    const read = (name: string): string => readFileSync(join(directory, name), 'utf8')
    return values.map((_, i) => ({ status: statuses[i] ?? -1, output: read(`output-${i}`), written: read(`env-${i}`) }))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

it('S2: the step that sets the secrets of webhooks masks each value before it sets the variable, and shows nothing of a wrong line', () => {
  const lines = [
    'WEBHOOK_A_URL=https://hooks.example.com/a?b=c%20d%0A',
    'WEBHOOK_TOKEN=Bearer $(id) `id` "x" é',
    'WEBHOOK_B=  padded value  ',
  ]
  const values = ['https://hooks.example.com/a?b=c%20d%0A', 'Bearer $(id) `id` "x" é', 'padded value']
  const wrong = [
    'evil-without-an-equals-sign',
    'WEBHOOK_=evil-value',
    'webhook_a=evil-value',
    'WEBHOOK_a=evil-value',
    'WEBHOOK_A B=evil-value',
    'ONCALL_URL=evil-value',
    'WATCHKEEPER_API_URL=https://evil.example',
    'NODE_OPTIONS=--require ./evil.cjs',
    'INPUT_API-URL=https://evil.example',
    'HTTPS_PROXY=http://evil.example',
    'WEBHOOK_X<<EOF\nevil-value\nEOF',
    'WEBHOOK_X=evil-value\rWATCHKEEPER_API_URL=https://evil.example',
    'WEBHOOK_X=evil\u001b[31m-value',
    'WEBHOOK_X=evil-67',
    'WEBHOOK_X=evil   ',
    'WEBHOOK_X=',
    'WEBHOOK_X=   ',
    'WEBHOOK_A=evil-value-2',
  ]
  const good = `\n  ${lines[0]}\r\n\n${lines.slice(1).join('\n')}\n`
  const [set, none, ...refused] = runScript(webhookScript, 'SECRETS', [
    good,
    '',
    ...wrong.map((line) => `WEBHOOK_A=a-good-value\n${line}\nWEBHOOK_B=a-good-value`),
  ])
  const masks = values.map((value) => `::add-mask::${value.replaceAll('%', '%25')}\n`).join('')
  const written = `WEBHOOK_A_URL=${values[0]}\nWEBHOOK_TOKEN=${values[1]}\nWEBHOOK_B=${values[2]}\n`
  expect(set).toEqual({ status: 0, output: masks, written })
  expect(none).toEqual({ status: 0, output: '', written: '' })
  const reason =
    /^::add-mask::a-good-value\n::error::webhook-variables: (?:line 2 is not WEBHOOK_NAME=value|the value in line 2 has fewer than 8 characters, so the log could not mask it|the value in line 2 is empty; set its secret|the variable in line 2 is given twice)\n$/
  for (const [i, one] of refused.entries())
    expect([wrong[i], one]).toEqual([wrong[i], { status: 1, output: expect.stringMatching(reason), written: '' }])
})

it('S9: the step that sets the variables of files sets no other variable', () => {
  const wrong = [
    'WATCHKEEPER_API_URL=https://evil.example',
    'watchkeeper_api_url=https://evil.example',
    'WATCHKEEPER_VAR_SERVICE=x',
    'INPUT_API-URL=https://evil.example',
    'INPUT_OPERATION=apply',
    'HTTPS_PROXY=http://evil.example',
    'https_proxy=http://evil.example',
    'NO_PROXY=*',
    'NODE_OPTIONS=--require ./evil.cjs',
    'NODE_TLS_REJECT_UNAUTHORIZED=0',
    'NODE_EXTRA_CA_CERTS=evil.pem',
    'GITHUB_API_URL=https://evil.example',
    'GITHUB_TOKEN=x',
    'ACTIONS_RUNTIME_URL=https://evil.example',
    'RUNNER_TEMP=/',
    'X<<EOF\nWATCHKEEPER_API_URL=https://evil.example\nEOF',
    'X<<EOF=\nNODE_OPTIONS=x\nEOF=',
    'X=1\rWATCHKEEPER_API_URL=https://evil.example',
    'X=\u001b[31m',
    'X=1\nX=2',
    'no equals sign',
    '=x',
    '1X=x',
    'A B=x',
    '# comment',
    "X'=x",
  ]
  const given = 'SERVICE=checkout\r\n\n  WEBHOOK=a=b "c" $(id) `id` \\n é\nEMPTY=\nx=1'
  const [set, ...refused] = runScript(variableScript, 'VARIABLES', [
    given,
    ...wrong.map((line) => `SERVICE=checkout\n${line}\nWEBHOOK=oncall`),
  ])
  const names = ['SERVICE=checkout', 'WEBHOOK=a=b "c" $(id) `id` \\n é', 'EMPTY=', 'x=1']
  expect(set).toEqual({ status: 0, output: '', written: names.map((line) => `WATCHKEEPER_VAR_${line}\n`).join('') })
  const reason = /^::error::variables: (?:line 2 is not NAME=value|[A-Za-z0-9_]+ cannot be set|X is given twice)(?!.*evil)[^\n]*\n$/
  for (const [i, one] of refused.entries())
    expect([wrong[i], one]).toEqual([wrong[i], { status: 1, output: expect.stringMatching(reason), written: '' }])
})
