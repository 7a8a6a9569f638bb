// Owns filling an emulator with backups of known ages.
import { type Backup, demo, type Emulator, type Service } from '../../src/emulator/index.ts'

export const serviceOf = ({ store }: Emulator, name: keyof typeof demo.services): Service => {
  const service = store.organizations[0]?.services.find(({ id }) => id === demo.services[name])
  if (service === undefined) throw new Error(`the shop has no service ${name}`)
  return service
}

export const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()

export const backupId = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`

/** Replaces all backups; each gets an id by its place. */
export function fillBackups(emulator: Emulator, name: keyof typeof demo.services, backups: readonly Partial<Backup>[]): void {
  serviceOf(emulator, name).backups = backups.map((backup, i) => ({ id: backupId(i), ...backup }))
}

/** Started so many hours ago. */
export const done = (hours: number, more: Partial<Backup> = {}): Partial<Backup> => ({
  status: 'done',
  startedAt: hoursAgo(hours),
  ...more,
})
