// Restores a backup of the demo's first service in the emulator, and runs verify-restore on it.

import { demo, type Emulator, type Restore } from '../../src/emulator/index.ts'
import type { Clock } from '../../src/platform/core/clock.ts'
import { createVirtualClock } from './clocks.ts'
import { inputsFor, serviceOf } from './emulator.ts'
import { type Invoked, invokeText } from './invoke.ts'

/** The newest backup of the demo's first service, three hours old. */
export const newestBackup = (emulator: Emulator) => {
  const [backup] = serviceOf(emulator).backups
  if (backup?.startedAt === undefined) throw new Error('the demo has no backup with a start')
  return { id: backup.id, startMs: Date.parse(backup.startedAt) }
}

export const restore = (emulator: Emulator, more: Partial<Restore> = {}) =>
  emulator.restoreBackup({ serviceId: demo.services.checkout, backupId: newestBackup(emulator).id, name: 'drill', ...more })

/** The inputs of a run that verifies this service. */
export const restoreInputs = (emulator: Emulator, restoredId: string): Record<string, string> => ({
  ...inputsFor(emulator, 'clickhouse-cloud'),
  'sql-url': emulator.url,
  'sql-key-id': demo.apiKeyId,
  'sql-key-secret': demo.apiKeySecret,
  'service-id': restoredId,
  original: demo.services.checkout,
  id: serviceOf(emulator).backups[0]?.id ?? '',
})

interface Options {
  readonly inputs?: Readonly<Record<string, string>>
  /** The file of checks, as JSON. */
  readonly checks?: object
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: Clock
}

export const verifyRestore = (emulator: Emulator, restoredId: string, options: Options = {}): Promise<Invoked> => {
  const { inputs = {}, checks, env = {}, clock = createVirtualClock(Date.now()) } = options
  return invokeText({
    inputs: { ...restoreInputs(emulator, restoredId), operation: 'verify-restore', ...(checks && { checks: 'checks.json' }), ...inputs },
    files: checks === undefined ? {} : { 'checks.json': JSON.stringify(checks) },
    env,
    clock,
  })
}
