import type { Variables } from '../core/variables.ts'
import type { ProxySettings } from '../http/proxy.ts'
import type { SendDeps } from '../http/send.ts'

// What comments and issues need of a service that hosts code. A pull request is a merge request on GitLab, and a comment is a note.

/** The id of a commit. */
export const commitGrammar = /^[0-9a-f]{40,64}$/

/** An account. */
export interface Author {
  readonly login: string
  readonly id: number
}

/** A comment on a pull request. `body` is Markdown. */
export interface Comment {
  readonly id: number
  readonly body: string
  readonly authorId: number | undefined
}

/** An open issue. `body` is Markdown. */
export interface Issue {
  readonly number: number
  readonly body: string
  readonly authorId: number | undefined
  readonly labels: readonly string[]
}

/** What changes of an issue. An absent field stays as it is. */
export interface IssueChange {
  readonly title?: string
  readonly body?: string
  /** Why it is closed; absent for one that stays open. GitLab stores no reason. */
  readonly close?: 'completed' | 'not_planned'
}

/** A pull request that contains a commit. `headCommit` is empty where it is unknown. */
export interface PullRequest {
  readonly number: number
  readonly isOpen: boolean
  readonly headCommit: string
}

/** The requests to a forge. Answers are validated. Methods throw what `toForgeError` understands. */
export interface Forge {
  /** The account that the token belongs to. */
  author(): Promise<Author>
  pullRequestsWith(commit: string): AsyncIterable<PullRequest>
  comments(pullRequest: number): AsyncIterable<Comment>
  createComment(pullRequest: number, body: string): Promise<void>
  updateComment(pullRequest: number, id: number, body: string): Promise<void>
  /** Lists open issues, on GitHub with pull requests. */
  openIssuesOf(author: Author): AsyncIterable<Issue>
  createIssue(issue: { readonly title: string; readonly body: string; readonly label: string }): Promise<Issue>
  updateIssue(number: number, change: IssueChange): Promise<void>
  commentOnIssue(number: number, body: string): Promise<void>
  close(): Promise<void>
}

/** The facts about the job that is running. */
export interface Run {
  /** Base URL of the API. */
  readonly apiUrl: URL
  readonly proxy: ProxySettings
  /** Page of this run. Undefined when variables are missing. */
  readonly url: string | undefined
  readonly job: string
  /** What distinguishes this job from others, for the default label. */
  readonly labelParts: readonly string[]
  /** The head of the pull request, or else the commit of the run. Empty when it is unknown. */
  readonly commit: string
  /** The pull request that the run is about, if the run knows it. */
  readonly pullRequest: number | undefined
  readonly isFromFork: boolean
}

/** What a run writes to a forge. */
export type SyncTarget = 'comment' | 'issue'

/** The words of a forge, for messages. */
export interface ForgeWords {
  readonly name: 'GitHub' | 'GitLab'
  readonly pullRequest: 'pull request' | 'merge request'
  /** The sign before the number of a pull request. */
  readonly sign: '#' | '!'
  /** The place where a reader finds the parts of a report that do not fit. */
  readonly rest: string
  /** The input for the token. */
  readonly tokenInput: string
  /** What to do when the token is not allowed to write. */
  readonly grants: Readonly<Record<SyncTarget, string>>
}

/** One forge: its words, how its runs are recognized, and its client. */
export interface ForgeKind<R extends Run = Run> {
  readonly words: ForgeWords
  /** The variables of the runner. */
  readRun(env: Variables): Promise<{ readonly run: R } | { readonly problem: string }>
  /** Opens no connection. Close it after use. */
  open(run: R, token: string, deps: SendDeps, limits: Limits): Promise<Forge>
  /** Markdown of a report, in which nothing has an effect on this forge. */
  escapeMarkdown(markdown: string): string
  escapeTitle(title: string): string
}

/** Time limits of requests, in milliseconds. */
export interface Limits {
  /** Limit for one request; GitHub's own limit is 10 s. */
  readonly requestMs: number
  /** Limit for all requests together. */
  readonly totalMs: number
}

/** The limits of comment and issue, which are written after the deadline of the run. */
export const defaultLimits: Limits = { requestMs: 15_000, totalMs: 30_000 }
