// Owns turning a declared alert into what the API takes. What it watches may not be there yet, and so have no id.
import { didYouMean } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import type { Directory, Noun } from '../directory.ts'
import { alertableTypes, mayCarryAlerts } from '../lost-alerts.ts'
import { createResolver, PendingId, type ResolvedDeclaration, type Resolver } from '../resolve.ts'
import type { Body } from '../resource-type.ts'
import type { Declared } from '../resource-types.ts'
import type { DeclaredAlert } from './alert-declaration.ts'
import { toUtc } from './alert-type.ts'

/** An object of these files that an alert can watch. */
export interface AlertTarget {
  /** Undefined when it is to be created. */
  readonly id: string | undefined
  /** Of a dashboard as it will be, each with its id where it has one. */
  readonly tiles: readonly Body[]
}

export interface AlertContext {
  readonly directory: Directory
  readonly dashboards: ReadonlyMap<string, AlertTarget>
  readonly savedSearches: ReadonlyMap<string, AlertTarget>
  /** The tiles of a dashboard that exists, by its id. */
  tilesOf(dashboardId: string): readonly Body[]
}

export function resolveAlert(declared: Declared<'alerts'>, around: AlertContext): ResolvedDeclaration {
  const resolver = createResolver(declared, around.directory)
  const { adopt: _, id: __, previousKey: ___, dashboard, tile, savedSearch, channel, channels, ...fields } = declared.value
  const watched =
    savedSearch === undefined
      ? { source: 'tile', ...tileIds({ dashboard, tile }, around, resolver) }
      : { source: 'saved_search', savedSearchId: objectId('savedSearch', savedSearch, around.savedSearches, resolver) }
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
  if (target === undefined) return resolver.complain([noun], `"${quote(reference, 60)}" is no key of these files`)
  return target.id ?? new PendingId(noun === 'dashboard' ? 'dashboards' : 'savedSearches', reference)
}

type Watched = Pick<DeclaredAlert, 'dashboard' | 'tile'>

function tileIds({ dashboard, tile }: Watched, around: AlertContext, resolver: Resolver): Body {
  if (dashboard === undefined || tile === undefined) return {}
  const dashboardId = objectId('dashboard', dashboard, around.dashboards, resolver)
  if (dashboardId === undefined) return {}
  const key = typeof dashboard === 'string' ? dashboard : undefined
  const tiles = key === undefined ? around.tilesOf(String(dashboardId)) : (around.dashboards.get(key)?.tiles ?? [])
  return { dashboardId, tileId: tileId({ tile, tiles, key }, resolver) }
}

interface TileSearch {
  readonly tile: NonNullable<DeclaredAlert['tile']>
  readonly tiles: readonly Body[]
  /** Of the dashboard, where it is one of these files. */
  readonly key: string | undefined
}

function tileId({ tile, tiles, key }: TileSearch, resolver: Resolver): unknown {
  if (typeof tile !== 'string') {
    const known = tiles.find(({ id }) => id === tile.id)
    if (known === undefined) return resolver.complain(['tile'], `the dashboard has no tile ${quote(tile.id, 60)}`)
    return mayCarryAlerts(known) ? tile.id : resolver.complain(['tile'], cannotCarry(known))
  }
  const [found, second] = tiles.filter(({ name }) => name === tile)
  if (found === undefined) {
    const nearest = didYouMean(
      tile,
      tiles.map(({ name }) => String(name)),
    )
    return resolver.complain(['tile'], `the dashboard has no tile called "${quote(tile, 60)}"${nearest}`)
  }
  if (second !== undefined)
    return resolver.complain(['tile'], `the dashboard has several tiles called "${quote(tile, 60)}": give { id: … }`)
  if (!mayCarryAlerts(found)) return resolver.complain(['tile'], cannotCarry(found))
  return found.id ?? (key === undefined ? undefined : new PendingId('dashboards', key, tile))
}

const cannotCarry = ({ config }: Body): string =>
  `a tile of type ${quote(String((config as Body).displayType), 40)} carries no alerts; those that do: ${alertableTypes.join(', ')}`

/** Servers before 2.36 know no list: a single channel is sent as one. */
const toChannels = (channels: readonly Body[]): Body => (channels.length === 1 ? { channel: channels[0] } : { channels })

type Channel = NonNullable<DeclaredAlert['channel']>

function toChannel(channel: Channel, path: readonly PropertyKey[], resolver: Resolver): Body {
  if (channel.type !== 'webhook') return channel
  const { webhook, ...fields } = channel
  if (webhook !== undefined) return { ...fields, webhookId: resolver.byName('webhook', webhook, [...path, 'webhook']) }
  if (resolver.listsWebhooks && fields.webhookId !== undefined) resolver.byId('webhook', fields.webhookId, [...path, 'webhookId'])
  return fields
}
