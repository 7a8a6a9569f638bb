import { expect, it } from 'vitest'
import type { Plan } from '../../../../src/sync/decide/change.ts'
import type { StoredObjects } from '../../../../src/sync/plan/stored-objects.ts'
import type { PulledObject } from '../../../../src/sync/pull/draft.ts'
import { findReplacedVariables, replacedEdits, withEmptiedLists } from '../../../../src/sync/pull/verify-draft.ts'
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

const pulled = (more: Partial<PulledObject> = {}): PulledObject => ({
  kind: 'alert',
  key: 'a',
  name: 'A',
  id: 'a1',
  outcome: 'updated',
  ...more,
})

it('a pull warns of each edit of a file that it replaced, and of no other', () => {
  const location = { file: 'a.yml', line: 1 }
  const warned = (origin: string | undefined, more: Partial<PulledObject> = {}) =>
    replacedEdits({ files: [], objects: [pulled(more)] }, {
      changes: [{ kind: 'alert', key: 'a', location, origin, fields: [{ path: 'threshold' }, { path: 'note' }] }],
    } as unknown as Plan).map(({ message }) => message)
  const replaced = [expect.stringMatching(/^alerts\.a: the file was changed and never applied, .* its values \(threshold, note\)\. /)]
  for (const origin of ['files', 'both', 'decided']) expect(warned(origin), origin).toEqual(replaced)
  for (const origin of ['service', 'references', 'unknown', undefined]) expect(warned(origin), origin).toEqual([])
  // Where only the name of its tile goes into the file, its edits stay.
  for (const more of [{ mayDiffer: true }, { outcome: 'left-out' }, { key: 'b' }] as const) expect(warned('files', more)).toEqual([])
})

it('a pull keeps an expression in the file of all environments, and where nobody looks at the change', () => {
  const environment = { path: 'staging.yml' } as never
  const objects = [
    pulled(),
    pulled({ id: 'a2', replacedExpressions: [] }),
    pulled({ id: 'a3', replacedExpressions: [`\${{ env.A }}`, 'b'] }),
  ]
  const kept = (input: object) => [...findReplacedVariables({ files: [], objects }, input as never)]
  const why = (where: string): string => `the service has another value than \${{ env.A }}; change the variable ${where}`
  expect(kept({})).toEqual([])
  expect(kept({ only: 'declared' })).toEqual([])
  expect(kept({ only: 'drifted' })).toEqual([['alert a3', why('where the workflow sets it')]])
  expect(kept({ environment })).toEqual([['alert a3', why('in staging.yml')]])
})
