import * as z from 'zod'
import type { ReadApi } from '../../api/client.ts'
import { type Diagnostic, errorsIn } from '../../core/diagnostics.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { quote } from '../../core/text.ts'
import { type Context, defineOperation, type Files, type OutputFile } from '../../operation/operation.ts'
import type { Plan } from '../change.ts'
import { type Declarations, sectionNames } from '../declarations.ts'
import { type Found, filesInput, findDeclarations } from '../find-declarations.ts'
import { planInput, projectFor } from '../input.ts'
import { type LintSettings, lintRules } from '../lint.ts'
import { planChanges } from '../plan-changes.ts'
import { readWorld, type World } from '../remote-state.ts'
import { complaintsAbout } from '../server-check.ts'
import { type Draft, type DraftInput, draftPull, identityOf } from './draft.ts'
import { findInexact, type Proof } from './proof.ts'
import { judgePull, type PullResult, pullBlocks, pullDetails, pullHeadline, pullOutput, toPullResult } from './pull-report.ts'

// Owns the way from service and files to the files of a pull: read, compare, write down, and read it all again. It writes nothing.

export interface PullRequest {
  readonly files: readonly string[]
  readonly project?: string | undefined
}

export interface Pulled extends Draft {
  readonly project: string
  /** What keeps anything from being written, and what is worth knowing. */
  readonly diagnostics: readonly Diagnostic[]
}

type PullContext = Pick<Context<'read', 'service'>, 'service' | 'profile' | 'files' | 'lintSettings'> & { readonly api: ReadApi }

export async function makePull(context: PullContext, request: PullRequest): Promise<Pulled> {
  const { api, service, profile, files } = context
  const { project, diagnostics } = await projectFor(request.project, files, 'read')
  const texts = await readTexts(request.files, files)
  const found = await findIn(texts, context)
  const nothing = { project, files: [], objects: [] }
  if (errorsIn(found.diagnostics).length > 0) return { ...nothing, diagnostics: errorsIn(found.diagnostics) }
  const world = await readWorld({ api, service, profile, wanted: new Set(sectionNames) })
  const planWith = (declarations: Pick<Declarations, 'objects'>) =>
    planChanges(declarations, world, { project, profile, prune: false, maxDeletes: 0 })
  const plan = planWith(found)
  const unclear = plan.diagnostics.filter(({ rule, severity }) => severity === 'error' && whoIsWho.includes(rule))
  if (unclear.length > 0) return { ...nothing, diagnostics: unclear }
  const input = { declarations: found, plan, world, profile, globs: request.files, texts, variable: files.variable }
  const refusals = new Map<string, string | undefined>()
  const { draft, proof } = await proven(input, async (drafted) => {
    const again = await findIn(new Map([...texts, ...drafted.files.map(({ path, after }) => [path, after] as const)]), context)
    const proof = { declarations: again, diagnostics: again.diagnostics, plan: planWith(again) }
    const inexact = findInexact(drafted, proof)
    return { proof, inexact: inexact.size > 0 ? inexact : await refusedByServer(proof.plan, refusals, context) }
  })
  return { ...draft, project, diagnostics: [...diagnostics, ...doubtsAbout(world), ...lostExpressions(draft), ...leftWrong(proof)] }
}

/** Without knowing which object is which, nothing can be said about any of them. */
const whoIsWho: readonly string[] = ['mark-twice', 'not-ours', 'ambiguous-adoption', 'other-project']

async function readTexts(globs: readonly string[], files: Files): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const path of await files.find(globs, 'files')) texts.set(path, await files.read(path, 'files'))
  return texts
}

/** Files as they are, or as they would be. None at all is where a pull begins. */
async function findIn(texts: ReadonlyMap<string, string>, { files, profile, lintSettings }: PullContext): Promise<Found> {
  const paths = [...texts.keys()].sort()
  if (paths.length === 0) return { objects: [], broken: [], unread: [], diagnostics: [], paths }
  const asIf: Files = { ...files, find: async () => paths, read: async (path) => texts.get(path) ?? '' }
  return findDeclarations(paths, asIf, profile, { ...lintSettings, ...adviceOff })
}

