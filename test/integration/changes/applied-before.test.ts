// Objects that were applied before each kind became one definition, with their markers. Their plans must stay empty.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { withSite } from '../../support/site.ts'

const recorded = JSON.parse(readFileSync(new URL('../../corpus/applied-before-kinds.json', import.meta.url), 'utf8')) as Record<
  'clickhouse-cloud' | 'hyperdx',
  { readonly declared: Readonly<Record<string, object>>; readonly stored: Readonly<Record<string, readonly object[]>> }
>

const secrets = {
  WEBHOOK_EVERY_URL: 'https://hooks.example.com/every/field',
  WEBHOOK_EVERY_TOKEN: 'Bearer every-field',
  WEBHOOK_EVERY_KEY: 'every-field',
}

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('a service that an earlier version applied, profile %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const { declared, stored } = recorded[dialect]

  it('has an empty plan, with objects of all five kinds', async () => {
    Object.assign(serviceOf(emulator()), structuredClone(stored))
    const planned = await withSite({ url: emulator().url, secrets }, dialect, (site) => site.plan({ 'a.json': declared }))
    expect(planned.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    expect([...new Set(planned.objects.map(({ kind, action }) => `${kind} ${action}`))].toSorted()).toEqual([
      'alert unchanged',
      'dashboard unchanged',
      'savedSearch unchanged',
      'source unchanged',
      'webhook unchanged',
    ])
  })
})
