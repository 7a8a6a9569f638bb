// Somebody else at work at the same time: the service is edited while a certain request of ours is under way.
import { setTimeout as wait } from 'node:timers/promises'
import type { Emulator, Fault } from '../../src/emulator/index.ts'

type Match = NonNullable<Fault['match']>

/** Edits when the `nth` request that matches has arrived, and before the server acts on it. */
export function editDuring(emulator: Emulator, match: Match, edit: () => void, nth = 1): void {
  const before = emulator.requests.length
  emulator.addFault({ match, nth, effect: { kind: 'delay', ms: 25 } })
  const isMatch = ({ method, path }: Emulator['requests'][number]): boolean =>
    (match.method ?? method) === method && path.includes(match.path ?? '')
  const watch = async (): Promise<void> => {
    // As long as a test may take.
    for (const end = performance.now() + 20_000; performance.now() < end; await wait(1)) {
      if (emulator.requests.slice(before).filter(isMatch).length >= nth) return edit()
    }
  }
  void watch()
}
