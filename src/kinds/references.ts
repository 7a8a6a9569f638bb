import { type Diagnostic, diagnosticOf, formatLocation, type Location, type Rules } from '../platform/core/diagnostics.ts'
import { didYouMean } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import { ownValue } from '../platform/documents/schema.ts'
import type { DeclaredAlert } from './alert/alert.ts'
import type { DeclaredDashboard } from './dashboard/dashboard.ts'
import { adviseTileName, explainTypeWithoutAlerts, typeWithoutAlerts } from './dashboard/dashboard-wire.ts'
import type { Body, DeclaredObject } from './kind.ts'
import { addressOf, type KindName } from './kind-names.ts'
import { type Declared, isOf, previousKeyOf } from './kinds.ts'

export const referenceRules = {
  'duplicate-key': { severity: 'error', description: 'A key is declared twice.' },
  'dangling-reference': { severity: 'error', description: 'A reference names an object that is not declared.' },
  'ambiguous-tile': { severity: 'error', description: 'An alert refers to a tile by a name that several tiles have.' },
  'alert-target': { severity: 'error', description: 'An alert watches nothing, or both a tile and a saved search.' },
  'tile-without-alerts': { severity: 'error', description: 'An alert is on a tile that cannot have alerts.' },
  'conflicting-fields': { severity: 'error', description: 'Two fields of an alert exclude each other.' },
  'previous-key': {
    severity: 'error',
    description: 'An object with the key in `previousKey` is still declared, or two objects have the same `previousKey`.',
  },
  'sql-without-interval': {
    severity: 'error',
    description: 'An alert is on a tile whose SQL does not use the interval. The server refuses such an alert.',
  },
} as const satisfies Rules

/** `name` is `SECTION.KEY`, and `before` its first declaration. */
export const repeatedKey = (name: string, location: Location, before: Location, addition = ''): Diagnostic =>
  diagnosticOf(referenceRules, 'duplicate-key', location, `${name} is already declared in ${formatLocation(before)}${addition}`)

/** An object with errors. Other objects may refer to it, and the valid part of it is checked. */
export interface BrokenObject extends Omit<DeclaredObject, 'value'> {
  readonly wrongFields: ReadonlySet<string>
  readonly fields: Body
  /** The object without the fields that have errors; undefined where nothing valid is left. */
  readonly value?: Declared['value']
}

interface ReadDeclarations {
  readonly objects: readonly Declared[]
  readonly broken: readonly BrokenObject[]
  readonly unread: readonly string[]
}

export function checkReferences(read: ReadDeclarations): readonly Diagnostic[] {
  const known = indexDeclared(read)
  const brokenAlerts = read.broken.filter(({ kind }) => kind === 'alert').map((alert) => ({ ...alert, value: alert.fields }))
  const alerts: readonly CheckedAlert[] = [...read.objects.filter(isOf('alert')), ...brokenAlerts]
  return [
    ...alerts.flatMap((alert) => [...checkTarget(alert, known), ...checkConflicts(alert)].map(toDiagnostic(alert))),
    ...read.objects.filter(isOf('dashboard')).flatMap((dashboard) => checkContainers(dashboard.value).map(toDiagnostic(dashboard))),
    ...checkPreviousKeys(read.objects, known),
  ]
}

type Known = ReturnType<typeof indexDeclared>

function indexDeclared({ objects, broken, unread }: ReadDeclarations) {
  const all = [...objects, ...broken]
  const names = new Set(all.map(addressOf))
  return {
    dashboards: new Map(
      all.flatMap(({ kind, key, value }) =>
        // The kind decides the type of the value.
        kind === 'dashboard' && value !== undefined ? [[key, value as DeclaredDashboard]] : [],
      ),
    ),
    isDeclared: (kind: KindName, key: string) => names.has(addressOf({ kind, key })),
    /** Whether the dashboard is not spelled in the files. */
    isMade: (key: string) => all.some((one) => one.kind === 'dashboard' && one.key === key && one.madeFrom !== undefined),
    keysOf: (kind: KindName) => all.filter((one) => one.kind === kind).map(({ key }) => key),
    // A file that cannot be read may declare what is missing.
    isComplete: unread.length === 0,
  }
}

