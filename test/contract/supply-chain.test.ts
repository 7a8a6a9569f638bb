import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { majorTag } from '../../scripts/action-references.ts'
import { isOperationName, operations } from '../../src/operations.ts'
import {
  allWorkflows,
  copiedWorkflows,
  ownWorkflows,
  parseWorkflow,
  reusableWorkflows,
  rightsToWrite,
  rules,
  stepsOf,
  type WorkflowDocument,
} from '../support/workflows.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

describe.each(allWorkflows)('$name', ({ name, text }) => {
  const own = ownWorkflows.some((one) => one.name === name)

  it.each(rules.filter((rule) => own || rule.own !== true))('$says', ({ broken }) => {
    expect(broken(parseWorkflow(text), text)).toEqual([])
  })
})

describe('a workflow that breaks a rule is found', () => {
  const pinned = 'actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2'
  const expression = (text: string): string => `$\{{ ${text} }}`
  const checkout = (inputs: string): string => `{uses: actions/checkout@v6, with: {${inputs}}}`
  const sound = (step = 'run: make', { on = 'push', job = '' } = {}): string => `
on: ${on}
permissions: {}
concurrency: {group: x, cancel-in-progress: true}
jobs:
  x:
    timeout-minutes: 5
    ${job}
    steps:
      - ${step}
`
  const breaking: Readonly<Record<string, readonly string[]>> = {
    'grants nothing to all of its jobs': [
      sound().replace('permissions: {}', 'permissions: {contents: read}'),
      sound().replace('permissions: {}', 'permissions: write-all'),
      sound().replace('permissions: {}\n', ''),
    ],
    'pins every action but this one to a commit, with its version beside it': [
      sound('uses: actions/checkout@v6'),
      sound(`uses: ${pinned.split(' #')[0]}`),
      sound(`uses: ${pinned.replace('v6.0.2', 'v6')}`),
      sound(`uses: ${pinned.replace('de0fac2e', 'de0fac')}`),
      sound('uses: watchkeeper/watchkeeper@main'),
      sound(`uses: watchkeeper/watchkeeper@${majorTag}-of-somebody`),
      sound('uses: watchkeeper/watchkeeper@v999'),
    ],
    'ends by itself': [sound().replace('timeout-minutes: 5', '')],
    'runs no script that an expression is part of': [sound(`run: echo ${expression('github.event.issue.title')}`)],
    'keeps no credentials in a checkout': [sound(`uses: ${pinned}`), sound(checkout('persist-credentials: true'))],
    'is not started by strangers with rights of its own, and then checks out what they wrote': [
      sound('run: make', { on: 'pull_request_target' }),
      sound('run: make', { on: '[push, pull_request_target]' }),
      sound(checkout('ref: x'), { on: '{workflow_run: {workflows: [x]}}' }),
      sound(checkout('repository: x/y'), { on: '{workflow_run: {workflows: [x]}}' }),
    ],
    'names no person as the author of commits for a pull request': [
      sound('{uses: x/create-pull-request@v8, with: {committer: bot <bot@example.com>}}'),
      sound('uses: x/create-pull-request@v8'),
    ],
    'hands its secrets to no other workflow as a whole': [sound().replace('timeout-minutes: 5', 'secrets: inherit')],
    'knows no secret: what it may do, it may do for one run': [
      sound('run: make', { job: `env: {X: "${expression('secrets.NPM_TOKEN')}"}` }),
    ],
    'says what happens when it is started twice': [
      sound().replace(/concurrency: .*\n/, ''),
      sound().replace(/concurrency: .*\n/, 'concurrency: x\n'),
    ],
    'uses no cache where something is published': [
      sound('uses: actions/setup-node@v5', { job: 'permissions: {contents: write}' }),
      sound('{uses: actions/setup-node@v5, with: {cache: npm}}', { job: 'permissions: {id-token: write}' }),
    ],
  }

  it.each(rules)('$says', ({ says, broken }) => {
    const texts = breaking[says] ?? []
    expect(texts).not.toEqual([])
    for (const text of texts) expect(broken(parseWorkflow(text), text), text).not.toEqual([])
    expect(broken(parseWorkflow(sound()), sound())).toEqual([])
  })
})

