import type { Diagnostic, LintSettings, Severity } from '../core/diagnostics.ts'
import { dayMs, minuteMs } from '../core/durations.ts'
import { isMapping, keysOf } from '../core/keys.ts'
import { quote } from '../core/text.ts'
import { shortIntervalNote } from '../kinds/alert/alert.ts'
import { gridOf } from '../kinds/dashboard/dashboard-file.ts'
import { findOverlaps, gridColumns, isInGrid } from '../kinds/dashboard/layout.ts'
import { type Declared, isOf } from '../kinds/kinds.ts'
import type { BrokenObject } from '../kinds/references.ts'
import { undocumentedInCloud } from '../kinds/source/source.ts'

interface Rule {
  readonly severity: Severity
  readonly description: string
  check(objects: readonly Declared[]): readonly Violation[]
}

interface Violation {
  readonly declared: Declared
  readonly path?: readonly (string | number)[]
  readonly message: string
}

const minutesByUnit: Readonly<Record<string, number>> = { s: 1 / 60, m: 1, h: 60, d: 1440 }

const minutesOf = (interval: string): number => Number(interval.slice(0, -1)) * (minutesByUnit[interval.slice(-1)] ?? Number.NaN)

const alertsIn = (objects: readonly Declared[]) => objects.filter(isOf('alert'))

const onEachAlert =
  (violationOf: (alert: Declared<'alert'>) => Omit<Violation, 'declared'> | undefined) =>
  (objects: readonly Declared[]): readonly Violation[] =>
    alertsIn(objects).flatMap((declared) => {
      const violation = violationOf(declared)
      return violation === undefined ? [] : [{ declared, ...violation }]
    })

/**
 * Rules for valid declarations, by id. They find declarations that cannot work, and missing help for on-call engineers. `rules` in
 * .watchkeeper.yml changes the severity of a rule or turns it off.
 */
