// Owns the answers about backups and their configuration.
import { demandById, type ServiceCall } from '../route.ts'
import type { Backup } from '../store.ts'

export const listBackups = ({ service }: ServiceCall): unknown => service.backups.toSorted(byMostRecent)

const byMostRecent = (a: Backup, b: Backup): number => startOf(b) - startOf(a)

const startOf = ({ startedAt }: Backup): number => (startedAt === undefined ? 0 : Date.parse(startedAt))

export const getBackup = (call: ServiceCall): unknown => demandById(call.service.backups, call.param('id'), 'backup')

export const getBackupConfiguration = ({ service }: ServiceCall): unknown => service.backupConfiguration
