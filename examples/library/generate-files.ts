// Writes observability/queues.json: a dashboard and an alert for each queue. The compiler checks the fields, and `validate` checks the
// rest. Use it for values that only a program knows. Otherwise, `instances` in a file are simpler.
//
//   node generate-files.ts
import { mkdir, writeFile } from 'node:fs/promises'
import { createClient, type DeclarationsFile } from 'watchkeeper'

// Such as from the configuration of a deployment.
const queues = [
  { name: 'orders', workers: 8 },
  { name: 'emails', workers: 2 },
]

const path = 'observability/queues.json'

const file: DeclarationsFile = {
  dashboards: Object.fromEntries(
    queues.map(({ name }) => [
      `queue-${name}`,
      {
        name: `Queue ${name}`,
        tags: ['queues'],
        tiles: [
          {
            name: 'Failed jobs',
            config: { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where: `queue:"${name}" SeverityText:error` }] },
          },
        ],
      },
    ]),
  ),
  alerts: Object.fromEntries(
    queues.map(({ name, workers }) => [
      `queue-${name}-failures`,
      {
        name: `Failed jobs of ${name}`,
        dashboard: `queue-${name}`,
        tile: 'Failed jobs',
        threshold: workers * 10,
        interval: '15m',
        channel: { type: 'webhook', webhook: 'oncall' },
        note: 'Look at the latest error of the queue.',
      },
    ]),
  ),
}

await mkdir('observability', { recursive: true })
await writeFile(path, `${JSON.stringify(file, null, 2)}\n`)

const { objectCount, diagnostics } = await createClient({ profile: 'clickhouse-cloud' }).validate({ files: [path] })
console.log(`${objectCount} objects in ${path}`)
for (const { severity, location, message } of diagnostics) console.error(`${severity} ${location.file}:${location.line ?? 1}: ${message}`)
if (diagnostics.length > 0) process.exitCode = 1
