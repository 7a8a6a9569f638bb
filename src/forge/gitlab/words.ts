import type { ForgeWords } from '../forge.ts'

const grant = 'Use a project access token with the scope `api` and at least the role Reporter. A job token cannot write notes and issues.'

export const words: ForgeWords = {
  name: 'GitLab',
  pullRequest: 'merge request',
  sign: '!',
  rest: 'the result file',
  tokenInput: 'gitlab-token',
  grants: { comment: grant, issue: grant },
}
