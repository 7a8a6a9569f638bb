// Dashboards, saved searches and alerts as a service may have them, made at random.
import fc from 'fast-check'
import type { Alert, Channel, Dashboard, Dialect, JsonObject, SavedSearch, Service, Tile } from '../../src/emulator/index.ts'
import { tileFor } from './random-tiles.ts'
import { flag, made, name, never, novel, some, text } from './random-words.ts'

const objectId = (n: number): string => n.toString(16).padStart(24, 'e')
const filterFor = (sources: readonly string[]) =>
  made<JsonObject>({
    type: fc.constant('QUERY_EXPRESSION'),
    name: text.filter((one) => one !== ''),
    expression: text.filter((one) => one !== ''),
    sourceId: fc.constantFrom(...sources),
    appliesToSourceIds: some(fc.uniqueArray(fc.constantFrom(...sources))),
    isBroadcastEnabled: flag,
    isVariableEnabled: flag,
    variableName: some(fc.constant('env')),
  })

const savedFilterValue = fc.constantFrom<JsonObject>(
  { condition: 'a = 1' },
  { type: 'sql', condition: '' },
  { type: 'variable', name: 'env', values: [] },
  { type: 'variable', name: 'env', values: ['x', 'y'] },
)

const container = fc.constantFrom<JsonObject>(
  { id: 'c1', title: 'Top', collapsed: false, collapsible: true, bordered: true },
  { id: 'c2', title: 'More', collapsed: true, bordered: false, tabs: [{ id: 't', title: 'T' }] },
)

type Draft<T> = Omit<T, 'id'> & { readonly novel?: unknown }

const dashboardFor = (sources: readonly string[], { isStrange, hasForeign = false }: Wishes) =>
  made<Draft<Omit<Dashboard, 'tiles' | 'filters'>> & { tiles: Omit<Tile, 'id'>[]; filters: JsonObject[] }>({
    name,
    tags: fc.uniqueArray(fc.constantFrom('shop', 'a b', 'x,y', 'true', ...(hasForeign ? ['wk:0a1b2c:other:abcdef'] : [])), {
      maxLength: 3,
    }),
    tiles: fc.array(tileFor(sources, isStrange), { maxLength: 4 }),
    filters: fc.array(filterFor(sources), { maxLength: 2 }),
    savedQuery: fc.option(text),
    savedQueryLanguage: fc.constantFrom(null, 'sql', 'lucene'),
    savedFilterValues: fc.array(savedFilterValue, { maxLength: 2 }),
    containers: fc.uniqueArray(container, { maxLength: 2, selector: ({ id }) => id }),
    novel: isStrange ? novel : never,
  })

const savedSearchFor = (sources: readonly string[], isStrange: boolean) =>
  made<Draft<SavedSearch>>({
    name,
    sourceId: fc.constantFrom(...sources),
    select: some(text),
    where: some(text),
    whereLanguage: some(fc.constantFrom('lucene', 'sql')),
    orderBy: some(text),
    tags: some(fc.constantFrom([], ['shop'])),
    filters: some(fc.constantFrom([], [{ type: 'sql', condition: 'x' }])),
    novel: isStrange ? novel : never,
  } as never)

interface AlertWish {
  readonly target: number
  readonly fields: Partial<Alert>
  readonly onSearch: boolean
}

const channel = (webhooks: readonly string[]): fc.Arbitrary<Channel> =>
  fc.oneof(
    made<Channel>({
      type: fc.constant('webhook'),
      webhookId: fc.constantFrom(...webhooks),
      severity: some(fc.constantFrom('error', null)),
    } as never),
    fc.constant<Channel>({ type: 'email', emailRecipients: ['a@shop.example', 'b@shop.example'] }),
  )

