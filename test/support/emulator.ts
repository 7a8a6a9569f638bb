// One emulator for a test file, in the state it was born in before every test.
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { demo, type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'

/** A getter, because the emulator only exists once the tests run. */
export function useEmulator(options: EmulatorOptions = {}): () => Emulator {
  let emulator: Emulator | undefined
  beforeAll(async () => {
    emulator = await startEmulator(options)
  })
  beforeEach(() => emulator?.reset())
  afterAll(() => emulator?.close())
  return () => {
    if (emulator === undefined) throw new Error('the emulator runs inside tests only')
    return emulator
  }
}

/** Common inputs of the action for the demo's first service. */
export const inputsFor = ({ url }: Pick<Emulator, 'url'>, dialect: EmulatorOptions['dialect'] = 'neutral'): Record<string, string> => ({
  'api-url': url,
  'api-key-id': demo.apiKeyId,
  'api-key-secret': demo.apiKeySecret,
  'organization-id': demo.organizationId,
  'service-id': demo.services.checkout,
  ...(dialect === 'clickhouse-cloud' && { profile: dialect }),
})

export const ids = {
  dashboard: '65f5e4a35eedc0de0000000c',
  tile: '65f5e4a35eedc0de0000000e',
  webhook: '65f5e4a35eedc0de00000009',
  alert: '65f5e4a35eedc0de0000001f',
} as const

/** The methods of the requests that arrived, in order. */
export const methodsOf = ({ requests }: Emulator): readonly string[] => requests.map(({ method }) => method)

export const basicPair = Buffer.from(`${demo.apiKeyId}:${demo.apiKeySecret}`).toString('base64')

/** What must be in no output. */
export const secrets: readonly string[] = [demo.apiKeySecret, basicPair]
