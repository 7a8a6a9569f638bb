/** A deployment of the workflow's repository. */
export interface Deployment {
  readonly atMs: number
  readonly environment: string
  /** Branch, tag or commit. */
  readonly ref: string
  /** The first characters of the commit. */
  readonly commit: string
}

/** Reads the deployments that began in a period, oldest first, or why they cannot be read. */
export type ReadDeployments = (period: {
  readonly fromMs: number
  readonly toMs: number
}) => Promise<readonly Deployment[] | { readonly unread: string }>
