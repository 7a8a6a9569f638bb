import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { messages, readText } from '../../support/declarations.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { withSite } from '../../support/site.ts'

const text = readFileSync(new URL('../../../examples/typical/checkout.yml', import.meta.url), 'utf8')
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

it('three alerts and a dashboard with three tiles take at most 45 lines', () => {
  const { objects, diagnostics } = readText(text)
  expect(messages(diagnostics)).toEqual([])
  expect(objects.map(({ kind }) => kind)).toEqual(['dashboard', 'alert', 'alert', 'alert'])
  expect(objects[0]?.value).toMatchObject({ tiles: [{ name: 'Errors' }, { name: 'Requests' }, { name: 'Latency' }] })
  expect(readFileSync(new URL('../../../docs/files.md', import.meta.url), 'utf8')).toContain(`\`\`\`yaml\n${text}\`\`\``)
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(45)
})

it('pull writes the example as it is, with the place of each tile', async () => {
  Object.assign(serviceOf(emulator()), { dashboards: [], savedSearches: [], alerts: [] })
  await withSite(emulator(), 'clickhouse-cloud', async (site) => {
    await site.apply({ 'observability/checkout.yml': text })
    const { writtenFiles } = await site.pull({})
    const withoutPlaces = (content: string): string => content.replaceAll(/^ +at: \[.*\]\n/gm, '')
    expect(writtenFiles.map(({ path, content }) => [path, withoutPlaces(String(content))])).toEqual([['observability/checkout.yml', text]])
  })
})
