// Adding a field of alerts is one line in the definition: everything else follows from it.
import { expect, it } from 'vitest'
import * as z from 'zod'
import { declaredAlert } from '../../../src/kinds/alert/alert.ts'
import { createAlertKind } from '../../../src/kinds/alert/alert-kind.ts'
import { compareBodies, composeCreate, composeUpdate, diffFields } from '../../../src/kinds/compare.ts'
import { createNameIndex } from '../../../src/kinds/name-index.ts'
import { profileNamed } from '../../../src/platform/api/profiles.ts'
import { nowMs } from '../../support/plans.ts'

const cloud = profileNamed('clickhouse-cloud')
const severity = z.enum(['low', 'high']).optional().meta({ clear: null })
const withSeverity = declaredAlert.extend({ severity })
const kind = createAlertKind(cloud, nowMs, withSeverity)

const nameIndex = createNameIndex({ dashboard: [], savedSearch: [], source: [], webhook: [{ id: 'w', name: 'oncall' }] })
const search = { id: 'q', tiles: [] }
const context = {
  secret: () => undefined,
  nameIndex,
  sources: [],
  dashboards: new Map(),
  savedSearches: new Map([['slow', search]]),
  tilesOf: () => [],
}

const spelled = { name: 'Slow', savedSearch: 'slow', threshold: 5, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' } }

const bodyOf = (fields: object) => {
  const value = withSeverity.parse({ ...spelled, ...fields })
  const place = { location: { file: 'a.yml' }, locationOf: () => ({ file: 'a.yml' }), pathOf: () => '' }
  return kind.resolve({ kind: 'alert', key: 'slow', value, spelled: value, ...place }, context).body
}

const stored = { id: 'a', ...bodyOf({ severity: 'high' }) }

it('a new field is declared and sent', () => {
  expect(withSeverity.safeParse({ ...spelled, severity: 'none' }).success).toBe(false)
  expect(composeCreate(kind, bodyOf({ severity: 'high' }))).toMatchObject({ severity: 'high', savedSearchId: 'q' })
})

it('a new field is compared, and cleared when the files do not have it any more', () => {
  const { before, after } = compareBodies(kind, bodyOf({ severity: 'low' }), stored)
  expect(diffFields(before, after)).toEqual([{ path: 'severity', before: 'high', after: 'low' }])
  expect(composeUpdate(kind, bodyOf({}), stored)).toMatchObject({ severity: null })
})

it('a new field is pulled', () => {
  const file = { key: 'slow', spelled: undefined, declared: undefined, nameIndex, sources: [], keyOf: () => 'slow', tilesOf: () => [] }
  expect(kind.toFile(kind.toBody(stored), file)).toEqual({ ...spelled, severity: 'high' })
})
