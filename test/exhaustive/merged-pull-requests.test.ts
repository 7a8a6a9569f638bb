// What a pull request says after its merge, for every event that applies, way to merge and ending, with other things that happen.
import { afterEach, describe, expect, it } from 'vitest'
import { demo } from '../../src/emulator/index.ts'
import { useEmulator } from '../support/emulator.ts'
import { type GitHubServer, useGitHub } from '../support/github-server.ts'
import { type JobOptions, Story, search } from '../support/github-story.ts'
import { type Edit, type MergeMethod, mergeMethods, type Pull } from '../support/repository.ts'
import type { RanAction } from '../support/run-process.ts'
import { runs } from '../support/seeds.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()

const { catalog, checkout } = demo.services

const obs = (key: string, where?: string): Edit => ({ [`observability/${key}.yml`]: search(key, where) })
const without = (key: string): Edit => ({ [`observability/${key}.yml`]: null })

/** Who owns what a job applies, and where. */
type Owner = Pick<JobOptions, 'project' | 'environment' | 'service' | 'files'> & { readonly folder?: string }

const own: Owner = {}
const otherProject: Owner = { project: 'acme/other', files: 'other/**/*.yml', folder: 'other' }
const staging: Owner = { environment: 'staging', service: catalog }
const production: Owner = { environment: 'production', service: checkout }

let team: Team | undefined

afterEach(() => team?.end())

/** A team whose every job is watched: what it writes on pull requests is true then, and it writes nowhere else. */
class Team extends Story {
  readonly #server: GitHubServer

  constructor(server: GitHubServer) {
    super(server, emulator())
    this.#server = server
    this.repository.push({
      ...obs('base'),
      'other/base.yml': search('other'),
      'environments/staging.yml': `service-id: ${catalog}`,
      'environments/production.yml': `service-id: ${checkout}`,
      'app/main.go': '0',
    })
  }

  open(edits: readonly Edit[], base?: string): Pull {
    return this.repository.openPull(edits, base)
  }

  async opened(edits: readonly Edit[], owners: readonly Owner[] = [own]): Promise<Pull> {
    const pull = this.open(edits)
    for (const owner of owners) await this.plan(pull, owner)
    return pull
  }

  override async job({ folder: _, ...options }: JobOptions & Owner): Promise<RanAction> {
    const before = new Map(this.#server.store.comments.map(({ id, body }) => [id, body]))
    const ran = await super.job(options)
    const { project = 'acme/shop', environment, service = checkout } = options
    const marker = encodeURIComponent([project, environment, service].filter(Boolean).join(' / ')).replaceAll('-', '%2D')
    for (const { id, body, on } of this.#server.store.comments) {
      if (before.get(id) === body || !this.#server.store.pulls.some(({ number }) => number === on)) continue
      expect(body.split('\n', 1)[0], 'only comments of the same three change').toBe(`<!-- watchkeeper comment: ${marker} -->`)
      const [, word, commit = ''] = /^### \S+ (Applied|Included|Nothing to do) in `(\w+)`/m.exec(body) ?? []
      if (word === undefined) continue
      const folder = project === 'acme/other' ? 'other' : 'observability'
      const whole = this.repository.commits.find((one) => one.startsWith(commit)) ?? ''
      expect(this.owned(service, folder), `#${on} says ${word} in ${commit}`).toEqual(this.declared(whole, folder))
      const merge = this.#server.store.pulls.find(({ number }) => number === on)?.mergeCommit ?? ''
      if (word === 'Included') expect(this.repository.contains(whole, merge) && whole !== merge).toBe(true)
      else expect(whole).toBe(merge)
    }
    return ran
  }

  /** What the service has of the files of a folder. */
  owned(service: string, folder: string): Readonly<Record<string, string>> {
    const names = this.repository.commits.flatMap((commit) => Object.keys(this.declared(commit, folder)))
    return Object.fromEntries(Object.entries(this.stored(service)).filter(([name]) => names.includes(name)))
  }

  apply(commit: string, options: Omit<JobOptions, 'commit'> & Owner = {}): Promise<RanAction> {
    return this.job({ commit, ...options })
  }
}

const start = (): Team => {
  team = new Team(github())
  return team
}

const short = (commit: string): string => `\`${commit.slice(0, 7)}\``
const applied = (commit: string): string => `Applied in ${short(commit)}`
const included = (commit: string, ref = 'main'): string => `Included in ${short(commit)}: \`${ref}\` was applied with this merge`
const notApplied = (commit: string): string => `Not applied in ${short(commit)}`
const planned = expect.stringMatching(/^Plan for /)

describe('a merged pull request says what became of its own commit', () => {
  it.each(mergeMethods)('%s: applied', async (method) => {
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
    ['60 old merged pull requests', 60, (body: string) => body],
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
    for (let i = 0; i < 120; i++) t.repository.push({ 'app/main.go': `v${i}` })
    await t.apply(t.repository.push(obs('n')))
    expect(t.headings(x.number)).toEqual([notApplied(merge)])
  })
})
