// Stories of a team on GitHub with the bundle, as a runner starts it, in checkouts that Git made. test/exhaustive has all of them.
import { afterEach, describe, it } from 'vitest'
import { useEmulator } from '../../support/emulator.ts'
import { useGitHub } from '../../support/github-server.ts'
import { Team } from '../../support/github-team.ts'
import { cells, playCell } from '../../support/merge-table.ts'
import { playStory, stories } from '../../support/older-files.ts'
import { sample } from '../../support/seeds.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()

let team: Team | undefined

afterEach(() => team?.end())

const shown = [
  ...['rerun of older after newer applied', 'monorepo: app commit lands before the job starts, path filter'],
  ...['two projects by folders: other project at the head', 'reviewer approves after 30 minutes, app commits since'],
  ...['late approval of x after y was applied, without a concurrency group', 'merge_group run that applies, its branch is gone'],
  ...['deploy branch: rerun of older promotion', 'roll back on purpose: dispatch on tag v1 after v2'],
  ...['force-push: main set back before x, rerun of x', '400 generated files of the app at the head, then a project file'],
  ...['workflow_run after slow tests: GITHUB_SHA is the head, the checkout is older, newer applied', 'no token'],
  ...['environment file changed since, rerun of older', 'globs at the root, app commit at the head'],
]

describe('the bundle', () => {
  it.each(sample(shown, 4))('W22: applies no older files: %s', (name) => {
    const play = stories[name]
    if (play === undefined) throw new Error(`no story ${name}`)
    return playStory(play, github(), emulator(), true)
  })

  /** One of each event, with different ways to merge and endings. */
  const tried = [...Map.groupBy(cells, ({ event }) => event).values()].flatMap((of, i) => of[(i * 8) % of.length] ?? [])

  it.each(sample(tried, 4).map((cell) => [Object.values(cell).join(', '), cell] as const))(
    'W23: says what became of the merge: %s',
    async (_, cell) => {
      team = new Team(github(), emulator(), true)
      await playCell(team, cell)
    },
  )
})
