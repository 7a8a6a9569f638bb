import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createClient } from '../../src/index.ts'
import { toCamel, toEnvironmentName, toKebab } from '../../src/platform/core/names.ts'
import { isRequired, metaOf, type Schema, type Shape } from '../../src/platform/documents/schema.ts'
import { settingsSchema } from '../../src/platform/operation/inputs.ts'
import { forEachEntry } from '../support/corpus.ts'
import { inputsFor, storesNothing, useEmulator } from '../support/emulator.ts'
import { allOperations as all, placeFor, sqlKeyOf, useExampleDirectory } from '../support/examples.ts'
import { demandPublished } from '../support/published-schema.ts'

/** Fields of every result document. */
const reservedNames = ['operation', 'status', 'failureReason', 'requestId', 'error', 'result', 'resultFile']

const settingNames = Object.keys(settingsSchema.shape)

describe('common inputs', () => {
  it('common inputs describe every setting and what it accepts', () =>
    forEachEntry(settingNames, (name) => {
      const field = (settingsSchema.shape as Shape)[name]
      expect(field && metaOf(field)).toEqual(
        expect.objectContaining({ description: expect.stringMatching(/\.$/), accepts: expect.any(String) }),
      )
    }))

  it('common inputs are never required by the schema: they may come from elsewhere', () => {
    expect(Object.values(settingsSchema.shape as Shape).filter(isRequired)).toEqual([])
  })
})

describe.each(all)('$name', ({ name, operation }) => {
  it('describes the operation in one or two sentences', () => {
    expect(operation.summary).toMatch(/^[A-Z].*\.$/)
  })

  it('gives the operation a name that can be spelled on every surface', () => {
    expect(toKebab(toCamel(name))).toBe(name)
  })

  it('describes every input and what it accepts, and repeats no common one', () =>
    forEachEntry(Object.keys(operation.input.shape), (input) => {
      const field = (operation.input.shape as Shape)[input]
      const { description, accepts } = field ? metaOf(field) : {}
      expect(description).toMatch(/^[A-Z].*\.$/s)
      expect(accepts).toBeTruthy()
      expect(toCamel(toKebab(input))).toBe(input)
      expect(settingNames).not.toContain(input)
      expect(reservedNames).not.toContain(input)
    }))

  it('describes every output, and names none like one of the common ones', () => {
    for (const [output, field] of Object.entries({ ...operation.output.shape, ...operation.details.shape } as Shape)) {
      expect(metaOf(field).description, output).toMatch(/\.$/)
      expect(reservedNames).not.toContain(output)
      expect(toCamel(toKebab(output))).toBe(output)
    }
  })

  it('gives the operation an example that its own schema accepts', () => {
    expect(operation.input.safeParse(operation.example).success).toBe(true)
  })
})

it('an input that several operations have says the same in all of them, so that its name has one meaning', () => {
  const fields = all.flatMap(({ operation: { input, isOutsideOfAction } }) =>
    isOutsideOfAction ? [] : Object.entries(input.shape as Shape),
  )
  const texts = Map.groupBy(fields, ([input]) => input)
  const several = [...texts].filter(([, same]) => new Set(same.map(([, field]) => textInAction(field))).size > 1)
  expect(texts.get('id')?.length).toBeGreaterThan(5)
  expect(several.map(([input]) => input)).toEqual([])
})

const textInAction = (field: Schema): string => [metaOf(field).description, metaOf(field).accepts].join(' Accepted: ')

it('gives each common input a variable of its own', () => {
  const variables = settingNames.map((name) => toEnvironmentName(toKebab(name)))
  expect(new Set(variables).size).toBe(variables.length)
})

it('every operation has an integration test, beside its example', () => {
  const folder = new URL('../integration', import.meta.url).pathname
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.test.ts'))
  const texts = files.map((path) => readFileSync(join(folder, path), 'utf8'))
  const untested = all.filter(({ name }) => !texts.some((text) => text.includes(`'${name}'`)))
  expect(untested.map(({ name }) => name)).toEqual([])
})

const root = useExampleDirectory()

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('every example works in the library, on the %s dialect', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: { limit: 1000, windowMs: 1000 } })

  const available = all.filter(({ operation: { scope } }) => dialect !== 'hyperdx' || (scope !== 'organization' && scope !== 'service'))

  it.each(available)('$name', async ({ name, operation }) => {
    const given = {
      ...inputsFor(emulator(), dialect),
      ...(dialect === 'clickhouse-cloud' && sqlKeyOf(emulator())),
      ...placeFor(operation, emulator()),
      directory: root(),
    }
    const common = Object.fromEntries(Object.entries(given).map(([key, value]) => [toCamel(key), value]))
    using run = vi.spyOn(operation, 'run')
    const methods = new Map<string, (input: never) => Promise<object>>(Object.entries(createClient(common)))
    const result = await methods.get(toCamel(name))?.(operation.example as never)
    expect(result).toEqual(expect.objectContaining({ operation: name, status: expect.stringMatching(/pass|warn/) }))
    demandPublished(operation, result ?? {})
    const sent = emulator().requests.filter((request) => !storesNothing(request))
    if (operation.effect !== 'read') return
    expect([...new Set(sent.map(({ method }) => method))]).toEqual(operation.scope === 'none' ? [] : ['GET'])
    expect(run.mock.calls.map(([{ api }]) => api !== undefined && 'write' in api)).toEqual([false])
  })
})
