import { expect, it } from 'vitest'
import { judgeDropped } from '../../../src/objects/single-object.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'

it('fields that a service did not store are an error where one of them matters, which come first, and else a warning', () => {
  const judge = (matters: readonly boolean[], outcome: string) => {
    const dropped = matters.map((one, i) => ({ field: `f${i}`, matters: one }))
    const { status, sentence = [] } = judgeDropped('alert', { id: 'a1', name: 'A' }, dropped, outcome)
    return [status, toPlainText(sentence)]
  }
  const advice = 'Its version might not have this yet: remove it, or upgrade the service'
  expect(judge([], 'created')).toEqual(['pass', ''])
  expect(judge([false, true], 'created')).toEqual([
    'error',
    `The alert "A" (a1) was created, but the service did not store f1, f0. ${advice}. To delete the alert, run delete-alert with the id a1.`,
  ])
  expect(judge([false], 'created')).toEqual(['warn', `The alert "A" (a1) was created, but the service did not store f0. ${advice}.`])
  expect(judge([true], 'unchanged')).toEqual(['error', `The alert "A" (a1) was not changed, and the service did not store f0. ${advice}.`])
  expect(judge(Array(12).fill(true), 'updated')[1]).toContain('did not store f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more.')
})
