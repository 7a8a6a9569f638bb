// Every operation with its example, and a directory in which the examples can be run.
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { demo, type Emulator } from '../../src/emulator/index.ts'
import { operationNames, operations } from '../../src/operations.ts'
import type { Operation } from '../../src/platform/operation/operation.ts'

export const allOperations = await Promise.all(
  operationNames.map(async (name) => ({ name, operation: (await operations[name]()) as Operation })),
)

/** Some operations write files: they find the examples in a directory of their own. */
export function useExampleDirectory(): () => string {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'watchkeeper-examples-'))
    // By default, pull reads `observability`, so the declarations are elsewhere.
    const paths = {
      'adopt/alerts.yml': 'alerts.yml',
      'observability/checkout.yml': 'checkout.yml',
      slos: 'examples/slos',
      'backups.yml': 'backups.yml',
      grafana: 'examples/grafana',
      'web-app': 'examples/web-app',
    }
    for (const [path, target] of Object.entries(paths))
      await cp(new URL(`../../examples/${path}`, import.meta.url), join(root, target || path), { recursive: true })
  })
  afterAll(() => rm(root, { recursive: true }))
  return () => root
}

/** For operations that run SQL in ClickHouse Cloud. */
export const sqlKeyOf = ({ url }: Emulator): Readonly<Record<string, string>> => ({
  'sql-url': url,
  'sql-key-id': demo.apiKeyId,
  'sql-key-secret': demo.apiKeySecret,
})

/** What needs no service is about the files of this repository, which are written for a product. A restored service is made first. */
export function placeFor({ scope, example }: Operation, emulator: Emulator): Record<string, string> {
  if (scope === 'none') return { profile: 'clickhouse-cloud' }
  if (!('original' in example)) return {}
  const { original, id } = example as { readonly original: string; readonly id: string } // The example of verify-restore.
  const restored = emulator.restoreBackup({ serviceId: original, backupId: id })
  return { 'service-id': restored.id, ...sqlKeyOf(emulator) }
}
