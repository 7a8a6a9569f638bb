import * as z from 'zod'
import { diagnosticSchema } from '../core/diagnostics.ts'
import { errorKinds, type WatchkeeperError } from '../core/errors.ts'
import { keysOf } from '../core/keys.ts'
import type { Line } from '../core/line.ts'
import { type Block, statuses } from '../report/blocks.ts'
import type { Annotation } from '../report/report.ts'
import type { OutputFile } from './files.ts'

export const resultErrorSchema = z.object({
  kind: z
    .enum(keysOf<keyof typeof errorKinds>(errorKinds))
    .describe('What failed. Stable between versions. `incomplete`: a part of the work is missing, as the fields of the result show.'),
  message: z.string().describe('What failed, why, and what to do. For people: it can change.'),
  diagnostics: z
    .array(diagnosticSchema.readonly())
    .readonly()
    .describe('For wrong input: each problem, with its input or its place in a file.'),
  retryable: z.boolean().describe('Whether the same command may succeed later, and can be run again without harm.'),
  httpStatus: z.int().exactOptional().describe('HTTP status of the last answer, if there was one.'),
  nextCommand: z.string().exactOptional().describe('The next command to try. Only on the command line.'),
})

export type ResultError = Readonly<z.output<typeof resultErrorSchema>>

const subjectSchema = z.object({
  requestId: z.string().exactOptional().describe("The API's id of the last answer."),
  organizationId: z.string().exactOptional(),
  serviceId: z.string().exactOptional(),
  serverUrl: z.string().exactOptional().describe('Base URL of the API of a self-hosted server.'),
})

/** What a run was about. */
export type RunSubject = Readonly<z.output<typeof subjectSchema>>

export const commonResultSchema = z.object({
  operation: z.string(),
  status: z.enum(statuses),
  failureReason: z.string().describe('In one line; empty for `pass`.'),
  ...subjectSchema.shape,
  error: resultErrorSchema.exactOptional().describe('For the status `error`.'),
})

export interface ResultDocument extends Readonly<z.output<typeof commonResultSchema>> {
  readonly [field: string]: unknown
}

export interface RunResult {
  readonly document: ResultDocument
  /** Names are in kebab-case. `result` and `result-file` are not among them. */
  readonly outputs: Readonly<Record<string, string>>
  readonly blocks: readonly Block[]
  readonly files: readonly OutputFile[]
  readonly annotations: readonly Annotation[]
  /** A few words without figures. Empty for a run that passed. */
  readonly cause: string
  /** See `Operation`. Made on demand, because few runs send a notification. */
  keyLines(): readonly Line[]
  readonly milestones: readonly Line[]
  /** True also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  readonly exitCode: number
  readonly error?: WatchkeeperError
}
