// Owns what this project asks of GitHub, one method for each request, with answers checked before anybody relies on them.
import * as z from 'zod'
import { ExchangeFailure } from '../api/exchange-failure.ts'
import type { Conversation, Octokit } from './octokit.ts'
import type { Run } from './run.ts'
import type { PullRequest } from './subject.ts'

/** Whom the token belongs to. */
export interface Author {
  readonly login: string
  readonly id: number
}

export interface Comment {
  readonly id: number
  readonly body: string
  readonly authorId: number | undefined
}

export interface Issue {
  readonly number: number
  readonly body: string
  readonly authorId: number | undefined
  readonly labels: readonly string[]
}

export interface IssueChange {
  readonly body?: string
  /** Why it is closed; absent for one that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

export interface GitHub {
  author(): Promise<Author>
  pullRequestsWith(commit: string): Promise<readonly PullRequest[]>
  /** The first comment that is wanted, looked for on all pages. */
  findComment(number: number, isWanted: (comment: Comment) => boolean): Promise<Comment | undefined>
  createComment(number: number, body: string): Promise<void>
  updateComment(id: number, body: string): Promise<void>
  openIssuesOf(author: Author): Promise<readonly Issue[]>
  createIssue(issue: { readonly title: string; readonly body: string; readonly label: string }): Promise<Issue>
  updateIssue(number: number, change: IssueChange): Promise<void>
}

const author = z.looseObject({ id: z.number() }).nullish()
const text = z.string().nullish()

const viewerSchema = z.looseObject({ viewer: z.looseObject({ login: z.string().min(1), databaseId: z.int() }) })
const commentsSchema = z.array(z.looseObject({ id: z.int(), body: text, user: author }))
const issueSchema = z.looseObject({
  number: z.int(),
  body: text,
  user: author,
  labels: z.array(z.union([z.string(), z.looseObject({ name: text })])),
  pull_request: z.unknown().optional(),
})
const pullsSchema = z.array(z.looseObject({ number: z.int(), state: z.string(), head: z.looseObject({ sha: z.string() }) }))

export function createGitHub({ owner, repository: repo }: Run, { read, write }: Conversation): GitHub {
  const here = { owner, repo }
  return {
    async author() {
      const { viewer } = await read(async (octokit) => parsed(viewerSchema, await octokit.graphql('query { viewer { login databaseId } }')))
      return { login: viewer.login, id: viewer.databaseId }
    },
    async pullRequestsWith(commit) {
      const pages = pagesOf(read, pullsSchema, (octokit, page) =>
        octokit.rest.repos.listPullRequestsAssociatedWithCommit({ ...here, commit_sha: commit, ...page }),
      )
      return (await collect(pages)).map(({ number, state, head }) => ({ number, state, headCommit: head.sha }))
    },
    async findComment(number, isWanted) {
      const pages = pagesOf(read, commentsSchema, (octokit, page) =>
        octokit.rest.issues.listComments({ ...here, issue_number: number, ...page }),
      )
      for await (const page of pages) {
        const found = page.map(({ id, body, user }) => ({ id, body: body ?? '', authorId: user?.id })).find(isWanted)
        if (found !== undefined) return found
      }
      return undefined
    },
    async createComment(number, body) {
      await write((octokit) => octokit.rest.issues.createComment({ ...here, issue_number: number, body }))
    },
    async updateComment(id, body) {
      await write((octokit) => octokit.rest.issues.updateComment({ ...here, comment_id: id, body }))
    },
    async openIssuesOf({ login }) {
      const pages = pagesOf(read, z.array(issueSchema), (octokit, page) =>
        octokit.rest.issues.listForRepo({ ...here, state: 'open', creator: login, ...page }),
      )
      // GitHub lists pull requests among issues.
      return (await collect(pages)).filter((issue) => !issue.pull_request).map(toIssue)
    },
    async createIssue({ title, body, label }) {
      return write(async (octokit) => {
        const { data } = await octokit.rest.issues.create({ ...here, title, body, labels: [label] })
        return toIssue(parsed(issueSchema, data))
      })
    },
    async updateIssue(number, { body, close }) {
      const closing = close === undefined ? {} : { state: 'closed' as const, state_reason: close }
      await write((octokit) =>
        octokit.rest.issues.update({ ...here, issue_number: number, ...(body !== undefined && { body }), ...closing }),
      )
    },
  }
}

const toIssue = ({ number, body, user, labels }: z.output<typeof issueSchema>): Issue => ({
  number,
  body: body ?? '',
  authorId: user?.id,
  labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
})

const perPage = 100

/** A thread with more comments than this is not looked through. */
const mostPages = 200

interface Page {
  readonly data: unknown
  readonly headers: { readonly link?: string | undefined }
}

/** All pages, by number: an address that an answer names is not one that the token is sent to. */
async function* pagesOf<T>(
  read: Conversation['read'],
  schema: z.ZodType<readonly T[]>,
  ask: (octokit: Octokit, page: { readonly page: number; readonly per_page: number }) => Promise<Page>,
): AsyncGenerator<readonly T[]> {
  for (let page = 1; page <= mostPages; page++) {
    const { items, link } = await read(async (octokit) => {
      const { data, headers } = await ask(octokit, { page, per_page: perPage })
      return { items: parsed(schema, data), link: headers.link }
    })
    yield items
    if (link === undefined ? items.length < perPage : !/rel="next"/.test(link)) return
  }
  // Whoever took an incomplete list for a complete one would write a second time.
  throw new ExchangeFailure('TOO_LARGE', `there are more than ${mostPages * perPage} entries to look through`)
}

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...page)
  return items
}

function parsed<T>(schema: z.ZodType<T>, data: unknown): T {
  const { success, data: value, error } = schema.safeParse(data)
  if (success) return value
  throw new ExchangeFailure('BAD_ANSWER', `the answer is not GitHub's: ${error.issues[0]?.path.join('.') || 'it'} does not fit`)
}
