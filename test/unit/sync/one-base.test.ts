import { expect, it } from 'vitest'
import { findProblems } from '../../support/base-sequences.ts'

it('W21: no value of a person is overwritten without the words or a decision, and nothing else is said to be changed', {
  tags: 'slow',
}, () => {
  expect(Object.fromEntries(findProblems(12))).toEqual({})
})
