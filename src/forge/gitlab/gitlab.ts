import type { ForgeKind } from '../forge.ts'
import { openGitLab } from './client.ts'
import { escapeGitLabMarkdown, escapeGitLabTitle } from './escape.ts'
import { type GitLabRun, readGitLabRun } from './run.ts'
import { words } from './words.ts'

/** Merge requests and issues of a project on GitLab. */
export const gitlab: ForgeKind<GitLabRun> = {
  words,
  readRun: readGitLabRun,
  open: openGitLab,
  escapeMarkdown: escapeGitLabMarkdown,
  escapeTitle: escapeGitLabTitle,
}
