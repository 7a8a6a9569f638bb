import { shortIntervalNote } from '../../kinds/alert/alert.ts'
import { intervalMs } from '../../kinds/alert/schedule.ts'
import { findOverlaps, gridColumns, gridOf, isInGrid } from '../../kinds/dashboard/dashboard-file.ts'
import { tileLabel } from '../../kinds/dashboard/dashboard-wire.ts'
import { type Body, listOf } from '../../kinds/kind.ts'
import type { KindName } from '../../kinds/kind-names.ts'
import { type Declared, isOf } from '../../kinds/kinds.ts'
import type { BrokenObject } from '../../kinds/references.ts'
import { undocumentedInCloud } from '../../kinds/source/source.ts'
import { bodyHelpers, bodyVariables, namesInBody, newerBodyVariables } from '../../kinds/webhook/webhook.ts'
import type { Diagnostic, LintSettings, Severity } from '../../platform/core/diagnostics.ts'
import { dayMs, minuteMs } from '../../platform/core/durations.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { didYouMean } from '../../platform/core/names.ts'
import { quote } from '../../platform/core/text.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { comparedVariable, sqlInLucene } from '../../signals/backtest/terms.ts'
import type { DeclaredObjects } from './declarations.ts'

interface Rule {
  readonly severity: Severity
  readonly description: string
  check(objects: readonly Declared[]): readonly (Violation & { readonly declared: Declared })[]
}

type Path = readonly (string | number)[]

interface Violation {
  readonly path?: Path
  readonly message: string
}

type Values = { readonly [K in KindName]: Declared<K>['value'] }

type DeclaredAlert = Values['alert']

type Found = Violation | readonly Violation[] | undefined

const listFound = (found: Found): readonly Violation[] => [found ?? []].flat()

const onEach =
  <K extends KindName>(kind: K, find: (value: Values[K]) => Found): Rule['check'] =>
  (objects) =>
    objects.filter(isOf(kind)).flatMap((declared) => listFound(find(declared.value)).map((violation) => ({ declared, ...violation })))

/** `config` is that of the tile that an alert watches, if these files declare it. */
const onEachAlert =
  (find: (alert: DeclaredAlert, config: Body | undefined, dashboard: Values['dashboard'] | undefined) => Found): Rule['check'] =>
  (objects) => {
    const dashboards = new Map(objects.filter(isOf('dashboard')).map(({ key, value }) => [key, value]))
    return onEach('alert', (alert) => {
      const dashboard = typeof alert.dashboard === 'string' ? dashboards.get(alert.dashboard) : undefined
      return find(alert, dashboard?.tiles.find(({ name }) => name === alert.tile)?.config, dashboard)
    })(objects)
  }

const onEachTile = (find: (tile: Values['dashboard']['tiles'][number]) => Found): Rule['check'] =>
  onEach('dashboard', ({ tiles }) =>
    tiles.flatMap((tile, i) => listFound(find(tile)).map(({ path = [], message }) => ({ path: ['tiles', i, ...path], message }))),
  )

