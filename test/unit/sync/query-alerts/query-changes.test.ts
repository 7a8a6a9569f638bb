import { expect, it } from 'vitest'
import { addressOf } from '../../../../src/kinds/kind-names.ts'
import type { Change, Update } from '../../../../src/sync/decide/change.ts'
import { expandQueries, queriedKeys } from '../../../../src/sync/query-alerts/query-alerts.ts'
import { changesInFiles } from '../../../../src/sync/query-alerts/query-changes.ts'
import { readValue } from '../../../support/declarations.ts'

it('shows the difference of a tile at the alert that is on it, also where a person gave it and another tile the name of a second alert', () => {
  const alert = { query: { source: 'Logs', select: [{ aggFn: 'count' }] }, threshold: 1, interval: '5m' }
  const { objects } = expandQueries(readValue({ alerts: { a: { name: 'A', ...alert }, b: { name: 'B', ...alert } } }), 'shop')
  const stored = { id: 'o1', tiles: [tile('t1', 'B'), tile('t2', 'C'), tile('t3', 'B')] }
  const unchanged = { name: '', notes: [], fields: [], desired: {}, id: 'o1', stored, action: 'unchanged' } as const
  const changes: readonly Update[] = [
    {
      ...unchanged,
      kind: 'dashboard',
      key: 'project-alerts',
      madeFrom: 'alerts',
      action: 'update',
      desired: { tiles: [tile('t1', 'A'), tile('t2', 'B'), tile('t3', 'B')] },
      keptTiles: { count: 1, haveOthers: true },
      fields: [{ path: 'tiles["B"].name', before: 'B', after: 'A' }],
    },
    ...[...queriedKeys(objects)].map((key): Update => ({ ...unchanged, kind: 'alert', key })),
  ]
  const shown = [...changesInFiles(changes, objects).values()].map((one) => [addressOf(one), one.action, one.fields])
  expect(shown).toEqual([
    ['alerts.a', 'update', [{ path: 'tile.name', before: 'B', after: 'A' }]],
    ['alerts.b', 'unchanged', []],
  ])
})

it('a new alert is shown without the tile that is made for its query, and one on a tile of a dashboard with it', () => {
  const query = { source: 'Logs', select: [{ aggFn: 'count' }] }
  const { objects } = expandQueries(readValue({ alerts: { a: { name: 'A', query, threshold: 1, interval: '5m' } } }), 'shop')
  const paths = ['source', 'dashboard', 'tile', 'threshold']
  const created = (kind: 'alert' | 'savedSearch', key: string): Change => ({
    ...{ kind, key, name: '', action: 'create', id: undefined, stored: undefined, desired: {}, notes: [], summary: '' },
    ...{ location: { file: 'a.yml' }, fields: paths.map((path) => ({ path, after: 'x' })) },
  })
  const changes = [created('savedSearch', 'a'), created('alert', 'a'), created('alert', 'b')]
  const shown = [...changesInFiles(changes, objects).values()].map((one) => [addressOf(one), one.fields.map(({ path }) => path)])
  expect(shown).toEqual([
    ['savedSearches.a', paths],
    ['alerts.a', ['threshold']],
    ['alerts.b', paths],
  ])
})

const tile = (id: string, name: string) => ({ id, name })
