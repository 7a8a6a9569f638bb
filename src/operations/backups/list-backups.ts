// Owns the operation that lists the backups of a service, and the order in which backups stand everywhere.
import * as z from 'zod'
import { type Backup, backupSchema } from '../../api/backups.ts'
import { countOf, say } from '../../report/line.ts'
import { listOutput } from '../listing.ts'
import { defineOperation } from '../operation.ts'
import { backupTable } from './backup-table.ts'

export const listBackups = defineOperation({
  summary: 'Lists the backups of a service, newest first.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({}),
  output: listOutput,
  details: z.object({ backups: z.array(backupSchema).describe('The backups, as the API answered, newest first.') }),
  example: {},
  async run({ api, service }) {
    const backups = newestFirst(await api.backups.list(service))
    return { count: backups.length, ids: backups.map(({ id }) => id), backups: [...backups] }
  },
  report: ({ backups }) => ({ headline: say`${countOf(backups, 'backup')}`, blocks: [backupTable(backups)] }),
})

/** Documented as the API's own order; one that nothing depends on cannot mislead. Those that tell no date stand last. */
export const newestFirst = (backups: readonly Backup[]): readonly Backup[] => backups.toSorted((a, b) => dateOf(b) - dateOf(a))

const dateOf = ({ startedAt, finishedAt }: Backup): number => Date.parse(startedAt || finishedAt || '1970-01-01')
