// Runs an operation as a surface does, from text inputs to the report, in this process: what is measured is ours, not Node's start.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { demo } from '../src/emulator/index.ts'
import type { Clock } from '../src/platform/core/clock.ts'
import { type PublishableResult, runOperation } from '../src/runtime/run.ts'
import { workspaceFiles } from '../src/runtime/workspace.ts'
import { declareObjects } from './declared-objects.ts'

export interface Place {
  readonly url: string
  readonly directory: string
  readonly clock: Clock
  /** Settings of the server. Default: those of the emulator of ClickHouse Cloud. */
  readonly settings?: Readonly<Record<string, string>>
}

const cloudSettings = {
  profile: 'clickhouse-cloud',
  apiKeyId: demo.apiKeyId,
  apiKeySecret: demo.apiKeySecret,
  organizationId: demo.organizationId,
  serviceId: demo.services.checkout,
}

/** Rejects when the operation could not be done. */
export async function perform(
  operation: string,
  inputs: Readonly<Record<string, string>>,
  { url, directory, clock, settings = cloudSettings }: Place,
): Promise<PublishableResult> {
  const never = new AbortController().signal
  const done = await runOperation(
    {
      operation,
      inputs: { apiUrl: url, timeoutSeconds: '21600', ...settings, ...inputs },
      areText: true,
      env: {},
      readConfigFile: async () => undefined,
    },
    {
      clock,
      random: Math.random,
      note: () => undefined,
      cancellation: { stop: never, abort: never },
      files: workspaceFiles(directory, {}),
    },
  )
  if (done.error !== undefined) throw done.error
  return done
}

/** Writes the files that declare so many objects, as people write them. */
export function writeDeclarations(directory: string, count: number): void {
  mkdirSync(join(directory, 'observability'))
  for (const [path, declared] of Object.entries(declareObjects(count))) writeFileSync(join(directory, path), stringify(declared))
}
