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
  /** The fields that are valid by themselves. */
  readonly fields: Body
  /** The object without the fields that have errors; undefined where nothing valid is left. */
  readonly value?: Declared['value']
}

interface ReadDeclarations {
  readonly objects: readonly Declared[]
  readonly broken: readonly BrokenObject[]
  readonly unread: readonly string[]
}

/** Checks the references between declared objects, and the fields that exclude each other. */
export function checkReferences(read: ReadDeclarations): readonly Diagnostic[] {
  const all = [...read.objects, ...read.broken]
  const names = new Set(all.map(addressOf))
  const known: Known = {
    dashboards: new Map(
      all.flatMap(({ kind, key, value }) =>
        // The kind decides the type of the value.
        kind === 'dashboard' && value !== undefined ? [[key, value as DeclaredDashboard]] : [],
      ),
    ),
    isDeclared: (kind, key) => names.has(addressOf({ kind, key })),
    isMade: (key) => all.some((one) => one.kind === 'dashboard' && one.key === key && one.madeFrom !== undefined),
    keysOf: (kind) => all.filter((one) => one.kind === kind).map(({ key }) => key),
    // A file that cannot be read may declare what is missing.
    isComplete: read.unread.length === 0,
  }
  const brokenAlerts = read.broken.filter(({ kind }) => kind === 'alert').map((alert) => ({ ...alert, value: alert.fields }))
  return [
    ...[...read.objects.filter(isOf('alert')), ...brokenAlerts].flatMap((alert) => [
      ...checkTarget(alert, known),
      ...checkConflicts(alert),
    ]),
    ...read.objects.filter(isOf('dashboard')).flatMap(checkContainers),
    ...checkPreviousKeys(read.objects, known),
  ]
}

interface Known {
  readonly dashboards: ReadonlyMap<string, DeclaredDashboard>
  readonly isDeclared: (kind: KindName, key: string) => boolean
  readonly keysOf: (kind: KindName) => readonly string[]
  /** Whether the dashboard is not spelled in the files. */
  readonly isMade: (key: string) => boolean
  readonly isComplete: boolean
}

type Referrer = Pick<DeclaredObject, 'kind' | 'location' | 'locationOf' | 'pathOf' | 'spelled'>

/** An alert. One with errors has only its valid fields. */
interface CheckedAlert extends Referrer {
  readonly value: Partial<DeclaredAlert>
  readonly wrongFields?: ReadonlySet<string>
}

const diagnostic = (
  declared: Referrer,
  rule: keyof typeof referenceRules,
  path: readonly (string | number)[],
  message: string,
): Diagnostic =>
  diagnosticOf(
    referenceRules,
    rule,
    path.length === 0 ? declared.location : declared.locationOf(path),
    `${declared.pathOf(path)}: ${message}`,
  )

const targetFields = ['query', 'dashboard', 'tile', 'savedSearch'] as const

function checkTarget(alert: CheckedAlert, known: Known): readonly Diagnostic[] {
  const { query, dashboard, tile, savedSearch } = alert.value
  if (targetFields.some((field) => alert.wrongFields?.has(field)))
    return [...dangling(alert, 'dashboard', dashboard, known), ...dangling(alert, 'savedSearch', savedSearch, known)]
  if (query !== undefined && (tile === undefined || ownValue(alert.spelled, 'tile') !== undefined)) return checkQueryTarget(alert, known)
  const onTile = dashboard !== undefined || tile !== undefined
  if (onTile && savedSearch !== undefined)
    return [diagnostic(alert, 'alert-target', [], 'must watch either a tile or a savedSearch, not both')]
  if (savedSearch !== undefined) return dangling(alert, 'savedSearch', savedSearch, known)
  if (!onTile) return [diagnostic(alert, 'alert-target', [], 'watches nothing; add a query, dashboard and tile, or savedSearch')]
  if (dashboard === undefined || tile === undefined) {
    const lacking = dashboard === undefined ? 'dashboard' : 'tile'
    return [diagnostic(alert, 'alert-target', [], `watches a tile and needs ${lacking}, too`)]
  }
  const target = typeof dashboard === 'string' ? known.dashboards.get(dashboard) : undefined
  return target === undefined ? dangling(alert, 'dashboard', dashboard, known) : checkTile(alert, String(dashboard), target)
}

