import { expect, it } from 'vitest'
import { findLinkProblems, findOwnerProblems } from '../../support/owner-states.ts'

it('W13: no run writes or deletes what another project or repository has, unless the files name it as the previous one', () => {
  expect(findOwnerProblems(12)).toEqual([])
})

it('W21: a declaration has at most one object, an object at most one declaration, and the order of links decides', { tags: 'slow' }, () => {
  expect(findLinkProblems()).toEqual([])
})
