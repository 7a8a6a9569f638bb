import { expect, it } from 'vitest'
import { cases } from './cases/index.ts'
import { compareEmulator } from './support.ts'

it('the emulator answers as self-hosted HyperDX does', async () => {
  const { count, differences } = await compareEmulator('hyperdx')
  expect(differences).toBe('')
  expect(count).toBe(cases.length)
})
