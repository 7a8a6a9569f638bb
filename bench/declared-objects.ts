// Declaration files with any number of objects: one dashboard with two tiles, and its alerts, per file.

const objectsPerFile = 20

const tile = (name: string, x: number) => ({
  name,
  x,
  y: 0,
  w: 12,
  h: 4,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: `tile:${name}` }] },
})

/** What to write, by path under `observability/`. */
export function declareObjects(count: number): Readonly<Record<string, object>> {
  const starts = Array.from({ length: Math.ceil(count / objectsPerFile) }, (_, i) => i * objectsPerFile)
  return Object.fromEntries(
    starts.map((first) => [`observability/objects-${first}.yml`, declareFile(first, Math.min(objectsPerFile, count - first))]),
  )
}

function declareFile(first: number, count: number): object {
  const dashboard = `dashboard-${first}`
  const channel = { type: 'webhook', webhook: 'oncall' }
  const alerts = Array.from({ length: count - 1 }, (_, i) => {
    const target = { dashboard, tile: i % 2 === 0 ? 'A' : 'B' }
    return [`alert-${first + i}`, { name: `Alert ${first + i}`, ...target, threshold: i, interval: '5m', channel }]
  })
  return {
    dashboards: { [dashboard]: { name: `Dashboard ${first}`, tiles: [tile('A', 0), tile('B', 12)] } },
    alerts: Object.fromEntries(alerts),
  }
}
