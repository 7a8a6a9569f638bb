import { parse } from 'yaml'
import { apply } from '../../src/changes/apply.ts'
import { drift } from '../../src/changes/drift.ts'
import { plan } from '../../src/changes/plan.ts'
import { pull } from '../../src/changes/pull.ts'
import { demo, type Emulator, type EmulatorOptions } from '../../src/emulator/index.ts'
import { canonicalText } from '../../src/kinds/marker.ts'
import { type ApiConnection, readOnly, type WriteApi } from '../../src/platform/api/client.ts'
import type { Target } from '../../src/platform/api/path.ts'
import { profileNamed } from '../../src/platform/api/profiles.ts'
import type { Clock } from '../../src/platform/core/clock.ts'
import { createCheckpoint } from '../../src/platform/http/cancellation.ts'
import type { Context, PreviousOwner } from '../../src/platform/operation/operation.ts'
import { serviceOf } from './emulator.ts'
import { demandPublished } from './published-schema.ts'
import { openSession, service, type TestSession } from './session.ts'

// A repository of declarations and the service that it is about: plan, apply and drift as operations, without a surface.

type Dialect = NonNullable<EmulatorOptions['dialect']>

/** Files by path. Anything that is no text is written as JSON. */
export type SiteFiles = Readonly<Record<string, unknown>>

type PlanInput = Partial<Parameters<typeof plan.run>[1]>
type PullInput = Partial<Parameters<typeof pull.run>[1]>
type ApplyInput = Partial<Parameters<typeof apply.run>[1]>

export interface Site {
  readonly session: TestSession
  /** The service or the self-hosted server. */
  readonly target: Target
  readonly progress: readonly string[]
  plan(files: SiteFiles, input?: PlanInput): ReturnType<typeof plan.run>
  apply(files: SiteFiles, input?: ApplyInput): ReturnType<typeof apply.run>
  drift(files: SiteFiles, input?: PlanInput): ReturnType<typeof drift.run>
  pull(files: SiteFiles, globs?: readonly string[], input?: PullInput): ReturnType<typeof pull.run>
}

export const project = 'shop/observability'

type Secrets = Readonly<Record<string, string>>

/** An emulator, or a server with keys and ids of its own. */
export interface SiteServer {
  readonly url: string
  readonly connection?: Partial<ApiConnection>
  readonly service?: typeof service
  readonly project?: string
  /** Variables of the process with secrets of webhooks. */
  readonly secrets?: Secrets
  /** Whether the files may be those of a pull request from a fork. */
  readonly isFork?: boolean
  /** What lies between the runs and the server. */
  readonly through?: (api: WriteApi) => WriteApi
}

/** Without a clock of the caller's, nothing ever waits. */
export async function withSite<T>(server: SiteServer, dialect: Dialect, use: (site: Site) => Promise<T>, clock?: Clock): Promise<T> {
  const profile = profileNamed(dialect)
  const { observabilityPath } = profile
  const address = profile.isSelfHosted ? `${server.url}/api/v2` : server.url
  const credentials = profile.isSelfHosted && { credentials: { accessKey: demo.apiKeySecret } }
  const connection = { profile, observabilityPath, deadlineMs: 3_600_000, ...credentials, ...server.connection }
  const session = openSession(address, connection, clock)
  const api = server.through?.(session.api) ?? session.api
  const place = profile.isSelfHosted ? { serverUrl: address } : (server.service ?? service)
  const progress: string[] = []
  const contextFor = (files: SiteFiles): Context<'write', 'service-or-server'> => ({
    ...sharedContext(files),
    api,
  })
  const readContextFor = (files: SiteFiles): Context<'read', 'service-or-server'> => ({
    ...sharedContext(files),
    api: readOnly(api),
  })
  const sharedContext = (files: SiteFiles): Omit<Context<'read', 'service-or-server'>, 'api'> => ({
    organizationId: 'organizationId' in place ? place.organizationId : '',
    service: place,
    profile,
    sqlFunctions: [],
    previousOwner: previousOwnerIn(files),
    apiOrigin: server.url,
    clock: session.clock,
    files: { ...toFiles(files, server.secrets ?? {}), mayBeFromFork: async () => server.isFork ?? false },
    lintSettings: {},
    formats: [],
    stop: session.stopSignal,
    checkpoint: createCheckpoint(session.stopSignal, api.remainingMs),
    confirm: undefined,
    debug: () => undefined,
    progress: async ({ done, total, line }) => void progress.push(`${done}/${total} ${line.map(({ text }) => text).join('')}`),
  })
  const standard = {
    files: ['**'],
    project: server.project ?? project,
    prune: false,
    allowEmpty: false,
    maxDeletes: 1000,
  }
  try {
    return await use({
      session,
      target: place,
      progress,
      async plan(files, input) {
        const given = { ...standard, onFailedEvaluation: 'warn', backtest: false, price: false, ...input } as const
        const planned = await plan.run(readContextFor(files), given)
        demandPublished(plan, planned)
        const isShown = planned.objects.some(({ action }) => !['unchanged', 'adopt', 'mark'].includes(action))
        // A contract of every plan: a reader of `changed` finds in `objects` what differs.
        if (planned.changed !== isShown)
          throw new Error(`changed is ${planned.changed}, and objects are ${JSON.stringify(planned.objects)}`)
        return planned
      },
      async apply(files, input) {
        const applied = await apply.run(contextFor(files), { ...standard, ...input })
        demandPublished(apply, applied)
        return applied
      },
      async drift(files, input) {
        const found = await drift.run(readContextFor(files), { ...standard, onFailedEvaluation: 'warn', ...input })
        demandPublished(drift, found)
        return found
      },
      async pull(files, globs = ['observability/**/*.yml'], input = {}) {
        const pulled = await pull.run(readContextFor(files), { files: [...globs], project, ...input })
        demandPublished(pull, pulled)
        return pulled
      },
    })
  } finally {
    await session.close()
  }
}

