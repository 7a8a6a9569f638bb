import * as z from 'zod'
import { type InvalidField, listOf } from '../kinds/kind.ts'
import { addressOf, kindLabels, kindNames, sectionNames } from '../kinds/kind-names.ts'
import { createKinds } from '../kinds/kinds.ts'
import { errorsIn, inputDiagnostic, type LintSettings } from '../platform/core/diagnostics.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { quoteLong } from '../platform/core/text.ts'
import { readDocument } from '../platform/documents/document.ts'
import type { Files, OutputFile } from '../platform/operation/files.ts'
import { choice, grouped } from '../platform/operation/inputs.ts'
import { type Context, defineOperation, type Given, type NamedEnvironment } from '../platform/operation/operation.ts'
import { selectInput } from '../platform/operation/select.ts'
import { isTakeover, type Plan, type Update } from '../sync/decide/change.ts'
import { planForServer } from '../sync/decide/decide.ts'
import { nameInstances } from '../sync/declarations/declarations.ts'
import { environmentInput, variableIn } from '../sync/declarations/environment.ts'
import {
  type FoundDeclarations,
  findDeclarations,
  resolveProject,
  skippedDirectories,
  withSources,
} from '../sync/declarations/find-declarations.ts'
import { lintRules } from '../sync/declarations/lint.ts'
import { checkChange, isChecked, optionsFor, type ServerCheckContext } from '../sync/plan/make-plan.ts'
import { readStoredObjects } from '../sync/plan/stored-objects.ts'
import { type Draft, draftPull, excludedAs, identityOf, type PullInput } from '../sync/pull/draft.ts'
import {
  findReplacedVariables,
  instantiatedDifferences,
  type ReadDraft,
  replacedEdits,
  replacedExpressions,
  reportIncompleteLists,
  verifyDraft,
  withAdoptedIds,
  withEmptiedLists,
} from '../sync/pull/verify-draft.ts'
import { filesInput, planInput } from './inputs.ts'
import {
  judgePull,
  type Pulled,
  type PullResult,
  pullBlocks,
  pullDetails,
  pullHeadline,
  pullOutput,
  pullRequestBlocks,
  toPullResult,
} from './pull/pull-report.ts'

const pullInputs = z.strictObject({
  ...grouped('Files', { files: filesInput, env: environmentInput, project: planInput.shape.project }),
  ...grouped('What is pulled', {
    only: choice(
      ['declared', 'drifted', 'drifted-or-deleted'],
      'Limits what is updated. `declared` updates what the files declare, and adds no other objects. `drifted` updates only objects that were changed in the service while their declarations are as last applied, and replaces no expression. `drifted-or-deleted` also removes the declarations of alerts, dashboards and saved searches that the service does not have: it cannot know whether an object was deleted or never applied. It cannot be used with `env`.',
    ).optional(),
    select: selectInput(['name', 'key', 'kind', 'tag'], {
      choices: { kind: kindNames },
      without: 'everything but webhooks and sources that no file declares',
      note: 'A new object has the key of its marker, or one made of its name.',
    }).optional(),
  }),
})

export const pull = defineOperation({
  summary:
    'Exports the alerts, dashboards and saved searches of a service to files, and webhooks and sources on request. A plan of these files shows no changes.',
  effect: 'read',
  scope: 'service-or-server',
  input: pullInputs,
  output: pullOutput,
  details: pullDetails,
  example: { files: ['observability/**/*.yml'], project: 'shop/observability' },
  check: checkPullInput,
  run: async (context, input) => toPullResult(await makePull(context, input), context.environment?.name),
  judge: judgePull,
  report: (result) => ({
    headline: pullHeadline(result),
    blocks: [pullBlocks(result)],
    annotations: result.diagnostics.map(({ location, ...rest }) =>
      sectionNames.some((name) => name === location.file) ? rest : { ...rest, location },
    ),
  }),
  reports: {
    // The report of a drift is the text of a pull request.
    async markdown(result, { only }, blocks) {
      const { renderMarkdown } = await import('../platform/report/markdown.ts')
      return isOfDrift(only) ? renderMarkdown(pullRequestBlocks(result), maxBodyBytes) : renderMarkdown(blocks)
    },
  },
  files: (result) => result.writtenFiles.map(toOutputFile),
})

