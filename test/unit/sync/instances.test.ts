import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isOf } from '../../../src/kinds/kinds.ts'
import { profileNamed } from '../../../src/platform/api/profiles.ts'
import { nameInstances } from '../../../src/sync/declarations/declarations.ts'
import { findDeclarations } from '../../../src/sync/declarations/find-declarations.ts'
import { lines, readText, written } from '../../support/declarations.ts'

const alertOf = (fields = '') => `{ name: 'Errors of ‹instance.key›', interval: 5m, threshold: '‹instance.errors›'${fields} }`

const file = (instances: string, alerts: string, defaults = '{}'): string =>
  written(`defaults: { instances: ${defaults} }\ninstances: ${instances}\nalerts:\n  ${alerts}\n`)

const read = (instances: string, alerts = `‹instance.key›-errors: ${alertOf()}`, defaults = '{}', variables = {}) => {
  const { objects, diagnostics } = readText(file(instances, alerts, defaults), variables)
  const values = objects.filter(isOf('alert')).map(({ key, value }) => [key, value.name, value.threshold])
  return { values, diagnostics: lines(nameInstances(diagnostics)) }
}

describe('a file with instances', () => {
  it('a file with instances has its objects once for each instance, with the values of the instance and the shared values', () => {
    expect(read('{ checkout: , payment: { errors: 50 } }', undefined, '{ errors: 20 }')).toEqual({
      values: [
        ['checkout-errors', 'Errors of checkout', 20],
        ['payment-errors', 'Errors of payment', 50],
      ],
      diagnostics: [],
    })
  })

  it('keeps the type of a value that is the whole text, and writes it as text where the field is a text', () => {
    const { objects, diagnostics } = readText(
      file(
        '{ a: { code: 404, on: "5", n: 1.5 } }',
        'x-‹instance.key›: { name: "‹instance.code›", interval: 5m, threshold: "‹instance.n›", message: "‹instance.on›" }',
      ),
    )
    expect(diagnostics).toEqual([])
    expect(objects[0]?.value).toMatchObject({ name: '404', threshold: 1.5, message: '5' })
  })

  it('a file with instances takes values of variables, and does not expand a value again', () => {
    const { values, diagnostics } = read(
      '{ a: { errors: "‹env.N›", note: "‹env.TEXT›" } }',
      `‹instance.key›: { name: '‹instance.note›', interval: 5m, threshold: '‹instance.errors›' }`,
      '{}',
      {
        N: '7',
        TEXT: written('‹instance.key›'),
      },
    )
    expect([values, diagnostics]).toEqual([[['a', written('‹instance.key›'), 7]], []])
  })

  it('a file with instances has no objects where a variable of its instances is not set', () => {
    expect(read('{ a: { errors: "‹env.N›" }, b: { errors: 1 } }')).toEqual({
      values: [],
      diagnostics: [expect.stringContaining(written('‹env.N› is not set; set WATCHKEEPER_VAR_N'))],
    })
  })

  it('a file with instances may refer to the instance in the defaults of its objects', () => {
    const text = written(
      'defaults: { alerts: { interval: 5m, note: "‹instance.key›" } }\ninstances: { a: , b: }\nalerts: { "‹instance.key›": { name: A, threshold: 1 } }\n',
    )
    expect(readText(text).objects.map(({ value }) => 'note' in value && value.note)).toEqual(['a', 'b'])
  })

  it('names the line and the instance of a missing value', () => {
    expect(read('{ a: , b: { errors: 1 } }').diagnostics).toEqual([
      written(
        'f.yml:4:97 variable: alerts.‹instance.key›-errors.threshold: ‹instance.errors› has no value; add errors to instances.a, or to defaults.instances (instance a)',
      ),
    ])
  })

  it('makes one diagnostic of an error in its objects, with the names of some instances', () => {
    const { diagnostics } = read(
      '{ a: , b: , c: , d: , e: }',
      `‹instance.key›-errors: { name: A, intervall: 5m, threshold: 1, interval: 5m }`,
    )
    expect(diagnostics).toEqual([
      expect.stringMatching(/^f\.yml:4:\d+ schema: alerts\.a-errors: "intervall" is an unknown field.* \(instances a, b, c and 2 more\)$/),
    ])
  })

  it.each([
    ['shared', 'is the same key for each instance; add ‹instance.key› to it'],
    ['‹instance.team›', 'is the same key for the instances a and b; add ‹instance.key› to it'],
  ])('rejects the key %s, which does not differ between the instances', (key, message) => {
    const { values, diagnostics } = read(
      '{ a: { team: x, errors: 1 }, b: { team: x, errors: 1 } }',
      `${key}: ${alertOf(", message: '‹instance.team›'")}`,
    )
    expect([values, diagnostics]).toEqual([[], [written(`f.yml:4:3 instance: alerts: "${key}" ${message}`)]])
  })

  it('rejects a value that no expression uses, because a misspelled name would leave the shared value in place', () => {
    expect(read('{ a: { error: 50 } }', undefined, '{ errors: 20 }').diagnostics).toEqual([
      'f.yml:2:19 instance: instances.a: no expression uses "error"; did you mean "errors"?',
    ])
    expect(read('{ a: { overrides: 50 } }', undefined, '{ errors: 20 }').diagnostics).toEqual([
      expect.stringContaining('no expression uses "overrides"; make the value a variable of the files, set it in variables'),
    ])
  })

  it.each([
    ['{ A: }', 'instances: "A"'],
    ['{ a: { errors: [1] } }', 'instances.a.errors: '],
    ['{ a: { key: b, errors: 1 } }', 'instances.a: "key"'],
    ['5', 'instances: 5'],
  ])('rejects the instances %s', (instances, start) => {
    const { values, diagnostics } = read(instances)
    expect([values, diagnostics.map((one) => one.split(' ').slice(1).join(' '))]).toEqual([[], [expect.stringContaining(start)]])
  })

  it('rejects shared values without instances, and an expression in a file without them', () => {
    expect(lines(readText('defaults: { instances: { a: 1 } }\nalerts: {}\n').diagnostics)).toEqual([
      expect.stringContaining('schema: instances: is missing'),
    ])
    expect(lines(readText(written(`alerts: { a: ${alertOf()} }`)).diagnostics)).toContainEqual(
      expect.stringContaining(written('‹instance.errors› is only for the objects of a file with instances')),
    )
  })

  it('rejects a variable in a key, because an environment must not change it', () => {
    expect(read('{ a: { errors: 1 } }', `‹env.X›-‹instance.key›: ${alertOf()}`).diagnostics).toEqual([
      expect.stringContaining('has an expression that is not supported in a key; use only values of the instance'),
    ])
  })

  it('a file with instances has at most 1,000 objects, and the limits of a file after expansion', { tags: 'slow' }, () => {
    const instances = (count: number) => `{ ${Array.from({ length: count }, (_, i) => `i${i}: `).join(', ')} }`
    expect(read(instances(1000), undefined, '{ errors: 1 }').values).toHaveLength(1000)
    expect(read(instances(1001), undefined, '{ errors: 1 }').diagnostics).toEqual([
      'f.yml:2:1 instance: 1001 instances of 1 objects are 1001 objects, but a file may have 1000; split the file',
    ])
    const values = `{ a: ${JSON.stringify(Array(60).fill(1))} }`
    expect(read(instances(900), `‹instance.key›: ${values}`).diagnostics).toEqual([
      'f.yml:2:1 instance: the file has more than 50000 values after expansion; split it',
    ])
    expect(() => read(instances(900), `‹instance.key›: { name: '${'x'.repeat(23_000)}' }`)).toThrow(
      'f.yml:2:1: the instances make the files larger than 20 MB after expansion',
    )
  })

  it('keeps its objects apart from those of other files and of other instances', () => {
    expect(
      read(
        '{ a: , a-b: }',
        '‹instance.key›-b: { name: A, interval: 5m, threshold: 1 }\n  ‹instance.key›: { name: A, interval: 5m, threshold: 1 }',
      ).diagnostics,
    ).toEqual(['f.yml:5:3 duplicate-key: alerts.a-b is already declared in f.yml:4:3 (instance a) (instance a-b)'])
  })
})

it('the example has 20 services with three alerts each in 60 lines at most, and one service with a threshold of its own', async () => {
  const text = readFileSync(new URL('../../../examples/instances/services.yml', import.meta.url), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  expect(Object.keys(parse(text).instances)).toHaveLength(20)
  const files = {
    find: async () => ({ paths: ['f.yml'], skipped: [] }),
    read: async () => text,
    variable: () => undefined,
    secret: () => undefined,
    workflowRepository: undefined,
    mayBeFromFork: async () => false,
    ranBy: {},
    repository: async () => undefined,
    remoteRepository: async () => undefined,
    demandCheckout: async () => {},
    configAbove: async () => undefined,
  }
  const { objects, diagnostics } = await findDeclarations(['*.yml'], {
    files,
    profile: profileNamed('clickhouse-cloud'),
    lintSettings: {},
    checkpoint: async () => undefined,
  })
  expect(diagnostics).toEqual([])
  const alerts = objects.filter(isOf('alert'))
  expect(alerts).toHaveLength(60)
  expect(alerts.filter(({ key, value }) => key.endsWith('-errors') && value.threshold !== 20).map(({ key }) => key)).toEqual([
    'checkout-errors',
  ])
})
