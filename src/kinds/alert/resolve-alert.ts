import { didYouMean } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import type { Noun } from '../directory.ts'
import type { AlertTarget, Body, DeclaredObject, ResolveContext, ResolvedDeclaration } from '../kind.ts'
import { PendingId } from '../kind-names.ts'
import { createResolver, type Resolver } from '../resolve.ts'
import { alertableTypes, canCarryAlerts, type DeclaredAlert, displayTypeOf, toUtc } from './alert.ts'

/** Translates a declared alert into the API's names, and its references into ids. References that cannot be resolved become diagnostics. */
export function resolveAlert(declared: DeclaredObject<DeclaredAlert>, context: ResolveContext): ResolvedDeclaration {
  const resolver = createResolver(declared, context.directory)
  const { adopt: _, id: __, previousKey: ___, dashboard, tile, savedSearch, channel, channels, ...fields } = declared.value
  const watched =
    savedSearch === undefined
      ? { source: 'tile', ...tileIds({ dashboard, tile }, context, resolver) }
      : { source: 'saved_search', savedSearchId: objectId('savedSearch', savedSearch, context.savedSearches, resolver) }
  const body = {
    ...fields,
    ...(fields.scheduleStartAt != null && { scheduleStartAt: toUtc(fields.scheduleStartAt) }),
    ...watched,
    ...(channel && { channel: toChannel(channel, ['channel'], resolver) }),
    ...(channels && toChannels(channels.map((one, i) => toChannel(one, ['channels', i], resolver)))),
  }
  return { body: Object.fromEntries(Object.entries(body).filter(([, value]) => value != null)), diagnostics: resolver.diagnostics }
}

type Reference = NonNullable<DeclaredAlert['savedSearch']>

function objectId(
  noun: Extract<Noun, 'dashboard' | 'savedSearch'>,
  reference: Reference,
  declared: ReadonlyMap<string, AlertTarget>,
  resolver: Resolver,
): string | PendingId | undefined {
  if (typeof reference !== 'string')
    return 'id' in reference ? resolver.byId(noun, reference.id, [noun]) : resolver.byName(noun, reference.name, [noun])
  const target = declared.get(reference)
  if (target === undefined) return resolver.report([noun], `"${quote(reference, 60)}" is not a key in these files`)
  return target.id ?? new PendingId(noun === 'dashboard' ? 'dashboard' : 'savedSearch', reference)
}

type Watched = Pick<DeclaredAlert, 'dashboard' | 'tile'>

function tileIds({ dashboard, tile }: Watched, context: ResolveContext, resolver: Resolver): Body {
  if (dashboard === undefined || tile === undefined) return {}
  const dashboardId = objectId('dashboard', dashboard, context.dashboards, resolver)
  if (dashboardId === undefined) return {}
  const key = typeof dashboard === 'string' ? dashboard : undefined
  const tiles = key === undefined ? context.tilesOf(String(dashboardId)) : (context.dashboards.get(key)?.tiles ?? [])
  return { dashboardId, tileId: tileId({ tile, tiles, key }, resolver) }
}

interface TileSearch {
  readonly tile: NonNullable<DeclaredAlert['tile']>
  readonly tiles: readonly Body[]
  /** Key of the dashboard, where these files declare it. */
  readonly key: string | undefined
}

export function tileId({ tile, tiles, key }: TileSearch, resolver: Resolver): unknown {
  if (typeof tile !== 'string') {
    const known = tiles.find(({ id }) => id === tile.id)
    if (known === undefined) return resolver.report(['tile'], `the dashboard has no tile ${quote(tile.id, 60)}`)
    return canCarryAlerts(known) ? tile.id : resolver.report(['tile'], cannotCarry(known))
  }
  const [found, second] = tiles.filter(({ name }) => name === tile)
  if (found === undefined) {
    const nearest = didYouMean(
      tile,
      tiles.map(({ name }) => String(name)),
    )
    return resolver.report(['tile'], `the dashboard has no tile named "${quote(tile, 60)}"${nearest}`)
  }
  if (second !== undefined) return resolver.report(['tile'], `the dashboard has several tiles named "${quote(tile, 60)}"; use { id: … }`)
  if (!canCarryAlerts(found)) return resolver.report(['tile'], cannotCarry(found))
  return found.id ?? (key === undefined ? undefined : new PendingId('dashboard', key, tile))
}

const cannotCarry = (tile: Body): string =>
  `a tile of type ${quote(String(displayTypeOf(tile)), 40)} cannot have alerts; types that can: ${alertableTypes.join(', ')}`

/** Servers before 2.36 do not support `channels`, so a single channel is sent as `channel`. */
const toChannels = (channels: readonly Body[]): Body => (channels.length === 1 ? { channel: channels[0] } : { channels })

type Channel = NonNullable<DeclaredAlert['channel']>

function toChannel(channel: Channel, path: readonly PropertyKey[], resolver: Resolver): Body {
  if (channel.type !== 'webhook') return channel
  const { webhook, ...fields } = channel
  if (webhook !== undefined) return { ...fields, webhookId: resolver.byName('webhook', webhook, [...path, 'webhook']) ?? webhook }
  if (resolver.listsWebhooks && fields.webhookId !== undefined) resolver.byId('webhook', fields.webhookId, [...path, 'webhookId'])
  return fields
}
