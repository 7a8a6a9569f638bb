import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { written } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const path = 'observability/services.yml'
const example = readFileSync(new URL('../../../examples/instances/services.yml', import.meta.url), 'utf8')

/** The same file with two instances. */
const small = ((): string => {
  const file = parse(example)
  const { checkout, payment } = file.instances
  return stringify({ ...file, instances: { checkout, payment } })
})()

const run = (operation: string, inputs: Readonly<Record<string, string>> = {}, files: Readonly<Record<string, string>> = {}) =>
  invokeText({
    inputs: {
      ...inputsFor(emulator(), 'clickhouse-cloud'),
      operation,
      ...(operation !== 'validate' && { project: 'shop/infra' }),
      ...inputs,
    },
    files,
  })

it('F5: the objects of all instances of a file converge, and an environment changes one threshold', async () => {
  const of = { [path]: small }
  expect((await run('apply', {}, of)).document).toMatchObject({ status: 'pass', changed: true, toCreate: 8 })
  expect((await run('plan', {}, of)).document).toMatchObject({ changed: false, unchanged: 8 })
  const environment = { 'environments/prod.yml': 'variables: { ERRORS: 100 }\n' }
  const varied = stringify({ ...parse(small), instances: { ...parse(small).instances, payment: { errors: `$\{{ env.ERRORS }}` } } })
  const { document: planned } = await run('plan', { env: 'prod' }, { [path]: varied, ...environment })
  expect(planned).toMatchObject({ toUpdate: 1, unchanged: 7 })
  expect(planned.objects).toContainEqual(
    expect.objectContaining({ key: 'payment-errors', action: 'update', fields: [{ path: 'threshold', before: 20, after: 100 }] }),
  )
})

it('an instance is renamed in place with previousKey, which all of its objects get', async () => {
  await run('apply', {}, { [path]: small })
  const idsOf = () => new Set([...serviceOf(emulator()).dashboards, ...serviceOf(emulator()).alerts].map(({ id }) => id))
  const before = idsOf()
  const { checkout, payment } = parse(small).instances
  const rename = (instances: object, more: object = {}) => ({ [path]: stringify({ ...parse(small), ...more, instances }) })
  const renamed = rename({ cart: { ...checkout, previousKey: 'checkout' }, payment: { ...payment, previousKey: '' } })
  const { document } = await run('apply', { prune: 'true' }, renamed)
  expect(document).toMatchObject({ status: 'pass', toCreate: 0, toDelete: 0, toUpdate: 4 })
  expect(idsOf()).toEqual(before)
  expect((await run('plan', { prune: 'true' }, rename({ cart: checkout, payment }))).document).toMatchObject({
    status: 'pass',
    changed: false,
  })
  expect((await run('validate', {}, rename({ cart: { previousKey: 'Not a key' } }))).document).toMatchObject({
    status: 'fail',
    diagnostics: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('previousKey') })]),
  })
})

it('an environment decides the previousKey of an instance, also that there is none', async () => {
  await run('apply', {}, { [path]: small })
  const { checkout, payment } = parse(small).instances
  const plan = async (cart: object, previousKey: string) => {
    const file = stringify({ ...parse(small), instances: { cart: { ...cart, previousKey: `$\{{ env.WAS }}` }, payment } })
    const environment = `variables: { WAS: "${previousKey}" }\n`
    return (await run('plan', { env: 'prod', prune: 'true' }, { [path]: file, 'environments/prod.yml': environment })).document
  }
  expect(await plan(checkout, 'checkout')).toMatchObject({ status: 'pass', toCreate: 0, toUpdate: 4, toDelete: 0 })
  expect(await plan({ ...checkout, previousKey: 'checkout' }, '')).toMatchObject({ toCreate: 4, toUpdate: 0, toDelete: 4 })
})

it('a previousKey that a value of the instance leaves empty means none', async () => {
  const text = written(
    'defaults: { instances: { was: "" } }\ninstances: { a: { was: old }, b: }\ndashboards:\n  ‹instance.key›: { name: "Board ‹instance.key›", previousKey: "‹instance.was›", tiles: [] }\n',
  )
  const old = 'dashboards: { old: { name: Board old, tiles: [] } }'
  await run('apply', {}, { [path]: old })
  expect((await run('plan', { prune: 'true' }, { [path]: text })).document).toMatchObject({ toCreate: 1, toUpdate: 1, toDelete: 0 })
})

it('F2: pull leaves a file with instances as it is, names the fields of each instance that differs, and puts new objects elsewhere', async () => {
  await run('apply', {}, { [path]: small })
  const changed = serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors of payment')
  if (changed === undefined) throw new Error('there is no such alert')
  Object.assign(changed, { threshold: 99, interval: '1h' })
  const drifted = await run('drift', {}, { [path]: small })
  expect(renderMarkdown(drifted.blocks)).toContain('To keep it, change the file, or `instances.payment` in it')
  const { document } = await run('pull', {}, { [path]: small })
  expect(document.diagnostics).toContainEqual({
    rule: 'instance-differs',
    severity: 'warning',
    message:
      'alerts.payment-errors: the service has threshold 99, interval "1h"; pull does not edit a file with instances: change the file, or instances.payment (instance payment)',
    location: expect.objectContaining({ file: path, instance: 'payment' }),
  })
  expect(document).toMatchObject({ status: 'warn', updated: 0 })
  expect(document.writtenFiles).not.toContainEqual(expect.objectContaining({ path }))
})
