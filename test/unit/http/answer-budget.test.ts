import { describe, expect, it } from 'vitest'
import { createAnswerBudget } from '../../../src/http/answer-budget.ts'

const never = new AbortController().signal

/** Which of them came to an end, after everything that can go on has gone on. */
async function settled(promises: Readonly<Record<string, Promise<unknown> | undefined>>): Promise<readonly string[]> {
  const done: string[] = []
  for (const [name, promise] of Object.entries(promises)) void Promise.resolve(promise).then(() => done.push(name))
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  return done.toSorted()
}

describe('createAnswerBudget', () => {
  it('lets small answers share the available memory', async () => {
    const budget = createAnswerBudget(100)
    const shares = [budget.open(never), budget.open(never), budget.open(never)]
    expect(shares.map((share) => share.take(33))).toEqual([undefined, undefined, undefined])
  })

  it('reads one large answer at a time, which never waits for others', async () => {
    const budget = createAnswerBudget(100)
    const [first, second, small] = [budget.open(never), budget.open(never), budget.open(never)]
    await first.take(1000)
    const waiting = second.take(1000)
    expect(await settled({ more: first.take(5000), waiting, small: small.take(100) })).toEqual(['more', 'small'])
    first.end()
    expect(await settled({ waiting })).toEqual(['waiting'])
  })

  it('comes to an end when many answers grow at once', async () => {
    const budget = createAnswerBudget(100)
    const read = async (): Promise<void> => {
      const share = budget.open(never)
      for (let i = 0; i < 50; i++) await share.take(10)
      share.end()
    }
    await Promise.all(Array.from({ length: 20 }, read))
    expect(budget.open(never).take(100)).toBeUndefined()
  })

  it('does not count an answer twice that became a large one', async () => {
    const budget = createAnswerBudget(100)
    const large = budget.open(never)
    await large.take(60)
    await large.take(60)
    expect(budget.open(never).take(100)).toBeUndefined()
  })

  it('lets a canceled answer go, and the next one in', async () => {
    const budget = createAnswerBudget(100)
    const canceled = new AbortController()
    const [first, second, third] = [budget.open(never), budget.open(canceled.signal), budget.open(never)]
    await first.take(1000)
    const [lost, waiting] = [second.take(1000), third.take(1000)]
    canceled.abort(new Error('enough'))
    await expect(lost).rejects.toThrow('enough')
    second.end()
    first.end()
    expect(await settled({ waiting })).toEqual(['waiting'])
    await expect(budget.open(canceled.signal).take(1000)).rejects.toThrow('enough')
  })
})
