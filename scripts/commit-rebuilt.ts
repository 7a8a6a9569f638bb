// The privileged half of rebuilding: commits generated files to a branch through GitHub's API, unless the branch has moved. It runs with
// write permission, so it executes nothing that it is given, and refuses files that are not generated.
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** A part of the bundle that is loaded on demand. An empty file stands for one that an update removed. */
const chunk = /^dist\/\d+\.index\.js$/

/** What `npm run generate` and `npm run bundle` write after an update of packages or actions. */
const generated = [
  chunk,
  /^dist\/(?:index\.js|licenses\.txt|package\.json)$/,
  /^schemas\/[a-z-]+\.schema\.json$/,
  /^docs\/[a-z-]+\.md$/,
  /^examples\/workflows\/[a-z-]+\.yml$/,
  /^src\/platform\/report\/page-assets\.ts$/,
  /^README\.md$/,
  /^action\.yml$/,
  /^\.node-version$/,
]

export interface Target {
  readonly graphqlUrl: string
  readonly token: string
  readonly repository: string
  readonly branch: string
  /** The commit that the files were made from. */
  readonly head: string
}

/** Throws on a file that is not generated, and on anything that is not a file. */
export function rebuiltFiles(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
  const isRefused = (path: string): boolean =>
    !generated.some((pattern) => pattern.test(path)) ||
    !lstatSync(join(directory, path)).isFile() ||
    (isEmpty(directory, path) && !chunk.test(path))
  const refused = paths.filter(isRefused)
  if (refused.length > 0) throw new Error(`not generated, so not committed: ${refused.map((path) => JSON.stringify(path)).join(', ')}`)
  return paths.sort()
}

const isEmpty = (directory: string, path: string): boolean => lstatSync(join(directory, path)).size === 0

const mutation = 'mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }'

interface Answer {
  readonly data?: { readonly createCommitOnBranch?: { readonly commit: { readonly oid: string } } | null }
  readonly errors?: readonly { readonly message: string }[]
}

/** Resolves to the commit, or to undefined when there is nothing to commit. */
export async function commitRebuilt(directory: string, target: Target): Promise<string | undefined> {
  const paths = rebuiltFiles(directory)
  if (paths.length === 0) return undefined
  const [gone, written] = [paths.filter((path) => isEmpty(directory, path)), paths.filter((path) => !isEmpty(directory, path))]
  const input = {
    branch: { repositoryNameWithOwner: target.repository, branchName: target.branch },
    expectedHeadOid: target.head,
    // Dependabot still rebases a branch whose last commit has this body.
    message: { headline: 'Rebuild generated files', body: '[dependabot skip]' },
    fileChanges: {
      additions: written.map((path) => ({ path, contents: readFileSync(join(directory, path)).toString('base64') })),
      deletions: gone.map((path) => ({ path })),
    },
  }
  const response = await fetch(target.graphqlUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: mutation, variables: { input } }),
    redirect: 'error',
    signal: AbortSignal.timeout(60_000),
  })
  const answer = (await response.json()) as Answer // GitHub's schema promises it.
  const commit = answer.data?.createCommitOnBranch?.commit.oid
  if (commit === undefined) {
    throw new Error(
      `GitHub made no commit (${response.status}): ${answer.errors?.map(({ message }) => message).join('; ') ?? 'no reason given'}`,
    )
  }
  return commit
}

if (import.meta.main) {
  const { GITHUB_GRAPHQL_URL = '', GITHUB_TOKEN = '', GITHUB_REPOSITORY = '', BRANCH = '', HEAD = '' } = process.env
  const [directory = ''] = process.argv.slice(2)
  const present = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
  const commit = present
    ? await commitRebuilt(directory, {
        graphqlUrl: GITHUB_GRAPHQL_URL,
        token: GITHUB_TOKEN,
        repository: GITHUB_REPOSITORY,
        branch: BRANCH,
        head: HEAD,
      })
    : undefined
  const next = 'Select "Approve workflows to run" in the pull request to start its checks.'
  console.log(commit === undefined ? 'No generated file changed.' : `::notice::Committed ${commit}. ${next}`)
}
