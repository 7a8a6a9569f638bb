const oldestNode = 24

/** Undefined for a Node that can load the rest. */
export const explainOldNode = (version: string): string | undefined =>
  Number.parseInt(version, 10) >= oldestNode
    ? undefined
    : `watchkeeper requires Node ${oldestNode} or newer. This is Node ${version}. Update Node, or install the executable, which needs none: https://github.com/watchkeeper/watchkeeper/blob/main/docs/start.md`
