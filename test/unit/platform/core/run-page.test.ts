import { expect, it } from 'vitest'
import { runPageOf } from '../../../../src/platform/core/run-page.ts'

const runner = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '4711' }

it.each([
  [{}, 'https://github.com/acme/shop/actions/runs/4711'],
  [{ GITHUB_RUN_ATTEMPT: '2' }, 'https://github.com/acme/shop/actions/runs/4711/attempts/2'],
  [{ GITHUB_SERVER_URL: 'https://git.example.com:8443/github/' }, 'https://git.example.com:8443/github/acme/shop/actions/runs/4711'],
])('finds the page of a run, with %j', (more, page) => {
  expect(runPageOf({ ...runner, ...more })).toBe(page)
})

it.each([
  { GITHUB_SERVER_URL: '' },
  { GITHUB_SERVER_URL: 'javascript:alert(1)' },
  { GITHUB_SERVER_URL: 'https://github.com/x|y' },
  { GITHUB_REPOSITORY: 'acme/..' },
  { GITHUB_REPOSITORY: 'acme/shop>' },
  { GITHUB_REPOSITORY: '' },
  { GITHUB_RUN_ID: '1|x' },
])('gives no link that could break a message, with %j', (more) => {
  expect(runPageOf({ ...runner, ...more })).toBeUndefined()
})
