import { afterEach, describe, expect, it } from 'vitest'
import { useEmulator } from '../support/emulator.ts'
import { useGitHub } from '../support/github-server.ts'
import { Team } from '../support/github-team.ts'
import { cells, endings, events, laters, others, pairsOf, playCell, shapes } from '../support/merge-table.ts'
import { mergeMethods } from '../support/repository.ts'
import { runs } from '../support/seeds.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()

let team: Team | undefined

afterEach(() => team?.end())

describe('the table of events, merges and endings', () => {
  it('has every pair of factors', () => {
    const sizes = [events, mergeMethods, endings, others, laters, shapes].map(({ length }) => length)
    const pairs = sizes.flatMap((one, i) => sizes.slice(i + 1).map((two) => one * two)).reduce((sum, one) => sum + one, 0)
    const main = events.length * mergeMethods.length * endings.length
    expect([cells.length, new Set(cells.flatMap(pairsOf)).size]).toEqual([main, pairs])
  })

  /** Spread over the table. */
  const tried = cells.filter((_, i) => (i * runs(cells.length / 2)) % cells.length < runs(cells.length / 2))

  it.each(tried.map((cell) => [Object.values(cell).join(', '), cell] as const))(
    'W23: says what became of the merge: %s',
    async (_, cell) => {
      team = new Team(github(), emulator())
      await playCell(team, cell)
    },
  )
})
