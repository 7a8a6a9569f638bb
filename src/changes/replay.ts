import * as z from 'zod'
import { createKinds, isOf, previousKeyOf } from '../kinds/kinds.ts'
import { forEachConcurrently } from '../platform/core/concurrency.ts'
import { type Diagnostic, diagnosticOf, diagnosticSchema, errorsIn, formatLocation } from '../platform/core/diagnostics.ts'
import { inputError } from '../platform/core/errors.ts'
import { counted, join, say, untrustedSentence } from '../platform/core/line.ts'
import { type Context, defineOperation, noFields } from '../platform/operation/operation.ts'
import { recordingRules } from '../signals/backtest/recording.ts'
import { environmentInput, inEnvironment } from '../sync/declarations/environment.ts'
import { filesInput, findDeclarations } from '../sync/declarations/find-declarations.ts'
import { declaredQueries } from './backtest/declared-queries.ts'
import {
  checkedIncident,
  checkIncident,
  countOutcomes,
  type EvaluatedAlert,
  incidentTable,
  judgeIncidents,
  outcomeCounts,
} from './backtest/incidents.ts'
import { type CommandInput, evaluateRecorded, readDirectory, recordCommand, recordingPath, recordingsInput } from './backtest/recordings.ts'

export const replay = defineOperation({
  summary: 'Checks declared alerts against recordings of past incidents, offline and without credentials.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    files: filesInput,
    env: environmentInput,
    recordings: recordingsInput.default('recordings'),
  }),
  output: noFields,
  details: z.object({
    incidentCount: z.int().describe('Number of incidents.'),
    ...outcomeCounts,
    errorCount: z.int().describe('Number of errors in files and recordings.'),
    environment: z.string().optional().describe('The environment, if `env` is set.'),
    incidents: z.array(checkedIncident).describe('The incidents of the files.'),
    diagnostics: z.array(diagnosticSchema).describe('Errors and warnings, with their locations.'),
  }),
  example: { files: ['examples/incidents/*.yml'], recordings: 'examples/incidents/recordings' },
  async run(context, input) {
    const found = await findDeclarations(input.files, context)
    const errors = errorsIn(found.diagnostics)
    const environment = context.environment === undefined ? {} : { environment: context.environment.name }
    if (errors.length > 0)
      return { ...countOutcomes([]), errorCount: errors.length, ...environment, incidents: [], diagnostics: [...errors] }
    if (found.incidents.length === 0) throw inputError('files', 'declare no incidents; add some below incidents')
    const { incidents, diagnostics } = await replayIncidents(context, input, found)
    return { ...countOutcomes(incidents), errorCount: errorsIn(diagnostics).length, ...environment, incidents, diagnostics }
  },
  judge(result) {
    const errors = errorsIn(result.diagnostics)
    if (result.incidentCount === 0)
      return { status: 'fail', reasons: [say`${counted(errors.length, 'error')} in the files`], exit: 'input' }
    const reasons = [
      ...errors.map(({ location, message }) => say`${formatLocation(location)}: ${untrustedSentence(message)}`),
      // The error of its recording explains an unknown outcome.
      ...judgeIncidents(result.incidents.map((one) => ({ ...one, alerts: one.alerts.filter(({ outcome }) => outcome !== 'unknown') }))),
    ]
    return reasons.length === 0 ? { status: 'pass', reasons } : { status: 'fail', reasons }
  },
  report: (result) => ({
    headline:
      result.incidentCount === 0
        ? say`Nothing was replayed`
        : say`Replay of ${counted(result.incidentCount, 'incident')}${inEnvironment(result)}: ${join(
            [say`${result.detected} detected`, say`${result.late} late`, say`${result.missed} missed`],
            ', ',
          )}`,
    blocks: [{ kind: 'diagnostics', diagnostics: result.diagnostics }, incidentTable(result.incidents)],
    annotations: result.diagnostics,
  }),
})

type Found = Awaited<ReturnType<typeof findDeclarations>>

/** Some systems cannot open a thousand files at once. */
const maxConcurrentReads = 16

async function replayIncidents(context: Context<'read', 'none'>, given: CommandInput, found: Found) {
  const input = { ...given, recordings: readDirectory(given.recordings) }
  const queries = await declaredQueries(found, createKinds(context.profile, context.clock.now()))
  const { paths } = await context.files.find([`${input.recordings}/**/*.json`], 'recordings')
  const existing = new Set(paths)
  const alerts = new Map(found.objects.filter(isOf('alert')).map((one) => [one.key, one]))
  // A renamed alert has the recordings of its previous key until it has its own.
  const pathOf = (incident: string, alert: string): string => {
    const declared = alerts.get(alert)
    const keys = [alert, declared && previousKeyOf(declared)].filter((key) => key !== undefined)
    const all = keys.map((key) => recordingPath(input.recordings, incident, key))
    return all.find((path) => existing.has(path)) ?? recordingPath(input.recordings, incident, alert)
  }
  const diagnostics: Diagnostic[] = []
  const evaluations = new Map<string, EvaluatedAlert>()
  const needed = new Set(found.incidents.flatMap((incident) => incident.alerts.map((alert) => pathOf(incident.key, alert))))
  const texts = new Map<string, string>()
  await forEachConcurrently(
    paths.filter((path) => needed.has(path)),
    () => maxConcurrentReads,
    async (path) => {
      texts.set(path, await context.files.read(path, 'recordings'))
    },
  )
  for (const incident of found.incidents)
    for (const alert of incident.alerts) {
      const path = pathOf(incident.key, alert)
      const evaluated = evaluateRecorded({
        incident,
        alert,
        path,
        text: texts.get(path),
        query: queries.get(alert),
        location: alerts.get(alert)?.location ?? incident.location,
        command: recordCommand(incident, input),
      })
      if ('diagnostic' in evaluated) diagnostics.push(evaluated.diagnostic)
      evaluations.set(path, 'diagnostic' in evaluated ? { reason: 'see the error of its recording' } : evaluated)
    }
  const unused = paths
    .filter((path) => !needed.has(path))
    .map((path) =>
      diagnosticOf(
        recordingRules,
        'recording-unused',
        { file: path },
        'no incident of the files needs this recording; delete it, or rename it if the alert was renamed',
      ),
    )
  const incidents = found.incidents.map((incident) =>
    checkIncident(incident, found.incidents, (alert) => evaluations.get(pathOf(incident.key, alert)) ?? { reason: 'it was not evaluated' }),
  )
  return { incidents, diagnostics: [...diagnostics, ...unused] }
}
