// Owns files that declare as many objects as a benchmark asks for: a dashboard of two tiles in each, and its alerts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'

const objectsPerFile = 20

const tile = (name: string, x: number) => ({
  name,
  x,
  y: 0,
  w: 12,
  h: 4,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: `tile:${name}` }] },
})

/** Writes YAML into `directory/observability`. */
export function writeDeclarations(directory: string, count: number): void {
  mkdirSync(join(directory, 'observability'), { recursive: true })
  for (let first = 0; first < count; first += objectsPerFile) {
    const dashboard = `dashboard-${first}`
    const alerts = Array.from({ length: Math.min(objectsPerFile, count - first) - 1 }, (_, i) => {
      const target = { dashboard, tile: i % 2 === 0 ? 'A' : 'B' }
      const channel = { type: 'webhook', webhook: 'oncall' }
      return [`alert-${first + i}`, { name: `Alert ${first + i}`, ...target, threshold: i, interval: '5m', channel }]
    })
    const declared = {
      dashboards: { [dashboard]: { name: `Dashboard ${first}`, tiles: [tile('A', 0), tile('B', 12)] } },
      alerts: Object.fromEntries(alerts),
    }
    writeFileSync(join(directory, 'observability', `${dashboard}.yml`), stringify(declared))
  }
}