/** What the config file says, which is an object here. */
function previousOwnerIn({ '.watchkeeper.yml': config }: SiteFiles): PreviousOwner {
  const { 'previous-project': owner, 'previous-repository': repository } = (config ?? {}) as Readonly<Record<string, string>>
  return { project: owner, repository }
}

const toFiles = (files: SiteFiles, secrets: Secrets): Context<'write', 'service-or-server'>['files'] => ({
  find: async () => ({ paths: Object.keys(files).filter((path) => !/\.plan\.json$|^\.watchkeeper/.test(path)), skipped: [] }),
  read: async (path) => (typeof files[path] === 'string' ? files[path] : JSON.stringify(files[path])),
  variable: () => undefined,
  secret: (name) => secrets[name],
  workflowRepository: undefined,
  mayBeFromFork: async () => false,
  ranBy: {},
  repository: async () => undefined,
  remoteRepository: async () => undefined,
  demandCheckout: async () => {},
  configAbove: async () => undefined,
})

/** The files with those that a pull wrote. */
export const afterPull = (files: SiteFiles, { writtenFiles }: Awaited<ReturnType<Site['pull']>>): SiteFiles => ({
  ...files,
  ...Object.fromEntries(writtenFiles.map(({ path, content }) => [path, content])),
})

/** The files as a pull wrote them, with the decision that they count for the objects as they are, with what a write of them loses. */
export const acceptingRewrites = (files: SiteFiles): SiteFiles =>
  Object.fromEntries(
    Object.entries(files).map(([path, content]) => {
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      return [path, parse(text.replace(/(@\d+\.[0-9a-f]{10})\.[0-9a-f]{6}/g, '$1.files')) as unknown]
    }),
  )

const decision = /^(\w+)\.([\w.-]+): .*?([\w.~-]+@\d+\.[0-9a-f]{10}\.files)/

/** The files, after a person followed the messages of a plan that say how to decide for the file. */
export async function decided(plan: Site['plan'], files: SiteFiles): Promise<SiteFiles> {
  const after = structuredClone(files) as Record<string, Record<string, Record<string, object> | undefined>>
  for (const { message } of (await plan(files)).diagnostics) {
    const [, section = '', key = '', adopt] = decision.exec(message) ?? []
    for (const file of Object.values(after)) {
      const one = file[section]?.[key]
      if (one !== undefined && adopt !== undefined) Object.assign(one, { adopt })
    }
  }
  return after
}

/** The keys of objects that a plan would change in another way than by an adoption. */
export const differing = ({ objects }: Pick<Awaited<ReturnType<Site['plan']>>, 'objects'>): readonly string[] =>
  objects.flatMap(({ key, action, fields }) => (fields.length > 0 || /^(?:create|replace|delete)$/.test(action) ? [key] : []))

export const emptyPlan = { toCreate: 0, toUpdate: 0, toReplace: 0, toDelete: 0, changed: false }

// Whether apply makes a service as a file declares it, and then has nothing to do.