/** What a team wants of its files says nothing about whether a file holds what the service has. */
const adviceOff: LintSettings = Object.fromEntries(
  Object.entries(lintRules).flatMap(([id, { severity }]) => (severity === 'error' ? [] : [[id, 'off']])),
)

/** Dashboards that apply would adopt and the server refuses to store again, with the reason. `known` holds earlier answers. */
async function refusedByServer(
  plan: Plan,
  known: Map<string, string | undefined>,
  context: PullContext,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>()
  if (!context.profile.dashboardCheck) return refused
  for (const change of plan.changes) {
    if (change.section !== 'dashboards' || change.id === undefined || !change.isAdopted) continue
    const identity = identityOf('dashboards', change.id)
    if (!known.has(identity)) {
      const [first] = (await complaintsAbout(change, context)) ?? []
      known.set(identity, first && [first.path, first.message].filter(Boolean).join(': '))
    }
    const reason = known.get(identity)
    if (reason !== undefined) refused.set(identity, `the server refuses to store it again: ${reason}`)
  }
  return refused
}

interface Checked {
  readonly proof: Proof
  /** By identity, with the reason. */
  readonly inexact: ReadonlyMap<string, string>
}

interface Proven {
  readonly draft: Draft
  readonly proof: Proof
}

/** What a file cannot say exactly, or apply could not write, stays outside, until plan has nothing to do for the rest. */
async function proven(input: Omit<DraftInput, 'excluded'>, check: (draft: Draft) => Promise<Checked>): Promise<Proven> {
  const excluded = new Map<string, string>()
  for (;;) {
    const draft = draftPull({ ...input, excluded })
    const { proof, inexact } = await check(draft)
    if (inexact.size === 0) return { draft, proof }
    for (const [identity, reason] of inexact) excluded.set(identity, reason)
  }
}

/** A declaration of what is gone may refer to what went with it. It is not deleted, but validate will complain of it. */
const leftWrong = ({ diagnostics }: Proof): readonly Diagnostic[] => errorsIn(diagnostics).map((one) => ({ ...one, severity: 'warning' }))

const doubtsAbout = ({ doubts }: World): readonly Diagnostic[] =>
  Object.entries(doubts).map(([section, doubt]) => ({
    rule: 'incomplete-pull',
    severity: 'warning',
    location: { file: section },
    message: `the list of ${section} ${doubt}`,
  }))

const lostExpressions = ({ objects }: Draft): readonly Diagnostic[] =>
  objects.flatMap(({ section, key, path = '', lost }) =>
    lost.map((expression) => ({
      rule: 'expression-replaced',
      severity: 'warning' as const,
      location: { file: path },
      message: `${section}.${key}: ${expression} no longer stands for what the service has, and gave way to it`,
    })),
  )

// Owns the operation that writes what exists as files.

export const pull = defineOperation({
  summary: 'Writes the alerts, dashboards and saved searches of a service into files, so that plan has nothing to do.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ files: filesInput, project: planInput.shape.project }),
  output: pullOutput,
  details: pullDetails,
  example: { files: ['observability/**/*.yml'], project: 'shop/observability' },
  run: async (context, input) => toPullResult(await makePull(context, input)),
  judge: judgePull,
  report: (result) => ({ headline: pullHeadline(result), blocks: pullBlocks(result), annotations: result.diagnostics }),
  files: async ({ writtenFiles }) => writtenFiles.map(toOutputFile),
})

function toOutputFile({ path, content, size }: PullResult['writtenFiles'][number]): OutputFile {
  // A secret was taken out of it on its way here. Applied, such a file would put the stars into the service.
  if (Buffer.byteLength(content) !== size)
    throw new WatchkeeperError(
      'refused',
      `Nothing was written: "${quote(path)}" would hold a secret of this run. Take it out of what the service has.`,
    )
  return { input: 'files', path, content, isEssential: true }
}
