// How workflows refer to the action, so that they run the same code as this command line.
import { version } from '../../core/version.ts'
import { git, remoteRepository, repositoryRoot } from './repository.ts'

const ownRepository = 'watchkeeper/watchkeeper'

/** Moves with every release. */
export const majorTag = `v${version.split('.', 1)[0]}`

/** What Git knows about a checkout of Watchkeeper. */
export interface Checkout {
  /** `owner/repo` of the remote. */
  readonly repository: string | undefined
  /** The tags of its commit. */
  readonly tags: readonly string[]
  /** Its commit, with `-dirty` when a file differs. */
  readonly commit: string
  /** The branches of the remote that contain the commit. */
  readonly remoteBranches: readonly string[]
}

/** The text after `uses: watchkeeper/watchkeeper@`, with a comment if the checkout is not a release. */
export function referenceTo({ repository, tags, commit, remoteBranches }: Checkout): string {
  if (tags.includes(`v${version}`)) return majorTag
  const isPublic = repository === ownRepository && /^[0-9a-f]{40}$/.test(commit) && remoteBranches.length > 0
  return isPublic ? `${commit} # not a release` : `${majorTag} # ${unreleased}`
}

const unreleased = `Not from a release: replace ${majorTag} by the SHA of a commit of the action.`

/** The reference for the checkout in a directory. */
export async function actionReference(directory: string): Promise<string> {
  const nothing = { repository: undefined, tags: [], commit: '', remoteBranches: [] }
  if ((await repositoryRoot(directory)) !== directory) return referenceTo(nothing)
  const [repository, tags, commit, remoteBranches] = await Promise.all([
    remoteRepository(directory),
    git(directory, ['tag', '--points-at', 'HEAD']),
    git(directory, ['describe', '--always', '--dirty', '--abbrev=40', '--exclude', '*']),
    git(directory, ['for-each-ref', '--contains', 'HEAD', '--format', '%(refname)', 'refs/remotes/origin']),
  ])
  return referenceTo({ repository, tags: linesOf(tags), commit, remoteBranches: linesOf(remoteBranches) })
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

/** Replaces the major tag in `uses:` and in the addresses of schemas. */
export function setReference(text: string, reference: string): string {
  const [ref = ''] = reference.split(' ', 1)
  return text
    .replaceAll(`uses: ${ownRepository}@${majorTag}`, `uses: ${ownRepository}@${reference}`)
    .replaceAll(`/${ownRepository}/${majorTag}/`, `/${ownRepository}/${ref}/`)
}

/** Whether a user has to replace the reference in a text. */
export const hasUnreleasedReference = (text: string): boolean => text.includes(unreleased)
