// Owns the table of backups.
import type { Backup } from '../../api/backups.ts'
import type { Block } from '../../report/blocks.ts'
import { data, type Inline, type Line, ours } from '../../report/line.ts'
import { toKnown } from './backup-output.ts'
import { formatBytes, formatMoment, formatSpan } from './words.ts'

export const backupTable = (backups: readonly Backup[]): Block => ({
  kind: 'table',
  columns: [
    { title: 'Started' },
    { title: 'Status' },
    { title: 'Type' },
    { title: 'Took', align: 'right' },
    { title: 'Size', align: 'right' },
    { title: 'Name' },
    { title: 'Id' },
  ],
  rows: backups.map(toRow),
})

function toRow(backup: Backup): readonly Line[] {
  const { startedMs, durationMs, sizeBytes } = toKnown(backup)
  return [
    [ours(startedMs === undefined ? '–' : formatMoment(new Date(startedMs).toISOString()))],
    [orDash(backup.status)],
    [orDash(backup.type)],
    [ours(durationMs === undefined ? '–' : formatSpan(durationMs))],
    [ours(sizeBytes === undefined ? '–' : formatBytes(sizeBytes))],
    [orDash(backup.backupName)],
    [data(backup.id)],
  ]
}

const orDash = (text: string | null | undefined): Inline => (text ? data(text) : ours('–'))
