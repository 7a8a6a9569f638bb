import * as z from 'zod'
import type { ReadApi } from '../../api/client.ts'
import { type Diagnostic, errorsIn } from '../../core/diagnostics.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { quote } from '../../core/text.ts'
import { flag } from '../../operation/inputs.ts'
import { type Context, defineOperation, type Files, type NamedEnvironment, type OutputFile } from '../../operation/operation.ts'
import { sectionNames } from '../../resources/resource-type.ts'
import type { Plan } from '../change.ts'
import { type Declarations, type Found, filesInput, findDeclarations } from '../declarations.ts'
import { environmentInput, variableIn } from '../environment.ts'
import { type LintSettings, lintRules } from '../lint.ts'
import { checkChange, planInput, resolveProject } from '../make-plan.ts'
import { planChanges } from '../plan-changes.ts'
import { type RemoteState, readRemoteState } from '../remote-state.ts'
import { type Draft, type DraftInput, draftPull, identityOf, type ReadDraft, verifyDraft } from './draft.ts'
import { judgePull, type Pulled, type PullResult, pullBlocks, pullDetails, pullHeadline, pullOutput, toPullResult } from './pull-report.ts'

export const pull = defineOperation({
  summary: 'Exports the alerts, dashboards and saved searches of a service to files. A plan of these files shows no changes.',
  effect: 'read',
  scope: 'service-or-server',
  input: z.strictObject({
    files: filesInput,
    env: environmentInput,
    project: planInput.shape.project,
    declaredOnly: flag('Updates what the files declare, and adds no other objects.').default(false),
  }),
  output: pullOutput,
  details: pullDetails,
  example: { files: ['observability/**/*.yml'], project: 'shop/observability' },
  run: async (context, input) => toPullResult(await makePull(context, input), context.environment?.name),
  judge: judgePull,
  report: (result) => ({
    headline: pullHeadline(result),
    blocks: pullBlocks(result),
    annotations: result.diagnostics.map(({ location, ...rest }) =>
      sectionNames.some((name) => name === location.file) ? rest : { ...rest, location },
    ),
  }),
  files: async ({ writtenFiles }) => writtenFiles.map(toOutputFile),
})

function toOutputFile({ path, content, size }: PullResult['writtenFiles'][number]): OutputFile {
  // Redaction replaced a secret by stars. Applying this file would write the stars to the service.
  if (Buffer.byteLength(content) !== size)
    throw new WatchkeeperError(
      'refused',
      `No file was written, because "${quote(path)}" would contain a secret of this run. Remove the secret from the service.`,
    )
  return { input: 'files', path, content, isEssential: true }
}

type PullContext = Pick<
  Context<'read', 'service-or-server'>,
  'service' | 'profile' | 'files' | 'lintSettings' | 'environment' | 'clock'
> & {
  readonly api: ReadApi
}

interface PullInput {
  readonly files: readonly string[]
  readonly declaredOnly: boolean
  readonly project?: string | undefined
}

/** Reads the files and the service, drafts the new files, and verifies the draft. Writes nothing. */
async function makePull(context: PullContext, input: PullInput): Promise<Pulled> {
  const { api, service, profile, files, environment, clock } = context
  const nowMs = clock.now()
  const { project, diagnostics } = await resolveProject(input.project, files, 'read')
  const texts = await readTexts(input.files, files)
  const found = await findIn(texts, context)
  const nothing: Draft = { files: [], objects: [] }
  if (errorsIn(found.diagnostics).length > 0) return { project, draft: nothing, diagnostics: errorsIn(found.diagnostics) }
  const remote = await readRemoteState({ api, service, profile, wanted: new Set(sectionNames) })
  const planWith = (declarations: Pick<Declarations, 'objects'>) =>
    planChanges(declarations, remote, { project, profile, nowMs, prune: false, maxDeletes: 0 })
  const plan = planWith(found)
  const ambiguous = plan.diagnostics.filter(({ rule, severity }) => severity === 'error' && matchingRules.includes(rule))
  if (ambiguous.length > 0) return { project, draft: nothing, diagnostics: ambiguous }
  const { declaredOnly } = input
  const draftInput = {
    declarations: found,
    plan,
    remote,
    profile,
    nowMs,
    globs: input.files,
    declaredOnly,
    texts,
    variable: variableIn(environment, files.variable),
    environment,
  }
  const serverAnswers: ServerAnswers = new Map()
  const { draft, read } = await draftUntilVerified(draftInput, async (candidate) => {
    const declarations = await findIn(new Map([...texts, ...candidate.files.map(({ path, after }) => [path, after] as const)]), context)
    const read = { declarations, diagnostics: declarations.diagnostics, plan: planWith(declarations) }
    const failures = new Map([...verifyDraft(candidate, read), ...findReplacedVariables(candidate, environment)])
    return { read, failures: failures.size > 0 ? failures : await findRejected(read.plan, serverAnswers, context) }
  })
  return {
    project,
    draft,
    diagnostics: [
      ...diagnostics,
      ...incompleteLists(remote),
      ...overriddenDifferences(draft, environment),
      ...replacedExpressions(draft),
      ...remainingErrors(read),
    ],
  }
}

