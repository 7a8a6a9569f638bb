// The emulator as a child process: tells its address, and then the number of new requests whenever it is asked.
import { type LoggedRequest, startEmulator } from '../src/emulator/index.ts'
import type { ServerOptions } from './server.ts'

const { latencyMs = 0, ...options } = JSON.parse(process.argv[2] ?? '{}') as ServerOptions // From server.ts.
const emulator = await startEmulator(options)
if (latencyMs > 0) emulator.addFault({ times: Number.POSITIVE_INFINITY, effect: { kind: 'delay', ms: latencyMs } })
const log = emulator.requests as LoggedRequest[] // To empty it.

process.on('message', () => {
  process.send?.(log.length)
  // Kept, they would be this process's memory and its collector's work.
  log.length = 0
})
process.on('disconnect', () => process.exit())
process.send?.(emulator.url)
