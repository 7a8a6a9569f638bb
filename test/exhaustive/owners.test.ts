import { expect, it } from 'vitest'
import { findOwnerProblems } from '../support/owner-states.ts'
import { runs } from '../support/seeds.ts'

it('W13: two repositories never write or delete what the other one has, in any combination of their previous owners', () => {
  expect(findOwnerProblems(runs(1500))).toEqual([])
}, 600_000)
