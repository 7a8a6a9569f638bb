import { type Diagnostic, formatLocation, type Location } from '../../platform/core/diagnostics.ts'
import { firstOf } from '../../platform/core/text.ts'

const minRepeats = 3

const itemLabels = /\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g

/** At the first place, with the number of places. */
export function collapseRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = Map.groupBy(diagnostics, ({ rule, severity, message, location }) => {
    const end = message.indexOf(': ')
    return JSON.stringify([rule, severity, location.file, message.slice(0, end).replace(itemLabels, '[]'), message.slice(end)])
  })
  return [...groups.values()].flatMap((alike) => {
    const [first, second, ...others] = alike
    if (first === undefined || second === undefined || alike.length < minRepeats) return alike
    const more = `lines ${[second, ...others]
      .slice(0, maxNamedLines)
      .map(({ location }) => location.line)
      .join(', ')}${alike.length > maxNamedLines + 1 ? ', …' : ''}`
    return [{ ...first, message: `${first.message} (${alike.length} times; also in ${more})` }]
  })
}

const maxNamedLines = 3

export const inInstance = ({ instance }: Location): string => (instance === undefined ? '' : ` (instance ${instance})`)

/** Makes one diagnostic of the same message at the same place for several instances. */
export function nameInstances(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = Map.groupBy(diagnostics, (one) => {
    const { rule, severity, message, location } = one
    if (location.instance === undefined) return one
    // The key of the object, which differs, is in front of the colon.
    return JSON.stringify([rule, severity, formatLocation(location), message.slice(message.indexOf(': '))])
  })
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first?.location.instance === undefined) return [first, ...others].filter((one) => one !== undefined)
    if (others.length === 0) return [{ ...first, message: `${first.message}${inInstance(first.location)}` }]
    const names = [...new Set([first, ...others].flatMap(({ location }) => location.instance ?? []))]
    return [{ ...first, message: `${first.message} (instances ${firstOf(3, names)})` }]
  })
}

export const byLocation = ({ location: a }: Diagnostic, { location: b }: Diagnostic): number =>
  a.file.localeCompare(b.file, 'en') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
