import * as z from 'zod'
import type { RetryDeps } from '../../http/deadline.ts'
import { hasStatus } from '../failure.ts'
import { commitGrammar, type Limits } from '../forge.ts'
import type { Base, Branch, DriftForge, DriftKind, OwnPullRequest, WorkflowRun } from '../pull-request.ts'
import { collect, pagesOf } from '../requests.ts'
import { forgeOf, openOctokit, parse } from './client.ts'
import { type GitHubRun, readGitHubRun } from './run.ts'
import { words } from './words.ts'

export const gitHubPullRequests: DriftKind<GitHubRun> = { words, readRun: readGitHubRun, open: openDriftForge }

/** A ref that does not exist, on either side of a change. */
const noObject = '0'.repeat(40)

/** A run that waits for a reviewer or for another run counts as queued. */
const activeStates = ['queued', 'in_progress', 'waiting', 'pending', 'requested'] as const

/**
 * Changes the branch and its pull request by requests only: Git needs a clone with a token in it, and GitHub signs commits of bots that it
 * makes itself.
 */
async function openDriftForge(run: GitHubRun, token: string, deps: RetryDeps, limits: Limits): Promise<DriftForge> {
  const opened = await openOctokit(run, token, deps, limits)
  const { octokit, repository } = opened
  const { rest } = octokit
  const headOf = async (branch: string): Promise<string | undefined> => {
    try {
      return parse(refSchema)((await rest.git.getRef({ ...repository, ref: `heads/${branch}` })).data).object.sha
    } catch (thrown) {
      if (hasStatus(thrown, 404)) return undefined
      throw thrown
    }
  }

  return {
    ...forgeOf(opened),
    async base(): Promise<Base> {
      const { default_branch: branch, node_id: repositoryId } = parse(repositorySchema)((await rest.repos.get(repository)).data)
      return { branch, repositoryId, head: await headOf(branch) }
    },
    async activeRuns(): Promise<readonly WorkflowRun[]> {
      const runs: WorkflowRun[] = []
      for (const status of activeStates) {
        const pages = pagesOf(
          (data) => parse(runsSchema)(data).workflow_runs,
          (page) => rest.actions.listWorkflowRunsForRepo({ ...repository, status, ...page }),
        )
        for (const { id, path, event, referenced_workflows: called } of await collect(pages))
          runs.push({ id: String(id), event, workflows: [path, ...(called ?? []).map((one) => one.path)] })
      }
      return runs
    },
    async pullRequestsFrom(branch): Promise<readonly OwnPullRequest[]> {
      const pages = pagesOf(parse(pullsSchema), (page) =>
        rest.pulls.list({ ...repository, state: 'all', head: `${repository.owner}:${branch}`, ...page }),
      )
      return (await collect(pages)).map(({ number, state, merged_at: mergedAt, title, body, user }) => ({
        number,
        state: state === 'open' ? 'open' : mergedAt ? 'merged' : 'closed',
        title,
        body: body ?? '',
        authorId: user?.id,
      }))
    },
    async readBranch(name, base): Promise<Branch | undefined> {
      const head = await headOf(name)
      if (head === undefined) return undefined
      const { data } = await rest.repos.compareCommitsWithBasehead({ ...repository, basehead: `${base}...${head}` })
      const { commits, total_commits: total } = parse(comparisonSchema)(data)
      return {
        head,
        isComplete: commits.length === total,
        commits: commits.map(({ commit, author, committer }) => ({
          message: commit.message,
          authorId: author?.id,
          committerId: committer?.id,
        })),
      }
    },
    async blobAt(path, commit) {
      try {
        const { data } = await rest.repos.getContent({ ...repository, path, ref: commit })
        return parse(contentSchema)(data).sha
      } catch (thrown) {
        if (hasStatus(thrown, 404)) return undefined
        throw thrown
      }
    },
    async createCommit({ parent, message, files }) {
      const { tree: base } = parse(commitSchema)((await rest.git.getCommit({ ...repository, commit_sha: parent })).data)
      const tree = files.map(({ path, content }) => ({ path, content, mode: '100644' as const, type: 'blob' as const }))
      const created = parse(shaSchema)((await rest.git.createTree({ ...repository, base_tree: base.sha, tree })).data)
      return parse(shaSchema)((await rest.git.createCommit({ ...repository, message, tree: created.sha, parents: [parent] })).data).sha
    },
    async moveBranch(name, { repositoryId, from = noObject, to = noObject }) {
      // The REST API cannot say what a branch must be before. See https://docs.github.com/en/graphql/reference/git
      const update = { name: `refs/heads/${name}`, beforeOid: from, afterOid: to, force: true }
      await octokit.graphql(
        'mutation ($repositoryId: ID!, $refUpdates: [RefUpdate!]!) { updateRefs(input: {repositoryId: $repositoryId, refUpdates: $refUpdates}) { clientMutationId } }',
        { repositoryId, refUpdates: [update] },
      )
    },
    async createPullRequest({ title, body, from, into }) {
      const { data } = await rest.pulls.create({ ...repository, title, body, head: from, base: into })
      return parse(z.looseObject({ number: z.int() }))(data).number
    },
    async updatePullRequest(number, { title, body, isClosed }) {
      await rest.pulls.update({ ...repository, pull_number: number, title, body, ...(isClosed && { state: 'closed' as const }) })
    },
  }
}

const sha = z.string().regex(commitGrammar)
const account = z.looseObject({ id: z.number().optional() }).nullish()

const shaSchema = z.looseObject({ sha })
const refSchema = z.looseObject({ object: shaSchema })
const commitSchema = z.looseObject({ tree: shaSchema })
const contentSchema = z.looseObject({ sha })
const repositorySchema = z.looseObject({ default_branch: z.string().min(1), node_id: z.string().min(1) })
const runsSchema = z.looseObject({
  workflow_runs: z.array(
    z.looseObject({
      id: z.number(),
      path: z.string(),
      event: z.string(),
      referenced_workflows: z.array(z.looseObject({ path: z.string() })).nullish(),
    }),
  ),
})
const pullsSchema = z.array(
  z.looseObject({
    number: z.int(),
    state: z.string(),
    merged_at: z.string().nullish(),
    title: z.string(),
    body: z.string().nullish(),
    user: account,
  }),
)
const comparisonSchema = z.looseObject({
  total_commits: z.int(),
  commits: z.array(z.looseObject({ commit: z.looseObject({ message: z.string() }), author: account, committer: account })),
})
