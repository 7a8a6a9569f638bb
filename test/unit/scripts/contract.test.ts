// The recordings are the paths and the fields of requests of two documents: ClickHouse Cloud of 2026-07-31, and HyperDX 2.36.0.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compareContracts, describeChanges, differencesOf, servers } from '../../../scripts/contract.ts'
import { forEachEntry } from '../../support/corpus.ts'

const recording = (name: string): string => new URL(`../../conformance/recorded/openapi-${name}.json`, import.meta.url).pathname
const known = JSON.parse(readFileSync(new URL('../../../scripts/contract-known.json', import.meta.url), 'utf8'))

// biome-ignore lint/suspicious/noExplicitAny: a test changes the document, and fails where a part is not there
type Document = any

/** What changes in the list of differences when the document does. */
function changesWith(name: string, change: (document: Document) => void): string {
  const document: Document = JSON.parse(readFileSync(recording(name), 'utf8'))
  change(document)
  const server = servers[name]
  if (server === undefined) throw new Error(`no server ${name}`)
  return describeChanges({ [name]: differencesOf(document, server) }, { [name]: known[name] })
}

const cloudPath = '/v1/organizations/{organizationId}/services/{serviceId}/clickstack'

describe('the contract of the vendor', () => {
  it('differs from what the code knows as the list of known differences says', () => {
    const found = compareContracts({ cloud: recording('cloud'), hyperdx: recording('hyperdx') })
    expect(found).toEqual(known)
    expect(describeChanges(found, known)).toBe('')
    // What other tests know about both.
    expect(found.cloud).toContain('alerts: interval 30s is gone')
    expect(found.cloud).toContain('path GET roles is new')
    expect(found.hyperdx).toContain('path GET webhooks/{} is gone')
  })

  it('has each change in a line', () =>
    forEachEntry<[string, (document: Document) => void, readonly string[]]>(
      [
        ['cloud', ({ paths }) => (paths[`${cloudPath}/silences/{id}`] = { patch: {} }), ['path PATCH silences/{} is new']],
        [
          'cloud',
          ({ paths }) => Reflect.deleteProperty(paths[`${cloudPath}/alerts/{clickStackAlertId}`], 'put'),
          ['path PUT alerts/{} is gone'],
        ],
        [
          'cloud',
          ({ components }) => components.schemas.ClickStackCreateAlertRequest.properties.interval.enum.push('2h'),
          ['alerts: interval 2h is new'],
        ],
        ['hyperdx', ({ components }) => components.schemas.AlertThresholdType.enum.shift(), ['alerts: thresholdType above is gone']],
        [
          'hyperdx',
          ({ components }) => (components.schemas.SelectItem.properties.smooth = { properties: { windows: {} } }),
          ['dashboards: field tiles[].config.select[].smooth is new'],
        ],
        [
          'cloud',
          ({ components }) => (components.schemas.ClickStackMarkdownChartConfig.properties.html = {}),
          ['dashboards of the gateway: tiles[].config html is new', 'dashboards: field tiles[].config.html is new'],
        ],
        [
          'cloud',
          ({ components }) => Reflect.deleteProperty(components.schemas.ClickStackMarkdownChartConfig.properties, 'markdown'),
          ['dashboards of the gateway: tiles[].config markdown is gone', 'dashboards: field tiles[].config.markdown is gone'],
        ],
        [
          'cloud',
          ({ components }) => (components.schemas.ClickStackSavedSearchInput.properties['`@all`\n# x'] = {}),
          ["saved-searches of the gateway: '@all'\\n# x is new", "saved-searches: field '@all'\\n# x is new"],
        ],
      ],
      (name, change, lines) => expect(changesWith(name, change)).toBe(`### ${name}\n\n${lines.map((line) => `- \`${line}\`\n`).join('')}`),
    ))

  it('says of a known difference that it ended', () => {
    const changed = changesWith('cloud', ({ components }) =>
      components.schemas.ClickStackCreateAlertRequest.properties.interval.enum.push('30s'),
    )
    expect(changed).toBe('### cloud\n\n- `no longer: alerts: interval 30s is gone`\n')
  })

  it('is an error where the document has no such paths, and not without a difference', () => {
    expect(() => compareContracts({ cloud: recording('hyperdx') })).toThrow('has no paths like')
    expect(() => compareContracts({ other: recording('hyperdx') })).toThrow('other is not a server; accepted: cloud, hyperdx')
  })
})
