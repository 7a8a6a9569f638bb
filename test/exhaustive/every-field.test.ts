// One file with every display type and every field that files can have. It was applied to a real server as well.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as yaml from 'yaml'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { convergenceProblems, withSite } from '../support/site.ts'

const text = ['every-field', 'every-webhook-and-source']
  .map((name) => readFileSync(new URL(`../corpus/${name}.yml`, import.meta.url), 'utf8'))
  .join('\n')
const schema: unknown = JSON.parse(readFileSync(new URL('../../schemas/observability.schema.json', import.meta.url), 'utf8'))

/** Names of the properties that a JSON Schema has, at any depth. */
function schemaFields(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(schemaFields)
  if (typeof node !== 'object' || node === null) return []
  const { properties } = node as { readonly properties?: object }
  const named = typeof properties === 'object' ? Object.keys(properties) : []
  return [...named, ...Object.values(node).flatMap(schemaFields)]
}

function usedFields(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(usedFields)
  return typeof node === 'object' && node !== null ? [...Object.keys(node), ...Object.values(node).flatMap(usedFields)] : []
}

const document = yaml.parse(text) as { readonly dashboards: Readonly<Record<'every-field', { readonly tiles: readonly Tile[] }>> }

interface Tile {
  readonly config: { readonly displayType: string; readonly configType?: string }
}

it('the file uses every field', () => {
  const used = new Set(usedFields(document))
  const unused = [...new Set(schemaFields(schema))].filter((field) => !used.has(field))
  expect(unused.toSorted()).toEqual(
    [
      // How an existing object is found.
      ...['$schema', 'adopt', 'previousKey', 'previousName'],
      // Secrets, which no file may hold.
      ...['url', 'headers', 'queryParams'],
      // Fields without a schema, and fields of channels that the product refuses.
      ...['raw', 'severity', 'slackChannelId', 'webhookService', 'emailRecipients'],
      // HyperDX 2.36 does not know variables, and takes such filters of saved searches only where they exist already.
      ...['values', 'left', 'right'],
      // Only newer servers have them: see newer-fields.test.ts.
      ...['displayName', 'options', 'minSelections', 'isGlobalRequirement'],
      // Another spelling of fields that are used.
      ...['webhookId', 'at', 'rows', 'appliesToSources', 'query', 'sql'],
      // Values that become fields of objects.
      'instances',
      // Tests of alerts, which no service stores.
      ...['incidents', 'start', 'end', 'within', 'maxNotifications'],
    ].toSorted(),
  )
})

it('the file uses every display type', () => {
  const shown = document.dashboards['every-field'].tiles.map(({ config }) => `${config.configType ?? 'builder'} ${config.displayType}`)
  expect([...new Set(shown)].toSorted()).toEqual(
    [
      ...['line', 'stacked_bar', 'table', 'number', 'pie', 'bar', 'heatmap', 'search', 'event_patterns', 'markdown'].map(
        (type) => `builder ${type}`,
      ),
      ...['line', 'stacked_bar', 'table', 'number', 'pie', 'bar'].map((type) => `sql ${type}`),
    ].toSorted(),
  )
})

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('with the profile %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })

  it('converges', async () => {
    const [connection] = serviceOf(emulator()).connections
    const [webhook] = serviceOf(emulator()).webhooks
    const variables = new Map([
      ['CONNECTION', connection?.id],
      ['WEBHOOK', webhook?.name],
    ])
    const content: unknown = yaml.parse(text.replaceAll(/\$\{\{ env\.(\w+) \}\}/g, (_, name) => variables.get(name) ?? ''))
    const { sources, ...others } = content as { readonly sources: object }
    const secrets = {
      WEBHOOK_EVERY_URL: 'https://hooks.example.com/every/field',
      WEBHOOK_EVERY_TOKEN: 'Bearer every-field',
      WEBHOOK_EVERY_KEY: 'every-field',
    }
    await withSite({ url: emulator().url, secrets }, dialect, async (site) => {
      // The document of the cloud's API lacks some fields of sources, and its gateway rejects what is not in it.
      expect(await convergenceProblems(site, dialect === 'hyperdx' ? { ...others, sources } : others)).toEqual([])
    })
  })
})