/** A query that is on no tile yet. */
function checkQueryTarget(alert: CheckedAlert, known: Known): readonly Diagnostic[] {
  const { dashboard, tile, savedSearch } = alert.value
  const other = tile !== undefined ? 'tile' : savedSearch !== undefined ? 'savedSearch' : undefined
  if (other !== undefined) return [diagnostic(alert, 'alert-target', [other], 'cannot be combined with query')]
  if (dashboard === undefined) return []
  const refuse = (message: string) => [diagnostic(alert, 'dangling-reference', ['dashboard'], message)]
  if (typeof dashboard !== 'string')
    return refuse('must be the key of a dashboard in these files, because the query becomes one of its tiles')
  if (known.isDeclared('dashboard', dashboard))
    return known.isMade(dashboard) ? refuse('is made from an SLO; name a dashboard that the files declare') : []
  return known.isComplete
    ? refuse(`"${quote(dashboard, 60)}" is not a key in these files${didYouMean(dashboard, known.keysOf('dashboard'))}`)
    : []
}

function dangling(
  alert: Referrer,
  field: 'dashboard' | 'savedSearch',
  reference: string | object | undefined,
  known: Known,
): readonly Diagnostic[] {
  if (typeof reference !== 'string' || !known.isComplete || known.isDeclared(field, reference)) return []
  const nearest = didYouMean(reference, known.keysOf(field))
  const message = `"${quote(reference, 60)}" is not a key in these files${nearest}${nearest ? ' T' : '; t'}o refer to an existing one, use { name: … } or { id: … }`
  return [diagnostic(alert, 'dangling-reference', [field], message)]
}

function checkTile(alert: CheckedAlert, key: string, { tiles }: DeclaredDashboard): readonly Diagnostic[] {
  const { tile } = alert.value
  if (typeof tile !== 'string') return []
  const [target, second] = tiles.filter(({ name }) => name === tile)
  if (target === undefined) {
    return [
      diagnostic(
        alert,
        'dangling-reference',
        ['tile'],
        `dashboard ${key} has no tile named "${quote(tile, 60)}"${adviseTileName(tile, tiles)}`,
      ),
    ]
  }
  if (second !== undefined)
    return [
      diagnostic(
        alert,
        'ambiguous-tile',
        ['tile'],
        `dashboard ${key} has several tiles named "${quote(tile, 60)}"; rename them so that each name is unique`,
      ),
    ]
  if (target.config !== undefined && lacksInterval(target.config)) {
    const message = `the SQL of tile "${quote(tile, 60)}" must use the interval, such as $__timeInterval(column) or {intervalSeconds:Int64}`
    return [diagnostic(alert, 'sql-without-interval', ['tile'], message)]
  }
  const type = typeWithoutAlerts(target)
  return type === undefined ? [] : [diagnostic(alert, 'tile-without-alerts', ['tile'], explainTypeWithoutAlerts(type))]
}

/** The server wants a query over time to use the length of its buckets, as a parameter or by one of its macros. */
const lacksInterval = (config: object) =>
  'sqlTemplate' in config &&
  'displayType' in config &&
  (config.displayType === 'line' || config.displayType === 'stacked_bar') &&
  !/intervalSeconds|intervalMilliseconds|\$__(?:interval_s|timeInterval|timeInterval_ms)\b/.test(String(config.sqlTemplate))

function checkContainers(dashboard: Declared<'dashboard'>): readonly Diagnostic[] {
  const { tiles, containers = [] } = dashboard.value
  const known = new Map(containers.map((container) => [container.id, container]))
  return tiles.flatMap(({ containerId, tabId }, i): readonly Diagnostic[] => {
    const at = (field: string, message: string): readonly Diagnostic[] => [
      diagnostic(dashboard, 'dangling-reference', ['tiles', i, field], message),
    ]
    if (containerId === undefined) return tabId === undefined ? [] : at('tabId', 'needs a containerId, too')
    const container = known.get(containerId)
    if (container === undefined)
      return at('containerId', `no container has the id "${quote(containerId, 60)}"${didYouMean(containerId, known.keys())}`)
    if (tabId === undefined || container.tabs?.some(({ id }) => id === tabId)) return []
    return at('tabId', `container "${quote(containerId, 60)}" has no tab "${quote(tabId, 60)}"`)
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
    if (known.isDeclared(declared.kind, previousKey))
      return [diagnostic(declared, 'previous-key', ['previousKey'], `${name} is still declared`)]
    return isSecond ? [diagnostic(declared, 'previous-key', ['previousKey'], `${name} is also the previousKey of another object`)] : []
  })
}

function checkConflicts(alert: CheckedAlert): readonly Diagnostic[] {
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
  return conflicts.flatMap(([isThere, field, message]) => (isThere ? [diagnostic(alert, 'conflicting-fields', [field], message)] : []))
}
