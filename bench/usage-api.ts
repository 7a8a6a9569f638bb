// The usage of as many services as the address says, `http://127.0.0.1:PORT/40`: the emulator has a handful of services.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { addDays, countDays, type Day } from '../src/platform/core/dates.ts'

export interface UsageApi {
  urlOf(services: number): string
  /** Requests since the last call. */
  takeRequestCount(): number
}

export async function withUsageApi<T>(use: (api: UsageApi) => Promise<T>): Promise<T> {
  let requests = 0
  // Made once: the time of the server is not part of what is measured.
  const answers = new Map<string, string>()
  const server = createServer((request, response) => {
    requests += 1
    const { url = '' } = request
    const answer = answers.get(url) ?? answerTo(new URL(url, 'http://x'))
    answers.set(url, answer)
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo // It listens on a port, not on a pipe.
    return await use({
      urlOf: (services) => `http://127.0.0.1:${port}/${services}`,
      takeRequestCount() {
        const count = requests
        requests = 0
        return count
      },
    })
  } finally {
    server.close()
  }
}

function answerTo({ pathname, searchParams }: URL): string {
  // The tool sends days.
  const [from, to] = [searchParams.get('from_date') as Day, searchParams.get('to_date') as Day]
  return JSON.stringify({ status: 200, result: usageOf(Number(pathname.split('/')[1]), from, to) })
}

/** A record for each service and day. Amounts are whole millionths, so that their sum is exact. */
function usageOf(services: number, from: Day, to: Day): object {
  const days = Array.from({ length: countDays(from, to) }, (_, i) => addDays(from, i))
  const records = days.flatMap((date, day) =>
    Array.from({ length: services }, (_, service) => {
      const id = `aaaaaaaa-aaaa-4aaa-8aaa-${service.toString(16).padStart(12, '0')}`
      const compute = 1_000_000 + ((day + service) % 7) * 123_457
      return { date, id, service, compute, total: compute + 375_000 }
    }),
  )
  const amount = (millionths: number): number => millionths / 1_000_000
  return {
    grandTotalCHC: amount(records.reduce((sum, { total }) => sum + total, 0)),
    costs: records.map(({ date, id, service, compute, total }) => ({
      dataWarehouseId: id,
      serviceId: id,
      date,
      entityType: 'service',
      entityId: id,
      entityName: `service ${service}`,
      metrics: { storageCHC: 0.25, backupCHC: 0.125, computeCHC: amount(compute) },
      totalCHC: amount(total),
      locked: true,
    })),
  }
}