/** By id. `rules` in .watchkeeper.yml changes the severity of a rule or turns it off. */
export const lintRules = {
  'alert-without-channel': {
    severity: 'error',
    description: 'An alert has no channel.',
    check: onEachAlert(({ channel, channels }) =>
      channel === undefined && channels === undefined
        ? { message: 'has no channel, so it sends no notifications; add channel or channels' }
        : undefined,
    ),
  },
  'empty-range': {
    severity: 'error',
    description: 'The upper end of a range is missing or below the lower end.',
    check: onEachAlert(({ thresholdType, threshold, thresholdMax }) => {
      if (!thresholdType.endsWith('between')) return undefined
      if (thresholdMax == null) return { path: ['thresholdType'], message: `${thresholdType} needs thresholdMax` }
      return thresholdMax < threshold ? { path: ['thresholdMax'], message: 'is below threshold, so the range is empty' } : undefined
    }),
  },
  'threshold-never-fires': { severity: 'warning', description: 'No value can violate the threshold.', check: onEachAlert(checkCount) },
  'offset-beyond-interval': {
    severity: 'error',
    description: 'The offset is not less than the interval.',
    check: onEachAlert(({ interval, scheduleOffsetMinutes }) =>
      scheduleOffsetMinutes != null && scheduleOffsetMinutes * minuteMs >= intervalMs[interval]
        ? { path: ['scheduleOffsetMinutes'], message: `must be less than the interval of ${interval}` }
        : undefined,
    ),
  },
  'implausible-duration': {
    severity: 'warning',
    description: 'A threshold is implausible for a duration in nanoseconds, which is the unit of `Duration` in traces.',
    check: onEachAlert(checkDuration),
  },
  'quantile-without-level': {
    severity: 'warning',
    description: 'A quantile has no level, so it is not known which one it is.',
    check: onEachTile(({ config }) =>
      listSeries(config).flatMap(({ aggFn, level }, i) =>
        aggFn === 'quantile' && level === undefined
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
        ? undefined
        : { message: `ends at column ${tile.x + tile.w}, but the grid has ${gridColumns} columns; move it or make it narrower` },
    ),
  },
  'overlapping-tiles': {
    severity: 'warning',
    description: 'Two tiles of a dashboard overlap.',
    check: onEach('dashboard', findOverlapping),
  },
  'name-as-id': { severity: 'warning', description: 'The id of a source looks like a name.', check: checkSourceIds },
  'sql-in-lucene': {
    severity: 'warning',
    description: 'A condition in Lucene has the form of SQL. The server searches its words in the text of a row, and finds none.',
    check: (objects) => [...checkTileLanguages(objects), ...onEach('savedSearch', (search) => checkLanguage(search, []))(objects)],
  },
  'unset-variable': {
    severity: 'warning',
    description: 'The query of an alert compares with a variable of its dashboard. Nothing is selected in an alert, so it never matches.',
    check: onEachAlert(checkVariables),
  },
  'mention-in-message': {
    severity: 'warning',
    description: 'A message has a mention such as `@anna`. The server removes it from each notification, and stores an error.',
    check: onEach('alert', checkMentions),
  },
  'receiver-limit': {
    severity: 'note',
    description:
      'A text of an alert can be longer than its receiver accepts: 130 characters of a message in Opsgenie, 4,096 in Google Chat.',
    check: checkReceivers,
  },
  'split-windows': {
    severity: 'warning',
    description:
      'An offset or start time makes the server evaluate each window in two parts, so the threshold is checked against partial data.',
    check: onEachAlert(explainSplit),
  },
  'fires-on-silence': {
    severity: 'warning',
    description: 'An alert on a low value also fires when there is no data, because a window without rows counts as 0.',
    check: onEachAlert((alert, config) =>
      config !== undefined && isLow(alert) && isMeasured(config) && !config.groupBy
        ? { path: ['thresholdType'], message: 'also fires when there is no data, because a window without rows counts as 0' }
        : undefined,
    ),
  },
  'silent-groups': {
    severity: 'warning',
    description: 'An alert on a low value does not notice a silent group as long as another group has rows.',
    check: onEachAlert((alert, config) =>
      (alert.groupBy || config?.groupBy) && isLow(alert)
        ? {
            path: ['thresholdType'],
            message: 'does not notice a group without rows as long as another group has some; use one alert for each group',
          }
        : undefined,
    ),
  },
  'duplicate-name': { severity: 'warning', description: 'Two objects of one kind have the same name.', check: checkNames },
  'may-be-refused': {
    severity: 'warning',
    description:
      'The API documents the field or value, but some services do not support it. Their server refuses or drops it. With `profile: hyperdx`, this is an error.',
    check: (objects) => [...checkShortIntervals(objects), ...checkFilters(objects)],
  },
  'cloud-only': {
    severity: 'error',
    description: 'Only ClickHouse Cloud supports the field or value. Self-hosted servers refuse or drop it. Only with `profile: hyperdx`.',
    check: onEach('alert', checkChannels),
  },
  'undocumented-field': {
    severity: 'warning',
    description: 'ClickHouse Cloud does not document a field of a source. Its gateway refuses such fields.',
    check: onEach('source', checkDocumentedFields),
  },
  'without-effect': {
    severity: 'warning',
    description: 'A field has no effect in combination with the others.',
    check: onEachTile(({ config }) =>
      config !== undefined && 'showOperandSeries' in config && config.showOperandSeries !== undefined && !config.formulas?.length
        ? { path: ['config', 'showOperandSeries'], message: 'has no effect without formulas' }
        : undefined,
    ),
  },
  'unknown-body-variable': {
    severity: 'warning',
    description: 'The body of a webhook uses a variable or a helper that no known version of the server has.',
    check: onEach('webhook', checkBody),
  },
  'newer-body-variable': {
    severity: 'note',
    description: 'The body of a webhook uses a variable that only servers since September 2026 have.',
    check: onEach('webhook', checkNewerVariables),
  },
  'trimmed-name': {
    severity: 'warning',
    description: 'The name of a saved search or a webhook has blanks at its ends, which the server removes.',
    check: (objects) =>
      objects.flatMap((declared) => {
        const name = String(ownValue(declared.spelled, 'name') ?? '')
        const isTrimmed = declared.kind === 'savedSearch' || declared.kind === 'webhook'
        return isTrimmed && name !== name.trim()
          ? [{ declared, path: ['name'], message: 'has blanks at its ends; the server removes them' }]
          : []
      }),
  },
  'shell-variable': {
    severity: 'warning',
    description: 'The name of an object has a variable of a shell, which stays as it is.',
    check: (objects) =>
      objects.flatMap((declared) => {
        const name = /\$\{[A-Za-z_]\w*\}/.exec(String(ownValue(declared.value, 'name') ?? ''))?.[0]
        return name === undefined ? [] : [{ declared, path: ['name'], message: `has ${name}, which stays as it is${didYouMean(name, [])}` }]
      }),
  },
  'missing-runbook': {
    severity: 'note',
    description: 'An alert has no note for the person on call.',
    check: onEachAlert(({ note }) => (note ? undefined : { message: 'has no note; describe what the person on call should do' })),
  },
  'dashboard-without-tags': {
    severity: 'note',
    description: 'A dashboard has no tags.',
    check: onEach('dashboard', ({ tags }) => (tags?.length ? undefined : { message: 'has no tags' })),
  },
} as const satisfies Readonly<Record<string, Rule>>

export type LintRule = keyof typeof lintRules

/** They say nothing about an object in which these fields have errors. */
const rulesOnAbsence: Readonly<Partial<Record<LintRule, readonly string[]>>> = {
  'alert-without-channel': ['channel', 'channels'],
  'empty-range': ['thresholdMax'],
  'missing-runbook': ['note'],
  'dashboard-without-tags': ['tags'],
}

/** Checks the valid part of broken objects, too. */
export function lint({ objects, broken }: DeclaredObjects, settings: LintSettings): readonly Diagnostic[] {
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

function findOverlapping({ tiles }: Values['dashboard']): readonly Violation[] {
  const grids = Map.groupBy(tiles.keys(), (i) => gridOf(tiles[i] ?? {}))
  return [...grids.values()].flatMap((indexes) => {
    const places = indexes.flatMap((i) => tiles[i] ?? [])
    const labelOf = (i: number): string => quote(tileLabel(places[i] ?? {}, indexes[i] ?? 0))
    return findOverlaps(places).flatMap((other, j) =>
      other === undefined ? [] : [{ path: ['tiles', indexes[j] ?? 0], message: `overlaps the tile "${labelOf(other)}"` }],
    )
  })
}

/** A word or several without a digit are no id. */
function checkSourceIds(objects: readonly Declared[]): ReturnType<Rule['check']> {
  return objects.flatMap((declared) =>
    sourceIdsIn(declared.value).flatMap(({ path, id }) =>
      /^(?=.*[A-Z\s])[A-Za-z][A-Za-z\s_-]*$/.test(id)
        ? [{ declared, path, message: `"${quote(id)}" looks like a name; write source: ${quote(id)}` }]
        : [],
    ),
  )
}

function sourceIdsIn(value: unknown, path: Path = []): readonly { readonly path: Path; readonly id: string }[] {
  if (typeof value !== 'object' || value === null || path.at(-1) === 'raw') return []
  const entries = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  return entries.flatMap(([key, item]: readonly [string | number, unknown]) =>
    key === 'sourceId' && typeof item === 'string' ? [{ path: [...path, key], id: item }] : sourceIdsIn(item, [...path, key]),
  )
}

const millisecond = 1_000_000
const day = dayMs * millisecond

/** Aggregations whose values have the unit of the column. */
const unitKeeping: readonly string[] = ['avg', 'max', 'min', 'quantile', 'any', 'last_value']

/** The series of a chart; none of a tile without any. */
const listSeries = (config: unknown): readonly Body[] => listOf(ownValue(config, 'select'))

function checkDuration({ threshold }: DeclaredAlert, config?: Body): Found {
  if (config === undefined || !isDuration(config) || threshold === 0 || (threshold >= millisecond && threshold <= day)) return undefined
  return { path: ['threshold'], message: `${threshold} is implausible: the tile shows durations in nanoseconds, so a second is 1000000000` }
}

/** Whether a tile shows `Duration` of traces as it is. In OpenTelemetry's traces, its unit is nanoseconds. */
const isDuration = (config: Body): boolean =>
  config.formulas === undefined &&
  config.asRatio !== true &&
  listSeries(config).length > 0 &&
  listSeries(config).every(
    ({ aggFn, valueExpression }) => unitKeeping.includes(String(aggFn)) && String(valueExpression).trim() === 'Duration',
  )

// What the server does silently, seen on HyperDX 2.36.

/** What Lucene has, too. There, a text without quotes is any part of the value. */
const comparison = /^([\w.]+)\s*([<>]=?(?!\s*')|==?)\s*(-?\d[\d.]*|'[^'"\\]*')(?![\w.'])/

function checkLanguage({ where, whereLanguage = 'lucene' }: Body, path: Path): readonly Violation[] {
  const sql = typeof where === 'string' && whereLanguage === 'lucene' ? sqlInLucene(where) : undefined
  if (sql === undefined) return []
  const [, column, sign = '', value = ''] = comparison.exec(String(where).slice(String(where).indexOf(sql))) ?? []
  const lucene = column === undefined ? '' : `write ${column}:${sign.replace(/^=+/, '')}${value.replaceAll("'", '"')}, or `
  const message = `has SQL (${quote(sql)}) in a condition in Lucene, so the server searches its words in the text; ${lucene}set whereLanguage: sql`
  return [{ path: [...path, 'where'], message }]
}

const checkTileLanguages = onEachTile(({ config = {} }) => [
  ...checkLanguage(config, ['config']),
  ...listSeries(config).flatMap((item, i) => checkLanguage(item, ['config', 'select', i])),
])

function checkVariables(_: DeclaredAlert, config: Body | undefined, dashboard: Values['dashboard'] | undefined): Found {
  const texts = (value: unknown): readonly string[] =>
    typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
  const name = texts(config).flatMap((text) => comparedVariable(text, dashboard?.filters) ?? [])[0]
  if (name === undefined) return undefined
  const message = `compares with $${name}, which is NULL in an alert because nothing is selected, so it never matches; use $__filter(column, $${name})`
  return { path: ['tile'], message }
}

/** The server adds a sign to the title, and values to the message. */
const receivers = [
  { label: 'Opsgenie', names: /opsgenie/i, field: 'name', most: 130 - 3 },
  { label: 'Google Chat', names: /google.?chat|chat\.googleapis/i, field: 'message', most: 4096 - 500 },
] as const

function checkReceivers(objects: readonly Declared[]): ReturnType<Rule['check']> {
  const webhooks = new Map(objects.filter(isOf('webhook')).map(({ key, value }) => [key, [key, value.name, value.urlFrom].join(' ')]))
  return objects.filter(isOf('alert')).flatMap((declared) => {
    const { channel, channels = [] } = declared.value
    const named = [channel, ...channels].map((one) => webhooks.get(one && 'webhook' in one ? String(one.webhook) : '') ?? '')
    return receivers.flatMap(({ label, names, field, most }) =>
      (declared.value[field]?.length ?? 0) > most && named.some((one) => names.test(one))
        ? [{ declared, path: [field], message: `${label} can get more characters than it accepts; shorten it to ${most}` }]
        : [],
    )
  })
}

/** The server takes each such word for a receiver, and knows those that begin with `webhook-`. */
function checkMentions({ message }: DeclaredAlert): readonly Violation[] {
  const words = [...(message ?? '').matchAll(/(?:^|\s)@([a-zA-Z0-9.{}@_-]+)/g)].flatMap(([, word = '']) =>
    /^webhook-/.test(word) ? [] : [word],
  )
  return words.map((word) => ({
    path: ['message'],
    message: `the server removes "@${quote(word)}" from each notification, and stores an error; write it without @, or in brackets: (@${quote(word)})`,
  }))
}

function explainSplit({ interval, scheduleOffsetMinutes, scheduleStartAt }: DeclaredAlert): Found {
  const lengthMs = intervalMs[interval]
  const split = `makes the server evaluate each ${interval} window in two parts, so the threshold is checked against partial data`
  if (scheduleOffsetMinutes != null && scheduleOffsetMinutes > 0 && scheduleOffsetMinutes * minuteMs < lengthMs)
    return { path: ['scheduleOffsetMinutes'], message: `${split}; remove the offset` }
  if (scheduleStartAt == null || Date.parse(scheduleStartAt) % lengthMs === 0) return undefined
  return { path: ['scheduleStartAt'], message: `${split}; use a multiple of the interval` }
}

const isLow = ({ thresholdType, threshold }: DeclaredAlert): boolean =>
  thresholdType === 'below' ? threshold > 0 : thresholdType === 'below_or_equal' && threshold >= 0

/** Values for which 0 and no data are different things: averages and ratios, but no counts. */
function isMeasured(config: Body): boolean {
  const last = listSeries(config).at(-1)
  return last !== undefined && (config.asRatio === true || (config.formulas === undefined && unitKeeping.includes(String(last.aggFn))))
}

const checkShortIntervals = onEachAlert(({ interval }) =>
  interval === '30s' ? { path: ['interval'], message: shortIntervalNote } : undefined,
)

function checkChannels({ channel, channels = [] }: DeclaredAlert): readonly Violation[] {
  const all = [
    ...(channel === undefined ? [] : [{ one: channel, path: ['channel'] }]),
    ...channels.map((one, i) => ({ one, path: ['channels', i] })),
  ]
  return all.flatMap(({ one, path }) => {
    if (one.type === 'email') return [{ path, message: 'self-hosted servers refuse email channels' }]
    const dropped = (['severity', 'slackChannelId', 'webhookService'] as const).filter((field) => one[field] != null)
    return dropped.map((field) => ({ path: [...path, field], message: `self-hosted servers drop ${field}` }))
  })
}

function checkDocumentedFields(source: Values['source']): readonly Violation[] {
  const fields = undocumentedInCloud[source.kind].filter((field) => source[field] !== undefined)
  const message = `is not in the document of the API of ClickHouse Cloud, whose gateway refuses such fields in a ${source.kind} source; leave it out`
  return fields.map((field) => ({ path: [field], message }))
}

/** The filters that the web app's sidebar can show. The API accepts no others for a new saved search. */
const isSidebarFilter = (condition: string): boolean =>
  (/^\S.*?\sIN\s*\(/is.test(condition) && condition.trimEnd().endsWith(')')) || /^\S.*?\sBETWEEN\s+\S+\s+AND\s+\S+\s*$/is.test(condition)

const checkFilters = onEach('savedSearch', ({ filters }) =>
  (filters ?? []).flatMap((filter, i) =>
    filter.type === 'sql' && isSidebarFilter(filter.condition)
      ? []
      : [
          {
            path: ['filters', i],
            message: 'the API accepts only SQL of the form IN (…), NOT IN (…) or BETWEEN … AND … for a new saved search',
          },
        ],
  ),
)

const anyBodyVariable: readonly string[] = [...bodyVariables, ...newerBodyVariables]

function checkBody({ body = '' }: Values['webhook']): readonly Violation[] {
  const { variables, helpers } = namesInBody(body)
  const unknown = [...variables].filter((name) => !anyBodyVariable.includes(name))
  const missing = [...helpers].filter((name) => !bodyHelpers.some((known) => known === name))
  return [
    ...unknown.map((name) => `{{${quote(name)}}} stays empty: no known version of the server has it${didYouMean(name, anyBodyVariable)}`),
    ...missing.map(
      (name) => `the server would send nothing: no known version has the helper "${quote(name)}"${didYouMean(name, bodyHelpers)}`,
    ),
  ].map((message) => ({ path: ['body'], message }))
}

const insteadOf: Readonly<Record<string, string>> = {
  alertId: '; {{eventId}} identifies an alert, its group and the webhook on all servers',
  status: '; {{#if (eq state "ALERT")}}firing{{else}}resolved{{/if}} works on all servers',
}

function checkNewerVariables({ body = '' }: Values['webhook']): readonly Violation[] {
  const { variables } = namesInBody(body)
  return newerBodyVariables
    .filter((name) => variables.has(name))
    .map((name) => ({
      path: ['body'],
      message: `{{${name}}} stays empty on servers before September 2026 (hyperdx#3057)${insteadOf[name] ?? ''}`,
    }))
}

function checkCount(alert: DeclaredAlert, config?: Body): Found {
  const { thresholdType, threshold } = alert
  if (config && isShareOfAll(config) && (thresholdType === 'above' ? threshold > 1 : thresholdType === 'above_exclusive' && threshold >= 1))
    return { path: ['threshold'], message: `never fires: the share of all rows is at most 1; for ${threshold}%, write ${threshold / 100}` }
  const words = config && counts(config) ? whyNever(alert) : undefined
  return words === undefined ? undefined : { path: ['threshold'], message: `never fires: a count is never ${words}` }
}

function isShareOfAll(config: Body): boolean {
  const [last] = listOf(config.formulas).slice(-1)
  const [counted, all, ...more] = listOf(config.select)
  const isRatio = config.asRatio === true || /^\s*A\s*\/\s*B\s*$/.test(String(last?.expression))
  return isRatio && counted?.aggFn === 'count' && all?.aggFn === 'count' && !String(all.where ?? '').trim() && more.length === 0
}

/** Whether all values of a tile are counts, which are never negative. A formula of counts can be negative. */
const counts = (config: Body): boolean =>
  Array.isArray(config.select) &&
  config.formulas === undefined &&
  // A count can drop: with `periodAggFn`, `below` makes sense.
  listSeries(config).every(({ aggFn, periodAggFn }) => ['count', 'count_distinct'].includes(String(aggFn)) && periodAggFn === undefined)

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

function checkNames(objects: readonly Declared[]): ReturnType<Rule['check']> {
  const first = new Map<string, Declared>()
  return objects.flatMap((declared) => {
    const { name: own } = declared.value
    if (own === undefined) return []
    const kind = 'kind' in declared.value ? declared.value.kind : ''
    const name = `${declared.kind} ${kind} ${own}`
    const before = first.get(name)
    if (before === undefined) first.set(name, declared)
    return before === undefined ? [] : [{ declared, path: ['name'], message: `${before.key} has the same name "${quote(own)}"` }]
  })
}
