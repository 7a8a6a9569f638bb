// Owns what objects say of each other: keys that are declared, tiles that are there, and fields that the product knows.
import { didYouMean } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { type Declarations, type Declared, isOf } from './declarations.ts'
import type { Finding } from './finding.ts'
import { alertableTypes } from './kinds/tile-config.ts'

export const referenceRules = {
  'dangling-reference': 'A reference names something that is not declared.',
  'ambiguous-tile': 'An alert names a tile by a name that several tiles bear.',
  'alert-target': 'An alert watches nothing, or two things.',
  'tile-without-alerts': 'An alert is on a tile that cannot carry one.',
  'not-in-profile': 'The product behind the API does not know this.',
} as const

/** What the product behind the API can hold. */
export interface Abilities {
  readonly savedSearches: boolean
  /** Fields of an alert, in the API's names. */
  readonly alertFields: ReadonlySet<string>
}

export function checkReferences({ objects }: Pick<Declarations, 'objects'>, abilities: Abilities): readonly Finding[] {
  const dashboards = new Map(objects.filter(isOf('dashboards')).map((declared) => [declared.key, declared]))
  const searches = new Map(objects.filter(isOf('savedSearches')).map((declared) => [declared.key, declared]))
  return [
    ...objects.filter(isOf('alerts')).flatMap((alert) => checkAlert(alert, dashboards, searches)),
    ...objects.flatMap((declared) => checkAbilities(declared, abilities)),
  ]
}

const finding = (declared: Declared, rule: keyof typeof referenceRules, path: readonly string[], message: string): Finding => ({
  rule,
  severity: 'error',
  place: path.length === 0 ? declared.place : declared.placeOf(path),
  message: `${declared.section}.${declared.key}${path.length === 0 ? '' : `.${path.join('.')}`}: ${message}`,
})

type Dashboards = ReadonlyMap<string, Declared<'dashboards'>>

function checkAlert(alert: Declared<'alerts'>, dashboards: Dashboards, searches: ReadonlyMap<string, Declared>): readonly Finding[] {
  const { dashboard, tile, savedSearch } = alert.value
  const onTile = dashboard !== undefined || tile !== undefined
  if (onTile === (savedSearch !== undefined))
    return [
      finding(
        alert,
        'alert-target',
        [],
        onTile ? 'watches a tile or a savedSearch, not both' : 'watches nothing: name dashboard and tile, or savedSearch',
      ),
    ]
  if (savedSearch !== undefined) return dangling(alert, 'savedSearch', savedSearch, searches)
  if (dashboard === undefined || tile === undefined) {
    const lacking = dashboard === undefined ? 'dashboard' : 'tile'
    return [finding(alert, 'alert-target', [], `watches a tile, and needs ${lacking} as well`)]
  }
  const unknown = dangling(alert, 'dashboard', dashboard, dashboards)
  const target = typeof dashboard === 'string' ? dashboards.get(dashboard) : undefined
  return target === undefined ? unknown : checkTile(alert, target)
}

function dangling(alert: Declared, field: string, reference: string | object, known: ReadonlyMap<string, unknown>): readonly Finding[] {
  if (typeof reference !== 'string' || known.has(reference)) return []
  const message = `"${quote(reference, 60)}" is no key of these files${didYouMean(reference, known.keys())}; for one that exists, write { name: … } or { id: … }`
  return [finding(alert, 'dangling-reference', [field], message)]
}

function checkTile(alert: Declared<'alerts'>, { key, value }: Declared<'dashboards'>): readonly Finding[] {
  const { tile } = alert.value
  if (typeof tile !== 'string') return []
  const [target, second] = value.tiles.filter(({ name }) => name === tile)
  if (target === undefined) {
    const names = value.tiles.map(({ name }) => name)
    return [finding(alert, 'dangling-reference', ['tile'], `dashboard ${key} has no tile "${quote(tile, 60)}"${didYouMean(tile, names)}`)]
  }
  if (second !== undefined)
    return [
      finding(alert, 'ambiguous-tile', ['tile'], `dashboard ${key} has several tiles "${quote(tile, 60)}": give each a name of its own`),
    ]
  const type = target.config?.displayType
  if (type === undefined || alertableTypes.includes(type)) return []
  return [
    finding(
      alert,
      'tile-without-alerts',
      ['tile'],
      `a tile of type ${type} carries no alerts; those that do: ${alertableTypes.join(', ')}`,
    ),
  ]
}

function checkAbilities(declared: Declared, { savedSearches, alertFields }: Abilities): readonly Finding[] {
  const unknownTo = 'is not in the neutral contract; set the profile of a product that has it'
  if (isOf('savedSearches')(declared)) return savedSearches ? [] : [finding(declared, 'not-in-profile', [], unknownTo)]
  if (!isOf('alerts')(declared)) return []
  return Object.keys(declared.value)
    .filter((field) => !ownWords.has(field) && !alertFields.has(field))
    .map((field) => finding(declared, 'not-in-profile', [field], unknownTo))
}

/** Fields of ours, which become others of the API. */
const ownWords: ReadonlySet<string> = new Set(['dashboard', 'tile', 'savedSearch', 'adopt', 'id'])