export const lintRules = {
  'alert-without-channel': {
    severity: 'error',
    description: 'An alert has no channel.',
    check: onEachAlert(({ value: { channel, channels } }) =>
      channel === undefined && channels === undefined
        ? { message: 'has no channel, so it sends no notifications; add channel or channels' }
        : undefined,
    ),
  },
  'empty-range': {
    severity: 'error',
    description: 'The upper end of a range is missing or below the lower end.',
    check: onEachAlert(({ value: { thresholdType, threshold, thresholdMax } }) => {
      if (!thresholdType.endsWith('between')) return undefined
      if (thresholdMax == null) return { path: ['thresholdType'], message: `${thresholdType} needs thresholdMax` }
      return thresholdMax < threshold ? { path: ['thresholdMax'], message: 'is below threshold, so the range is empty' } : undefined
    }),
  },
  'threshold-never-fires': { severity: 'warning', description: 'No value can violate the threshold.', check: checkCounts },
  'offset-beyond-interval': {
    severity: 'error',
    description: 'The offset is not less than the interval.',
    check: onEachAlert(({ value: { interval, scheduleOffsetMinutes } }) =>
      scheduleOffsetMinutes != null && scheduleOffsetMinutes >= minutesOf(interval)
        ? { path: ['scheduleOffsetMinutes'], message: `must be less than the interval of ${interval}` }
        : undefined,
    ),
  },
  'implausible-duration': {
    severity: 'warning',
    description: 'A threshold is implausible for a duration in nanoseconds, which is the unit of `Duration` in traces.',
    check: checkDurations,
  },
  'quantile-without-level': {
    severity: 'warning',
    description: 'A quantile has no level, so it is not known which one it is.',
    check: onEachTile(({ config }) =>
      config === undefined || !('select' in config) || !Array.isArray(config.select)
        ? []
        : config.select.flatMap((item: object, i) =>
            'aggFn' in item && item.aggFn === 'quantile' && !('level' in item && item.level !== undefined)
              ? [{ path: ['config', 'select', i], message: 'a quantile needs a level: 0.5, 0.9, 0.95 or 0.99' }]
              : [],
          ),
    ),
  },
  'tile-outside-grid': {
    severity: 'warning',
    description: 'A tile ends to the right of the grid, which has 24 columns.',
    check: onEachTile((tile) =>
      isInGrid(tile)
        ? []
        : [
            {
              path: [],
              message: `ends at column ${tile.x + tile.w}, but the grid has ${gridColumns} columns; move it or make it narrower`,
            },
          ],
    ),
  },
  'overlapping-tiles': { severity: 'warning', description: 'Two tiles of a dashboard overlap.', check: checkOverlaps },
  'name-as-id': { severity: 'warning', description: 'The id of a source looks like a name.', check: checkSourceIds },
  'split-windows': {
    severity: 'warning',
    description:
      'An offset or start time makes the server evaluate each window in two parts, so the threshold is checked against partial data.',
    check: onEachAlert(({ value }) => explainSplit(value)),
  },
  'fires-on-silence': {
    severity: 'warning',
    description: 'An alert on a low value also fires when there is no data, because a window without rows counts as 0.',
    check: checkSilence,
  },
  'silent-groups': {
    severity: 'warning',
    description: 'An alert on a low value does not notice a silent group as long as another group has rows.',
    check: checkSilentGroups,
  },
  'duplicate-name': { severity: 'warning', description: 'Two objects of one kind have the same name.', check: checkNames },
  'may-be-refused': {
    severity: 'warning',
    description:
      'The API documents the field or value, but some services do not support it. Their server refuses or drops it. With `profile: hyperdx`, this is an error.',
    check: (objects) => [...checkShortIntervals(objects), ...objects.filter(isOf('savedSearch')).flatMap(checkFilters)],
  },
  'cloud-only': {
    severity: 'warning',
    description:
      'Only ClickHouse Cloud supports the field or value. Self-hosted servers refuse or drop it. With `profile: hyperdx`, this is an error.',
    check: (objects) => alertsIn(objects).flatMap(checkChannels),
  },
  'undocumented-field': {
    severity: 'warning',
    description: 'ClickHouse Cloud does not document a field of a source. Its gateway refuses such fields.',
    check: (objects) => objects.filter(isOf('source')).flatMap(checkDocumentedFields),
  },
  'without-effect': {
    severity: 'warning',
    description: 'A field has no effect in combination with the others.',
    check: (objects) => objects.filter(isOf('dashboard')).flatMap(checkOperandSeries),
  },
  'missing-runbook': {
    severity: 'note',
    description: 'An alert has no note for the person on call.',
    check: onEachAlert(({ value: { note } }) =>
      note ? undefined : { message: 'has no note; describe what the person on call should do' },
    ),
  },
  'dashboard-without-tags': {
    severity: 'note',
    description: 'A dashboard has no tags.',
    check: (objects) =>
      objects
        .filter(isOf('dashboard'))
        .filter(({ value: { tags } }) => !tags?.length)
        .map((declared) => ({ declared, message: 'has no tags' })),
  },
} as const satisfies Readonly<Record<string, Rule>>

export type LintRule = keyof typeof lintRules

/** Rules about fields that are left out. They say nothing about an object in which these fields have errors. */
const rulesOnAbsence: Readonly<Partial<Record<LintRule, readonly string[]>>> = {
  'alert-without-channel': ['channel', 'channels'],
  'empty-range': ['thresholdMax'],
  'missing-runbook': ['note'],
  'dashboard-without-tags': ['tags'],
}

interface LintInput {
  readonly objects: readonly Declared[]
  /** Objects with errors. The valid part of each is checked. */
  readonly broken?: readonly BrokenObject[]
}

