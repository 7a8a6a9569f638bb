// What a repository on the fake GitHub holds.

export interface User {
  readonly login: string
  readonly id: number
}

export const bot: User = { login: 'github-actions[bot]', id: 41_898_282 }
export const stranger: User = { login: 'octocat', id: 583_231 }

export interface StoredComment {
  readonly id: number
  /** Of the issue or pull request. */
  readonly on: number
  body: string
  readonly user: User
}

export interface StoredIssue {
  readonly number: number
  title: string
  body: string
  readonly user: User
  labels: string[]
  state: 'open' | 'closed'
  stateReason: string | null
}

export interface StoredPull {
  readonly number: number
  state: 'open' | 'closed'
  /** The last one is its head. */
  commits: string[]
  body?: string
}

export interface Store {
  /** Whom the token belongs to. */
  viewer: User
  comments: StoredComment[]
  issues: StoredIssue[]
  pulls: StoredPull[]
  /** What the token may write. */
  may: { comments: boolean; issues: boolean; labels: boolean }
  hasIssues: boolean
  nextId: number
}

export const emptyStore = (): Store => ({
  viewer: bot,
  comments: [],
  issues: [],
  pulls: [{ number: 12, state: 'open', commits: ['a'.repeat(40)] }],
  may: { comments: true, issues: true, labels: true },
  hasIssues: true,
  nextId: 100,
})

/** Comments of other people, oldest first. */
export const chatter = (count: number, on = 12): StoredComment[] =>
  Array.from({ length: count }, (_, i) => ({ id: 1000 + i, on, body: `I think so too (${i})`, user: stranger }))
