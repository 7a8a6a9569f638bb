import { describe, expect, it } from 'vitest'
import { firstLineOf, isDue, messageOf, originLineOf, originOf, type StateChange } from '../../../../src/delivery/notifications/message.ts'
import { say, toPlainText, trusted, untrusted } from '../../../../src/platform/core/line.ts'
import type { Block, Status } from '../../../../src/platform/report/blocks.ts'
import { messageWith } from '../../../support/message.ts'

const statuses: readonly Status[] = ['pass', 'warn', 'fail', 'error']
const changes: readonly StateChange[] = ['failing', 'passing', 'none', 'unknown']

const dueFor = (mode: 'change' | 'failure' | 'always'): readonly string[] =>
  statuses.flatMap((status) => changes.flatMap((change) => (isDue(mode, messageWith({ status, change })) ? [`${status} ${change}`] : [])))

describe('the runs that send a message', () => {
  it('the runs that send a message are all runs with always', () => {
    expect(dueFor('always')).toHaveLength(statuses.length * changes.length)
  })

  it('the runs that send a message are those with the status fail or error with failure', () => {
    expect(new Set(dueFor('failure').map((entry) => entry.split(' ')[0]))).toEqual(new Set(['fail', 'error']))
  })

  it('the runs that send a message are those with another state than the last run with change, and failed ones whose last state is unknown', () => {
    const changed = statuses.flatMap((status) => [`${status} failing`, `${status} passing`])
    expect(new Set(dueFor('change'))).toEqual(new Set([...changed, 'fail unknown', 'error unknown']))
  })

  it('the runs that send a message include every run in which a budget reached a step', () => {
    const message = messageWith({ status: 'pass', change: 'none', milestones: [say`75% of the budget was used.`] })
    for (const mode of ['change', 'failure', 'always'] as const) expect(isDue(mode, message)).toBe(true)
  })
})

describe('a message', () => {
  const blocks: readonly Block[] = [
    { kind: 'verdict', status: 'fail', line: say`Budget ${'checkout'} exceeded.` },
    { kind: 'footer', line: say`22 Nov 2026 06:17 UTC` },
  ]
  const run = { document: { operation: 'usage-cost', status: 'fail' } as const, blocks, keyLines: () => [say`a`], milestones: [] }
  const facts = { title: trusted('Cost gate'), change: 'none', ...originOf({}, undefined) } as const

  it('a message has the first and the last line of the report', () => {
    const { sentence, details, footer } = messageOf(run, facts)
    expect([sentence, footer, ...details].map(toPlainText)).toEqual(['Budget checkout exceeded.', '22 Nov 2026 06:17 UTC', 'a'])
  })

  it('a message has the other reasons of the verdict, at most five', () => {
    const reasons = ['1', '2', '3', '4', '5', '6', '7'].map((name) => say`Budget ${name} exceeded.`)
    const list: Block = { kind: 'list', items: reasons }
    const { details } = messageOf({ ...run, blocks: blocks.toSpliced(1, 0, list) }, facts)
    expect(details.map(toPlainText)).toEqual([...reasons.slice(0, 5).map(toPlainText), '… and 2 more', 'a'])
  })

  it('a message begins with the reason of an error', () => {
    const { sentence, details } = messageOf(
      { ...run, keyLines: () => [say`no such host`, say`check api-url`], error: new Error('x') },
      facts,
    )
    expect([sentence, ...details].map(toPlainText)).toEqual(['no such host', 'check api-url'])
  })

  it('a message says the result of a run that passes only once', () => {
    const { details } = messageOf({ ...run, keyLines: () => [say`Budget ${'checkout'} exceeded.`, say`Costs most: ${'a'}`] }, facts)
    expect(details.map(toPlainText)).toEqual(['Costs most: a'])
  })

  it('a message has the first errors of files, with their places, or the warnings of a run with a warning', () => {
    const diagnostics = ['error', 'warning', 'error', 'error', 'error', 'error', 'error'].map((severity, i) => ({
      severity: severity as 'error' | 'warning',
      rule: 'syntax',
      message: `line ${i} is wrong\nmore`,
      location: { file: 'a.yml', line: i + 1 },
    }))
    const withFiles = (status: Status) =>
      messageOf({ ...run, document: { ...run.document, status }, blocks: [...blocks, { kind: 'diagnostics', diagnostics }] }, facts).details
    expect(withFiles('fail').map(toPlainText)).toEqual([
      ...[0, 2, 3, 4, 5].map((i) => `a.yml:${i + 1}: line ${i} is wrong`),
      '… and 1 more',
      'a',
    ])
    expect(withFiles('warn').map(toPlainText)).toEqual(['a.yml:2: line 1 is wrong', 'a'])
  })

  it.each([
    [{ status: 'pass' }, 'Cost gate: The reason.'],
    [{ status: 'pass', change: 'passing' }, 'Cost gate: passes again. The reason.'],
    [{ status: 'warn' }, 'Cost gate: The reason.'],
    [{ status: 'fail', change: 'failing' }, 'Cost gate: The reason.'],
    [{ status: 'error' }, 'Cost gate: did not complete. The reason.'],
    [{ status: 'error', title: untrusted('<!here>') }, '<!here>: did not complete. The reason.'],
  ] as const)('a message with %j has the first line %s', (more, line) => {
    expect(toPlainText(firstLineOf(messageWith({ ...more, sentence: say`The reason.` })))).toBe(line)
  })

  it('a message says the repository and the workflow, and links to the run and the issue', () => {
    const runner = { GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '4711' }
    const origin = originOf({ ...runner, GITHUB_WORKFLOW: 'cost gate' }, 12)
    expect(toPlainText(originLineOf(origin))).toBe('acme/shop · cost gate')
    const owner = { project: 'acme/infra', environment: 'staging' }
    expect(toPlainText(originLineOf({ ...origin, ...owner }))).toBe('acme/shop · cost gate · project acme/infra · environment staging')
    expect(toPlainText(originLineOf({ ...origin, project: 'acme/shop' }))).toBe('acme/shop · cost gate')
    expect([origin.runUrl, origin.issueUrl]).toEqual([
      'https://github.example/acme/shop/actions/runs/4711',
      'https://github.example/acme/shop/issues/12',
    ])
    expect(originOf(runner, undefined)).toMatchObject({ workflow: undefined, issueUrl: undefined })
  })

  it.each([{}, { GITHUB_REPOSITORY: '../..', GITHUB_SERVER_URL: 'https://github.example' }])(
    'a message of a run with the variables %j has no origin',
    (env) => {
      const origin = originOf(env, 12)
      expect([originLineOf(origin), origin.runUrl, origin.issueUrl]).toEqual([[], undefined, undefined])
    },
  )
})
