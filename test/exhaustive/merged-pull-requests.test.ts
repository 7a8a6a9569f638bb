// What a pull request says after its merge: the stories of a team. merge-table.test.ts has every event, way to merge and ending.
import { afterEach, expect, it } from 'vitest'
import { useEmulator } from '../support/emulator.ts'
import { useGitHub } from '../support/github-server.ts'
import { search } from '../support/github-story.ts'
import { applied, included, notApplied, obs, otherProject, own, production, staging, Team, without } from '../support/github-team.ts'
import { mergeMethods } from '../support/repository.ts'
import { runs } from '../support/seeds.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()

let team: Team | undefined

afterEach(() => team?.end())

const start = (): Team => {
  team = new Team(github(), emulator())
  return team
}

const planned = expect.stringMatching(/^Plan for /)

it.each(mergeMethods)('W23: a merged pull request says what became of its own commit after %s: applied', async (method) => {
  const t = start()
  const x = await t.opened([obs('x'), obs('x2')])
  const merge = t.repository.merge(x, method)
  await t.apply(merge)
  expect(t.headings(x.number)).toEqual([applied(merge)])
})

it.each(mergeMethods)('%s: failed, and the next merge applies both', async (method) => {
  const t = start()
  const [x, y] = [await t.opened([obs('x')]), await t.opened([obs('y')])]
  await t.apply(t.repository.merge(x, method), { fails: 'at once' })
  const merge = t.repository.merge(y, method)
  await t.apply(merge)
  expect([t.headings(x.number), t.headings(y.number)]).toEqual([[included(merge)], [applied(merge)]])
  // The plan is still below, and nothing of the objects that the other run wrote is above it.
  expect(t.comments(x.number)[0]).toMatch(/was applied with this merge\n\n[^#]*<summary>Previous report<\/summary>\n\n### ✅ Plan for/)
})

it('failed, then reverted', async () => {
  const t = start()
  const x = await t.opened([obs('x')])
  const merge = t.repository.merge(x)
  await t.apply(merge, { fails: 'at once' })
  const reverted = t.repository.push(without('x'))
  await t.apply(reverted)
  expect(t.headings(x.number)).toEqual([included(reverted)])
})

it('canceled in a queue, so that it has no outcome, and the next merge is applied', async () => {
  const t = start()
  await t.apply(t.repository.merge(await t.opened([obs('w')])))
  const [x, y] = [await t.opened([obs('x')]), await t.opened([obs('y')])]
  t.repository.merge(x)
  const merge = t.repository.merge(y)
  await t.apply(merge)
  expect(t.headings(x.number)).toEqual([included(merge)])
})

// A limit: no comment says yet up to where main was applied.
it('canceled in a queue at the first use', async () => {
  const t = start()
  const [x, y] = [await t.opened([obs('x')]), await t.opened([obs('y')])]
  t.repository.merge(x)
  await t.apply(t.repository.merge(y))
  expect(t.headings(x.number)).toEqual([planned])
})

it.each([
  ['many old merged pull requests', Math.max(10, runs(60)), (body: string) => body],
  [
    'plans with the markers of an earlier version',
    9,
    (body: string) => body.replace(/^.*/, '<!-- watchkeeper comment: plan%20%2F%20old -->'),
  ],
])('first use after %s rewrites none of them', async (_, count, age) => {
  const t = start()
  const first = await t.opened([obs('p0')])
  t.repository.merge(first)
  for (let i = 1; i < count; i++) t.repository.merge(t.open([obs(`p${i}`)]))
  const { comments } = github().store
  const [plan] = comments
  if (plan === undefined) throw new Error('the plan has no comment')
  plan.body = age(plan.body)
  for (let i = 1; i < count; i++) comments.push({ ...plan, id: 1000 + i, on: first.number + i })
  const before = structuredClone(comments)
  await t.apply(t.repository.push(obs('n')))
  expect(comments).toEqual(before)
})

it('two projects: the apply of one waits, the other is applied', async () => {
  const t = start()
  const x = await t.opened([{ ...obs('x'), 'other/x.yml': search('other-x') }], [own, otherProject])
  const merge = t.repository.merge(x)
  await t.apply(merge, otherProject)
  expect(t.headings(x.number)).toEqual([planned, applied(merge)])
})

it('two environments: staging applied, production waits', async () => {
  const t = start()
  const x = await t.opened([obs('x')], [staging, production])
  const merge = t.repository.merge(x)
  await t.apply(merge, staging)
  expect(t.headings(x.number)).toEqual([applied(merge), planned])
})

it('failed, and a direct push is applied', async () => {
  const t = start()
  const x = await t.opened([obs('x')])
  await t.apply(t.repository.merge(x), { fails: 'at once' })
  const push = t.repository.push(obs('n'))
  await t.apply(push)
  expect(t.headings(x.number)).toEqual([included(push)])
})

it('failed, and a re-run applies it', async () => {
  const t = start()
  const x = await t.opened([obs('x')])
  const merge = t.repository.merge(x)
  await t.apply(merge, { fails: 'at once' })
  await t.apply(merge)
  expect(t.headings(x.number)).toEqual([applied(merge)])
})

it('failed, and replaced by a later change of the same object', async () => {
  const t = start()
  const x = await t.opened([obs('x')])
  await t.apply(t.repository.merge(x), { fails: 'at once' })
  const push = t.repository.push(obs('x', 'other'))
  await t.apply(push)
  expect(t.headings(x.number)).toEqual([included(push)])
})

it('failed, and main is force-pushed without it', async () => {
  const t = start()
  const before = t.repository.head()
  const x = await t.opened([obs('x')])
  const merge = t.repository.merge(x)
  await t.apply(merge, { fails: 'at once' })
  t.repository.setBranch('main', before)
  await t.apply(t.repository.push(obs('n')))
  expect(t.headings(x.number)).toEqual([notApplied(merge)])
})

// A limit: the branch has other commits.
it('cherry-picked to a deploy branch', async () => {
  const t = start()
  const { repository } = t
  repository.setBranch('production', repository.head())
  const x = await t.opened([obs('x')])
  repository.merge(x)
  repository.push(obs('z'), { branch: 'production' })
  await t.apply(repository.push(obs('x'), { branch: 'production' }), { ref: 'refs/heads/production' })
  expect(t.headings(x.number)).toEqual([planned])
})

// A limit: GitHub lists a hundred commits at once.
it('120 commits between the failure and the next apply', async () => {
  const t = start()
  const x = await t.opened([obs('x')])
  const merge = t.repository.merge(x)
  await t.apply(merge, { fails: 'at once' })
  t.repository.pushAll(Array.from({ length: 120 }, (_, i) => ({ 'app/main.go': `v${i}` })))
  await t.apply(t.repository.push(obs('n')))
  expect(t.headings(x.number)).toEqual([notApplied(merge)])
})
