import { describe, expect, it } from 'vitest'
import { missingFrom } from '../../../src/fleet/merge.ts'

const [shop, store] = [{ organizationId: 'shop' }, { organizationId: 'store' }]
const [checkout, search, stock] = [
  { organizationId: 'shop', serviceId: 'checkout' },
  { organizationId: 'shop', serviceId: 'search' },
  { organizationId: 'store', serviceId: 'stock' },
]
const fleet = { organizations: [shop, store], services: [checkout, search, stock], operations: [] }

const tell = (operation: string, ...targets: readonly object[]) => targets.map((target) => ({ operation, ...target }))

describe('missingFrom', () => {
  it('misses nothing when every service was told of', () => {
    expect(missingFrom(fleet, tell('check-backups', stock, search, checkout))).toEqual([])
  })

  it('misses every service that an operation on services did not tell of', () => {
    expect(missingFrom(fleet, tell('check-backups', checkout))).toEqual([
      { operation: 'check-backups', target: search },
      { operation: 'check-backups', target: stock },
    ])
  })

  it('takes a word about the organization for no word about its services', () => {
    expect(missingFrom(fleet, tell('check-backups', shop, store, checkout, search))).toEqual([
      { operation: 'check-backups', target: stock },
    ])
  })

  it('wants an operation on organizations to tell of each of them, and of no service', () => {
    expect(missingFrom(fleet, tell('usage-cost', shop, store))).toEqual([])
    expect(missingFrom(fleet, tell('usage-cost', store))).toEqual([{ operation: 'usage-cost', target: shop }])
  })

  it('looks at each operation by itself', () => {
    const told = [
      ...tell('check-backups', checkout, search, stock),
      ...tell('list-alerts', checkout, search),
      ...tell('usage-cost', shop, store),
    ]
    expect(missingFrom(fleet, told)).toEqual([{ operation: 'list-alerts', target: stock }])
  })

  it('takes a service of another organization for another service', () => {
    const told = tell('check-backups', checkout, search, { organizationId: 'shop', serviceId: 'stock' })
    expect(missingFrom(fleet, told)).toEqual([{ operation: 'check-backups', target: stock }])
  })

  it('misses everything when nothing is about the fleet', () => {
    expect(missingFrom(fleet, tell('validate', {}))).toEqual(fleet.services.map((target) => ({ operation: undefined, target })))
    expect(missingFrom({ ...fleet, services: [] }, [])).toEqual(fleet.organizations.map((target) => ({ operation: undefined, target })))
  })

  it('misses an operation that must be there and told of nothing', () => {
    const wanted = { ...fleet, operations: ['usage-cost'] }
    expect(missingFrom(wanted, tell('check-backups', checkout, search, stock))).toEqual([
      { operation: 'usage-cost', target: shop },
      { operation: 'usage-cost', target: store },
    ])
  })
})
