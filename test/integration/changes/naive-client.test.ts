// Why a create must not be repeated blindly: beside a client that does, on the same server with the same faults.
import { expect, it } from 'vitest'
import { demo, type Emulator } from '../../../src/emulator/index.ts'
import { serviceOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import { twentyObjects } from '../../support/shop-declaration.ts'
import { duplicateMarkersIn, withSite } from '../../support/site.ts'

const emulator = useEmulator({ rateLimit: 'off' })

/** Lists first, creates what is missing by name, and tries again three times after an error: as many do. */
async function naiveApply({ url }: Emulator, names: readonly string[]): Promise<void> {
  const root = `${url}/v1/organizations/${demo.organizationId}/services/${demo.services.checkout}/clickstack/dashboards`
  const authorization = `Basic ${Buffer.from(`${demo.apiKeyId}:${demo.apiKeySecret}`).toString('base64')}`
  const listed = (await (await fetch(root, { headers: { authorization } })).json()) as { readonly result: readonly { name: string }[] }
  for (const name of names.filter((one) => listed.result.every((other) => other.name !== one))) {
    const init = {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name, tiles: [] }),
    }
    for (let attempt = 1; attempt <= 3; attempt++) if ((await fetch(root, init)).ok) break
  }
}

/** Every first create of an object is carried out, and answered by a gateway that gave up. */
const failEveryCreate = (path: string, times: number): void => {
  for (let nth = 1; nth <= times; nth++)
    emulator().addFault({ match: { method: 'POST', path }, nth: 2 * nth - 1, act: 'after', effect: { kind: 'status', status: 502 } })
}

it('a client that lists first and repeats makes two of each', async () => {
  const names = ['One', 'Two', 'Three']
  failEveryCreate('/dashboards', names.length)
  await naiveApply(emulator(), names)
  const created = serviceOf(emulator()).dashboards.filter(({ name }) => names.includes(name))
  expect(created.map(({ name }) => name)).toEqual(['One', 'One', 'Two', 'Two', 'Three', 'Three'])
})

it('W1: creates one object of each although the answers are lost, and reports it', async () => {
  const { dashboards, alerts } = twentyObjects(serviceOf(emulator()).webhooks[0]?.id ?? '')
  // The validations of the dashboards come first.
  for (const [path, nth] of [
    ['/dashboards', 4],
    ['/alerts', 1],
  ] as const)
    emulator().addFault({ match: { method: 'POST', path }, nth, times: 4, act: 'after', effect: { kind: 'status', status: 502 } })
  const few = Object.fromEntries(Object.entries(alerts).slice(0, 4))
  await withSite(emulator(), 'clickhouse-cloud', async ({ apply }) => {
    const { objects } = await apply({ 'a.json': { dashboards, alerts: few } })
    expect(objects.map(({ outcome }) => outcome)).toEqual(Array(7).fill('created'))
  })
  expect(duplicateMarkersIn(emulator())).toEqual([])
  expect(emulator().requests.filter((one) => one.method === 'POST' && !storesNothing(one))).toHaveLength(7)
})
