import * as z from 'zod'
import { isMapping } from '../core/keys.ts'
import { ownValue } from '../documents/schema.ts'
import { normalForm } from './compare.ts'
import { effectiveTile } from './dashboard/tile-ids.ts'
import { builtConfig, writtenConfig } from './dashboard/tile-schema.ts'
import type { Body, FileContext } from './kind.ts'
import { spellFields } from './spell.ts'

const chart = z.union([builtConfig, writtenConfig])

/** The query of an alert as a file has it, from the tile that the alert is on; undefined where the tile is unknown. */
export function spellQuery(tile: Body | undefined, spelled: unknown, context: FileContext): Body | undefined {
  const value = tile && effectiveTile(tile).config
  if (!isMapping(value)) return undefined
  const inFile = { ...(isMapping(spelled) && spelled), sqlTemplate: ownValue(spelled, 'sql') }
  const config = spellFields({ value, normalized: normalForm(value, chart), spelled: inFile }, chart, context)
  const { configType: _, displayType: __, sqlTemplate: sql, ...fields } = config
  return { ...(sql !== undefined && { sql }), ...fields }
}
