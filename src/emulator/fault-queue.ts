import { type Fault, faultSchema } from './faults.ts'

export interface FaultQueue {
  readonly size: number
  /** Throws on a fault that is not one. */
  add(fault: Fault): void
  /** Counts the request for every fault that matches it, and gives the oldest one whose turn it is. */
  take(method: string, path: string): Fault | undefined
  clear(): void
}

export function createFaultQueue(): FaultQueue {
  const entries: { readonly fault: Fault; seen: number }[] = []
  return {
    get size() {
      return entries.length
    },
    add(fault) {
      entries.push({ fault: faultSchema.parse(fault), seen: 0 })
    },
    take(method, path) {
      let taken: Fault | undefined
      for (const entry of entries) {
        if (!matches(entry.fault, method, path)) continue
        entry.seen++
        if (isTurn(entry.fault, entry.seen)) taken ??= entry.fault
      }
      return taken
    },
    clear() {
      entries.length = 0
    },
  }
}

const matches = ({ match }: Fault, method: string, path: string): boolean =>
  (match?.method === undefined || match.method.toUpperCase() === method) && (match?.path === undefined || path.includes(match.path))

const isTurn = ({ nth = 1, times = 1 }: Fault, seen: number): boolean => seen >= nth && seen < nth + times
