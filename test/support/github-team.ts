// A team whose every job is watched: what it writes on pull requests is true at that moment, and it writes nowhere else.
import { demo, type Emulator } from '../../src/emulator/index.ts'
import type { GitHubServer } from './github-server.ts'
import { demandEqual, type JobOptions, Story, search } from './github-story.ts'
import type { Edit, Pull } from './repository.ts'
import type { RanAction } from './run-process.ts'

const { catalog, checkout } = demo.services

export const obs = (key: string, where?: string): Edit => ({ [`observability/${key}.yml`]: search(key, where) })
export const without = (key: string): Edit => ({ [`observability/${key}.yml`]: null })

/** Who owns what a job applies, and where. */
export type Owner = Pick<JobOptions, 'project' | 'environment' | 'service' | 'files'> & { readonly folder?: string }

export const own: Owner = {}
export const otherProject: Owner = { project: 'acme/other', files: 'other/**/*.yml', folder: 'other' }
export const staging: Owner = { environment: 'staging', service: catalog }
export const production: Owner = { environment: 'production', service: checkout }

export class Team extends Story {
  readonly #server: GitHubServer

  constructor(server: GitHubServer, emulator: Emulator, isBuilt = false) {
    super(server, emulator, isBuilt)
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
      demandEqual('whose comment this is', body.split('\n', 1)[0], `<!-- watchkeeper comment: ${marker} -->`)
      const [, word, commit = ''] = /^### \S+ (Applied|Included|Nothing to do) in `(\w+)`/m.exec(body) ?? []
      if (word === undefined) continue
      const folder = project === 'acme/other' ? 'other' : 'observability'
      const whole = this.repository.commits.find((one) => one.startsWith(commit)) ?? ''
      demandEqual(`the service, when #${on} says ${word} in ${commit}`, this.owned(service, folder), this.declared(whole, folder))
      const merge = this.#server.store.pulls.find(({ number }) => number === on)?.mergeCommit ?? ''
      const isRight = word === 'Included' ? this.repository.contains(whole, merge) && whole !== merge : whole === merge
      demandEqual(`#${on} says ${word} in ${commit} of the merge ${merge}`, isRight, true)
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

// The first lines of a comment.

export const short = (commit: string): string => `\`${commit.slice(0, 7)}\``
export const applied = (commit: string): string => `Applied in ${short(commit)}`
export const included = (commit: string): string => `Included in ${short(commit)}: \`main\` was applied with this merge`
export const notApplied = (commit: string): string => `Not applied in ${short(commit)}`
