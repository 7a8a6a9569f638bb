import { expect, it } from 'vitest'
import { findProblems } from '../support/base-sequences.ts'
import { runs } from '../support/seeds.ts'

const each = runs(500)

it.each([0, 1, 2, 3, 4].map((part) => 1000 + part * each))(
  'in hundreds of random sequences from %i on, no value of a person is overwritten without the words or a decision',
  (from) => {
    expect(Object.fromEntries(findProblems(each, from))).toEqual({})
  },
)