/** What is wrong with plan, apply, plan, apply and drift of one file; empty when all is well. */
export async function convergenceProblems(site: Site, content: object): Promise<readonly unknown[]> {
  const files = { 'a.json': content }
  const planned = await site.plan(files, { prune: true })
  const applied = await site.apply(files, { prune: true })
  const again = await site.plan(files, { prune: true })
  const repeated = await site.apply(files, { prune: true })
  const drift = await site.drift(files)
  return [
    ...planned.diagnostics.filter(({ severity }) => severity === 'error'),
    ...applied.diagnostics.filter(({ severity }) => severity === 'error'),
    ...applied.objects.filter(({ outcome = '' }) => ['failed', 'unknown', 'skipped'].includes(outcome)),
    ...again.objects.filter(({ action }) => action !== 'unchanged'),
    ...repeated.objects.filter(({ outcome }) => outcome !== 'unchanged'),
    ...(again.changed || repeated.changed || drift.changed ? ['not empty'] : []),
  ]
}

// What a service holds, in a form in which two runs can be compared: names for ids, no times, no order.

type Fields = Readonly<Record<string, unknown>>

/** Dashboards, saved searches, alerts, webhooks and sources as sorted texts. Objects without a reference are marked. */
export function stateOf(emulator: Emulator): readonly string[] {
  const { dashboards, savedSearches, alerts, webhooks, sources } = serviceOf(emulator)
  const names = new Map(
    [...dashboards, ...savedSearches, ...webhooks, ...sources, ...dashboards.flatMap(({ tiles }) => tiles)].map(({ id, name }) => [
      id,
      name,
    ]),
  )
  const nameOf = (id: string | null): string | null => (id === null ? null : (names.get(id) ?? 'NOTHING'))
  // Other references are found by their form. A base covers ids, which are others in every service.
  const toText = (value: unknown): string =>
    canonicalText(value)
      .replace(/[0-9a-f]{24}/g, (id) => names.get(id) ?? id)
      .replace(/\bwkb:2\.[0-9a-f]{10}/g, 'wkb:2')
  const without =
    (...fields: readonly string[]) =>
    (one: object): Fields =>
      Object.fromEntries(Object.entries(one).filter(([field]) => !fields.includes(field)))
  const bare = without('id', 'teamId', 'createdAt', 'updatedAt')
  return [
    ...dashboards.map((one) => ({
      dashboard: {
        ...bare(one),
        tags: one.tags.toSorted(),
        tiles: one.tiles.map(bare).map(toText).toSorted(),
        filters: one.filters.map(bare),
      },
    })),
    ...savedSearches.map((one) => ({ savedSearch: bare(one) })),
    // A salt is another one in every run.
    ...webhooks.map((one) => ({ webhook: { ...bare(one), description: one.description?.replace(/(watchkeeper-secrets: 1).*/, '$1') } })),
    ...sources.map((one) => ({ source: bare(one) })),
    ...alerts.map((one) => ({
      alert: { ...bare(one), dashboardId: nameOf(one.dashboardId), tileId: nameOf(one.tileId), savedSearchId: nameOf(one.savedSearchId) },
    })),
  ]
    .map(toText)
    .toSorted()
}

/** Project and key in every mark of ours, in the order in which they stand in the service. */
export function markersIn(emulator: Emulator): readonly string[] {
  const { dashboards, savedSearches, alerts } = serviceOf(emulator)
  return [
    ...[...dashboards, ...savedSearches].flatMap(({ tags = [] }) => (tags as readonly string[]).filter((tag) => tag.startsWith('wk:'))),
    ...alerts.flatMap(({ message, note }) => /watchkeeper: \S+ \S+/.exec(`${message} ${note}`)?.[0] ?? []),
  ].map((mark) => mark.replace(/(wk:.*):.*/, '$1'))
}

/** Marks that stand more than once. */
export const duplicateMarkersIn = (emulator: Emulator): readonly string[] =>
  markersIn(emulator).filter((mark, i, marks) => marks.indexOf(mark) !== i)

/** Unmanaged objects, exactly as the service has them. */
export function unownedIn(emulator: Emulator): string {
  const { dashboards, alerts } = serviceOf(emulator)
  return JSON.stringify([
    dashboards.filter(({ tags }) => !tags.some((tag) => tag.startsWith('wk:'))),
    alerts.filter((one) => !/watchkeeper: /.test(`${one.note}${one.message}`)),
  ])
}

/** Returns what puts everything back as it is now. Ids go on counting, so that none is given out twice. */
export function rememberState(emulator: Emulator): () => void {
  const kept = structuredClone(emulator.store)
  return () => {
    emulator.clearFaults()
    Object.assign(emulator.store, structuredClone(kept))
  }
}
