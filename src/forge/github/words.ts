import type { ForgeWords } from '../forge.ts'

export const words: ForgeWords = {
  name: 'GitHub',
  pullRequest: 'pull request',
  sign: '#',
  tokenInput: 'github-token',
  grants: {
    comment: 'Give the job `permissions: pull-requests: write`.',
    issue: 'Give the job `permissions: issues: write`.',
    'pull request':
      'Give the job `permissions: contents: write, pull-requests: write, actions: read`. A repository also has a setting that lets workflows create pull requests: Settings, Actions, General, Workflow permissions.',
  },
}