/** An alert. One with errors has only its valid fields. */
interface CheckedAlert extends DeclaredObject<Partial<DeclaredAlert>> {
  readonly wrongFields?: ReadonlySet<string>
}

/** `path` is that of the field in the declaration. */
type Problem = readonly [rule: keyof typeof referenceRules, path: readonly (string | number)[], message: string]

const toDiagnostic =
  (declared: DeclaredObject) =>
  ([rule, path, message]: Problem) =>
    diagnosticOf(
      referenceRules,
      rule,
      path.length === 0 ? declared.location : declared.locationOf(path),
      `${declared.pathOf(path)}: ${message}`,
    )

function checkTarget(alert: CheckedAlert, known: Known): readonly Problem[] {
  const { query, dashboard, tile, savedSearch } = alert.value
  if (['query', 'dashboard', 'tile', 'savedSearch'].some((field) => alert.wrongFields?.has(field)))
    return [...dangling('dashboard', dashboard, known), ...dangling('savedSearch', savedSearch, known)]
  if (query !== undefined && (tile === undefined || ownValue(alert.spelled, 'tile') !== undefined)) return checkQueryTarget(alert, known)
  const onTile = dashboard !== undefined || tile !== undefined
  if (onTile && savedSearch !== undefined) return [['alert-target', [], 'must watch either a tile or a savedSearch, not both']]
  if (savedSearch !== undefined) return dangling('savedSearch', savedSearch, known)
  if (!onTile) return [['alert-target', [], 'watches nothing; add a query, dashboard and tile, or savedSearch']]
  if (dashboard === undefined || tile === undefined) {
    const lacking = dashboard === undefined ? 'dashboard' : 'tile'
    return [['alert-target', [], `watches a tile and needs ${lacking}, too`]]
  }
  const target = typeof dashboard === 'string' ? known.dashboards.get(dashboard) : undefined
  return target === undefined ? dangling('dashboard', dashboard, known) : checkTile(alert, String(dashboard), target)
}

function checkQueryTarget(alert: CheckedAlert, known: Known): readonly Problem[] {
  const { dashboard, tile, savedSearch } = alert.value
  const other = tile !== undefined ? 'tile' : savedSearch !== undefined ? 'savedSearch' : undefined
  if (other !== undefined) return [['alert-target', [other], 'cannot be combined with query']]
  if (dashboard === undefined) return []
  const refuse = (message: string): readonly Problem[] => [['dangling-reference', ['dashboard'], message]]
  if (typeof dashboard !== 'string')
    return refuse('must be the key of a dashboard in these files, because the query becomes one of its tiles')
  if (known.isDeclared('dashboard', dashboard))
    return known.isMade(dashboard) ? refuse('is made from an SLO; name a dashboard that the files declare') : []
  return known.isComplete
    ? refuse(`"${quote(dashboard)}" is not a key in these files${didYouMean(dashboard, known.keysOf('dashboard'))}`)
    : []
}

function dangling(field: 'dashboard' | 'savedSearch', reference: string | object | undefined, known: Known): readonly Problem[] {
  if (typeof reference !== 'string' || !known.isComplete || known.isDeclared(field, reference)) return []
  const nearest = didYouMean(reference, known.keysOf(field))
  const message = `"${quote(reference)}" is not a key in these files${nearest}${nearest ? ' T' : '; t'}o refer to an existing one, use { name: … } or { id: … }`
  return [['dangling-reference', [field], message]]
}

