// Dashboards, saved searches and alerts as a service may have them, made at random.
import fc from 'fast-check'
import type { Alert, Channel, Dashboard, Dialect, JsonObject, SavedSearch, Service, Tile } from '../../src/emulator/index.ts'
import { carriesAlerts, type Surroundings, tileFor } from './random-tiles.ts'
import { flag, made, name, never, novel, some, text } from './random-words.ts'

const objectId = (n: number): string => n.toString(16).padStart(24, 'e')

const language = fc.constantFrom('lucene', 'sql')

const filterFor = (sources: readonly string[]) => {
  const common = {
    type: fc.constant('QUERY_EXPRESSION'),
    name: text.filter((one) => one !== ''),
    expression: text.filter((one) => one !== ''),
    sourceId: fc.constantFrom(...sources),
    sourceMetricType: some(fc.constant('gauge')),
    where: some(text),
    whereLanguage: some(language),
  }
  const broadcast = {
    isBroadcastEnabled: some(fc.constant(true)),
    appliesToSourceIds: some(fc.uniqueArray(fc.constantFrom(...sources))),
  }
  const variable = { isVariableEnabled: fc.constant(true), variableName: fc.constantFrom('env', 'Region2', 'a_b') }
  return fc.oneof(
    made<JsonObject>({ ...common, ...broadcast, isVariableEnabled: some(fc.constant(false)) }),
    made<JsonObject>({ ...common, ...variable, isBroadcastEnabled: flag }),
    made<JsonObject>({ ...common, ...broadcast, ...variable }),
  )
}

const savedFilterValue = fc.constantFrom<JsonObject>({ condition: 'a = 1' }, { type: 'sql', condition: '' })

const container = fc.constantFrom<JsonObject>(
  { id: 'c1', title: 'Top', collapsed: false, collapsible: true, bordered: true },
  { id: 'c2', title: 'More', collapsed: true, bordered: false, tabs: [{ id: 't', title: 'T' }] },
  { id: 'c3', title: 'Last', collapsed: false, collapsible: false, tabs: [] },
)

const query = fc.constantFrom(
  { savedQuery: null, savedQueryLanguage: null },
  { savedQuery: 'level:error', savedQueryLanguage: 'lucene' },
  { savedQuery: 'a = 1', savedQueryLanguage: 'sql' },
  { savedQuery: '', savedQueryLanguage: 'sql' },
)

type Draft<T> = Omit<T, 'id'> & { readonly novel?: unknown }
export type DashboardDraft = Draft<Omit<Dashboard, 'tiles' | 'filters'>> & { tiles: Omit<Tile, 'id'>[]; filters: JsonObject[] }

export const dashboardFor = (surroundings: Surroundings, otherTags: readonly string[] = []): fc.Arbitrary<DashboardDraft> =>
  fc
    .tuple(
      query,
      fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
      made<Omit<DashboardDraft, 'savedQuery' | 'savedQueryLanguage'>>({
        name,
        tags: fc.uniqueArray(fc.constantFrom('shop', 'a b', 'x,y', 'true', ...otherTags), { maxLength: 3 }),
        tiles: fc.array(tileFor(surroundings), { maxLength: 4 }),
        filters: fc.uniqueArray(filterFor(surroundings.sources.map(({ id }) => id)), {
          maxLength: 2,
          selector: ({ variableName }) => variableName ?? Symbol('none'),
        }),
        savedFilterValues: fc.array(savedFilterValue, { maxLength: 2 }),
        containers: fc.uniqueArray(container, { maxLength: 2, selector: ({ id }) => id }),
        novel: surroundings.isNewer ? novel : never,
      }),
    )
    .map(([search, choices, draft]) => ({
      ...draft,
      ...search,
      tiles: draft.tiles.map((tile, i) => ({ ...tile, ...placeIn(draft.containers[choices[i] ?? 0]) })),
    }))

/** In its last tab, where it has one. */
function placeIn(box: JsonObject | undefined): Pick<Tile, 'containerId' | 'tabId'> {
  if (box === undefined) return {}
  const tab = ((box.tabs ?? []) as readonly { readonly id: string }[]).at(-1)
  return { containerId: String(box.id), ...(tab && { tabId: tab.id }) }
}

export type SavedSearchDraft = Draft<SavedSearch>

export const savedSearchFor = ({ sources, isNewer }: Surroundings) =>
  made<SavedSearchDraft>({
    name,
    sourceId: fc.constantFrom(...sources.map(({ id }) => id)),
    select: some(text),
    where: some(text),
    whereLanguage: some(language),
    orderBy: some(text),
    tags: some(fc.constantFrom([], ['shop'])),
    filters: some(
      fc.array(
        fc.constantFrom<JsonObject>(
          { type: 'sql', condition: "level IN ('error', 'it''s')" },
          { type: 'sql', condition: 'duration BETWEEN 1 AND 2.5' },
          { type: 'sql', condition: "a.b NOT IN ('')" },
        ),
        { maxLength: 2 },
      ),
    ),
    novel: isNewer ? novel : never,
  } as never)

