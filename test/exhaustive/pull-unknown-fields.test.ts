import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { acceptingRewrites, afterPull, differing, emptyPlan, type SiteFiles, withSite } from '../support/site.ts'

const at = (value: unknown, ...path: (string | number)[]): JsonObject =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value) as JsonObject

/** Where unknown fields are added. In the neutral profile, alerts have documented fields only. */
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

const mapTexts = (files: SiteFiles, change: (text: string) => string): SiteFiles =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, change(String(text))]))

describe.each(['neutral', 'clickhouse-cloud'] as const)('%s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off', newFieldPrefix: 'novel' })

  it('F1: keeps unknown fields through a pull and an apply', async () => {
    for (const [place, path] of Object.entries(dialect === 'neutral' ? places : cloudPlaces)) {
      emulator().reset()
      const novel = { novel: { deep: [1, 'two', null] }, novelFlag: true }
      Object.assign(at(serviceOf(emulator()), ...path), novel)
      await withSite(emulator(), dialect, async (site) => {
        const pulled = await site.pull({})
        expect(pulled.leftOut, place).toBe(0)
        expect(
          pulled.diagnostics.filter(({ rule }) => rule !== 'rewrites-tiles'),
          place,
        ).toEqual([])
        const files = afterPull({}, pulled)
        expect(JSON.stringify(files), place).not.toContain('novel')
        expect(differing(await site.plan(files)), place).toEqual([])
        const renamed = mapTexts(files, (text) =>
          text.replaceAll(/^( {4}| {6}- )name: (\w)/gm, '$1name: New $2').replaceAll(/tile: (\w)/g, 'tile: New $1'),
        )
        // A tile keeps its id, and an alert its tile, although all of them are renamed.
        const withoutAdoption = mapTexts(renamed, (text) => text.replaceAll('    adopt: true\n', ''))
        expect(
          (await site.apply(acceptingRewrites(files))).objects.filter(
            ({ outcome, rewrites }) => outcome !== (rewrites ? 'updated' : 'adopted'),
          ),
          place,
        ).toEqual([])
        expect(at(serviceOf(emulator()), ...path), place).toMatchObject(novel)
        expect(
          (await site.apply(withoutAdoption)).objects.filter(({ outcome }) => outcome !== 'updated'),
          place,
        ).toEqual([])
        expect(at(serviceOf(emulator()), ...path), place).toMatchObject(novel)
        expect(await site.plan(withoutAdoption), place).toMatchObject({ ...emptyPlan, toAdopt: 0 })
        expect((await site.pull(withoutAdoption)).writtenFiles, place).toEqual([])
      })
    }
  })
})
