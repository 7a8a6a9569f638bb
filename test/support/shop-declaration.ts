// Twenty objects that depend on each other: three dashboards, seventeen alerts on their tiles.
const tile = (name: string, x: number) => ({
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
      { name: `Dashboard ${key}`, tags: ['twenty'], tiles: tiles.map((name, i) => tile(name, i * 6)) },
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
