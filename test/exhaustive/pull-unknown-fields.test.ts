// Fields that this tool does not know: a pull leaves them out, plan sees no difference, and an update by apply leaves them there.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/emulator/index.ts'
import { useEmulator } from '../support/emulator.ts'
import { afterPull, emptyPlan, storeOf, withSite } from '../support/site.ts'

const at = (value: unknown, ...path: (string | number)[]): JsonObject =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value) as JsonObject

/** Where they are put; the neutral contract answers no field of an alert but its own. */
const places: Readonly<Record<string, readonly (string | number)[]>> = {
  'a dashboard': ['dashboards', 0],
  'a tile': ['dashboards', 0, 'tiles', 0],
  'a config': ['dashboards', 0, 'tiles', 0, 'config'],
  'an item of a config': ['dashboards', 0, 'tiles', 0, 'config', 'select', 0],
  'a filter': ['dashboards', 0, 'filters', 0],
}
const cloudPlaces = {
  ...places,
  'an alert': ['alerts', 0],
  'a channel': ['alerts', 0, 'channels', 0],
  'a saved search': ['savedSearches', 0],
}

describe.each(['neutral', 'clickhouse-cloud'] as const)('%s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off', newFieldPrefix: 'novel' })

  const all = Object.entries(dialect === 'neutral' ? places : cloudPlaces)

  it.each(all)('fields that nobody knows survive a pull and an apply: of %s', async (_, path) => {
    const novel = { novel: { deep: [1, 'two', null] }, novelFlag: true }
    Object.assign(at(storeOf(emulator()), ...path), novel)
    await withSite(emulator(), dialect, async (site) => {
      const pulled = await site.pull({})
      expect(pulled).toMatchObject({ leftOut: 0, diagnostics: [] })
      const files = afterPull({}, pulled)
      expect(JSON.stringify(files)).not.toContain('novel')
      expect(await site.plan(files)).toMatchObject(emptyPlan)
      const changed = Object.fromEntries(
        Object.entries(files).map(([file, text]) => [
          file,
          String(text)
            .replaceAll(/^( {4}| {6}- )name: (\w)/gm, '$1name: New $2')
            .replaceAll(/tile: (\w)/g, 'tile: New $1'),
        ]),
      )
      // A tile keeps its id, and an alert its tile, although all are called something else.
      const renamed = Object.fromEntries(Object.entries(changed).map(([file, text]) => [file, text.replaceAll('    adopt: true\n', '')]))
      expect((await site.apply(files)).objects.filter(({ outcome }) => outcome !== 'adopted')).toEqual([])
      expect(at(storeOf(emulator()), ...path)).toMatchObject(novel)
      expect((await site.apply(renamed)).objects.filter(({ outcome }) => outcome !== 'updated')).toEqual([])
      expect(at(storeOf(emulator()), ...path)).toMatchObject(novel)
      expect(await site.plan(renamed)).toMatchObject({ ...emptyPlan, toAdopt: 0 })
      expect((await site.pull(renamed)).writtenFiles).toEqual([])
    })
  })
})
