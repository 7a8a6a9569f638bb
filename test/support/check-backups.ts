// Owns running check-backups in this process, and what its tests read from it.
import type { Emulator } from '../../src/emulator/index.ts'
import { inputsFor } from './emulator.ts'
import { type Invoked, invokeText } from './invoke.ts'

interface Service {
  readonly serviceId: string
  readonly outcome: string
  readonly limit: { readonly hours: number; readonly source: string; readonly whyStandard?: string }
}

/** For the demo's first service, with the profile that has backup configurations. */
export const checkBackups = (emulator: Emulator, inputs: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
  invokeText({ inputs: { ...inputsFor(emulator, 'clickhouse-cloud'), operation: 'check-backups', ...inputs } })

export const servicesOf = ({ document }: Invoked): readonly Service[] => document.services as readonly Service[]

export const outcomesOf = (ran: Invoked): readonly string[] => servicesOf(ran).map(({ outcome }) => outcome)
