// The emulator as a child process: tells its address, and then the number of new requests whenever it is asked.
import { type EmulatorOptions, type LoggedRequest, startEmulator } from '../src/emulator/index.ts'

const emulator = await startEmulator(JSON.parse(process.argv[2] ?? '{}') as EmulatorOptions)
const log = emulator.requests as LoggedRequest[]

process.on('message', () => {
  process.send?.(log.length)
  // Kept, they would be this process's memory and its collector's work.
  log.length = 0
})
process.on('disconnect', () => process.exit())
process.send?.(emulator.url)
