import { describe, expect, it } from 'vitest'
import { createKinds } from '../../../src/kinds/kinds.ts'
import { profileNamed } from '../../../src/platform/api/profiles.ts'
import { findTwinsOfCreated, reconcileOutcome } from '../../../src/sync/apply/verify.ts'
import type { Change, Outcome } from '../../../src/sync/decide/change.ts'
import { findDesired, indexStored } from '../../../src/sync/plan/stored-objects.ts'
import { nowMs } from '../../support/plans.ts'

const kinds = createKinds(profileNamed('clickhouse-cloud'), nowMs)
const { alert: kind } = kinds
const mark = { project: 'shop/x', key: 'errors', digest: '0a1b2c' }
const body = { name: 'Errors', threshold: 5, interval: '5m' }
const desired = kind.withMarker(body, mark)
const stored = (id: string, more: object = {}) => ({ id, ...desired, ...more })
const list = (items: readonly ReturnType<typeof stored>[], mayBeCut = false) => indexStored(items, kind, mayBeCut)

const declared = { kind: 'alert', key: 'errors', name: 'Errors', location: { file: 'f.yml' }, desired, notes: [], fields: [] } as const
const change: Change = { ...declared, action: 'create', summary: '' }
const unknown: Outcome = { change, became: 'unknown', message: 'no answer', errorKind: 'may-exist' }
const created: Outcome = { change, became: 'created', id: 'a' }

describe('the object with the mark', () => {
  it('the object with the mark is found by it, whatever else is there', () => {
    const found = findDesired(list([stored('a'), { id: 'b', name: 'Errors' } as never]), desired, kind)
    expect(found).toMatchObject({ stored: { id: 'a' } })
  })

  it('the object with the mark is found once when a list that moved holds it twice', () => {
    expect(findDesired(list([stored('a'), stored('a')]), desired, kind)).toMatchObject({ stored: { id: 'a' } })
  })

  it('the object with the mark is absent only if the list is complete', () => {
    expect(findDesired(list([]), desired, kind)).toBe('absent')
    expect(findDesired(list([], true), desired, kind)).toBe('unclear')
  })

  it('the object with the marker is ambiguous where two have it', () => {
    expect(findDesired(list([stored('a'), stored('b')]), desired, kind)).toBe('unclear')
  })

  it('the object with the mark is absent for a body without one', () => {
    expect(findDesired(list([stored('a'), { id: 'b', name: 'Errors' } as never]), body, kind)).toBe('absent')
  })
})

describe('an outcome in the light of the list', () => {
  it('a change with an unknown outcome is applied when the object is as it was sent', () => {
    expect(reconcileOutcome(unknown, list([stored('a')]), desired, kind)).toEqual({
      change,
      became: 'created',
      id: 'a',
      stored: stored('a'),
    })
  })

  it('a change with an unknown outcome is applied when the marker matches the declaration, whatever the server stored', () => {
    const reviewed = reconcileOutcome(unknown, list([stored('a', { threshold: 6 })]), desired, kind)
    expect(reviewed).toMatchObject({ became: 'created', id: 'a', serverChanged: [{ path: 'threshold', before: 5, after: 6 }] })
  })

  it('a change with an unknown outcome is applied where its marker is a new one, or the object is', () => {
    const found = (before: object, action: 'update' | 'replace') => {
      const update = { ...declared, action, id: 'a', stored: stored('a', before) } as Change
      return reconcileOutcome({ ...unknown, change: update }, list([stored('a', { threshold: 6 })]), desired, kind).became
    }
    const earlier = kind.withMarker(body, { ...mark, digest: '3d4e5f' })
    expect([found(earlier, 'update'), found({}, 'update'), found({}, 'replace')]).toEqual(['updated', 'unknown', 'replaced'])
  })

  it('a change with an unknown outcome stays unknown when no object, or two, have the marker', () => {
    expect(reconcileOutcome(unknown, list([]), desired, kind)).toBe(unknown)
    expect(reconcileOutcome(unknown, list([stored('a'), stored('b')]), desired, kind)).toBe(unknown)
  })

  it('a known outcome contains what the server made of it', () => {
    const reviewed = reconcileOutcome(created, list([stored('a', { threshold: 6 })]), desired, kind)
    expect(reviewed).toMatchObject({ became: 'created', id: 'a', serverChanged: [{ path: 'threshold', before: 5, after: 6 }] })
    expect(reconcileOutcome(created, list([stored('a')]), desired, kind)).not.toHaveProperty('serverChanged')
  })
})

describe('a marker on two objects', () => {
  const duplicates = (one: Change, ...ids: readonly string[]) =>
    findTwinsOfCreated([one], { alert: list(ids.map((id) => stored(id))) }, kinds)

  it('a marker on two objects is a diagnostic with every id', () => {
    const [diagnostic, ...others] = duplicates(change, 'a', 'b', 'c')
    expect(diagnostic).toMatchObject({ rule: 'duplicate-marker', severity: 'error', location: { file: 'alerts' } })
    expect(diagnostic?.message).toMatch(
      /^alerts\.errors: 3 alerts have this ownership marker \(a, b, c\): two runs at the same time, or a copy/,
    )
    expect(others).toEqual([])
  })

  it('a marker on two objects is twice from two on', () => {
    expect(duplicates(change, 'a', 'b')).toHaveLength(1)
    expect(duplicates(change, 'a')).toEqual([])
  })

  it('a marker on two objects is not reported where this run created neither, or deletes one', () => {
    expect(duplicates({ ...declared, action: 'update', id: 'a', stored: stored('a') }, 'a', 'b')).toEqual([])
    const remove: Change = {
      kind: 'alert',
      key: '',
      name: '',
      action: 'delete',
      id: 'b',
      stored: stored('b'),
      keeps: 'a',
      notes: [],
      fields: [],
    }
    expect(findTwinsOfCreated([change, remove], { alert: list([stored('a'), stored('b')]) }, kinds)).toEqual([])
  })
})
