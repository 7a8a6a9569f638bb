const fakeUuid = (last: string) => `c0ffee00-0000-4000-8000-${last.padStart(12, '0')}`

/** Ids and credentials of the demo data, for tests, examples and the demo itself. They are not secrets. */
export const demo = {
  organizationId: fakeUuid('1'),
  warehouseId: fakeUuid('d1'),
  services: {
    checkout: fakeUuid('c1'),
    catalog: fakeUuid('c2'),
    search: fakeUuid('c3'),
  },
  /** Has all permissions. */
  apiKeyId: 'demoADMINkey00000001',
  apiKeySecret: 'demo-secret-that-opens-nothing-000000001',
  keys: {
    /** May only read the usage cost. */
    billing: { id: 'demoBILLINGkey000002', secret: 'demo-secret-that-opens-nothing-000000002' },
    /** May only use the observability resources. */
    observability: { id: 'demoOBSERVEkey000003', secret: 'demo-secret-that-opens-nothing-000000003' },
    /** Disabled: every request is a 401. */
    disabled: { id: 'demoDISABLEDkey00004', secret: 'demo-secret-that-opens-nothing-000000004' },
  },
} as const

export type ServiceName = keyof typeof demo.services
