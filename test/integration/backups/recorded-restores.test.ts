// What verify-restore says of restores from one ClickHouse 26.9, which writes numbers in JSON as 25.5 does, to another, made with BACKUP and
// RESTORE, by the recorded answers to its queries. `node test/effects/restores.ts` makes them again.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { digestOfText } from '../../../src/platform/core/digest.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { problemsOf, type RecordedRestore, realRestores, verifyReal } from '../../support/real-restores.ts'

const recorded = JSON.parse(readFileSync(new URL('recorded-restores.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, RecordedRestore>
>

it(
  'V13: a restore of a real server is verified with the rows of the original and their values, and not without a column, a table, or more than a tenth of the rows',
  { tags: 'slow' },
  () =>
    forEachEntry(Object.entries(realRestores), async (name, expected) => {
      const { answers = {}, ...times } = recorded[name] ?? { backupMs: 0, requestedMs: 0, nowMs: 0 }
      const ran = await verifyReal({
        ...{ ...times, bytes: expected.bytes },
        async answer(side, sql) {
          const data = answers[side]?.[digestOfText(sql, 16)]
          if (!Array.isArray(data)) throw new Error(`no answer of a server is recorded for ${sql}`)
          return JSON.stringify({ meta: [], data, rows: data.length })
        },
      })
      expect(problemsOf(ran, expected)).toEqual([])
    }),
)