/** Applies the rules to the objects, with the severities of the settings. */
export function lint({ objects, broken = [] }: LintInput, settings: LintSettings): readonly Diagnostic[] {
  // A broken object with a value has all that a valid object has.
  const repaired = broken.filter(({ value }) => value !== undefined) as readonly (Declared & BrokenObject)[]
  return keysOf<LintRule>(lintRules).flatMap((id) => {
    const rule: Rule = lintRules[id]
    const severity = settings[id] ?? rule.severity
    if (severity === 'off') return []
    const checkable = repaired.filter(({ wrongFields }) => !rulesOnAbsence[id]?.some((field) => wrongFields.has(field)))
    return rule.check([...objects, ...checkable]).map(({ declared, path, message }) => ({
      rule: id,
      severity,
      location: path === undefined ? declared.location : declared.locationOf(path),
      message: `${declared.pathOf(path ?? [])}: ${message}`,
    }))
  })
}

type Tile = Declared<'dashboard'>['value']['tiles'][number]

type TileViolation = { readonly path: readonly (string | number)[]; readonly message: string }

function onEachTile(violationsOf: (tile: Tile) => readonly TileViolation[]) {
  return (objects: readonly Declared[]): readonly Violation[] =>
    objects
      .filter(isOf('dashboard'))
      .flatMap((declared) =>
        declared.value.tiles.flatMap((tile, i) =>
          violationsOf(tile).map(({ path, message }) => ({ declared, path: ['tiles', i, ...path], message })),
        ),
      )
}

function checkOverlaps(objects: readonly Declared[]): readonly Violation[] {
  return objects.filter(isOf('dashboard')).flatMap((declared) => {
    const { tiles } = declared.value
    const grids = Map.groupBy(tiles.keys(), (i) => gridOf(tiles[i] ?? {}))
    return [...grids.values()].flatMap((indexes) => {
      const places = indexes.flatMap((i) => tiles[i] ?? [])
      return findOverlaps(places).flatMap((other, j) =>
        other === undefined
          ? []
          : [{ declared, path: ['tiles', indexes[j] ?? 0], message: `overlaps the tile "${quote(places[other]?.name ?? '', 60)}"` }],
      )
    })
  })
}

/** A word or several without a digit, which no id is. */
const nameLike = /^(?=.*[A-Z\s])[A-Za-z][A-Za-z\s_-]*$/

function checkSourceIds(objects: readonly Declared[]): readonly Violation[] {
  return objects.flatMap((declared) =>
    sourceIdsIn(declared.value).flatMap(({ path, id }) =>
      nameLike.test(id) ? [{ declared, path, message: `"${quote(id, 60)}" looks like a name; write source: ${quote(id, 60)}` }] : [],
    ),
  )
}

function sourceIdsIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly { readonly path: readonly (string | number)[]; readonly id: string }[] {
  if (typeof value !== 'object' || value === null || path.at(-1) === 'raw') return []
  const entries = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  return entries.flatMap(([key, item]: readonly [string | number, unknown]) =>
    key === 'sourceId' && typeof item === 'string' ? [{ path: [...path, key], id: item }] : sourceIdsIn(item, [...path, key]),
  )
}

const millisecond = 1_000_000
const day = dayMs * millisecond

const durationUnit = 'the tile shows durations in nanoseconds, so a second is 1000000000'

/** Aggregations whose values have the unit of the column. */
const unitKeeping: readonly string[] = ['avg', 'max', 'min', 'quantile', 'any', 'last_value']

function checkDurations(objects: readonly Declared[]): readonly Violation[] {
  const tileOf = tileFinder(objects)
  return alertsIn(objects).flatMap((declared) => {
    const { threshold } = declared.value
    const config = tileOf(declared.value)?.config
    if (config === undefined || !isDuration(config) || threshold === 0 || (threshold >= millisecond && threshold <= day)) return []
    return [{ declared, path: ['threshold'], message: `${threshold} is implausible: ${durationUnit}` }]
  })
}

