import { expect, it } from 'vitest'
import { visitTelemetry } from '../../../src/emulator/product/telemetry.ts'

it('visits the rows at the first and at the last moment of a period', () => {
  const [fromMs, toMs] = [Date.parse('2026-11-23T10:00:00Z'), Date.parse('2026-11-23T10:02:00Z')]
  const times = new Set<number>()
  visitTelemetry('metric', { fromMs, toMs }, (_, atMs) => times.add(atMs))
  expect([...times]).toEqual([fromMs, fromMs + 60_000, toMs])
})
