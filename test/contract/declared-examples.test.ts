// The files that people copy are files that work: each is checked, applied to the emulator, and then nothing is left to do.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { passed } from '../support/declarations.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const examples = ['observability', 'starter', 'typical', 'queries', 'adopt', 'receivers', 'instances', 'slos'].flatMap((folder) =>
  readdirSync(`${root}/examples/${folder}`).map((name) => `examples/${folder}/${name}`),
)

const variables = { SERVICE: 'checkout', WEBHOOK: 'oncall', ERRORS_PER_FIVE_MINUTES: '20' }
/** Every variable that a file names for a webhook has a value. */
const secretsOf = (file: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...file.matchAll(/WEBHOOK_\w+/g)].map(([name]) => [name, `https://hooks.example.com/not-a-real-one/${name}`]))
const env = { ...passed(variables), GITHUB_REPOSITORY: 'shop/infra' }

const run = (operation: string, path: string, variables: Readonly<Record<string, string>> = env) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation },
    env: { ...variables, ...secretsOf(read(path)) },
    files: { [path.replace('examples', 'observability')]: read(path) },
  })

it.each(examples)('%s can be applied, and then there is no drift', { tags: 'slow' }, async (path) => {
  const { document: checked } = await run('validate', path)
  expect([checked.status, checked.diagnostics]).toEqual([
    'pass',
    expect.not.arrayContaining([expect.objectContaining({ severity: 'error' })]),
  ])
  const { document: applied } = await run('apply', path)
  expect([applied.status === 'error', applied.changed]).toEqual([false, true])
  const { document: drift } = await run('drift', path)
  expect(drift).toMatchObject({ changed: false, toAdopt: 0 })
  expect(['pass', 'warn']).toContain(drift.status)
})

// GitHub passes a variable that is not set as an empty one.
it.each(['SERVICE', 'WEBHOOK', 'ERRORS_PER_FIVE_MINUTES'])('the starter set is wrong while %s is empty, and says where', async (name) => {
  const { document } = await run('validate', 'examples/starter/service.yml', { ...env, ...passed({ [name]: '' }) })
  expect(document).toMatchObject({ status: 'fail' })
  expect(document.diagnostics).toContainEqual(expect.objectContaining({ message: expect.stringContaining('"" is not accepted') }))
})

it.each(['plan', 'apply', 'apply-reviewed', 'drift', 'drift-pull-request', 'alert-gates'])(
  'examples/workflows/%s.yml sets what the starter set names',
  (name) => {
    const named = [...read('examples/starter/service.yml').matchAll(/\$\{\{ env\.(\w+) \}\}/g)].map(([, variable]) => variable)
    const set = [...read(`examples/workflows/${name}.yml`).matchAll(/^ +WATCHKEEPER_VAR_([A-Z_]+): \$\{\{ vars\.\w+ \}\}$/gm)].map(
      ([, variable]) => variable,
    )
    expect([...new Set(named)].sort()).toEqual([...new Set(set)].sort())
  },
)

it.each(['staging', 'production'])(
  'the starter set can be applied to the environment %s of the examples, and then there is no drift',
  async (name) => {
    const { 'service-id': _, ...inputs } = inputsFor(emulator(), 'clickhouse-cloud')
    const files = Object.fromEntries(
      ['staging', 'production'].map((one) => [`environments/${one}.yml`, read(`examples/environments/${one}.yml`)]),
    )
    const inEnvironment = (operation: string) =>
      invokeText({
        inputs: { ...inputs, operation, env: name },
        env: { GITHUB_REPOSITORY: 'shop/infra' },
        files: { ...files, 'observability/service.yml': read('examples/starter/service.yml') },
      })
    const { document: applied } = await inEnvironment('apply')
    expect(applied).toMatchObject({ changed: true, environment: name })
    expect((await inEnvironment('drift')).document).toMatchObject({ changed: false, toAdopt: 0 })
  },
)
