// Fills an emulator with backups of known ages, and runs check-backups on them.
import type { Backup, demo, Emulator } from '../../src/emulator/index.ts'
import { inputsFor, serviceOf } from './emulator.ts'
import { type Invoked, invokeText } from './invoke.ts'

export const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()

/** The id that `fillBackups` gives to the backup at index `i`. */
export const backupId = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`

/** Replaces all backups of a service. */
export function fillBackups(emulator: Emulator, name: keyof typeof demo.services, backups: readonly Partial<Backup>[]): void {
  serviceOf(emulator, name).backups = backups.map((backup, i) => ({ id: backupId(i), ...backup }))
}

/** A successful backup that was started so many hours ago. */
export const done = (hours: number, more: Partial<Backup> = {}): Partial<Backup> => ({
  status: 'done',
  startedAt: hoursAgo(hours),
  ...more,
})

interface CheckedService {
  readonly serviceId: string
  readonly outcome: string
  readonly limit: { readonly hours: number; readonly source: string; readonly defaultReason?: string }
}

/** Checks the first demo service, with the profile that has backup configurations. */
export const checkBackups = (
  emulator: Emulator,
  inputs: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Invoked> => invokeText({ inputs: { ...inputsFor(emulator, 'clickhouse-cloud'), operation: 'check-backups', ...inputs }, files })

export const servicesOf = ({ document }: Invoked): readonly CheckedService[] => document.services as readonly CheckedService[]

export const outcomesOf = (ran: Invoked): readonly string[] => servicesOf(ran).map(({ outcome }) => outcome)
