import { describe, expect, it } from 'vitest'
import { profileNamed } from '../../../src/api/profiles.ts'
import { createResourceTypes } from '../../../src/resources/resource-types.ts'
import { findByMarker, findDuplicateMarkers, indexByMarker, reconcileOutcome } from '../../../src/sync/apply-changes.ts'
import type { Outcome } from '../../../src/sync/apply-state.ts'
import type { Change } from '../../../src/sync/change.ts'

const { alerts: kind } = createResourceTypes(profileNamed('clickhouse-cloud'))
const mark = { project: 'shop/x', key: 'errors', digest: '0a1b2c' }
const body = { name: 'Errors', threshold: 5, interval: '5m' }
const desired = kind.withMarker(body, mark)
const actual = (id: string, more: object = {}) => ({ id, ...desired, ...more })
const list = (items: readonly ReturnType<typeof actual>[], mayBeCut = false) => indexByMarker({ items, mayBeCut }, kind)

const change: Change = { section: 'alerts', key: 'errors', name: 'Errors', action: 'create', isAdopted: false, notes: [], fields: [] }
const unknown: Outcome = { change, kind: 'unknown', message: 'nobody knows', errorKind: 'may-exist' }
const created: Outcome = { change, kind: 'created', id: 'a' }

describe('the object with the mark', () => {
  it('is found by it, whatever else is there', () => {
    const found = findByMarker(list([actual('a'), { id: 'b', name: 'Errors' } as never]), desired, kind)
    expect(found).toMatchObject({ actual: { id: 'a' } })
  })

  it('is found once when a list that moved holds it twice', () => {
    expect(findByMarker(list([actual('a'), actual('a')]), desired, kind)).toMatchObject({ actual: { id: 'a' } })
  })

  it('is absent from a whole list alone', () => {
    expect(findByMarker(list([]), desired, kind)).toBe('absent')
    expect(findByMarker(list([], true), desired, kind)).toBe('unclear')
  })

  it('is unclear where two bear it', () => {
    expect(findByMarker(list([actual('a'), actual('b')]), desired, kind)).toBe('unclear')
  })

  it('is absent for a body without one', () => {
    expect(findByMarker(list([actual('a')]), body, kind)).toBe('absent')
  })
})

describe('an outcome in the light of the list', () => {
  it('that nobody knew is done when the object is there as it was sent', () => {
    expect(reconcileOutcome(unknown, list([actual('a')]), desired, kind)).toEqual({ change, kind: 'created', id: 'a', actual: actual('a') })
  })

  it('that nobody knew is done when the marker is that of the declaration, whatever the server made of the fields', () => {
    const reviewed = reconcileOutcome(unknown, list([actual('a', { threshold: 6 })]), desired, kind)
    expect(reviewed).toMatchObject({ kind: 'created', id: 'a', serverChanged: [{ path: 'threshold', before: 5, after: 6 }] })
  })

  it('that nobody knew stays unknown when there is no such object, or two', () => {
    expect(reconcileOutcome(unknown, list([]), desired, kind)).toBe(unknown)
    expect(reconcileOutcome(unknown, list([actual('a'), actual('b')]), desired, kind)).toBe(unknown)
  })

  it('that is known tells what the server made of it', () => {
    const reviewed = reconcileOutcome(created, list([actual('a', { threshold: 6 })]), desired, kind)
    expect(reviewed).toMatchObject({ kind: 'created', id: 'a', serverChanged: [{ path: 'threshold', before: 5, after: 6 }] })
    expect(reconcileOutcome(created, list([actual('a')]), desired, kind)).not.toHaveProperty('serverChanged')
  })
})

describe('a mark that stands twice', () => {
  const token = kind.markerStyle.projectToken('shop/x')

  it('is a diagnostic with every id', () => {
    const [diagnostic, ...others] = findDuplicateMarkers(list([actual('a'), actual('b'), actual('c')]), kind, token)
    expect(diagnostic).toMatchObject({ rule: 'duplicate-marker', severity: 'error', location: { file: 'alerts' } })
    expect(diagnostic?.message).toMatch(/^the ownership marker .*errors is on 3 alerts \(a, b, c\): two runs at once, or a copy/)
    expect(others).toEqual([])
  })

  it('is twice from two on', () => {
    expect(findDuplicateMarkers(list([actual('a'), actual('b')]), kind, token)).toHaveLength(1)
  })

  it('is none when it stands once, or belongs to another project', () => {
    expect(findDuplicateMarkers(list([actual('a')]), kind, token)).toEqual([])
    expect(findDuplicateMarkers(list([actual('a'), actual('b')]), kind, kind.markerStyle.projectToken('shop/y'))).toEqual([])
  })
})
