import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { ApiError, createClient, type InputError } from '../../../src/index.ts'
import { operationNames, operations } from '../../../src/operations.ts'
import { toCamel, toKebab } from '../../../src/platform/core/names.ts'
import { settingsSchema } from '../../../src/platform/operation/inputs.ts'
import type { Operation } from '../../../src/platform/operation/operation.ts'
import { passed, written } from '../../support/declarations.ts'
import { useEmulator } from '../../support/emulator.ts'

// A client has the real clock. Without a stated limit it would keep the documented one, 10 requests in 10 s, over all tests.
const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 10_000 } })

const clientOptions = () => ({
  apiUrl: emulator().url,
  apiKeyId: demo.apiKeyId,
  apiKeySecret: demo.apiKeySecret,
  organizationId: demo.organizationId,
  serviceId: demo.services.checkout,
})

const client = (more: Partial<Parameters<typeof createClient>[0]> = {}) => createClient({ ...clientOptions(), ...more })

type Call = (input?: object) => Promise<unknown>

const errorOf = async (call: Promise<unknown>): Promise<InputError> =>
  call.then(
    () => {
      throw new Error('it did not fail')
    },
    (error) => error as InputError,
  )

const withoutQuotes = (text: string): string => text.replaceAll(/"[^"]*"/g, '')

describe('an error of the library', () => {
  it.each<[string, object, string]>([
    ['usageCost', { period: 'today', forecastBudget: 1 }, 'forecastBudget: requires a period with future days, and today has none'],
    ['usageCost', { fromDate: '2026-03-01' }, 'fromDate: unknown input of usage-cost; use period: 2026-01-01..2026-01-31'],
    [
      'usageCost',
      { period: 'month-to-date', forecastBudgt: 1 },
      'forecastBudgt: unknown input of usage-cost; did you mean "forecastBudget"?',
    ],
    ['usageCost', { period: 'today', onMissing: 'from-date' }, 'onMissing: "from-date" is not accepted; accepted: fail, warn, ignore'],
    ['usageCost', { period: 'today', budget: 1, warnBudget: 2 }, 'warnBudget: is 2, above budget 1, so the gate would never warn'],
    ['validate', { files: 'observability/**' }, 'files: "observability/**" is not a list; write ["observability/**"]'],
  ])('an error of the library of %s with %o names options', async (method, input, message) => {
    const call = (client() as unknown as Readonly<Record<string, Call>>)[method]
    const error = await errorOf(call?.(input) ?? Promise.resolve())
    expect(error.message).toBe(message)
    expect(error.diagnostics[0]?.location.file).toBe(message.split(':')[0])
  })

  it('names no input of the action, for any operation and any wrong value', async () => {
    const settings = Object.keys(settingsSchema.shape)
    for (const name of operationNames) {
      const operation: Operation = await operations[name]()
      const inputs = Object.keys(operation.input.shape)
      const kebabNames = [...settings, ...inputs].map(toKebab).filter((one) => one.includes('-'))
      const pattern = new RegExp(`(?<![\\w-])(?:${kebabNames.join('|')})(?![\\w-])`)
      const wrong = Object.fromEntries(inputs.map((input) => [input, { not: 'accepted' }]))
      for (const input of [{}, wrong]) {
        const bare = createClient({ organizationId: 'acme', maxAttempts: 99 }) as unknown as Readonly<Record<string, Call>>
        const { message, diagnostics } = await errorOf(bare[toCamel(name)]?.(input) ?? Promise.resolve())
        expect([name, withoutQuotes(message).match(pattern)?.[0]]).toEqual([name, undefined])
        expect(diagnostics.map(({ location }) => location.file)).toEqual(expect.arrayContaining(['organizationId', 'maxAttempts']))
      }
    }
  })

  it('names the fields of a file as the file has them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-library-'))
    try {
      await mkdir(join(directory, 'environments'))
      await writeFile(join(directory, 'environments/staging.yml'), 'service-id: shop')
      const { message } = await errorOf(client({ directory }).plan({ env: 'staging', project: 'shop/env' }))
      expect(message).toMatch(/^environments\/staging\.yml:1:\d+: service-id: "shop" is not accepted/)
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('rejects a call whose report could not be written', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-library-'))
    try {
      await mkdir(join(directory, 'report.html'))
      const call = client({ directory }).listSources({ reports: ['html=report.html'] })
      expect((await errorOf(call)).message).toContain('report.html')
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('names options in the advice on a request that failed', async () => {
    const error = await errorOf(client({ apiKeySecret: 'not-the-secret-of-the-demo' }).listSources())
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      kind: 'authentication',
      status: 401,
      attempts: 1,
      advice: expect.stringContaining('Check apiKeyId and apiKeySecret'),
    })
    expect(error.message).toContain('Check apiKeyId and apiKeySecret')
  })
})

it('V6: without a limit, usageCost warns that nothing was checked', async () => {
  const cost = await client().usageCost({ period: 'last-7-days' })
  expect(cost).toMatchObject({ status: 'warn', failureReason: expect.stringMatching(/^No budget is set: nothing was checked\./) })
  expect((await client().usageCost({ period: 'last-7-days', gate: 'off' })).status).toBe('pass')
  expect((await client().usageCost({ period: 'last-7-days', gate: 'required' })).status).toBe('fail')
})

it('an unknown variable in the given environment is a line of onProgress', async () => {
  const lines: string[] = []
  await client({ variables: { WATCHKEEPER_XYZZY: '1' }, onProgress: (line) => lines.push(line) }).listSources()
  expect(lines).toEqual([expect.stringContaining('WATCHKEEPER_XYZZY')])
})

it('refuses variables in the option `env`, which is the input of methods, without their values', () => {
  const options: object = { ...clientOptions(), env: { WATCHKEEPER_API_KEY_SECRET: 'do-not-quote-me' } }
  expect(() => createClient(options)).toThrow(/^env: is an input of methods; pass the variables of the process as variables$/)
})

it('the type of usageCost requires no period, as the run does', () => {
  type Parameter = Parameters<ReturnType<typeof createClient>['usageCost']>
  expectTypeOf<[]>().toExtend<Parameter>()
  expectTypeOf<[{ fromDate: string; toDate: string; budget: string }]>().toExtend<Parameter>()
  expectTypeOf<[{ period: number }]>().not.toExtend<Parameter>()
})

it('reads the file of an environment for the input `env`, beside the option `variables`', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-library-'))
  try {
    await mkdir(join(directory, 'environments'))
    await writeFile(join(directory, 'environments/staging.yml'), `service-id: ${demo.services.search}\nvariables: { NAME: Staging }\n`)
    await writeFile(join(directory, 'a.yml'), written('dashboards: { d: { name: "‹env.NAME› ‹env.REGION›", tiles: [] } }'))
    const { serviceId: _, ...options } = clientOptions()
    const { plan } = createClient({ ...options, directory, variables: passed({ REGION: 'eu', NAME: 'Another' }) })
    const planned = await plan({ env: 'staging', files: ['a.yml'], project: 'shop/env' })
    expect(planned).toMatchObject({ environment: 'staging', serviceId: demo.services.search, objects: [{ name: 'Staging eu' }] })
    expect((await errorOf(plan({ env: 'stagin', files: ['a.yml'], project: 'shop/env' }))).message).toContain('did you mean "staging"?')
  } finally {
    await rm(directory, { recursive: true })
  }
})
