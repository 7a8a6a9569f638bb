// A repository of declarations and the service that it is about: plan, apply and drift as operations, without a surface.
import { type Connection, readOnly } from '../../src/api/client.ts'
import { neutral, profileNamed } from '../../src/api/profiles.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts'
import type { Context } from '../../src/operation/operation.ts'
import { apply } from '../../src/sync/apply.ts'
import { drift } from '../../src/sync/drift.ts'
import { plan } from '../../src/sync/plan.ts'
import { pull } from '../../src/sync/pull/pull.ts'
import { openSession, service, type TestSession } from './session.ts'

type Dialect = Exclude<NonNullable<EmulatorOptions['dialect']>, 'hyperdx'>

/** Files by path. Anything that is no text is written as JSON. */
export type SiteFiles = Readonly<Record<string, unknown>>

type PlanInput = Partial<Parameters<typeof plan.run>[1]>
type ApplyInput = Partial<Parameters<typeof apply.run>[1]>

export interface Site {
  readonly session: TestSession
  readonly progress: readonly string[]
  plan(files: SiteFiles, input?: PlanInput): ReturnType<typeof plan.run>
  apply(files: SiteFiles, input?: ApplyInput): ReturnType<typeof apply.run>
  drift(files: SiteFiles, input?: PlanInput): ReturnType<typeof drift.run>
  pull(files: SiteFiles, globs?: readonly string[]): ReturnType<typeof pull.run>
}

export const project = 'shop/observability'

/** An emulator, or a server with keys and ids of its own. */
export interface SiteServer {
  readonly url: string
  readonly connection?: Partial<Connection>
  readonly service?: typeof service
  readonly project?: string
}

/** Without a clock of the caller's, nothing ever waits. */
export async function withSite<T>(server: SiteServer, dialect: Dialect, use: (site: Site) => Promise<T>, clock?: Clock): Promise<T> {
  const profile = dialect === 'neutral' ? neutral : profileNamed(dialect)
  const { observabilityPath } = profile
  const session = openSession(server.url, { profile, observabilityPath, deadlineMs: 3_600_000, ...server.connection }, clock)
  const place = server.service ?? service
  const progress: string[] = []
  const contextFor = (files: SiteFiles): Context<'write', 'service'> => ({
    ...sharedContext(files),
    api: session.api,
  })
  const readContextFor = (files: SiteFiles): Context<'read', 'service'> => ({ ...sharedContext(files), api: readOnly(session.api) })
  const sharedContext = (files: SiteFiles): Omit<Context<'read', 'service'>, 'api'> => ({
    organizationId: place.organizationId,
    service: place,
    profile,
    apiOrigin: server.url,
    clock: session.clock,
    files: toFiles(files),
    lintSettings: {},
    stop: session.stopSignal,
    progress: async ({ done, total, line }) => void progress.push(`${done}/${total} ${line.map(({ text }) => text).join('')}`),
  })
  const standard = { files: ['**'], project: server.project ?? project, prune: false, maxDeletes: 1000 }
  try {
    return await use({
      session,
      progress,
      plan: (files, input) => plan.run(readContextFor(files), { ...standard, ...input }),
      apply: (files, input) => apply.run(contextFor(files), { ...standard, onError: 'continue', ...input }),
      drift: (files, input) => drift.run(readContextFor(files), { ...standard, ...input }),
      pull: (files, globs = ['observability/**/*.yml']) => pull.run(readContextFor(files), { files: [...globs], project }),
    })
  } finally {
    await session.close()
  }
}

const toFiles = (files: SiteFiles): Context<'write', 'service'>['files'] => ({
  find: async () => Object.keys(files).filter((path) => !path.endsWith('.plan.json')),
  read: async (path) => (typeof files[path] === 'string' ? files[path] : JSON.stringify(files[path])),
  variable: () => undefined,
  remoteRepository: async () => undefined,
})

/** The files with those that a pull wrote. */
export const afterPull = (files: SiteFiles, { writtenFiles }: Awaited<ReturnType<Site['pull']>>): SiteFiles => ({
  ...files,
  ...Object.fromEntries(writtenFiles.map(({ path, content }) => [path, content])),
})

export const emptyPlan = { toCreate: 0, toUpdate: 0, toReplace: 0, toDelete: 0, changed: false }

/** The demo's service as the emulator keeps it. */
export function storeOf({ store }: Emulator) {
  const found = store.organizations[0]?.services.find(({ id }) => id === service.serviceId)
  if (found === undefined) throw new Error('the shop has no such service')
  return found
}
