import { type Body, listOf } from '../../kinds/kind.ts'
import { isMapping } from '../../platform/core/keys.ts'

// Variables of a dashboard in the query of an alert, for which nothing is selected. Tried on HyperDX 2.36 with 14 forms.

/** What a variable without a value becomes, by the format of its reference. */
const empty: Readonly<Record<string, string>> = { sqlstring: 'NULL', regex: '.*', csv: '', lucene: '("")' }

/** The name that a filter has without one of its own. */
const derivedName = (name: string): string =>
  name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/\W+/g, '')
    .replace(/^(?=[0-9_])/, 'v')

const conditions = /\$__(?:filter|conditionalAll)\((?:[^()]|\([^()]*\))*\)/g

const references = /\$\{([A-Za-z]\w*)(?::(\w+))?\}|\$([A-Za-z]\w*)/g

/** The names of the variables that the filters of a dashboard make. */
const variablesOf = (filters: unknown): ReadonlySet<string> =>
  new Set(
    listOf(filters).flatMap(({ isVariableEnabled, variableName, name }) =>
      isVariableEnabled === true ? [String(variableName ?? '').trim() || derivedName(String(name))] : [],
    ),
  )

/** A tile as the alert task reads it; the tile itself where it uses no variable that the dashboard has. */
export function withoutVariables(tile: Body, filters: unknown): Body {
  const names = variablesOf(filters)
  let isChanged = false
  const expand = (text: string, format: string): string => {
    const expanded = (format === 'lucene' ? text : text.replace(conditions, '(1=1)')).replace(references, (all, braced, given, bare) =>
      names.has(braced ?? bare) ? (empty[given ?? format] ?? all) : all,
    )
    isChanged ||= expanded !== text
    return expanded
  }
  const expandIn = (value: unknown, format: string): unknown => {
    if (typeof value === 'string') return expand(value, format)
    if (Array.isArray(value)) return value.map((one) => expandIn(one, format))
    if (!isMapping(value)) return value
    const isLucene = (value.whereLanguage ?? 'lucene') === 'lucene'
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, expandIn(one, key === 'where' && isLucene ? 'lucene' : 'sqlstring')]),
    )
  }
  const config = names.size === 0 ? tile.config : expandIn(tile.config, 'sqlstring')
  return isChanged ? { ...tile, config } : tile
}

/** The variable that an alert compares with, so that it matches no row; undefined without one, and where the query allows for none. */
export function comparedVariable(text: string, filters: unknown): string | undefined {
  const rest = text.replace(conditions, '')
  const [, braced, name = braced] =
    /(?:[=<>]|:"|\bI?LIKE|\bIN\s*\()\s*'?\$(?:\{([A-Za-z]\w*)(?::sqlstring)?\}|([A-Za-z]\w*))/i.exec(rest) ?? []
  if (name === undefined || !variablesOf(filters).has(name)) return undefined
  return /\bIS\s+NULL\b/i.test(rest.slice(rest.indexOf(`$${name}`))) ? undefined : name
}
