import { expect, it } from 'vitest'
import { cases } from './cases/index.ts'
import { compareEmulator } from './support.ts'

it('the emulator answers as HyperDX does behind the gateway of ClickHouse Cloud', async () => {
  const { count, differences } = await compareEmulator('clickhouse-cloud')
  expect(differences).toBe('')
  expect(count).toBe(cases.filter(({ dialects }) => dialects?.includes('clickhouse-cloud') !== false).length)
})
