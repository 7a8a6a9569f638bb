import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { demo, type Emulator, type EmulatorOptions, type Fault, type Service } from '../../src/emulator/index.ts'
import { addDays, type Day, dayOf } from '../../src/platform/core/dates.ts'
import { toEnvironmentName, toKebab } from '../../src/platform/core/names.ts'
import { metaOf } from '../../src/platform/documents/schema.ts'
import { settingsSchema } from '../../src/platform/operation/inputs.ts'
import { type EmulatorVariant, startVariant, type VariantOptions } from './server-variants.ts'

// One emulator for a test file, in the state it was born in before every test.

/** A getter, because the emulator only exists once the tests run. */
export function useEmulator(options: VariantOptions = {}): () => EmulatorVariant {
  let emulator: EmulatorVariant | undefined
  beforeAll(async () => {
    emulator = await startVariant(options)
  })
  beforeEach(() => emulator?.reset())
  afterAll(() => emulator?.close())
  return () => {
    if (emulator === undefined) throw new Error('the emulator runs inside tests only')
    return emulator
  }
}

/** More than a test creates. */
const spareIds = 500

/** Returns a function that puts the first service into the state that `apply` makes of it, which runs once for a test file. */
export function useApplied(emulator: () => Emulator, apply: () => Promise<unknown>): () => Promise<void> {
  let applied: Partial<Service> | undefined
  return async () => {
    if (applied === undefined) {
      // The ids begin again with every test, and none may be that of an applied object.
      emulator().saveInWebApp({ name: 'Ids', tiles: Array.from({ length: spareIds }, () => ({ config: {} })) })
      serviceOf(emulator()).dashboards.pop()
      await apply()
      const { dashboards, savedSearches, alerts, webhooks, sources } = serviceOf(emulator())
      applied = structuredClone({ dashboards, savedSearches, alerts, webhooks, sources })
      emulator().reset()
    }
    Object.assign(serviceOf(emulator()), structuredClone(applied))
  }
}

/** Common inputs of the action for the demo's first service. */
export const inputsFor = (
  { url }: Pick<Emulator, 'url'>,
  dialect: EmulatorOptions['dialect'] = 'clickhouse-cloud',
): Record<string, string> => ({
  'api-url': url,
  ...(dialect === 'hyperdx'
    ? { profile: dialect, 'api-key': demo.apiKeySecret }
    : {
        'api-key-id': demo.apiKeyId,
        'api-key-secret': demo.apiKeySecret,
        'organization-id': demo.organizationId,
        'service-id': demo.services.checkout,
      }),
})

const secretInputs = Object.entries(settingsSchema.shape).flatMap(([name, field]) => (metaOf(field).secret ? [toKebab(name)] : []))

/** The inputs as a shell has them: options, and variables for the secrets, which are no options. */
export function asOptions(inputs: Readonly<Record<string, string>>) {
  const entries = Object.entries(inputs)
  return {
    flags: entries.flatMap(([name, value]) => (secretInputs.includes(name) ? [] : [`--${name}`, value])),
    variables: Object.fromEntries(
      entries.flatMap(([name, value]) => (secretInputs.includes(name) ? [[toEnvironmentName(name), value]] : [])),
    ),
  }
}

export const ids = {
  dashboard: '65f5e4a35eedc0de0000000c',
  tile: '65f5e4a35eedc0de0000000e',
  webhook: '65f5e4a35eedc0de00000009',
  alert: '65f5e4a35eedc0de0000001f',
} as const

/** The methods of the requests that arrived, in order. */
export const methodsOf = ({ requests }: Emulator): readonly string[] => requests.map(({ method }) => method)

/** The only POST requests of operations that read. A tool counts by its name, not by the path that all tools have. */
export function storesNothing({ method, path, body }: Emulator['requests'][number]): boolean {
  if (method !== 'POST') return false
  if (!path.endsWith('/mcp')) return /\/(?:dashboards\/validate|charts\/series|service\/[^/]+\/run\?format=JSON)$/.test(path)
  const call = body as { readonly method?: string; readonly params?: { readonly name?: string } } | undefined
  return call?.method === 'tools/list' || call?.params?.name === 'clickstack_sql'
}

export const basicPair = Buffer.from(`${demo.apiKeyId}:${demo.apiKeySecret}`).toString('base64')

/** What must be in no output. */
export const secrets: readonly string[] = [demo.apiKeySecret, basicPair]

// Somebody else at work at the same time: the service is edited while a certain request of ours is under way.

type Match = NonNullable<Fault['match']>

/** Edits when the `nth` request that matches has arrived, and before the server acts on it. */
export function editDuring(emulator: Emulator, match: Match, edit: () => void, nth = 1): void {
  const before = emulator.requests.length
  emulator.addFault({ match, nth, effect: { kind: 'delay', ms: 25 } })
  const isMatch = ({ method, path }: Emulator['requests'][number]): boolean =>
    (match.method ?? method) === method && path.includes(match.path ?? '')
  const watch = async (): Promise<void> => {
    // As long as a test may take.
    for (const end = performance.now() + 20_000; performance.now() < end; await wait(1)) {
      if (emulator.requests.slice(before).filter(isMatch).length >= nth) return edit()
    }
  }
  void watch()
}

interface EntityUsage {
  readonly name: string
  readonly type?: 'service' | 'datawarehouse' | 'clickpipe'
  /** In millionths; `ago` is 0 for today. Undefined for a day without a record. */
  readonly microOn: (ago: number, day: Day) => Readonly<Record<string, number>> | undefined
  readonly locked?: boolean
}

const warehouseId = 'c0ffee00-0000-4000-8000-0000000000d1'

/** Replaces all usage by that of the last `days` days, today among them. Returns today. */
export function fillUsage({ store }: Emulator, days: number, entities: readonly EntityUsage[]): Day {
  const [organization] = store.organizations
  if (organization === undefined) throw new Error('the shop has no organization')
  const today = dayOf(Date.now())
  organization.usage = Array.from({ length: days }, (_, i) => days - 1 - i).flatMap((ago) => {
    const date = addDays(today, -ago)
    return entities.flatMap(({ name, type = 'service', microOn, locked }, i) => {
      const micro = microOn(ago, date)
      const entityId = `c0ffee00-0000-4000-8000-00000000ee${String(i).padStart(2, '0')}`
      if (micro === undefined) return []
      return [
        {
          dataWarehouseId: warehouseId,
          serviceId: type === 'datawarehouse' ? null : entityId,
          date,
          entityType: type,
          entityId,
          entityName: name,
          micro: { ...micro },
          ...(locked !== undefined && { locked }),
        },
      ]
    })
  })
  return today
}

/** A service of the demo as the emulator keeps it. */
export function serviceOf({ store }: Emulator, name: keyof typeof demo.services = 'checkout'): Service {
  const service = store.organizations[0]?.services.find(({ id }) => id === demo.services[name])
  if (service === undefined) throw new Error(`the demo has no service ${name}`)
  return service
}
