// Owns what outlives the step: result file, outputs, summary, annotation. Each one may fail; none of them changes the verdict.
import * as core from '@actions/core'
import { isOperationName } from '../../operations/index.ts'
import { logLine } from '../../report/escape.ts'
import type { Finished, ResultDocument } from '../finished.ts'
import { writeOutputFiles } from '../output-files.ts'
import { toResultOutput, toResultTexts, writeResultFile } from '../result-file.ts'
import type { Environment } from '../setting-sources.ts'
import { writeSummary } from './summary.ts'

interface Places {
  readonly env: Environment
  readonly workspace: string
  readonly wantsSummary: boolean
  /** Where the result goes; undefined when there is no place for it. */
  readonly resultPath: string | undefined
}

/** Resolves to the number of warnings that it took to say what could not be written. */
export async function publish(
  { document, outputs, blocks, files }: Finished,
  { env, workspace, wantsSummary, resultPath }: Places,
): Promise<number> {
  const texts = toResultTexts(document)
  const unkept = resultPath === undefined ? [] : await attempt('the result file', () => writeResultFile(workspace, resultPath, texts))
  const file = resultPath === undefined || unkept.length > 0 ? '' : resultPath
  const lost = [
    ...unkept,
    ...(await attempt('the outputs', () => setOutputs({ ...outputs, result: toResultOutput(texts, file), 'result-file': file }, env))),
    ...(await writeOutputFiles(files, workspace)),
    ...(wantsSummary ? await attempt('the summary', () => writeSummary(blocks, env.GITHUB_STEP_SUMMARY)) : []),
  ]
  for (const line of lost) core.warning(logLine(line))
  return lost.length
}

async function attempt(what: string, write: () => Promise<void>): Promise<readonly string[]> {
  try {
    await write()
    return []
  } catch (thrown) {
    return [`${what} could not be written: ${thrown instanceof Error ? thrown.message : String(thrown)}`]
  }
}

async function setOutputs(outputs: Readonly<Record<string, string>>, env: Environment): Promise<void> {
  // Without the file, the toolkit would print a command that runners no longer obey, with the values in the log.
  if (!env.GITHUB_OUTPUT) throw new Error('GITHUB_OUTPUT is not set')
  for (const [name, value] of Object.entries(outputs)) core.setOutput(name, value)
}

/** A step shows no more than this of each kind; the runner drops the rest without a word. */
const mostAnnotations = 10

const severities = { error: core.error, warning: core.warning, note: core.notice } as const

/** What belongs beside lines of the user's files, worst first. `warnings` have been given already. */
export function annotateFiles(annotations: Finished['annotations'], warnings: number): void {
  for (const [severity, show] of Object.entries(severities)) {
    const all = annotations.filter((annotation) => annotation.severity === severity)
    // The step's own annotation is one of them.
    const room = Math.max(0, mostAnnotations - 1 - (severity === 'warning' ? warnings : 0))
    for (const { message, place } of all.slice(0, room)) {
      const { file, line, column } = place
      show(logLine(message).slice(0, longestAnnotation), {
        file,
        ...(line !== undefined && { startLine: line }),
        ...(column !== undefined && { startColumn: column }),
      })
    }
    const rest = all.length - room
    if (rest > 0) core.info(`${rest} more of kind ${severity}: see the summary`)
  }
}

/** Longest message that the runner keeps. */
const longestAnnotation = 4000

export function annotate({ operation, status, failureReason }: ResultDocument): void {
  if (status === 'pass') return
  const lines = failureReason.split('\n').map(logLine).join('\n').slice(0, longestAnnotation).toWellFormed()
  // An operation that nobody knows is whatever somebody wrote; the message quotes it.
  const title = isOperationName(operation) ? `Watchkeeper ${operation}` : 'Watchkeeper'
  if (status === 'warn') core.warning(lines, { title })
  else core.error(lines, { title })
}
