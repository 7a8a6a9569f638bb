import type { ForgeWords } from '../forge.ts'

export const words: ForgeWords = {
  name: 'GitHub',
  pullRequest: 'pull request',
  sign: '#',
  rest: 'the summary of the run',
  tokenInput: 'github-token',
  grants: {
    comment: 'Give the job `permissions: pull-requests: write`.',
    issue: 'Give the job `permissions: issues: write`.',
  },
}
