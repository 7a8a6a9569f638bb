import * as z from 'zod'
import { type Diagnostic, type Severity, severities } from '../core/diagnostics.ts'
import { quote } from '../core/text.ts'
import { shortIntervalNote } from '../resources/alerts/alert.ts'
import { type Declared, isOf } from '../resources/resource-types.ts'

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

const minutes = { s: 1 / 60, m: 1, h: 60, d: 1440 } as const

const minutesOf = (interval: string): number => Number(interval.slice(0, -1)) * minutes[interval.slice(-1) as keyof typeof minutes]

const alertsIn = (objects: readonly Declared[]) => objects.filter(isOf('alerts'))

const onEachAlert =
  (violationOf: (alert: Declared<'alerts'>) => Omit<Violation, 'declared'> | undefined) =>
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
  'duplicate-name': { severity: 'warning', description: 'Two objects of one kind have the same name.', check: checkNames },
  'may-be-refused': {
    severity: 'warning',
    description: 'The API documents the field or value, but some services do not support it. Their server refuses or drops it.',
    check: (objects) => [
      ...alertsIn(objects).flatMap(checkOptionalFeatures),
      ...objects.filter(isOf('savedSearches')).flatMap(checkFilters),
    ],
  },
  'without-effect': {
    severity: 'warning',
    description: 'A field has no effect in combination with the others.',
    check: (objects) => objects.filter(isOf('dashboards')).flatMap(checkOperandSeries),
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
        .filter(isOf('dashboards'))
        .filter(({ value: { tags } }) => !tags?.length)
        .map((declared) => ({ declared, message: 'has no tags' })),
  },
} as const satisfies Readonly<Record<string, Rule>>

export type LintRule = keyof typeof lintRules

export type LintSettings = Readonly<Partial<Record<LintRule, Severity | 'off'>>>

/** Applies the rules to the objects, with the severities of the settings. */
export function lint({ objects }: { readonly objects: readonly Declared[] }, settings: LintSettings): readonly Diagnostic[] {
  return (Object.entries(lintRules) as [LintRule, Rule][]).flatMap(([id, rule]) => {
    const severity = settings[id] ?? rule.severity
    if (severity === 'off') return []
    return rule.check(objects).map(({ declared, path, message }) => ({
      rule: id,
      severity,
      location: path === undefined ? declared.location : declared.locationOf(path),
      message: `${declared.section}.${declared.key}${path === undefined ? '' : `.${path.join('.')}`}: ${message}`,
    }))
  })
}

function checkOptionalFeatures(declared: Declared<'alerts'>): readonly Violation[] {
  const { interval, channel, channels } = declared.value
  const found: Violation[] = interval === '30s' ? [{ declared, path: ['interval'], message: shortIntervalNote }] : []
  const all = [
    ...(channel === undefined ? [] : [{ one: channel, path: ['channel'] }]),
    ...(channels ?? []).map((one, i) => ({ one, path: ['channels', i] })),
  ]
  for (const { one, path } of all) {
    if (one.type === 'email') found.push({ declared, path, message: 'self-hosted servers refuse email channels' })
    else
      for (const field of ['severity', 'slackChannelId', 'webhookService'] as const)
        if (one[field] != null) found.push({ declared, path: [...path, field], message: `self-hosted servers drop ${field}` })
  }
  return found
}

/** The filters that the product's sidebar can show. The API accepts no others for a new saved search. */
const sidebarFilter = /^\S.*?\s(?:(?:NOT\s+)?IN\s*\(.*\)|BETWEEN\s+\S+\s+AND\s+\S+)\s*$/is

function checkFilters(declared: Declared<'savedSearches'>): readonly Violation[] {
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

function checkOperandSeries(declared: Declared<'dashboards'>): readonly Violation[] {
  return declared.value.tiles.flatMap(({ config }, i) =>
    config !== undefined && 'showOperandSeries' in config && config.showOperandSeries !== undefined && !config.formulas?.length
      ? [{ declared, path: ['tiles', i, 'config', 'showOperandSeries'], message: 'has no effect without formulas' }]
      : [],
  )
}

/** Counts are never negative. */
const counting: readonly string[] = ['count', 'count_distinct']

function checkCounts(objects: readonly Declared[]): readonly Violation[] {
  const dashboards = new Map(objects.filter(isOf('dashboards')).map(({ key, value }) => [key, value]))
  return alertsIn(objects).flatMap((declared) => {
    const { dashboard, tile } = declared.value
    const tiles = typeof dashboard === 'string' ? dashboards.get(dashboard)?.tiles : undefined
    const config = tiles?.find(({ name }) => name === tile)?.config
    const words = config && counts(config) ? whyNever(declared.value) : undefined
    return words === undefined ? [] : [{ declared, path: ['threshold'], message: `never fires: a count is never ${words}` }]
  })
}

/** Whether all values of a tile are counts. A formula of counts can be negative. */
const counts = (config: object): boolean =>
  'select' in config &&
  Array.isArray(config.select) &&
  !('formulas' in config) &&
  config.select.every(
    (item: unknown) =>
      typeof item === 'object' &&
      item !== null &&
      'aggFn' in item &&
      counting.includes(String(item.aggFn)) &&
      // A count can drop: `below` makes sense.
      !('periodAggFn' in item),
  )

function whyNever({ thresholdType, threshold, thresholdMax }: Declared<'alerts'>['value']): string | undefined {
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
    const name = `${declared.section} ${declared.value.name}`
    const before = first.get(name)
    if (before === undefined) first.set(name, declared)
    return before === undefined
      ? []
      : [{ declared, path: ['name'], message: `${before.key} has the same name "${quote(declared.value.name, 60)}"` }]
  })
}

const ids = Object.keys(lintRules) as [LintRule, ...LintRule[]]

export const lintSettingsSchema = z.partialRecord(z.enum(ids), z.enum([...severities, 'off'])).meta({
  description: 'Severity of each lint rule, by its id.',
})
