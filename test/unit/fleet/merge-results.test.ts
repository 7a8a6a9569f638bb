import { describe, expect, it } from 'vitest'
import { findMissing } from '../../../src/fleet/merge-results.ts'

const [shop, store] = [{ organizationId: 'shop' }, { organizationId: 'store' }]
const [checkout, search, stock] = [
  { organizationId: 'shop', serviceId: 'checkout' },
  { organizationId: 'shop', serviceId: 'search' },
  { organizationId: 'store', serviceId: 'stock' },
]
const fleet = { organizations: [shop, store], services: [checkout, search, stock], operations: [] }

const resultsOf = (operation: string, ...targets: readonly object[]) => targets.map((target) => ({ operation, ...target }))

describe('findMissing', () => {
  it('finds nothing when every service has a result', () => {
    expect(findMissing(fleet, resultsOf('check-backups', stock, search, checkout))).toEqual([])
  })

  it('finds every service without a result of an operation on services', () => {
    expect(findMissing(fleet, resultsOf('check-backups', checkout))).toEqual([
      { operation: 'check-backups', target: search },
      { operation: 'check-backups', target: stock },
    ])
  })

  it('does not count the result of an organization for its services', () => {
    expect(findMissing(fleet, resultsOf('check-backups', shop, store, checkout, search))).toEqual([
      { operation: 'check-backups', target: stock },
    ])
  })

  it('expects results of all organizations, and of no service, from an operation on organizations', () => {
    expect(findMissing(fleet, resultsOf('usage-cost', shop, store))).toEqual([])
    expect(findMissing(fleet, resultsOf('usage-cost', store))).toEqual([{ operation: 'usage-cost', target: shop }])
  })

  it('checks each operation separately', () => {
    const results = [
      ...resultsOf('check-backups', checkout, search, stock),
      ...resultsOf('list-alerts', checkout, search),
      ...resultsOf('usage-cost', shop, store),
    ]
    expect(findMissing(fleet, results)).toEqual([{ operation: 'list-alerts', target: stock }])
  })

  it('does not count the same service id in another organization', () => {
    const results = resultsOf('check-backups', checkout, search, { organizationId: 'shop', serviceId: 'stock' })
    expect(findMissing(fleet, results)).toEqual([{ operation: 'check-backups', target: stock }])
  })

  it('finds the whole fleet when no result is about it', () => {
    expect(findMissing(fleet, resultsOf('validate', {}))).toEqual(fleet.services.map((target) => ({ operation: undefined, target })))
    expect(findMissing({ ...fleet, services: [] }, [])).toEqual(fleet.organizations.map((target) => ({ operation: undefined, target })))
  })

  it('finds a required operation without any result', () => {
    const required = { ...fleet, operations: ['usage-cost'] }
    expect(findMissing(required, resultsOf('check-backups', checkout, search, stock))).toEqual([
      { operation: 'usage-cost', target: shop },
      { operation: 'usage-cost', target: store },
    ])
  })
})