function checkPullInput({ values, names }: Given<typeof pullInputs>) {
  if (values.only !== 'drifted-or-deleted' || !names.has('env')) return []
  const reason = `cannot be \`drifted-or-deleted\` with ${spellInput('env')}, because the files declare the objects of all environments`
  return [inputDiagnostic('only', reason)]
}

const isOfDrift = (only: z.output<typeof pullInputs>['only']) => only === 'drifted' || only === 'drifted-or-deleted'

/** GitHub rejects a longer text. */
const maxBodyBytes = 65_000

function toOutputFile({ path, content, size }: PullResult['writtenFiles'][number]): OutputFile {
  // Redaction replaced a secret by stars. Applying this file would write the stars to the service.
  if (Buffer.byteLength(content) !== size)
    throw new WatchkeeperError(
      'refused',
      `No file was written, because "${quoteLong(path)}" would contain a secret of this run. Remove the secret from the service.`,
    )
  return { input: 'files', path, content, isEssential: true, staysInWorkspace: true }
}

/** Writes nothing. */
async function makePull(context: Context<'read', 'service-or-server'>, input: z.output<typeof pullInputs>): Promise<Pulled> {
  const { api, service, profile, files, environment, clock } = context
  const kinds = createKinds(profile, clock.now())
  const { project, diagnostics } = await resolveProject(input.project, files, 'read')
  const { paths, links = [], skipped } = await files.find(input.files, 'files')
  const texts = new Map<string, string>()
  for (const path of paths) texts.set(path, await files.read(path, 'files'))
  const inFiles = await findIn(texts, context, project)
  const nothing: Draft = { files: [], objects: [] }
  if (errorsIn(inFiles.diagnostics).length > 0) return { project, draft: nothing, diagnostics: errorsIn(inFiles.diagnostics) }
  const storedObjects = await readStoredObjects({ api, service, profile, wanted: new Set(kindNames), wantsConnections: true })
  const found = await withSources(inFiles, storedObjects.source)
  const aim = { files: input.files, env: environment?.name, project, service }
  const options = { ...optionsFor(files, kinds, aim), previousOwner: context.previousOwner, environmentPath: environment?.path }
  const planWith = ({ objects }: FoundDeclarations): Promise<Plan> => planForServer(api, objects, storedObjects, options)
  const plan = await planWith(found)
  // It is not known which declaration belongs to which object.
  const ambiguous = errorsIn(plan.diagnostics).filter(({ rule }) => rule === 'owned-elsewhere' || rule === 'other-project')
  if (ambiguous.length > 0) return { project, draft: nothing, diagnostics: ambiguous }
  const { select } = input
  const only: PullInput['only'] = isOfDrift(input.only) ? 'drifted' : input.only === 'declared' ? 'declared' : undefined
  const incompleteLists = only === 'drifted' ? withEmptiedLists(plan, storedObjects) : storedObjects.incompleteLists
  const pullInput: PullInput = {
    declarations: found,
    plan,
    storedObjects: { ...storedObjects, incompleteLists },
    kinds,
    globs: input.files,
    only,
    removeDeclarations: input.only === 'drifted-or-deleted',
    select,
    texts,
    variable: variableIn(environment, files.variable),
    environment,
  }
  const serverAnswers: ServerAnswers = new Map()
  const { draft: verified, read } = await draftUntilVerified(pullInput, async (candidate) => {
    await context.checkpoint()
    const after = new Map([...texts, ...candidate.files.map((file) => [file.path, file.after] as const)])
    const drafted = await findIn(after, { ...context, environment: environment && withText(environment, after) }, project)
    const declarations = await withSources(drafted, storedObjects.source)
    const read = { declarations, diagnostics: declarations.diagnostics, plan: await planWith(declarations) }
    const linked = candidate.objects.filter(({ isEdited, path = '' }) => isEdited && links.includes(path))
    const failures = new Map([
      ...verifyDraft(candidate, read),
      ...findReplacedVariables(candidate, pullInput),
      ...linked.map((one) => [excludedAs(one), 'the file is a link, which pull does not write; change the file that it leads to'] as const),
    ])
    return { read, failures: failures.size > 0 ? failures : await findRejected(read.plan, serverAnswers, { api, service, kinds }) }
  })
  const draft = withAdoptedIds(verified, read, pullInput, links)
  return {
    project,
    draft,
    diagnostics: [
      ...diagnostics,
      ...skippedDirectories(skipped),
      ...reportIncompleteLists(incompleteLists),
      ...nameInstances(instantiatedDifferences(draft)),
      ...replacedEdits(draft, plan),
      ...replacedExpressions(draft),
    ],
  }
}

