import { expect, it } from 'vitest'
import type { Plan } from '../../../../src/sync/decide/change.ts'
import type { StoredObjects } from '../../../../src/sync/plan/stored-objects.ts'
import { withEmptiedLists } from '../../../../src/sync/pull/verify-draft.ts'
import { planOf, remoteStateWith } from '../../../support/plans.ts'

const search = { name: 'Errors', sourceId: 's1', where: 'x' }

const emptied = (plan: Plan, storedObjects: StoredObjects): readonly string[] => Object.keys(withEmptiedLists(plan, storedObjects))

it('only a kind of which the files declare objects, and the service has none of them, counts as emptied', () => {
  const none = remoteStateWith({})
  const one = remoteStateWith({ savedSearch: [{ ...search, id: 'q1' }] })
  expect(emptied(planOf({ savedSearches: { errors: search } }, none), none)).toEqual(['savedSearch'])
  expect(emptied(planOf({ savedSearches: { errors: search, more: { ...search, name: 'More' } } }, one), one)).toEqual([])
  expect(emptied(planOf({}, none), none)).toEqual([])
  const board = planOf(
    { dashboards: { board: { name: 'Board', tiles: [{ name: 'A', config: { displayType: 'markdown', markdown: 'x' } }] } } },
    none,
  )
  expect(emptied(board, none)).toEqual(['dashboard'])
  const ofQueries = { ...board, changes: board.changes.map((one) => ({ ...one, madeFrom: 'alerts' })) }
  expect(emptied(ofQueries, none), 'no file declares the dashboard for queries').toEqual([])
  const twice = remoteStateWith({ savedSearch: ['q1', 'q2'].map((id) => ({ ...search, id, where: id })) })
  expect(emptied(planOf({ savedSearches: { errors: search } }, twice), twice), 'held, because two could be meant').toEqual([])
})