interface AlertWish {
  readonly target: number
  readonly fields: Partial<Alert>
  readonly onSearch: boolean
}

export const alertFor = (webhooks: readonly string[], { dialect, isNewer }: Wishes): fc.Arbitrary<AlertWish> => {
  const isNeutral = dialect === 'neutral'
  const channels = fc
    .uniqueArray(fc.constantFrom(...webhooks), { minLength: 1, maxLength: isNeutral ? 1 : 2 })
    .map((ids) => ids.map((webhookId): Channel => ({ type: 'webhook', webhookId })))
  const ranges = fc.record({
    thresholdType: fc.constantFrom('between', 'not_between'),
    threshold: fc.constant(1),
    thresholdMax: fc.constantFrom(1, 3),
  })
  const sides = fc.record({
    thresholdType: fc.constantFrom('above', 'below', 'above_exclusive', 'below_or_equal', 'equal', 'not_equal'),
    threshold: fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -1e9, max: 1e9 }).map((one) => one / 1000),
    ),
  })
  const words = fc.option(text.filter((one) => one !== ''))
  const schedule = fc.constantFrom<Partial<Alert>>(
    {},
    { scheduleStartAt: null },
    { scheduleOffsetMinutes: 0 },
    { interval: '1h', scheduleOffsetMinutes: 59 },
    { scheduleStartAt: '2026-01-31T06:00:00.000Z', scheduleOffsetMinutes: 0 },
  )
  return fc.record({
    target: fc.nat(99),
    onSearch: isNeutral ? fc.constant(false) : fc.boolean(),
    fields: fc
      .tuple(
        isNeutral ? sides : fc.oneof(sides, ranges),
        isNeutral ? fc.constant({}) : schedule,
        made<Partial<Alert>>({
          name,
          interval: fc.constantFrom('1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'),
          message: words,
          channels,
          ...(!isNeutral && {
            note: words,
            numConsecutiveWindows: fc.constantFrom(null, 1, 3),
            groupBy: fc.constantFrom(null, 'ServiceName'),
          }),
          ...(isNewer && !isNeutral && { novel }),
        } as never),
      )
      .map(([side, when, rest]) => ({ ...rest, ...side, ...when })),
  })
}

export interface Wishes {
  readonly dialect: Dialect
  /** Whether there are fields that only a newer server knows. */
  readonly isNewer: boolean
  /** Whether some dashboards bear the mark of another project. */
  readonly hasForeign?: boolean
}

export interface RandomService {
  readonly dashboards: Dashboard[]
  readonly savedSearches: SavedSearch[]
  readonly alerts: Alert[]
}

/** Objects for this service, whose sources, webhooks and first alert are the model. */
export function randomService(service: Service, wishes: Wishes): fc.Arbitrary<RandomService> {
  const {
    sources,
    connections,
    webhooks,
    alerts: [model],
  } = service
  if (model === undefined) throw new Error('the shop has no alerts')
  const { isNewer, hasForeign = false } = wishes
  const surroundings = { sources, connections, isNewer }
  return fc
    .record({
      dashboards: fc.array(dashboardFor(surroundings, hasForeign ? ['wk:0a1b2c:other:abcdef'] : []), { maxLength: 4 }),
      savedSearches:
        wishes.dialect === 'neutral' ? fc.constant<Draft<SavedSearch>[]>([]) : fc.array(savedSearchFor(surroundings), { maxLength: 2 }),
      alerts: fc.array(
        alertFor(
          webhooks.map(({ id }) => id),
          wishes,
        ),
        { maxLength: 5 },
      ),
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
        tiles.filter(({ config }) => carriesAlerts(config)).map((tile) => ({ dashboardId: id, tileId: tile.id })),
      )
      const alerts = drafts.alerts.flatMap(({ target, fields, onSearch }): Alert[] => {
        const place = places[target % places.length]
        const search = savedSearches[target % savedSearches.length]
        const common = { ...model, note: null, numConsecutiveWindows: null, ...fields, id: nextId() }
        if (onSearch && search !== undefined)
          return [{ ...common, source: 'saved_search', dashboardId: null, tileId: null, savedSearchId: search.id }]
        return place === undefined ? [] : [{ ...common, source: 'tile', ...place, savedSearchId: null, groupBy: null }]
      })
      return { dashboards, savedSearches, alerts }
    })
}
