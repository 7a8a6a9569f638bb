// What was agreed to, as a file, and why it is no longer what is to be done.
import { describe, expect, it } from 'vitest'
import { isIntact, movedSince, planFileSchema, toPlanFile } from '../../../src/changes/plan/plan-file.ts'
import type { StoredObjects } from '../../../src/sync/plan/stored-objects.ts'
import { afterApply, kinds, planOf, remoteStateWith } from '../../support/plans.ts'
import { errors, many, shop, slow } from '../../support/shop-declaration.ts'

const identity = { organizationId: 'o', serviceId: 's', prune: false as boolean | 'forget' }

const declared = { dashboards: { shop }, savedSearches: { slow }, alerts: { errors, many } }

const fileOf = (content: object, storedObjects: StoredObjects = remoteStateWith(), changes: Partial<typeof identity> = {}) => {
  const { prune, ...target } = { ...identity, ...changes }
  return toPlanFile({ plan: planOf(content, storedObjects, changes), kinds }, target, prune)
}

const applied = afterApply(planOf(declared))

describe('a plan as a file', () => {
  it('holds what is to be done, and nothing of what is not', () => {
    const file = fileOf({ ...declared, alerts: { errors: { ...errors, threshold: 2 }, many } }, applied)
    expect(file).toMatchObject({
      kind: 'watchkeeper-plan',
      version: 1,
      project: 'shop/main',
      ...identity,
      seen: { dashboard: 1, savedSearch: 1, alert: 2 },
      changes: [{ kind: 'alert', key: 'errors', id: 'alerts-errors', action: 'update' }],
    })
    expect(fileOf(declared).changes.map((change) => 'id' in change)).toEqual([false, false, false, false])
  })

  it('holds no value of what it was made of', () => {
    const secret = { ...errors, note: 'a-word-from-the-note', name: 'A-word-from-the-name' }
    expect(JSON.stringify(fileOf({ dashboards: { shop }, alerts: { secret } }))).not.toMatch(/a-word/i)
  })

  it('a plan as a file can be read again, as it was', () => {
    const file = fileOf(declared)
    const read = planFileSchema.parse(JSON.parse(JSON.stringify(file)))
    expect(read).toEqual(file)
    expect(isIntact(read)).toBe(true)
    expect(movedSince(read, fileOf(declared))).toEqual([])
  })

  it.each([
    ['project', { project: 'other' }],
    ['serviceId', { serviceId: 'other' }],
    ['prune', { prune: true }],
    ['seen', { seen: {} }],
    ['changes', { changes: [] }],
  ])('shows that somebody changed its %s', (_, change) => {
    expect(isIntact({ ...fileOf(declared), ...change })).toBe(false)
  })
})

describe('changes since the review', () => {
  const agreed = fileOf(declared)

  it.each([
    ['another service', { ...agreed, serviceId: 't' }, ['serviceId was s and is now t']],
    ['another organization', { ...agreed, organizationId: 'p' }, ['organizationId was o and is now p']],
    ['another project', { ...agreed, project: 'q' }, ['project was shop/main and is now q']],
    ['prune', { ...agreed, prune: true }, ['prune was false and is now true']],
  ])('reports a change of %s', (_, now, expected) => {
    expect(movedSince(agreed, now)).toEqual(expected)
  })

  const fewer = { ...applied, alert: applied.alert.slice(1) }

  it('reports an object that is gone', () => {
    const before = fileOf(declared, applied)
    expect(movedSince(before, fileOf(declared, fewer))).toEqual([
      'there were 2 objects under alerts, and there are 1',
      'alerts.errors: the plan did not contain it; now the plan is to create it',
    ])
    expect(movedSince(before, { ...before, seen: {} })).toHaveLength(5)
  })

  it('does not report an object that was added', () => {
    expect(
      movedSince(fileOf(declared, fewer), {
        ...fileOf(declared, fewer),
        seen: { dashboard: 1, savedSearch: 1, alert: 5, webhook: 1, source: 1 },
      }),
    ).toEqual([])
  })

  it.each([
    ['is done already', applied, 'alerts.errors: the plan was to create it; now no change is needed'],
    [
      'is to be another one',
      { ...applied, alert: applied.alert.map((one) => ({ ...one, threshold: 7 })) },
      'alerts.errors: the plan was to create it; now the plan is to update it',
    ],
  ])('reports a change that %s', (_, storedObjects, expected) => {
    expect(movedSince(agreed, fileOf(declared, storedObjects))).toContain(expected)
  })

  it('reports a change of other fields', () => {
    const other = { ...declared, alerts: { errors: { ...errors, threshold: 9 }, many } }
    expect(movedSince(agreed, fileOf(other))).toEqual(['alerts.errors: the plan was to create it; now its fields differ'])
    const on = (threshold: number) => ({ ...applied, alert: applied.alert.map((one) => ({ ...one, threshold })) })
    expect(movedSince(fileOf(other, on(3)), fileOf(other, on(4)))).toEqual([
      'alerts.errors: the plan was to leave it as it is; now its fields differ',
      'alerts.many: the plan was to update it; now its fields differ',
    ])
  })

  it('does not report fields that the service added files have no say in', () => {
    const storedObjects = { ...applied, alert: applied.alert.map((one) => ({ ...one, threshold: 3, somethingNew: 1, state: 'OK' })) }
    const base = { ...applied, alert: applied.alert.map((one) => ({ ...one, threshold: 3 })) }
    expect(movedSince(fileOf(declared, base), fileOf(declared, storedObjects))).toEqual([])
  })

  it('includes deletes', () => {
    const less = { dashboards: { shop }, alerts: { errors, many: { ...errors, name: 'Many' } } }
    const deleting = fileOf({ dashboards: { shop }, alerts: { errors } }, applied, { prune: true })
    expect(deleting.changes.map(({ action }) => action)).toEqual(['delete', 'delete'])
    const changed = { ...applied, savedSearch: applied.savedSearch.map((one) => ({ ...one, where: 'other' })) }
    expect(movedSince(deleting, fileOf({ dashboards: { shop }, alerts: { errors } }, changed, { prune: true }))).toEqual([
      'savedSearches.slow: the plan was to delete it; now its fields differ',
    ])
    expect(movedSince(deleting, fileOf(less, applied, { prune: true }))).toContain(
      'alerts.many: the plan was to delete it; now the plan is to update it',
    )
  })

  it('compares two objects with the same marker by their content', () => {
    const double = remoteStateWith({ ...applied, alert: [...applied.alert, { ...applied.alert[1], id: 'second', threshold: 8 }] })
    const nothing = { dashboards: { shop }, savedSearches: { slow } }
    const before = fileOf(nothing, double, { prune: 'forget' })
    const turned = { ...double, alert: double.alert.toReversed() }
    expect(movedSince(before, fileOf(nothing, turned, { prune: 'forget' }))).toEqual([])
    const without = { ...double, alert: double.alert.filter(({ id }) => id !== 'second') }
    expect(movedSince(before, fileOf(nothing, without, { prune: 'forget' }))).toEqual([
      'there were 3 objects under alerts, and there are 2',
      'alerts.many: the plan was to release it; now no change is needed',
    ])
  })
})
