import { notFound } from '../refusal.ts'
import type { Backup } from '../store.ts'
import type { ServiceCall } from './platform-call.ts'

export const listBackups = ({ service }: ServiceCall): unknown => service.backups.toSorted(byMostRecent)

const byMostRecent = (a: Backup, b: Backup): number => startOf(b) - startOf(a)

const startOf = ({ startedAt }: Backup): number => (startedAt === undefined ? 0 : Date.parse(startedAt))

export function getBackup({ service, param }: ServiceCall): unknown {
  const id = param('id')
  const backup = service.backups.find((one) => one.id === id)
  if (backup === undefined) throw notFound(`backup ${id} does not exist`)
  return backup
}

export const getBackupConfiguration = ({ service }: ServiceCall): unknown => service.backupConfiguration
