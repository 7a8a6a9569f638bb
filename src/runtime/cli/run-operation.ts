// `--version` and `--help` do not load this file.

import type { OperationName } from '../../operations.ts'
import { exitCodes } from '../../platform/core/errors.ts'
import { jsonLine, logLine } from '../../platform/core/escape.ts'
import { renderTerminal } from '../../platform/report/terminal.ts'
import { credentialsIn } from '../credentials.ts'
import { runAndPublish, type Surface, sendMessage } from '../publish.ts'
import type { PublishSettings } from '../run.ts'
import { cancelOnSignals } from '../signals.ts'
import { debugVariable } from '../variables.ts'
import { createConfirm } from './confirm.ts'
import { createProgressLine, type ProgressLine } from './progress-line.ts'
import { remoteAddress, remoteRepository } from './repository.ts'
import { columnsOf, hasColors, type Terminal } from './terminal.ts'

interface TerminalRun {
  readonly json: boolean
  readonly yes: boolean
  readonly detailedExitcode: boolean
  readonly nextCommand: NonNullable<Surface['nextCommand']>
  readonly terminal: Terminal
}

/** The report goes to stdout, everything else to stderr. Resolves to the exit code. */
export async function runAtTerminal(
  operation: OperationName,
  inputs: Readonly<Record<string, string>>,
  { json, yes, detailedExitcode, nextCommand, terminal }: TerminalRun,
): Promise<number> {
  const { signals, stderr, env } = terminal
  const progress = createProgressLine(stderr, env.TERM === 'dumb')
  const exit = (code: number): void => {
    progress.erase()
    signals.exit(code)
  }
  const cancellation = cancelOnSignals({ ...signals, exit })
  try {
    const surface = terminalSurface(terminal, progress, cancellation, json)
    const result = await runAndPublish(operation, inputs, {
      ...surface,
      nextCommand,
      confirm: createConfirm(terminal, yes, cancellation.stop),
    })
    if (result.warnings === 0) for (const { path } of result.files) surface.note(`Wrote ${path}`)
    const secrets = credentialsIn(inputs, env)
    const undelivered = await sendMessage(result, { env, secrets, cancellation, note: surface.note, change: 'unknown' })
    if (undelivered !== undefined) surface.warn(undelivered)
    const canceledCode = cancellation.exitCode()
    if (canceledCode !== undefined) return canceledCode
    const hasChanges = detailedExitcode && result.exitCode === exitCodes.ok && result.document.needsApply === true
    return hasChanges ? exitCodes.hasChanges : result.exitCode
  } finally {
    progress.erase()
    cancellation.dispose()
  }
}

function terminalSurface(terminal: Terminal, progress: ProgressLine, cancellation: Surface['cancellation'], json: boolean): Surface {
  const { env, directory, stdout, stderr } = terminal
  const note = (line: string): void => progress.note(logLine(line))
  return {
    env,
    directory,
    cancellation,
    note,
    ...(env[debugVariable] === '1' && { debug: (line: string) => note(`debug: ${line}`) }),
    warn: (line) => note(`warning: ${line}`),
    showProgress({ done, total, text }) {
      if (!json) progress.show({ done, total, text: logLine(text) })
    },
    showResult({ document, blocks, publishSettings }) {
      progress.erase()
      warnOfIgnoredSettings(publishSettings, note)
      if (json) stdout.write(`${jsonLine(JSON.stringify(document, null, 2))}\n`)
      const isError = document.status === 'error'
      if (json && !isError) return
      const color = hasColors(terminal)
      const stream = isError ? stderr : stdout
      const width = columnsOf(stream)
      for (const line of renderTerminal(blocks, { color, rest: whereTheRest(publishSettings, env), ...(width !== undefined && { width }) }))
        stream.write(`${color ? line : logLine(line)}\n`)
    },
    summaryFile: env.GITHUB_STEP_SUMMARY || undefined,
    remote: { name: () => remoteRepository(directory), address: () => remoteAddress(directory) },
  }
}

function whereTheRest({ summary, reports = [] }: PublishSettings, { GITHUB_STEP_SUMMARY: summaryFile }: Terminal['env']) {
  if (reports.some(({ format }) => format === 'json')) return 'the result file'
  return summary && summaryFile ? 'the summary of the run' : '--json'
}

/** The command line has no event and no token for GitHub. */
function warnOfIgnoredSettings({ comment = 'off', issue = 'off' }: PublishSettings, note: (line: string) => void) {
  const ignored = [...(comment === 'off' ? [] : ['comment']), ...(issue === 'off' ? [] : ['issue'])]
  if (ignored.length > 0) note(`warning: ${ignored.join(' and ')}: ignored, because only the GitHub Action writes comments and issues`)
}
