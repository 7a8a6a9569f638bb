// Owns how alerts and saved searches stand in a file.
import { comparable } from '../compose.ts'
import { ownTags } from '../kinds/dashboard-kind.ts'
import { declaredSavedSearch } from '../kinds/declared-alert.ts'
import type { Body, Kind } from '../kinds/kind.ts'
import { savedSearchKind } from '../kinds/saved-search-kind.ts'
import type { Naming } from './naming.ts'
import type { Written } from './written.ts'
import { plainValue, writtenValue } from './written-value.ts'

interface AlertSayings {
  readonly kind: Kind
  readonly naming: Naming
  /** Whether a single channel stands in the list of channels. */
  readonly usesChannels?: boolean
}

/** In the order in which somebody reads an alert: what, where, when, whom, and what then. */
export function writtenAlert(body: Body, { kind, naming, usesChannels = false }: AlertSayings): Written {
  const lean = plainValue(comparable(kind, body)) as Body
  const channels = (lean.channels as readonly Body[] | undefined)?.map((channel) => writtenChannel(channel, naming)) ?? []
  const [channel] = channels
  const fields = {
    name: lean.name,
    ...writtenTarget(lean, naming),
    groupBy: lean.groupBy,
    threshold: lean.threshold,
    thresholdMax: lean.thresholdMax,
    thresholdType: lean.thresholdType === 'above' ? undefined : lean.thresholdType,
    interval: lean.interval,
    scheduleOffsetMinutes: lean.scheduleOffsetMinutes,
    scheduleStartAt: typeof lean.scheduleStartAt === 'string' ? lean.scheduleStartAt.replace(/\.000Z$/, 'Z') : lean.scheduleStartAt,
    numConsecutiveWindows: lean.numConsecutiveWindows,
    ...(channels.length === 1 && !usesChannels ? { channel } : { channels: channels.length === 0 ? undefined : channels }),
    message: lean.message,
    note: lean.note,
  }
  return { fields: withoutNothing(fields), identities: new Map() }
}

function writtenTarget({ source, dashboardId, tileId, savedSearchId }: Body, naming: Naming): Body {
  if (source === 'saved_search') return { savedSearch: savedSearchId == null ? undefined : naming.target('savedSearches', savedSearchId) }
  return {
    dashboard: dashboardId == null ? undefined : naming.target('dashboards', dashboardId),
    tile: tileId == null ? undefined : naming.tile(dashboardId, tileId),
  }
}

function writtenChannel({ type, webhookId, ...others }: Body, naming: Naming): Body {
  return withoutNothing({ type, ...(webhookId == null ? {} : naming.webhook(webhookId)), ...others })
}

export function writtenSavedSearch(body: Body, naming: Naming): Written {
  const full = { ...body, tags: ownTags(body.tags) }
  const lean = { ...comparable(savedSearchKind, full), ...(full.tags.length > 0 && { tags: full.tags }) }
  const { name, tags, ...others } = writtenValue({ full, lean }, declaredSavedSearch, naming) as Body
  return { fields: withoutNothing({ name, tags, ...others }), identities: new Map() }
}

const withoutNothing = (fields: Body): Body => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
