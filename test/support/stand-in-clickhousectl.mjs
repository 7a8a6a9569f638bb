// In the place of the vendor's command line, `clickhousectl cloud …` as its version 0.5.0 takes it: records every call, keeps services in a
// file, creates them in the emulator, and fails where a test says so.
import { appendFileSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const { STAND_IN: directory = '', STAND_IN_FAULT: fault = '', STAND_IN_EMULATOR: emulator = '' } = process.env
const [cloud, noun, verb, ...rest] = process.argv.slice(2)
const call = verb === 'query-endpoint' ? 'query-endpoint' : verb
const args = verb === 'query-endpoint' ? rest.slice(1) : rest
appendFileSync(join(directory, 'calls'), `${JSON.stringify(process.argv.slice(2))}\n`)

if (cloud !== 'cloud' || noun !== 'service') throw new Error(`unknown command ${cloud} ${noun}`)

/** Options by name, in order; `--json` has no value. */
const options = new Map()
let id
for (let i = 0; i < args.length; i++) {
  const arg = args[i]
  if (arg === '--json' || arg === '--enable-tde') options.set(arg, ['true'])
  else if (arg.startsWith('--')) options.set(arg, [...(options.get(arg) ?? []), args[++i]])
  else id = arg
}
const option = (name) => options.get(name)?.[0]

const file = join(directory, 'services.json')
const services = JSON.parse(readFileSync(file, 'utf8'))
const save = () => writeFileSync(file, JSON.stringify(services))
const show = (value) => process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)

function fail(message) {
  writeSync(1, JSON.stringify({ error: { code: 'http_5xx', message } }))
  process.exit(1)
}

const find = () => services.find((one) => one.id === id) ?? fail(`No such service: ${id}`)

const isOriginal = id === process.env.ORIGINAL
if (
  fault === call ||
  (fault === 'get-created' && call === 'get' && !isOriginal) ||
  (fault === 'get-original' && call === 'get' && isOriginal)
)
  fail('the server failed')

switch (call) {
  case 'list':
    show(services)
    break
  case 'get': {
    const service = find()
    // A few reads later, it runs.
    if (service.left > 0) service.left -= 1
    else if (service.state === 'provisioning') service.state = 'running'
    if (service.state === 'stopping') service.state = 'stopped'
    if (fault === 'no-tag' && service.state === 'running') service.tags = []
    if (fault === 'other-tag' && service.state === 'running') service.tags = [{ key: 'restore-drill', value: '1-1' }]
    save()
    show(fault === 'other-id' && service.state === 'running' ? { ...service, id: process.env.ORIGINAL } : service)
    break
  }
  case 'create': {
    const tags = options.get('--tag').map((tag) => ({ key: tag.split('=')[0], value: tag.split('=')[1] }))
    const restore = { serviceId: process.env.ORIGINAL, backupId: option('--backup-id'), name: option('--name'), tags }
    const answer = await fetch(`${emulator}/_emulator/restores`, {
      method: 'POST',
      body: JSON.stringify(restore),
      headers: { 'content-type': 'application/json' },
    })
    if (!answer.ok) fail(await answer.text())
    const { id: created, name, createdAt } = await answer.json()
    services.push({ id: created, name, createdAt, tags, state: 'provisioning', left: 2 })
    save()
    if (fault === 'create-lost') fail('error sending request: connection reset')
    show(
      fault === 'create-without-id'
        ? { password: 'never-shown-password' }
        : { service: { id: created, name }, password: 'never-shown-password' },
    )
    break
  }
  case 'query-endpoint':
    find()
    if (option('--role') !== 'sql_console_read_only') fail(`role ${option('--role')}`)
    show({})
    break
  case 'stop':
    find().state = 'stopping'
    save()
    show(find())
    break
  case 'delete': {
    const service = find()
    if (service.state === 'running') fail("CONFLICT: Current state: 'running'")
    services.splice(services.indexOf(service), 1)
    save()
    show({})
    break
  }
  default:
    throw new Error(`unknown command ${verb}`)
}