const alertFor = (webhooks: readonly string[], { dialect, isStrange }: Wishes): fc.Arbitrary<AlertWish> => {
  const isNeutral = dialect === 'neutral'
  const plain = fc.constantFrom(...webhooks).map((webhookId): Channel => ({ type: 'webhook', webhookId }))
  const many = fc.uniqueArray(channel(webhooks), {
    minLength: 1,
    maxLength: 2,
    selector: (one) => (one.type === 'email' ? 'email' : one.webhookId),
  })
  const ranges = fc.record({
    thresholdType: fc.constantFrom('between', 'not_between'),
    threshold: fc.constant(1),
    thresholdMax: fc.constant(3),
  })
  const sides = fc.record({
    thresholdType: fc.constantFrom('above', 'below', 'above_exclusive', 'equal'),
    threshold: fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -1e9, max: 1e9 }).map((one) => one / 1000),
    ),
  })
  const words = fc.option(text.filter((one) => one !== ''))
  return fc.record({
    target: fc.nat(99),
    onSearch: isNeutral ? fc.constant(false) : fc.boolean(),
    fields: fc
      .tuple(
        isNeutral ? sides : fc.oneof(sides, ranges),
        made<Partial<Alert>>({
          name,
          interval: fc.constantFrom('1m', '5m', '1h', '1d'),
          message: words,
          channels: isNeutral ? plain.map((one) => [one]) : many,
          ...(!isNeutral && {
            note: words,
            numConsecutiveWindows: fc.constantFrom(null, 3),
            scheduleStartAt: fc.constantFrom(null, '2026-01-31T08:00:00+02:00'),
          }),
          ...(isStrange && !isNeutral && { novel }),
        } as never),
      )
      .map(([side, rest]) => ({ ...rest, ...side })),
  })
}

export interface Wishes {
  readonly dialect: Dialect
  /** Whether there are things that no server of today accepts. */
  readonly isStrange: boolean
  /** Whether some dashboards bear the mark of another project. */
  readonly hasForeign?: boolean
}

export interface RandomService {
  readonly dashboards: Dashboard[]
  readonly savedSearches: SavedSearch[]
  readonly alerts: Alert[]
}

const carriers: readonly unknown[] = ['line', 'stacked_bar', 'number']

/** Objects for this service, whose sources, webhooks and first alert are the model. */
export function randomService({ sources, webhooks, alerts: [model] }: Service, wishes: Wishes): fc.Arbitrary<RandomService> {
  if (model === undefined) throw new Error('the shop has no alerts')
  const sourceIds = sources.map(({ id }) => id)
  const webhookIds = webhooks.map(({ id }) => id)
  const { isStrange } = wishes
  return fc
    .record({
      dashboards: fc.array(dashboardFor(sourceIds, wishes), { maxLength: 4 }),
      savedSearches:
        wishes.dialect === 'neutral'
          ? fc.constant<Draft<SavedSearch>[]>([])
          : fc.array(savedSearchFor(sourceIds, isStrange), { maxLength: 2 }),
      alerts: fc.array(alertFor(webhookIds, wishes), { maxLength: 5 }),
    })
    .map((drafts) => {
      let count = 0
      const nextId = (): string => objectId(++count)
      const dashboards = drafts.dashboards.map(
        (one): Dashboard => ({
          ...one,
          id: nextId(),
          tiles: one.tiles.map((tile) => ({ ...tile, id: nextId() })),
          filters: one.filters.map((filter) => ({ ...filter, id: nextId() })),
        }),
      )
      const savedSearches = drafts.savedSearches.map((one): SavedSearch => ({ ...one, id: nextId() }) as SavedSearch)
      const places = dashboards.flatMap(({ id, tiles }) =>
        tiles.filter(({ config }) => carriers.includes(config.displayType)).map((tile) => ({ dashboardId: id, tileId: tile.id })),
      )
      const alerts = drafts.alerts.flatMap(({ target, fields, onSearch }): Alert[] => {
        const place = places[target % places.length]
        const search = savedSearches[target % savedSearches.length]
        const common = { ...model, note: null, numConsecutiveWindows: null, ...fields, id: nextId() }
        if (onSearch && search !== undefined)
          return [{ ...common, source: 'saved_search', dashboardId: null, tileId: null, savedSearchId: search.id }]
        return place === undefined ? [] : [{ ...common, source: 'tile', ...place, savedSearchId: null }]
      })
      return { dashboards, savedSearches, alerts }
    })
}
