// In the place of the vendor's command line, `clickhousectl cloud service …` as its version 0.5.0 takes it: a server to which a script sends
// the arguments. It records every call, keeps services, creates them in the emulator, and fails where a test says so.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { demo } from '../../src/emulator/index.ts'

export interface CloudService {
  readonly id: string
  readonly name: string
  state: string
  readonly tags: readonly { readonly key: string; readonly value: string }[]
  /** How often it is read before it runs. */
  left?: number
  readonly [setting: string]: unknown
}

/** Where the command line fails, or answers something else. */
export interface CommandLineFault {
  readonly at?: 'list' | 'get' | 'create' | 'query-endpoint' | 'stop' | 'delete'
  /** Whether only calls about the service of the drill fail. */
  readonly of?: 'created'
  /** Whether the command is carried out. */
  readonly isDone?: boolean
  /** Changes the answer about a service, instead of failing. */
  readonly answer?: (service: CloudService) => object
  /** What the command prints instead of an answer. */
  readonly prints?: string
  /** Changes the service before the drill. */
  readonly prepare?: () => void
}

class Refusal extends Error {}

export function useCommandLine(emulatorUrl: () => string) {
  let services: CloudService[] = []
  let fault: CommandLineFault = {}
  const calls: (readonly string[])[] = []

  async function create(options: ReadonlyMap<string, readonly string[]>): Promise<object> {
    const option = (name: string): string | undefined => options.get(name)?.[0]
    const tags = (options.get('--tag') ?? []).map((tag) => ({ key: tag.split('=')[0] ?? '', value: tag.split('=')[1] ?? '' }))
    const restore = { serviceId: demo.services.checkout, backupId: option('--backup-id'), name: option('--name'), tags }
    const body = JSON.stringify(restore)
    const response = await fetch(`${emulatorUrl()}/_emulator/restores`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    if (!response.ok) throw new Refusal(await response.text())
    const { id, name, createdAt } = (await response.json()) as { id: string; name: string; createdAt: string } // The emulator's answer.
    services.push({ id, name, createdAt, tags, state: 'provisioning', left: 2 })
    return { service: { id, name }, password: 'never-shown-password' }
  }

  function read(service: CloudService): object {
    // A few reads later, it runs.
    if ((service.left ?? 0) > 0) service.left = (service.left ?? 0) - 1
    else if (service.state === 'provisioning') service.state = 'running'
    if (service.state === 'stopping') service.state = 'stopped'
    return service
  }

  function remove(service: CloudService): object {
    if (service.state === 'running') throw new Refusal("CONFLICT: Current state: 'running'")
    services = services.filter((one) => one !== service)
    return {}
  }

  const isMet = (verb: string, id: string | undefined): boolean =>
    fault.at === verb && (fault.of === undefined || id !== demo.services.checkout)

  async function execute(verb: string, id: string | undefined, options: ReadonlyMap<string, readonly string[]>): Promise<object> {
    const about = (act: (service: CloudService) => object): object => {
      const found = services.find((one) => one.id === id)
      if (found === undefined) throw new Refusal(`No such service: ${id}`)
      return act(found)
    }
    const commands: Readonly<Record<string, () => object | Promise<object>>> = {
      list: () => services,
      get: () => about(read),
      create: () => create(options),
      'query-endpoint': () => about(() => grant(options.get('--role')?.[0])),
      stop: () => about((service) => Object.assign(service, { state: 'stopping' })),
      delete: () => about(remove),
    }
    const answer = await commands[verb]?.()
    if (answer === undefined) throw new Refusal(`unknown command ${verb}`)
    return answer
  }

  /** What the command prints. */
  async function run([cloud, noun, verb = '', ...rest]: readonly string[]): Promise<string> {
    if (`${cloud} ${noun}` !== 'cloud service') throw new Refusal(`unknown command ${cloud} ${noun}`)
    const { id, options } = parse(verb === 'query-endpoint' ? rest.slice(1) : rest)
    const act = () => execute(verb, id, options)
    return isMet(verb, id) ? answerWithFault(id, act) : JSON.stringify(await act())
  }

  async function answerWithFault(id: string | undefined, act: () => Promise<object>): Promise<string> {
    const { answer: change, prints, isDone } = fault
    if (change === undefined && prints === undefined && isDone !== true) throw new Refusal('the server failed')
    const answer = await act()
    if (prints !== undefined) return prints
    if (change === undefined) throw new Refusal('error sending request: connection reset')
    // It was running when the drill read it first.
    const found = services.find((one) => one.id === id)
    return JSON.stringify(found === undefined || found.state === 'provisioning' ? answer : change(found))
  }

  const server = createServer(async (request, response) => {
    const args = (await text(request)).trimEnd().split('\n')
    calls.push(args)
    try {
      response.end(await run(args))
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown
      response.writeHead(500).end(JSON.stringify({ error: { code: 'http_5xx', message: thrown.message } }))
    }
  })
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => void server.close())
  return {
    url: (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // It listens on a port, not on a pipe.
    calls: (): readonly (readonly string[])[] => calls,
    services: (): readonly CloudService[] => services,
    reset(given: readonly CloudService[], nextFault: CommandLineFault = {}): void {
      services = structuredClone([...given])
      fault = nextFault
      calls.length = 0
    },
  }
}

function grant(role: string | undefined): object {
  if (role !== 'sql_console_read_only') throw new Refusal(`role ${role}`)
  return {}
}

/** Options by name, in order; two have no value. */
function parse(args: readonly string[]) {
  const options = new Map<string, string[]>()
  let id: string | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (arg === '--json' || arg === '--enable-tde') options.set(arg, ['true'])
    else if (arg.startsWith('--')) options.set(arg, [...(options.get(arg) ?? []), args[++i] ?? ''])
    else id = arg
  }
  return { id, options }
}
