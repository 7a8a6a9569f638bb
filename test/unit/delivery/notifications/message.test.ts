import { describe, expect, it } from 'vitest'
import { isDue, messageOf, type StateChange, titleOf } from '../../../../src/delivery/notifications/message.ts'
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
  const run = { document: { status: 'fail' } as const, blocks, keyLines: [say`a`], milestones: [] }
  const facts = { operation: trusted('usage-cost'), change: 'none', runUrl: undefined } as const

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
    const { sentence, details } = messageOf({ ...run, keyLines: [say`no such host`, say`check api-url`], error: new Error('x') }, facts)
    expect([sentence, ...details].map(toPlainText)).toEqual(['no such host', 'check api-url'])
  })

  it.each([
    [{ status: 'pass' }, 'usage-cost passed'],
    [{ status: 'pass', change: 'passing' }, 'usage-cost passes again'],
    [{ status: 'warn' }, 'usage-cost has a warning'],
    [{ status: 'fail', change: 'failing' }, 'usage-cost failed'],
    [{ status: 'error' }, 'usage-cost did not complete'],
    [{ status: 'error', operation: untrusted('<!here>') }, '<!here> did not complete'],
  ] as const)('a message with %j has the title %s', (more, title) => {
    expect(toPlainText(titleOf(messageWith(more)))).toBe(title)
  })
})
