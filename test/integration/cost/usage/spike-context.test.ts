import { beforeEach, describe, expect, it } from 'vitest'
import { findSpikeDeployments } from '../../../../src/cost/usage/spike-context.ts'
import { type Activity, demo } from '../../../../src/emulator/index.ts'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'
import { fillUsage, inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

let today: Day
beforeEach(() => {
  today = fillUsage(emulator(), 60, [
    { name: 'checkout', microOn: (ago) => ({ compute: ago === 5 ? 90_000_000 : 10_000_000 }), locked: true },
  ])
})

const run = (inputs: Readonly<Record<string, string>> = {}) =>
  invokeText({
    inputs: {
      ...inputsFor(emulator(), 'clickhouse-cloud'),
      operation: 'usage-cost',
      period: 'last-10-days',
      budget: '500',
      ...inputs,
    },
  })

/** Each activity as its type and the days before today. */
function happen(...all: readonly (readonly [type: string, daysAgo: number])[]): void {
  const [organization] = emulator().store.organizations
  const [example] = organization?.activities ?? []
  if (organization === undefined || example === undefined) throw new Error('the shop has no activities')
  organization.activities = all.map(
    ([type, ago], i): Activity => ({
      ...example,
      id: `c0ffee00-0000-4000-8000-0000000000${10 + i}`,
      type,
      createdAt: `${addDays(today, -ago)}T10:00:00.000Z`,
      serviceId: demo.services.checkout,
      actorType: 'user',
      actorDetails: 'ada@example.com from 203.0.113.7',
    }),
  )
}

const pathsOf = (): readonly string[] => emulator().requests.map(({ path }) => path.replace(/^.*\/|\?.*$/g, ''))

describe('what changed at the time of a spike', () => {
  it('lists changes on the day of a spike and the day before, and no other day or kind', async () => {
    happen(
      ['service_update_autoscaling_memory', 6],
      ['service_restore_backup', 5],
      ['service_start', 4],
      ['service_create', 7],
      ['service_awaken', 5],
      ['user_login', 5],
    )
    const ran = await run()
    expect(ran.document.spikeContext).toMatchObject([
      { spike: addDays(today, -5), at: `${addDays(today, -6)}T10:00:00.000Z`, change: 'scaling changed: memory', actorType: 'user' },
      { spike: addDays(today, -5), at: `${addDays(today, -5)}T10:00:00.000Z`, change: 'restored from a backup' },
    ])
    const text = JSON.stringify(ran.blocks)
    expect(text).toContain('They need not be the cause.')
    expect(`${text}${JSON.stringify(ran.document)}`).not.toMatch(/ada@example|203\.0\.113/)
    expect(pathsOf().filter((path) => path === 'activities')).toHaveLength(1)
  })

  it('says that nothing changed', async () => {
    happen(['user_login', 5])
    expect(JSON.stringify((await run()).blocks)).toContain('No changes of services on the day of a spike or the day before.')
  })

  it('sends no request without a spike', async () => {
    fillUsage(emulator(), 60, [{ name: 'checkout', microOn: () => ({ compute: 10_000_000 }), locked: true }])
    const ran = await run()
    expect([ran.document.spikes, ran.document.spikeContext]).toEqual([[], undefined])
    expect(pathsOf()).not.toContain('activities')
  })

  it('leaves out what the key may not read, and does not change the verdict', async () => {
    const [key] = emulator().store.keys
    if (key !== undefined) key.permissions = key.permissions.filter((permission) => !permission.endsWith('activities'))
    const ran = await run()
    expect(ran.document.status).toBe('pass')
    expect(ran.document.spikeContext).toBeUndefined()
    expect(pathsOf()).toContain('activities')
  })
})

it('lists a deployment once when several entities have a spike on that day', async () => {
  const deployment = { atMs: Date.parse('2026-05-04T08:00:00Z'), environment: 'production', ref: 'main', commit: 'abc' }
  const spikes = ['2026-05-04', '2026-05-04'].map((date) => ({ date: date as Day }))
  expect(await findSpikeDeployments(async () => [deployment], spikes)).toMatchObject([{ spike: '2026-05-04' }])
  const later = { ...deployment, atMs: Date.parse('2026-05-09T08:00:00Z') }
  const lastFirst = ['2026-05-10', '2026-05-04'].map((date) => ({ date: date as Day }))
  expect((await findSpikeDeployments(async () => [deployment, later], lastFirst))?.map(({ spike }) => spike)).toEqual([
    '2026-05-04',
    '2026-05-10',
  ])
  // The first 20 of a day, on which hundreds may have been deployed.
  const many = Array.from({ length: 25 }, (_, i) => ({ ...deployment, commit: String(i) }))
  expect((await findSpikeDeployments(async () => many, spikes))?.map(({ commit }) => commit)).toEqual(
    many.slice(0, 20).map(({ commit }) => commit),
  )
})
