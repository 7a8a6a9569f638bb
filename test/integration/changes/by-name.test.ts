// References by name become ids before the first write; a name that is missing, or that several objects have, is an error and not a guess.
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { errors, errorsIn, outcomes, shop, tile, watching } from '../../support/shop-declaration.ts'
import { type Site, type SiteFiles, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const file = (content: object): SiteFiles => ({ 'a.json': content })

/** What is said; undefined when anything was written. */
/** The message about a name, without that its object stays as it is. */
const said = ({ message }: { readonly message: string }): string =>
  message
    .replace(/^(\w+\.[\w-]+): /, '$1.')
    .replace(/, so apply (?:leaves it as it is|does not create it)\. (\w)/, (_, letter: string) => `; ${letter.toLowerCase()}`)

async function refusal(content: object): Promise<readonly string[] | undefined> {
  const before = JSON.stringify(stateOf(emulator()))
  const applied = await site(({ apply }) => apply(file(content)))
  return JSON.stringify(stateOf(emulator())) === before ? errorsIn(applied).map(said) : undefined
}

const duplicate = (section: 'dashboards' | 'savedSearches' | 'sources' | 'webhooks', name: string): string => {
  const items = serviceOf(emulator())[section] as { id: string; name: string }[]
  const found = items.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no ${name}`)
  items.push({ ...structuredClone(found), id: '65f5e4a35eedc0deffffffff' })
  return found.id
}

const withSource = (source: string) => ({
  shop: { ...shop, tiles: [tile('A', 0, { displayType: 'line', sourceId: { source }, select: [{ aggFn: 'count' }] })] },
})
const withCount = { displayType: 'line', select: [{ aggFn: 'count' }] }
const onOverview = { ...errors, dashboard: { name: 'Checkout overview' }, tile: 'Latency' }

describe('a name of something that is not there is an error', () => {
  it('rejects a reference to every kind of object that does not exist', () =>
    forEachEntry(
      [
        [
          'a source',
          { dashboards: withSource('Loggs') },
          'dashboards.shop.tiles["A"].config.sourceId: no source is named "Loggs"; did you mean "Logs"?',
        ],
        [
          'a webhook',
          { alerts: { a: { ...onOverview, channel: { type: 'webhook', webhook: 'nobody' } } } },
          'alerts.a.channel.webhook: no webhook is named "nobody"; existing names: oncall, incidents, audit',
        ],
        [
          'a webhook of several',
          {
            alerts: {
              a: {
                ...onOverview,
                channel: undefined,
                channels: [
                  { type: 'webhook', webhook: 'oncall' },
                  { type: 'webhook', webhook: 'nobody' },
                ],
              },
            },
          },
          'alerts.a.channels[1].webhook: no webhook is named "nobody"',
        ],
        [
          'a dashboard',
          { alerts: { a: { ...errors, dashboard: { name: 'Chekout overview' } } } },
          'alerts.a.dashboard: no dashboard is named "Chekout overview"; did you mean "Checkout overview"?',
        ],
        [
          'a tile of a dashboard',
          { alerts: { a: { ...onOverview, tile: 'Latenzy' } } },
          'alerts.a.tile: the dashboard has no tile named "Latenzy"; did you mean "Latency"?',
        ],
        [
          'a saved search',
          { alerts: { a: { name: 'A', savedSearch: { name: 'Errors' }, ...watching } } },
          'alerts.a.savedSearch: no saved search is named "Errors"; did you mean "Errors in checkout"?',
        ],
        [
          'a dashboard by id',
          { alerts: { a: { ...errors, dashboard: { id: '000000000000000000000000' } } } },
          'alerts.a.dashboard: dashboard 000000000000000000000000 does not exist',
        ],
        [
          'a saved search by id',
          { alerts: { a: { name: 'A', savedSearch: { id: '000000000000000000000000' }, ...watching } } },
          'alerts.a.savedSearch: saved search 000000000000000000000000 does not exist',
        ],
        [
          'a source of a saved search by id',
          { savedSearches: { a: { name: 'A', sourceId: '000000000000000000000000' } } },
          'savedSearches.a.sourceId: source 000000000000000000000000 does not exist',
        ],
        [
          'a tile by id',
          { alerts: { a: { ...onOverview, tile: { id: '000000000000000000000000' } } } },
          'alerts.a.tile: the dashboard has no tile 000000000000000000000000; name one of its tiles, or remove the alert',
        ],
        [
          'a source in a list',
          {
            dashboards: {
              shop: {
                ...shop,
                filters: [
                  { name: 'F', expression: 'e', sourceId: { source: 'Logs' }, appliesToSourceIds: [{ source: 'Logs' }, { source: 'X' }] },
                ],
              },
            },
          },
          'dashboards.shop.filters["F"].appliesToSourceIds[1]: no source is named "X"',
        ],
      ],
      async (_what, content, words) => {
        expect(await refusal(content)).toEqual([expect.stringContaining(words)])
      },
      { before: () => emulator().reset() },
    ))

  it('says how to write the name of a source that is in a field for ids, and says it once', () =>
    site(async ({ plan }) => {
      const named = (config: object) => ({ dashboards: { shop: { ...shop, tiles: [tile('A', 0, { ...withCount, ...config })] } } })
      const { diagnostics } = await plan({ 'a.json': named({ sourceId: 'Logs' }) })
      expect(diagnostics.map((one) => `${one.severity} ${one.rule}: ${said(one)}`)).toEqual([
        'error held: dashboards.shop.tiles["A"].config.sourceId: "Logs" is a name and not an id; write source: Logs',
      ])
      expect((await plan({ 'a.json': named({ source: 'Logs' }) })).diagnostics.map(({ rule }) => rule)).toEqual(['unchecked-query'])
      expect(errorsIn(await plan({ 'a.json': named({ source: 'Lgos' }) })).map(said)).toEqual([
        'dashboards.shop.tiles["A"].config.source: no source is named "Lgos"; did you mean "Logs"?',
      ])
    }))

  it('reports all missing references at once, each with its line', () =>
    site(async ({ plan }) => {
      const text = JSON.stringify({ dashboards: withSource('X'), alerts: { a: { ...onOverview, tile: 'Y' } } }, null, 1)
      const said = errorsIn(await plan({ 'a.json': text }))
      expect(said.map(({ location }) => location.file)).toEqual(['a.json', 'a.json'])
      const line = (part: string) => text.split('\n').findIndex((one) => one.includes(part)) + 1
      expect(said.map(({ location }) => location.line)).toEqual([line('"sourceId"'), line('"tile": "Y"')])
    }))
})

describe('a name that several objects have is an error', () => {
  it('rejects a name that several objects have, and lists their ids', () =>
    forEachEntry(
      [
        ['dashboards', 'Checkout overview', { alerts: { a: onOverview } }, 'several dashboards are named "Checkout overview"'],
        ['sources', 'Logs', { dashboards: withSource('Logs') }, 'several sources are named "Logs"'],
        ['webhooks', 'oncall', { alerts: { a: onOverview } }, 'several webhooks are named "oncall"'],
        [
          'savedSearches',
          'Errors in checkout',
          { alerts: { a: { name: 'A', savedSearch: { name: 'Errors in checkout' }, ...watching } } },
          'several saved searches are named "Errors in checkout"',
        ],
      ] as const,
      async (section, name, content, words) => {
        const id = duplicate(section, name)
        const [said, more] = (await refusal(content)) ?? []
        expect(said).toContain(`${words} (${id}, 65f5e4a35eedc0deffffffff); use the id`)
        expect(more).toBeUndefined()
      },
      { before: () => emulator().reset() },
    ))

  it('accepts an id in place of the ambiguous name', async () => {
    const id = duplicate('webhooks', 'oncall')
    const content = { alerts: { a: { ...onOverview, channel: { type: 'webhook', webhookId: id } } } }
    expect(await site(({ apply }) => apply(file(content)).then(outcomes))).toEqual({ a: 'created' })
  })

  it('rejects a tile name that several tiles of a dashboard have, and accepts the id', async () => {
    const found = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout overview')
    for (const one of found?.tiles ?? []) one.name = 'Latency'
    expect(await refusal({ alerts: { a: onOverview } })).toEqual([expect.stringContaining('several tiles named "Latency"; use { id: … }')])
    const [first] = found?.tiles.filter(({ config }) => config.displayType === 'line') ?? []
    expect(await site(({ apply }) => apply(file({ alerts: { a: { ...onOverview, tile: { id: first?.id } } } })).then(outcomes))).toEqual({
      a: 'created',
    })
  })
})