/** With an error of these rules, it is not known which declaration belongs to which object. */
const matchingRules: readonly string[] = ['duplicate-marker', 'owned-elsewhere', 'ambiguous-adoption', 'other-project']

async function readTexts(globs: readonly string[], files: Files): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const path of await files.find(globs, 'files')) texts.set(path, await files.read(path, 'files'))
  return texts
}

/** Finds the declarations in these texts. A first pull starts without any. */
async function findIn(texts: ReadonlyMap<string, string>, context: PullContext): Promise<Found> {
  const paths = [...texts.keys()].sort()
  if (paths.length === 0) return { objects: [], broken: [], unread: [], diagnostics: [], paths }
  const files: Files = { ...context.files, find: async () => paths, read: async (path) => texts.get(path) ?? '' }
  return findDeclarations(paths, { ...context, files, lintSettings: { ...context.lintSettings, ...adviceOff } })
}

/** Style rules of a team do not decide whether a file matches the service. */
const adviceOff: LintSettings = Object.fromEntries(
  Object.entries(lintRules).flatMap(([id, { severity }]) => (severity === 'error' ? [] : [[id, 'off']])),
)

interface Verification {
  readonly read: ReadDraft
  /** By `identityOf`, with the reason. */
  readonly failures: ReadonlyMap<string, string>
}

interface VerifiedDraft {
  readonly draft: Draft
  readonly read: ReadDraft
}

/** Leaves out the objects that fail the verification, and drafts again, until none fails. */
async function draftUntilVerified(
  input: Omit<DraftInput, 'excluded'>,
  verify: (draft: Draft) => Promise<Verification>,
): Promise<VerifiedDraft> {
  const excluded = new Map<string, string>()
  for (;;) {
    const draft = draftPull({ ...input, excluded })
    const { read, failures } = await verify(draft)
    if (failures.size === 0) return { draft, read }
    for (const [identity, reason] of failures) excluded.set(identity, reason)
  }
}

/** By `identityOf`: why the server rejects a dashboard, undefined when it accepts it. */
type ServerAnswers = Map<string, string | undefined>

/** Finds the dashboards that `apply` would adopt and that the server would not store again. `answers` holds earlier answers. */
async function findRejected(plan: Plan, answers: ServerAnswers, context: PullContext): Promise<ReadonlyMap<string, string>> {
  const rejected = new Map<string, string>()
  if (!context.profile.dashboardCheck) return rejected
  for (const change of plan.changes) {
    if (change.section !== 'dashboards' || change.id === undefined || !change.isAdopted) continue
    const identity = identityOf('dashboards', change.id)
    if (!answers.has(identity)) {
      const [first] = (await checkChange(change, context)) ?? []
      answers.set(identity, first && [first.path, first.message].filter(Boolean).join(': '))
    }
    const reason = answers.get(identity)
    if (reason !== undefined) rejected.set(identity, `the server refuses to store this dashboard again: ${reason}`)
  }
  return rejected
}

const incompleteLists = ({ doubts }: RemoteState): readonly Diagnostic[] =>
  Object.entries(doubts).map(([section, doubt]) => ({
    rule: 'incomplete-pull',
    severity: 'warning',
    location: { file: section },
    message: `the list of ${section} ${doubt}`,
  }))

/** The value in the service belongs to this environment only, so the file of all environments keeps its expression. */
const findReplacedVariables = ({ objects }: Draft, environment: NamedEnvironment | undefined): ReadonlyMap<string, string> =>
  new Map(
    objects.flatMap(({ section, id, replacedExpressions: [first] }) =>
      environment === undefined || id === undefined || first === undefined
        ? []
        : [[identityOf(section, id), `the service has another value than ${first}; change the variable in ${environment.path}`] as const],
    ),
  )

const overriddenDifferences = ({ objects }: Draft, environment: NamedEnvironment | undefined): readonly Diagnostic[] =>
  objects.flatMap(({ section, key, overridden }) =>
    overridden.map(({ field, value }) => ({
      rule: 'override-differs',
      severity: 'warning' as const,
      location: environment?.document.locationOfKey(['overrides', section, key, field]) ?? { file: '' },
      message: `${section}.${key}.${field}: the service has ${value === undefined ? 'no value' : quote(JSON.stringify(value), 80)}, and the environment overrides the field; change the override to keep the value`,
    })),
  )

const replacedExpressions = ({ objects }: Draft): readonly Diagnostic[] =>
  objects.flatMap((object) =>
    object.replacedExpressions.map((expression) => ({
      rule: 'expression-replaced',
      severity: 'warning' as const,
      location: { file: object.path ?? '' },
      message: `${object.section}.${object.key}: the value in the service replaced ${expression}`,
    })),
  )

/** A declaration of a deleted object stays in its file, and can refer to other deleted objects. That must not stop the pull. */
const remainingErrors = ({ diagnostics }: ReadDraft): readonly Diagnostic[] =>
  errorsIn(diagnostics).map((one) => ({ ...one, severity: 'warning' }))