/** Whether a tile shows `Duration` of traces as it is. In OpenTelemetry's traces, its unit is nanoseconds. */
const isDuration = (config: object): boolean =>
  'select' in config &&
  Array.isArray(config.select) &&
  !('formulas' in config) &&
  !('asRatio' in config && config.asRatio === true) &&
  config.select.length > 0 &&
  config.select.every(
    (item: unknown) => isMapping(item) && unitKeeping.includes(String(item.aggFn)) && String(item.valueExpression).trim() === 'Duration',
  )

/** Finds the tile that an alert watches, if these files declare it. */
function tileFinder(objects: readonly Declared[]): (alert: Declared<'alert'>['value']) => Tile | undefined {
  const dashboards = new Map(objects.filter(isOf('dashboard')).map(({ key, value }) => [key, value]))
  return ({ dashboard, tile }) => {
    const tiles = typeof dashboard === 'string' ? dashboards.get(dashboard)?.tiles : undefined
    return tiles?.find(({ name }) => name === tile)
  }
}

// What the server does silently, seen on HyperDX 2.36.

type DeclaredAlert = Declared<'alert'>['value']

function explainSplit({ interval, scheduleOffsetMinutes, scheduleStartAt }: DeclaredAlert): Omit<Violation, 'declared'> | undefined {
  const length = minutesOf(interval)
  const split = `makes the server evaluate each ${interval} window in two parts, so the threshold is checked against partial data`
  if (scheduleOffsetMinutes != null && scheduleOffsetMinutes > 0 && scheduleOffsetMinutes < length)
    return { path: ['scheduleOffsetMinutes'], message: `${split}; remove the offset` }
  if (scheduleStartAt == null || Date.parse(scheduleStartAt) % (length * minuteMs) === 0) return undefined
  return { path: ['scheduleStartAt'], message: `${split}; use a multiple of the interval` }
}

/** Whether 0 violates a threshold for low values. */
const isLow = ({ thresholdType, threshold }: DeclaredAlert): boolean =>
  thresholdType === 'below' ? threshold > 0 : thresholdType === 'below_or_equal' && threshold >= 0

const groupsOf = (config: object | undefined): unknown => config && 'groupBy' in config && config.groupBy

/** Values for which 0 and no data are different things: averages and ratios, but no counts. */
function isMeasured(config: object): boolean {
  if (!('select' in config) || !Array.isArray(config.select)) return false
  if ('asRatio' in config && config.asRatio === true) return true
  const last: unknown = config.select.at(-1)
  const aggFn = isMapping(last) ? String(last.aggFn) : ''
  return !('formulas' in config) && unitKeeping.includes(aggFn)
}

function checkSilence(objects: readonly Declared[]): readonly Violation[] {
  const tileOf = tileFinder(objects)
  return alertsIn(objects).flatMap((declared) => {
    const config = tileOf(declared.value)?.config
    if (config === undefined || !isLow(declared.value) || !isMeasured(config) || groupsOf(config)) return []
    const message = 'also fires when there is no data, because a window without rows counts as 0'
    return [{ declared, path: ['thresholdType'], message }]
  })
}

function checkSilentGroups(objects: readonly Declared[]): readonly Violation[] {
  const tileOf = tileFinder(objects)
  return alertsIn(objects).flatMap((declared) => {
    const isGrouped = Boolean(declared.value.groupBy || groupsOf(tileOf(declared.value)?.config))
    if (!isGrouped || !isLow(declared.value)) return []
    const message = 'does not notice a group without rows as long as another group has some; use one alert for each group'
    return [{ declared, path: ['thresholdType'], message }]
  })
}

const checkShortIntervals = onEachAlert(({ value: { interval } }) =>
  interval === '30s' ? { path: ['interval'], message: shortIntervalNote } : undefined,
)

function checkChannels(declared: Declared<'alert'>): readonly Violation[] {
  const { channel, channels } = declared.value
  const all = [
    ...(channel === undefined ? [] : [{ one: channel, path: ['channel'] }]),
    ...(channels ?? []).map((one, i) => ({ one, path: ['channels', i] })),
  ]
  return all.flatMap(({ one, path }) => {
    if (one.type === 'email') return [{ declared, path, message: 'self-hosted servers refuse email channels' }]
    const dropped = (['severity', 'slackChannelId', 'webhookService'] as const).filter((field) => one[field] != null)
    return dropped.map((field) => ({ declared, path: [...path, field], message: `self-hosted servers drop ${field}` }))
  })
}

