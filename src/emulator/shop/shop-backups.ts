import type { ServiceName } from '../demo.ts'
import type { DemoIds } from '../ids.ts'
import type { Backup } from '../store.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const count = 10

/** How long ago the newest one was finished, or began where it failed. */
const newestAgeHours: Readonly<Record<ServiceName, number>> = { checkout: 3, catalog: 50, search: 5 }

const fullBytes: Readonly<Record<ServiceName, number>> = { checkout: 48_318_382_080, catalog: 21_474_836_480, search: 8_589_934_592 }

export function createBackups(ids: DemoIds, serviceId: string, name: ServiceName, atMs: number): Backup[] {
  const newestMs = atMs - newestAgeHours[name] * hourMs
  return Array.from({ length: count }, (_, index) => {
    const full = index % 7 === 2
    const minutes = (full ? 42 : 9) + ((index * 5) % 7)
    const finishedMs = newestMs - index * 24 * hourMs
    return createBackup(ids, serviceId, name, { full, minutes, finishedMs, failed: name === 'search' && index === 0, index })
  })
}

interface Facts {
  readonly full: boolean
  readonly minutes: number
  readonly finishedMs: number
  readonly failed: boolean
  readonly index: number
}

function createBackup(ids: DemoIds, serviceId: string, name: ServiceName, { full, minutes, finishedMs, failed, index }: Facts): Backup {
  const startedAt = new Date(finishedMs - minutes * minuteMs).toISOString()
  // A shop grows: the further back, the smaller.
  const bytes = Math.round((fullBytes[name] / (full ? 1 : 16)) * (1 - index * 0.004))
  return {
    id: ids.uuid(),
    status: failed ? 'error' : 'done',
    serviceId,
    startedAt,
    // Documented for finished backups only; a failed one has none.
    ...(!failed && { finishedAt: new Date(finishedMs).toISOString() }),
    sizeInBytes: failed ? 0 : bytes,
    durationInSeconds: minutes * 60,
    type: full ? 'full' : 'incremental',
    backupName: `${name}-${startedAt.slice(0, 10)}`,
    bucket: {
      bucketProvider: 'AWS',
      bucketPath: `https://demo-shop-backups.s3.example/${name}`,
      iamRoleArn: 'arn:aws:iam::000000000000:role/demo-shop-backups',
      iamRoleSessionName: `demo-shop-${name}`,
    },
  }
}
