// Runs an operation in this process, from text inputs to the report.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isOperationName, operations } from '../../src/operations.ts'
import type { Clock } from '../../src/platform/core/clock.ts'
import { toCamel } from '../../src/platform/core/names.ts'
import type { Variables } from '../../src/platform/core/variables.ts'
import type { OutputFile } from '../../src/platform/operation/files.ts'
import { withReports } from '../../src/runtime/publish.ts'
import { type PublishableResult, type RunDeps, runOperation } from '../../src/runtime/run.ts'
import { readOptionalFile, workspaceFiles } from '../../src/runtime/workspace.ts'
import { createVirtualClock } from './clocks.ts'
import { demandPublished } from './published-schema.ts'

export interface InvokeOptions {
  /** By kebab-case name, as text; `operation` among them. */
  readonly inputs: Readonly<Record<string, string>>
  readonly env?: Variables
  /** Files of the workspace by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Links of the workspace by path, with their targets. */
  readonly links?: Readonly<Record<string, string>>
  /** By default one that starts now. */
  readonly clock?: Clock
  /** Called with each line of the log about requests. */
  readonly note?: (line: string) => void
  /** Aborted to cancel the run at once. */
  readonly stop?: AbortSignal
  readonly isAction?: boolean
}

export type Invoked = Omit<PublishableResult, 'files'> & {
  readonly files: readonly (OutputFile & { readonly content: string })[]
  readonly reason: string
  readonly warnings: readonly string[]
}

export const textOf = (content: OutputFile['content']): string => (typeof content === 'string' ? content : [...content].join(''))

export async function invokeText({
  inputs,
  env = {},
  files = {},
  links = {},
  clock = createVirtualClock(Date.now()),
  note = () => undefined,
  stop = new AbortController().signal,
  isAction = false,
}: InvokeOptions): Promise<Invoked> {
  const workspace = mkdtempSync(join(tmpdir(), 'watchkeeper-test-'))
  const warnings: string[] = []
  const deps: RunDeps = {
    clock,
    random: () => 0.5,
    note,
    warn: (line) => warnings.push(line),
    cancellation: { stop, abort: stop },
    files: workspaceFiles(workspace, env),
  }
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(workspace, name)), { recursive: true })
      writeFileSync(join(workspace, name), text)
    }
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(workspace, path))
    const { operation = '', ...rest } = inputs
    const given = Object.entries(rest).filter(([, value]) => value.trim() !== '')
    const request = {
      operation,
      inputs: Object.fromEntries(given.map(([name, value]) => [toCamel(name), value.trim()])),
      areText: true,
      isAction,
      env,
      readConfigFile: (path: string, isRequired: boolean) => readOptionalFile(workspace, path, isRequired),
    }
    const result = await withReports(await runOperation(request, deps))
    if (isOperationName(operation) && result.document.error === undefined) demandPublished(await operations[operation](), result.document)
    const written = result.files.map((file) => ({ ...file, content: textOf(file.content) }))
    return { ...result, files: written, reason: result.document.failureReason, warnings }
  } finally {
    rmSync(workspace, { recursive: true })
  }
}