/** A first pull starts without files. */
async function findIn(
  texts: ReadonlyMap<string, string>,
  context: Context<'read', 'service-or-server'>,
  project: string,
): Promise<FoundDeclarations> {
  const paths = [...texts.keys()].sort()
  const find: Files['find'] = async (globs, input) => (input === 'env' ? context.files.find(globs, input) : { paths, skipped: [] })
  const files: Files = { ...context.files, find, read: async (path) => texts.get(path) ?? '' }
  return findDeclarations(paths, { ...context, files, lintSettings: { ...context.lintSettings, ...adviceOff } }, { project })
}

/** The environment with the text that its file gets, because the search for declarations does not find it. */
function withText(environment: NamedEnvironment, texts: Map<string, string>): NamedEnvironment {
  const text = texts.get(environment.path)
  const document = readDocument(text ?? environment.text, environment.path)
  texts.delete(environment.path)
  return 'value' in document ? { ...environment, document } : environment
}

/** Style rules of a team do not decide whether a file matches the service. */
const adviceOff: LintSettings = Object.fromEntries(
  Object.entries(lintRules).flatMap(([id, { severity }]) => (severity === 'error' ? [] : [[id, 'off']])),
)

type Failures = ReadonlyMap<string, string>

/** Leaves out what fails the verification, until nothing does. Each round leaves out one object more, which is not edited again. */
async function draftUntilVerified(
  input: PullInput,
  verify: (draft: Draft) => Promise<{ readonly read: ReadDraft; readonly failures: Failures }>,
): Promise<{ readonly draft: Draft; readonly read: ReadDraft }> {
  const excluded = new Map<string, string>()
  for (;;) {
    const draft = draftPull({ ...input, excluded })
    const again = draft.objects.find((object) => object.isEdited && excluded.has(excludedAs(object)))
    if (again !== undefined) throw new Error(`${addressOf(again)} was edited after it was left out`)
    const { read, failures } = await verify(draft)
    const found = [...failures].filter(([identity]) => !excluded.has(identity))
    if (found.length === 0) return { draft, read }
    for (const [identity, reason] of found) excluded.set(identity, reason)
  }
}

/** Why the server rejects an object, by `identityOf`; undefined when it accepts it. */
type ServerAnswers = Map<string, string | undefined>

/** Objects that `apply` would adopt and that the server would not store again. `answers` holds earlier answers. */
async function findRejected(plan: Plan, answers: ServerAnswers, asking: ServerCheckContext): Promise<Failures> {
  const rejected = new Map<string, string>()
  for (const change of plan.changes) {
    const { kind } = change
    if (!isTakeover(change) || !isChecked(change)) continue
    const identity = identityOf(kind, change.id)
    if (!answers.has(identity)) {
      const invalid = (await checkChange(change, asking)) ?? []
      answers.set(identity, invalid.length === 0 ? undefined : describeInvalid(invalid, change))
    }
    const reason = answers.get(identity)
    if (reason !== undefined)
      rejected.set(
        identity,
        `the server refuses to store this ${kindLabels[kind]} again: ${reason}. Correct it in the web app, then pull again`,
      )
  }
  return rejected
}

function describeInvalid(invalid: readonly InvalidField[], { desired }: Update) {
  const tiles = listOf(desired.tiles)
  const placeOf = ({ path }: InvalidField): string =>
    path.replace(/^tiles\.(\d+)/, (whole, index: string) => {
      const name = tiles[Number(index)]?.name
      return name ? `tiles[${JSON.stringify(name)}]` : whole
    })
  return [...Map.groupBy(invalid, ({ message }) => message)]
    .map(([message, fields]) => {
      const places = [...new Set(fields.map(placeOf).filter(Boolean))]
      return places.length === 0 ? message : `${message} (${places.join(', ')})`
    })
    .join('; ')
}