function checkDocumentedFields(declared: Declared<'source'>): readonly Violation[] {
  const { value } = declared
  return undocumentedInCloud[value.kind]
    .filter((field) => value[field] !== undefined)
    .map((field) => ({
      declared,
      path: [field],
      message: `is not in the document of the API of ClickHouse Cloud, whose gateway refuses such fields in a ${value.kind} source; leave it out`,
    }))
}

/** The filters that the web app's sidebar can show. The API accepts no others for a new saved search. */
const sidebarFilter = /^\S.*?\s(?:(?:NOT\s+)?IN\s*\(.*\)|BETWEEN\s+\S+\s+AND\s+\S+)\s*$/is

function checkFilters(declared: Declared<'savedSearch'>): readonly Violation[] {
  return (declared.value.filters ?? []).flatMap((filter, i) =>
    filter.type !== 'sql_ast' && filter.type === 'sql' && sidebarFilter.test(filter.condition)
      ? []
      : [
          {
            declared,
            path: ['filters', i],
            message: 'the API accepts only SQL of the form IN (…), NOT IN (…) or BETWEEN … AND … for a new saved search',
          },
        ],
  )
}

function checkOperandSeries(declared: Declared<'dashboard'>): readonly Violation[] {
  return declared.value.tiles.flatMap(({ config }, i) =>
    config !== undefined && 'showOperandSeries' in config && config.showOperandSeries !== undefined && !config.formulas?.length
      ? [{ declared, path: ['tiles', i, 'config', 'showOperandSeries'], message: 'has no effect without formulas' }]
      : [],
  )
}

/** Counts are never negative. */
const counting: readonly string[] = ['count', 'count_distinct']

function checkCounts(objects: readonly Declared[]): readonly Violation[] {
  const tileOf = tileFinder(objects)
  return alertsIn(objects).flatMap((declared) => {
    const config = tileOf(declared.value)?.config
    const words = config && counts(config) ? whyNever(declared.value) : undefined
    return words === undefined ? [] : [{ declared, path: ['threshold'], message: `never fires: a count is never ${words}` }]
  })
}

/** Whether all values of a tile are counts. A formula of counts can be negative. */
const counts = (config: object): boolean =>
  'select' in config &&
  Array.isArray(config.select) &&
  !('formulas' in config) &&
  // A count can drop: with `periodAggFn`, `below` makes sense.
  config.select.every((item: unknown) => isMapping(item) && counting.includes(String(item.aggFn)) && !('periodAggFn' in item))

function whyNever({ thresholdType, threshold, thresholdMax }: DeclaredAlert): string | undefined {
  switch (thresholdType) {
    case 'below':
      return threshold <= 0 ? `below ${threshold}` : undefined
    case 'below_or_equal':
      return threshold < 0 ? `${threshold} or less` : undefined
    case 'equal':
      return threshold < 0 ? `${threshold}` : undefined
    case 'between':
      return thresholdMax != null && thresholdMax < 0 ? `between ${threshold} and ${thresholdMax}` : undefined
    default:
      return undefined
  }
}

function checkNames(objects: readonly Declared[]): readonly Violation[] {
  const first = new Map<string, Declared>()
  return objects.flatMap((declared) => {
    const kind = 'kind' in declared.value ? declared.value.kind : ''
    const name = `${declared.kind} ${kind} ${declared.value.name}`
    const before = first.get(name)
    if (before === undefined) first.set(name, declared)
    return before === undefined
      ? []
      : [{ declared, path: ['name'], message: `${before.key} has the same name "${quote(declared.value.name, 60)}"` }]
  })
}