function checkTile(alert: CheckedAlert, key: string, { tiles }: DeclaredDashboard): readonly Problem[] {
  const { tile } = alert.value
  if (typeof tile !== 'string') return []
  const [target, second] = tiles.filter(({ name }) => name === tile)
  if (target === undefined) {
    return [['dangling-reference', ['tile'], `dashboard ${key} has no tile named "${quote(tile)}"${adviseTileName(tile, tiles)}`]]
  }
  if (second !== undefined)
    return [
      ['ambiguous-tile', ['tile'], `dashboard ${key} has several tiles named "${quote(tile)}"; rename them so that each name is unique`],
    ]
  if (target.config !== undefined && lacksInterval(target.config)) {
    const message = `the SQL of tile "${quote(tile)}" must use the interval, such as $__timeInterval(column) or {intervalSeconds:Int64}`
    return [['sql-without-interval', ['tile'], message]]
  }
  const type = typeWithoutAlerts(target)
  return type === undefined ? [] : [['tile-without-alerts', ['tile'], explainTypeWithoutAlerts(type)]]
}

/** The server wants a query over time to use the length of its buckets, as a parameter or by one of its macros. */
const lacksInterval = (config: object) =>
  'sqlTemplate' in config &&
  'displayType' in config &&
  (config.displayType === 'line' || config.displayType === 'stacked_bar') &&
  !/intervalSeconds|intervalMilliseconds|\$__(?:interval_s|timeInterval|timeInterval_ms)\b/.test(String(config.sqlTemplate))

function checkContainers({ tiles, containers = [] }: DeclaredDashboard): readonly Problem[] {
  const known = new Map(containers.map((container) => [container.id, container]))
  return tiles.flatMap(({ containerId, tabId }, i): readonly Problem[] => {
    const at = (field: string, message: string): readonly Problem[] => [['dangling-reference', ['tiles', i, field], message]]
    if (containerId === undefined) return tabId === undefined ? [] : at('tabId', 'needs a containerId, too')
    const container = known.get(containerId)
    if (container === undefined)
      return at('containerId', `no container has the id "${quote(containerId)}"${didYouMean(containerId, known.keys())}`)
    if (tabId === undefined || container.tabs?.some(({ id }) => id === tabId)) return []
    return at('tabId', `container "${quote(containerId)}" has no tab "${quote(tabId)}"`)
  })
}

function checkPreviousKeys(objects: readonly Declared[], known: Known): readonly Diagnostic[] {
  const seen = new Set<string>()
  return objects.flatMap((declared) => {
    const previousKey = previousKeyOf(declared)
    if (previousKey === undefined) return []
    const name = addressOf({ kind: declared.kind, key: previousKey })
    const isSecond = seen.has(name)
    seen.add(name)
    const isStill = known.isDeclared(declared.kind, previousKey)
    if (!isStill && !isSecond) return []
    const message = `${name} is ${isStill ? 'still declared' : 'also the previousKey of another object'}`
    return [toDiagnostic(declared)(['previous-key', ['previousKey'], message])]
  })
}

function checkConflicts(alert: CheckedAlert): readonly Problem[] {
  const { channel, channels, groupBy, savedSearch, scheduleStartAt, scheduleOffsetMinutes } = alert.value
  const conflicts: readonly (readonly [boolean, string, string])[] = [
    [channel !== undefined && channels !== undefined, 'channels', 'cannot be combined with channel; use one of the two'],
    [
      groupBy != null && savedSearch === undefined && !alert.wrongFields?.has('savedSearch'),
      'groupBy',
      `is only for alerts on a savedSearch; a ${alert.value.query === undefined ? 'tile' : 'query'} has its own grouping`,
    ],
    [scheduleStartAt != null && !!scheduleOffsetMinutes, 'scheduleOffsetMinutes', 'must be 0 if scheduleStartAt is set'],
  ]
  return conflicts.flatMap(([isThere, field, message]) => (isThere ? [['conflicting-fields', [field], message]] : []))
}
