// The order of the guards is a part of what they decide. For each two neighbors, a state in which the other order makes another plan.
import { describe, expect, it } from 'vitest'
import { declarationDigest } from '../../../src/kinds/base.ts'
import { guards } from '../../../src/sync/decide/decide.ts'
import type { Guard } from '../../../src/sync/decide/facts.ts'
import type { StoredObjects } from '../../../src/sync/plan/stored-objects.ts'
import { readValue } from '../../support/declarations.ts'
import { afterApply, type Lists, planOf, remoteStateWith } from '../../support/plans.ts'
import { errors, line, many, shop, slow, tile } from '../../support/shop-declaration.ts'

interface Given {
  readonly files: object
  readonly stored: StoredObjects
  readonly options?: Parameters<typeof planOf>[2]
}

/** The service after the files were applied, and then changed. */
function appliedWith(files: object, change: (applied: StoredObjects) => Lists): StoredObjects {
  const applied = afterApply(planOf(files))
  return remoteStateWith({ ...applied, ...change(applied) })
}

const theirs = { id: 'theirs', name: 'Slow', sourceId: 'logs', where: 'theirs' }
const heldSearch = appliedWith({ dashboards: { shop } }, () => ({ savedSearch: [theirs] }))
const unknownSource = { ...slow, name: 'Lost', sourceId: { source: 'Nothing' } }
const digestOfErrors = declarationDigest(readValue({ alerts: { errors } }).objects[0]?.value as Record<string, unknown>)
const old = { ...shop, name: 'Old' }

/** A state for each guard but the last one, in their order. */
const states: Readonly<Record<string, Given>> = {
  'an alert that no file declares is on a duplicate': {
    files: { savedSearches: { slow } },
    stored: appliedWith({ savedSearches: { slow }, alerts: { many } }, ({ savedSearch, alert }) => ({
      savedSearch: savedSearch.flatMap((one) => [one, { ...one, id: 'twin' }]),
      alert: alert.map((one) => ({ ...one, savedSearchId: 'twin' })),
    })),
    options: { prune: true, repairDuplicates: true },
  },
  'an alert that only the service has changed is on a dashboard that no file declares': {
    files: { dashboards: { shop }, alerts: { errors: { ...errors, adopt: `alerts-errors@2.0123456789.${digestOfErrors}` } } },
    stored: appliedWith({ dashboards: { shop, old }, alerts: { errors: { ...errors, dashboard: 'old' } } }, ({ alert }) => ({
      alert: alert.map((one) => ({ ...one, note: 'by hand', threshold: 7 })),
    })),
    options: { prune: true },
  },
  'a dashboard loses parts, and another object has an unknown name': {
    files: { dashboards: { shop: { ...shop, name: 'Store' } }, savedSearches: { lost: unknownSource } },
    stored: heldSearch,
  },
  'a patch of a dashboard keeps the tile of an alert that the API does not list': {
    files: { dashboards: { shop: { ...shop, tiles: [tile('A', 0, { ...line, groupBy: 'Service' }), tile('B', 4)] } } },
    stored: appliedWith({ dashboards: { shop }, alerts: { errors } }, ({ alert }) => ({
      alert: alert.map((one) => ({ ...one, note: 'by hand', tileId: 'hidden' })),
    })),
    options: { canPatch: true },
  },
}

describe('W21: the list of guards', () => {
  it('has a state for each two neighbors', () => {
    expect(Object.keys(states)).toHaveLength(guards.length - 1)
  })

  it.each(Object.entries(states).map(([name, given], i) => [i, name, given] as const))(
    'makes another plan where guard %i comes later, and %s',
    (i, _name, { files, stored, options }) => {
      const swap = (): void => void (guards as Guard[]).splice(i, 2, ...guards.slice(i, i + 2).toReversed())
      const plan = planOf(files, stored, options)
      swap()
      try {
        expect(planOf(files, stored, options)).not.toEqual(plan)
      } finally {
        swap()
      }
    },
  )
})
