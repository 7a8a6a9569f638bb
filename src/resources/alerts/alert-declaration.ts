import * as z from 'zod'
import { didYouMean } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { adoption } from '../declaration-fields.ts'
import type { Noun } from '../directory.ts'
import { alertableTypes, canCarryAlerts, displayTypeOf } from '../lost-alerts.ts'
import { createResolver, PendingId, type Resolver } from '../resolve.ts'
import type { AlertTarget, Body, DeclaredObject, ResolveContext, ResolvedDeclaration } from '../resource-type.ts'
import { conditionFields, emailChannel, toUtc, webhookChannelFields } from './alert-wire.ts'

/** The API takes 4096 characters of a message or a note, and the markers of this tool need room in one of them. */
const longestText = 3800

const text = (longest: number) => z.string().min(1).max(longest)

const reference = (noun: string) =>
  z.union([z.string().min(1), z.strictObject({ id: z.string().min(1) }), z.strictObject({ name: z.string().min(1) })]).meta({
    description: `${noun}: its key in these files, or { id: … } or { name: … } of one that exists.`,
    accepts: 'a key, { id: … } or { name: … }',
  })

const webhookChannel = z
  .strictObject({
    type: z.literal('webhook'),
    webhook: z.string().min(1).optional().meta({ description: 'The webhook by its name.' }),
    webhookId: z.string().min(1).optional().meta({ description: 'The webhook by its id.' }),
    ...webhookChannelFields,
  })
  .refine((channel) => (channel.webhook === undefined) !== (channel.webhookId === undefined), {
    message: 'must name one of webhook and webhookId',
    params: { isComplete: true },
  })

const channel = z.discriminatedUnion('type', [webhookChannel, emailChannel]).meta({ id: 'channel' })

/** Files have the fields in this order. */
export const declaredAlert = z.strictObject({
  name: text(512).meta({ description: 'What it is called; can be changed, the key stays.' }),
  dashboard: reference('The dashboard').optional(),
  tile: z
    .union([z.string().min(1), z.strictObject({ id: z.string().min(1) })])
    .optional()
    .meta({ description: 'The tile of the dashboard, by its name.', accepts: 'a name, or { id: … }' }),
  savedSearch: reference('The saved search').optional(),
  ...conditionFields,
  thresholdType: conditionFields.thresholdType.default('above'),
  channel: channel.optional().meta({ description: 'Whom it notifies.' }),
  channels: z.array(channel).min(1).max(10).optional().meta({ description: 'Several of them, instead of channel.' }),
  message: text(longestText).nullable().optional().meta({ description: 'Text of the notification.' }),
  note: text(longestText).nullable().optional().meta({ description: 'A note for the person on call: what to do. Markdown.' }),
  ...adoption,
})

export type DeclaredAlert = z.output<typeof declaredAlert>

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
  if (target === undefined) return resolver.report([noun], `"${quote(reference, 60)}" is no key of these files`)
  return target.id ?? new PendingId(noun === 'dashboard' ? 'dashboards' : 'savedSearches', reference)
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
  /** Of the dashboard, where it is one of these files. */
  readonly key: string | undefined
}

function tileId({ tile, tiles, key }: TileSearch, resolver: Resolver): unknown {
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
    return resolver.report(['tile'], `the dashboard has no tile called "${quote(tile, 60)}"${nearest}`)
  }
  if (second !== undefined) return resolver.report(['tile'], `the dashboard has several tiles called "${quote(tile, 60)}": give { id: … }`)
  if (!canCarryAlerts(found)) return resolver.report(['tile'], cannotCarry(found))
  return found.id ?? (key === undefined ? undefined : new PendingId('dashboards', key, tile))
}

const cannotCarry = (tile: Body): string =>
  `a tile of type ${quote(String(displayTypeOf(tile)), 40)} carries no alerts; those that do: ${alertableTypes.join(', ')}`

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