it('every action is taken at one commit, wherever it is used', () => {
  const commits = new Map<string, Set<string>>()
  for (const { text } of allWorkflows) {
    for (const [, action = '', commit = ''] of text.matchAll(/uses: ([\w.-]+\/[\w.-]+)(?:\/[\w./-]+)?@([0-9a-f]{40} # \S+)/g)) {
      commits.set(action, (commits.get(action) ?? new Set()).add(commit))
    }
  }
  expect(commits.size).toBeGreaterThan(5)
  expect([...commits].filter(([, { size }]) => size > 1)).toEqual([])
})

const rightsOf = (workflows: readonly WorkflowDocument[]) =>
  Object.fromEntries(
    workflows.flatMap(({ name, text }) => {
      const rights = rightsToWrite(parseWorkflow(text))
      return rights.length === 0 ? [] : [[name.split('/').at(-1), rights]]
    }),
  )

it('our own workflows have only the listed permissions to write', () => {
  expect(rightsOf(ownWorkflows)).toEqual({
    'codeql.yml': ['analyze: security-events'],
    'commit-rebuilt.yml': ['commit: contents'],
    'contract.yml': ['issue: issues'],
    'release.yml': [
      'attest: id-token',
      'attest: attestations',
      'npm: id-token',
      'image: packages',
      'image: id-token',
      'image: attestations',
      'release: contents',
    ],
    'scorecard.yml': ['score: id-token', 'score: security-events'],
    'site.yml': ['deploy: pages', 'deploy: id-token'],
  })
})

it('callers have to grant only the listed permissions to write', () => {
  expect(rightsOf(reusableWorkflows)).toEqual({
    'reusable-backups.yml': ['backups: issues'],
    'reusable-cost-gate.yml': ['cost: issues'],
    'reusable-drift-pull-request.yml': ['drift: contents', 'drift: pull-requests'],
    'reusable-drift.yml': ['drift: issues'],
    'reusable-plan-and-apply.yml': ['plan: pull-requests', 'plan: issues', 'apply: pull-requests', 'apply: issues'],
  })
})

it('no job that runs packages may write, and none that publishes runs any but npm', () => {
  for (const { name, text } of [...ownWorkflows, ...reusableWorkflows]) {
    const workflow = parseWorkflow(text)
    for (const right of rightsToWrite(workflow)) {
      const { steps = [] } = workflow.jobs[right.split(':')[0] ?? ''] ?? {}
      expect(
        steps.filter(({ run = '' }) => /\bnpm (?:ci|install|run|exec|test)\b|\bnpx\b/.test(run)),
        `${name}: ${right}`,
      ).toEqual([])
    }
  }
})

it('published workflows may write at most issues, comments, code scanning results, and the branch of a drift', () => {
  const isBranch = ({ name, text }: WorkflowDocument): boolean => `${name} ${text}`.includes('drift-pull-request.yml')
  const given = [...reusableWorkflows, ...copiedWorkflows].filter((one) => !isBranch(one))
  const rights = given.flatMap(({ text }) => rightsToWrite(parseWorkflow(text)))
  expect(rights.filter((right) => !/: (?:issues|pull-requests|security-events)$/.test(right))).toEqual([])
})

it('published workflows that change the service do not run twice at once', async () => {
  const writing = await Promise.all(
    [...reusableWorkflows, ...copiedWorkflows].map(async ({ name, text }) => {
      const workflow = parseWorkflow(text)
      const names = stepsOf(workflow)
        .map((step) => String(step.with?.operation ?? ''))
        .filter(isOperationName)
      const effects = await Promise.all(names.map(async (operation) => (await operations[operation]()).effect))
      return { name, writes: effects.some((effect) => effect === 'write'), guarded: workflow.concurrency !== undefined }
    }),
  )
  expect(writing.filter(({ writes }) => writes)).not.toEqual([])
  expect(writing.filter(({ writes, guarded }) => writes && !guarded).map(({ name }) => name)).toEqual([])
})

describe('Dependabot', () => {
  interface Update {
    readonly 'package-ecosystem': string
    readonly directory?: string
    readonly directories?: readonly string[]
    readonly cooldown?: Readonly<Record<string, number>>
  }
  const { updates } = parse(read('.github/dependabot.yml')) as { updates: readonly Update[] }

  it('updates packages, the base of the image, linters, and the pins of our own workflows, from which all others are generated', () => {
    const looked = updates.flatMap(({ 'package-ecosystem': ecosystem, directory, directories = [directory ?? ''] }) =>
      directories.map((one) => `${ecosystem} ${one}`),
    )
    expect(looked.sort()).toEqual(['docker /', 'github-actions /', 'npm /', 'npm /site', 'pip /scripts'])
  })

  it('takes nothing that is younger than a week', () => {
    for (const { cooldown = {} } of updates) expect(cooldown['default-days']).toBeGreaterThanOrEqual(7)
  })
})

it('files that run with permissions or on machines of users have code owners', () => {
  const owned = read('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((line) => line.split(/\s+/)[0] ?? '')
  expect(owned).toEqual(
    expect.arrayContaining(['/.github/', '/src/', '/schemas/', '/scripts/', '/action.yml', '/dist/', '/examples/', '/package-lock.json']),
  )
})
