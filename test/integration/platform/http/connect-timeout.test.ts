import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { systemClock } from '../../../../src/platform/core/clock.ts'
import { type ExchangeFailure, failureOfExchange } from '../../../../src/platform/http/failure.ts'
import { createTransport, type Exchange } from '../../../../src/platform/http/transport.ts'
import { openBlackHole } from '../../../support/raw-server.ts'

it('R4: gives up a connection that is not made within 10 seconds', { tags: 'slow' }, async () => {
  // The clock of undici's limits, which ticks here as often as a test wants.
  const { tick } = createRequire(import.meta.url)('undici/lib/util/timers.js') as { readonly tick: (ms: number) => void }
  const hole = await openBlackHole()
  const url = new URL(`http://127.0.0.1:${hole.port}/x`)
  const exchange: Exchange = {
    method: 'POST',
    url,
    body: undefined,
    authorization: undefined,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  }
  const transport = createTransport(url, {}, systemClock)
  let failure: unknown
  const ended = transport.exchange(exchange).catch((thrown: unknown) => (failure = thrown))
  await new Promise((resolve) => setTimeout(resolve, 20))
  tick(0)
  tick(8000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(failure).toBeUndefined()
  tick(3000)
  await ended
  await transport.close()
  await hole.close()
  expect(failure).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' })
  expect(failureOfExchange(failure as ExchangeFailure, 60_000, undefined).detail).toContain('no connection within 10 s')
})
