import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { majorTag } from '../../scripts/action-references.ts'
import { settings } from '../../scripts/reference/describe.ts'
import { readChecksFile } from '../../src/backups/checks-file.ts'
import { demo } from '../../src/emulator/index.ts'
import { toEnvironmentName } from '../../src/platform/core/names.ts'
import { version } from '../../src/platform/core/version.ts'
import { inputsFor, methodsOf, useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

it('examples/alert.yml is an alert that can be created, and then exists', async () => {
  const inputs = { ...inputsFor(emulator()), operation: 'create-alert', alert: 'alert.yml', 'if-exists': 'skip' }
  const files = { 'alert.yml': read('examples/alert.yml').replace('name: Checkout errors', 'name: From the example') }
  expect((await invokeText({ inputs, files })).document).toMatchObject({ status: 'pass', outcome: 'created' })
  expect((await invokeText({ inputs, files })).document).toMatchObject({ status: 'pass', outcome: 'skipped' })
  expect(methodsOf(emulator())).toEqual(expect.arrayContaining(['POST']))
})

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const validators = new Map<string, ReturnType<typeof ajv.compile>>()

function validatorOf(schema: string): ReturnType<typeof ajv.compile> {
  if (validators.size === 0) ajv.addSchema(JSON.parse(read('schemas/observability.schema.json')), 'observability.schema.json')
  const validate = validators.get(schema) ?? ajv.compile(JSON.parse(read(schema)))
  validators.set(schema, validate)
  return validate
}

it.each([
  ['examples/alert.yml', 'schemas/alert.schema.json'],
  ['examples/budgets.yml', 'schemas/budgets.schema.json'],
  ['examples/backups.yml', 'schemas/backups.schema.json'],
  ['examples/.watchkeeper.yml', 'schemas/config.schema.json'],
  ['examples/environments/staging.yml', 'schemas/environment.schema.json'],
  ['examples/environments/production.yml', 'schemas/environment.schema.json'],
])('%s is what the schema in its header wants', (example, schema) => {
  expect(read(example)).toContain(`$schema=https://raw.githubusercontent.com/watchkeeper/watchkeeper/${majorTag}/${schema}`)
  const validate = validatorOf(schema)
  expect(validate(parse(read(example))), JSON.stringify(validate.errors)).toBe(true)
})

it('examples/budgets.yml holds budgets that the demo keeps', async () => {
  const inputs = { ...inputsFor(emulator()), operation: 'usage-cost', budgets: 'budgets.yml' }
  const { document } = await invokeText({ inputs, files: { 'budgets.yml': read('examples/budgets.yml') } })
  expect(document).toMatchObject({ status: 'pass', budgets: Array.from({ length: 4 }, () => ({ status: 'pass' })) })
})

describe('examples/incidents', () => {
  const file = 'examples/incidents/checkout.yml'

  it('passes a backtest, and fails it with a threshold above the incident', async () => {
    // The same time of the last week: the telemetry of the demo repeats, and is kept for 30 days.
    const week = 7 * 86_400_000
    const monday = Date.parse('2026-11-09T00:00:00Z')
    const weeks = Math.floor((Date.now() - monday) / week) - 1
    const recent = read(file).replaceAll(/2026-11-14T\S+/g, (time) => new Date(Date.parse(time) + weeks * week).toISOString())
    const backtest = (text: string) =>
      invokeText({
        inputs: { ...inputsFor(selfHosted(), 'hyperdx'), operation: 'backtest', project: 'shop/incidents', files: file },
        files: { [file]: text },
      })
    expect((await backtest(recent)).document).toMatchObject({ status: 'pass', detected: 1 })
    const raised = await backtest(recent.replace('threshold: 15', 'threshold: 60'))
    expect(raised.reason).toContain('incident payments-down: alert checkout-errors does not notify')
  })

  it('the incident of the example is the one of docs/backtests.md', () => {
    expect(read('docs/backtests.md')).toContain(read(file).slice(read(file).indexOf('incidents:\n')))
  })
})

describe('examples/workflows/backups.yml', () => {
  const files = { 'backups.yml': read('examples/backups.yml') }
  const inputsOf = (services: string): Record<string, string> => {
    const { jobs } = parse(read('examples/workflows/backups.yml')) as { jobs: { backups: { steps: { with: Record<string, unknown> }[] } } }
    const values: Readonly<Record<string, string>> = { WATCHKEEPER_ORGANIZATION_ID: demo.organizationId, WATCHKEEPER_SERVICES: services }
    const given = Object.entries(jobs.backups.steps[1]?.with ?? {}).map(([name, value]) => [
      name,
      String(value).replace(/\$\{\{ vars\.(\w+) \}\}/g, (_, variable: string) => values[variable] ?? ''),
    ])
    // The profile's address is another one, and the key a secret.
    const { 'service-id': _, ...place } = inputsFor(emulator())
    return { ...Object.fromEntries(given), ...place, profile: '' }
  }

  it.each([
    ['the fresh service', [demo.services.checkout], 'pass'],
    ['all services', Object.values(demo.services), 'fail'],
  ])('judges %s of the demo', async (_, services, status) => {
    const { document } = await invokeText({ inputs: inputsOf(services.join('\n')), files })
    expect(document).toMatchObject({ status, services: services.map((serviceId) => ({ serviceId })) })
  })

  it('examples/workflows/backups.yml is an error while no services are chosen', async () => {
    const { document, reason } = await invokeText({ inputs: inputsOf(''), files })
    expect([document.status, reason]).toEqual(['error', expect.stringContaining('or services')])
  })
})

it('every workflow for the files of the starter kit sets the variables that they need', () => {
  const needed = new Set([...read('examples/starter/service.yml').matchAll(/\$\{\{ env\.(\w+) \}\}/g)].map(([, name = '']) => name))
  expect(needed.size).toBe(3)
  // The files of the first one are those of the README, which need no variables. Those of the second one come from examples/environments.
  // The others read only the file of docs/slos.md.
  const others = ['plan-and-apply.yml', 'environments.yml', 'check-slos.yml', 'self-hosted-check-slos.yml']
  const workflows = readdirSync(new URL('../../examples/workflows', import.meta.url)).filter((name) => !others.includes(name))
  for (const name of workflows) {
    const text = read(`examples/workflows/${name}`)
    if (!text.includes('observability/') && !/operation: (?:plan|apply|drift|pull|backtest|validate)$/m.test(text)) continue
    for (const variable of needed) expect(text, name).toMatch(new RegExp(`^ +WATCHKEEPER_VAR_${variable}: `, 'm'))
  }
})

describe('the example workflows', () => {
  const texts = readdirSync(new URL('../../examples/workflows', import.meta.url)).map((name) => read(`examples/workflows/${name}`))
  const ofFiles = texts.filter((text) => text.includes("'observability/**'"))

  it('shows where each input of the action stands', () => {
    const { inputs } = parse(read('action.yml')) as { inputs: Readonly<Record<string, unknown>> }
    const unused = Object.keys(inputs).filter((name) => !texts.some((text) => new RegExp(`^ +(?:# )?${name}: `, 'm').test(text)))
    expect(unused).toEqual([])
  })

  it('also runs when the config file changes', () => {
    expect(ofFiles.length).toBeGreaterThan(6)
    const paths = ofFiles.flatMap((text) => [...text.matchAll(/paths: \[.*\]/g)].map(([line]) => line))
    expect(paths.filter((line) => !line.includes('.watchkeeper.yml'))).toEqual([])
  })

  it('prunes in plan and apply, so that a plan shows the deletes of the apply', () => {
    const steps = texts
      .flatMap((text) => text.split(/^ +- (?=uses|name|if|id)/m))
      .filter((step) => /operation: .*(?:'plan'|'apply'|\bplan|\bapply)$/m.test(step))
    expect(steps.length).toBeGreaterThan(5)
    expect(steps.filter((step) => !/prune: true|plan-file: .*\n[\s\S]*operation: apply/.test(step))).toEqual([])
  })
})

describe.each(['cronjob', 'argo-cd-hook'])('examples/kubernetes/%s.yml', (name) => {
  interface Container {
    readonly image: string
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
    readonly securityContext: object
    readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[]
  }
  interface JobSpec {
    readonly backoffLimit: number
    readonly template: {
      readonly spec: { readonly securityContext: { readonly runAsNonRoot: boolean }; readonly containers: readonly [Container] }
    }
  }
  const manifest = parse(read(`examples/kubernetes/${name}.yml`)) as {
    readonly kind: string
    readonly spec: { readonly concurrencyPolicy: string; readonly jobTemplate: { readonly spec: JobSpec } } | JobSpec
  }
  const job = 'jobTemplate' in manifest.spec ? manifest.spec.jobTemplate.spec : manifest.spec
  const [{ image, args, env, securityContext, volumeMounts }] = job.template.spec.containers

  it('applies the mounted files, one run at a time, without a way to write to its container', () => {
    if ('jobTemplate' in manifest.spec) expect(manifest.spec.concurrencyPolicy).toBe('Forbid')
    expect(job.backoffLimit).toBe(0)
    expect(args[0]).toBe('apply')
    // A pod has no terminal to ask at.
    expect(args).toContain('--yes')
    expect(volumeMounts).toEqual([expect.objectContaining({ mountPath: '/repository/observability', readOnly: true })])
    expect(job.template.spec.securityContext.runAsNonRoot).toBe(true)
    expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
  })

  it('uses the image of this version, in the directory that the image starts in', () => {
    expect(image).toBe(`ghcr.io/watchkeeper/watchkeeper:${version}`)
    expect(read('Dockerfile')).toContain('\nWORKDIR /repository\n')
  })

  it('sets only variables that are read, and takes the key from a secret', () => {
    expect(env.map(({ name }) => name).filter((name) => !settings.some((setting) => toEnvironmentName(setting.name) === name))).toEqual([])
    expect(env.filter(({ value }) => value === undefined)).toEqual([
      { name: 'WATCHKEEPER_API_KEY', valueFrom: { secretKeyRef: { name: 'watchkeeper', key: 'api-key' } } },
    ])
  })
})

it('examples/.watchkeeper.yml sets what a run needs beside the key', async () => {
  const { 'api-url': url = '', 'api-key-id': id = '', 'api-key-secret': secret = '' } = inputsFor(emulator())
  const inputs = {
    operation: 'list-sources',
    'api-url': url,
    'api-key-id': id,
    'api-key-secret': secret,
  }
  expect((await invokeText({ inputs, files: { '.watchkeeper.yml': read('examples/.watchkeeper.yml') } })).document).toMatchObject({
    status: 'pass',
    count: 4,
  })
})

describe('examples/workflows/restore-drill.yml', () => {
  it('both jobs of the drill install the same command line, by its digest', () => {
    const { jobs } = parse(read('examples/workflows/restore-drill.yml')) as {
      readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>
    }
    const installs = Object.values(jobs).flatMap(({ steps }) => steps.filter(({ run = '' }) => run.includes('pip')))
    expect(installs).toHaveLength(2)
    expect(installs[0]?.run).toBe(installs[1]?.run)
    expect(installs[0]?.run).toMatch(/clickhousectl==\d+\.\d+\.\d+ --hash=sha256:[0-9a-f]{64}'/)
  })

  it('the file of checks of the drill is examples/backups.yml, which has checks and policies', async () => {
    const { checks, policies } = await readChecksFile(read('examples/backups.yml'), 'examples/backups.yml')
    expect([checks.length > 0, policies.length > 0]).toEqual([true, true])
  })
})
