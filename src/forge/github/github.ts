import type { ForgeKind } from '../forge.ts'
import { openGitHub } from './client.ts'
import { type GitHubRun, readGitHubRun } from './run.ts'
import { words } from './words.ts'

const unchanged = (text: string): string => text

/** Reports need no escaping beyond that of Markdown: GitHub resolves nothing in code, and has no commands in comments. */
export const github: ForgeKind<GitHubRun> = {
  words,
  readRun: readGitHubRun,
  open: openGitHub,
  escapeMarkdown: unchanged,
  escapeTitle: unchanged,
}
