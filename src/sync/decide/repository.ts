// Two repositories with one project would overwrite and delete each other's objects, each on a green run. So each marker says which
// repository applied the object last.

import { repositoryDigest, repositoryDigestGrammar } from '../../kinds/marker.ts'

/** The repositories of a run. */
export interface RunRepository {
  /** `host/owner/name`; undefined where it is not known. */
  readonly name: string | undefined
  /** The previous repository, of `adopt-from`. */
  readonly from: string | undefined
  /** Whether the run would write. */
  readonly effect: 'read' | 'write'
}

/** The digest of the previous repository; undefined without one. */
export const previousDigest = ({ from }: RunRepository): string | undefined =>
  from === undefined ? undefined : repositoryDigestGrammar.test(from) ? from : repositoryDigest(from)

/** The digest for the marker of an object whose marker has the digest `stored`. Without a repository, it is kept. */
export function digestToStore(run: RunRepository | undefined, stored: string | undefined): string | undefined {
  if (run?.name === undefined) return stored
  const own = repositoryDigest(run.name)
  return stored === undefined || stored === own || stored === previousDigest(run) ? own : stored
}
