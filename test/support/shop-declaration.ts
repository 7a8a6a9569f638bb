import type { Site } from './site.ts'

// A declaration that is small enough to see what a test changes about it, and short words for what became of it.

export const line = { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count' }] }

export const tile = (name: string, y = 0, config: object = line) => ({ name, x: 0, y, w: 6, h: 4, config })

/** What every alert has; its channel is a webhook by name, which needs a profile that can list them. */
export const watching = { threshold: 1, interval: '5m', note: 'n', channel: { type: 'webhook', webhook: 'oncall' } }

export const shop = { name: 'Shop', tags: ['shop'], tiles: [tile('A'), tile('B', 4)] }

export const errors = { name: 'Errors', dashboard: 'shop', tile: 'A', ...watching }

export const slow = { name: 'Slow', sourceId: { source: 'Logs' }, where: 'duration:>1' }

/** An alert on the saved search. */
export const many = { name: 'Many', savedSearch: 'slow', ...watching }

type Result = Awaited<ReturnType<Site['apply']>>

/** Outcomes by key, or by name where the key cannot be read from the marker. */
export const outcomes = ({ objects }: Pick<Result, 'objects'>) =>
  Object.fromEntries(objects.map(({ key, name, outcome }) => [key || name, outcome]))

export const actions = ({ objects }: Pick<Result, 'objects'>) =>
  Object.fromEntries(objects.map(({ key, name, action }) => [key || name, action]))

export const errorsIn = ({ diagnostics }: Pick<Result, 'diagnostics'>) => diagnostics.filter(({ severity }) => severity === 'error')

export const errorRules = (result: Pick<Result, 'diagnostics'>) => errorsIn(result).map(({ rule }) => rule)

// Twenty objects that depend on each other: three dashboards, seventeen alerts on their tiles.
const tileAt = (name: string, x: number) => ({
  name,
  x,
  y: 0,
  w: 6,
  h: 4,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: `tile:${name}` }] },
})

const tiles = ['A', 'B', 'C', 'D'] as const

export function twentyObjects(webhookId: string) {
  const dashboards = Object.fromEntries(
    ['first', 'second', 'third'].map((key) => [
      key,
      { name: `Dashboard ${key}`, tags: ['twenty'], tiles: tiles.map((name, i) => tileAt(name, i * 6)) },
    ]),
  )
  const alerts = Object.fromEntries(
    Array.from({ length: 17 }, (_, i) => {
      const dashboard = ['first', 'second', 'third'][i % 3]
      const fields = { name: `Alert ${i}`, dashboard, tile: tiles[i % 4], threshold: i + 1, interval: '5m', message: `Message ${i}` }
      return [`alert-${i}`, { ...fields, channel: { type: 'webhook', webhookId } }]
    }),
  )
  return { dashboards, alerts }
}
