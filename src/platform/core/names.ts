export const toKebab = (camel: string): string =>
  camel.replace(/[A-Z]/g, (letter, at: number) => `${at === 0 ? '' : '-'}${letter.toLowerCase()}`)

export const toCamel = (kebab: string): string => kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** `api-key-id` → `WATCHKEEPER_API_KEY_ID`. */
export const toEnvironmentName = (kebab: string): string => `WATCHKEEPER_${kebab.toUpperCase().replaceAll('-', '_')}`

/** `${{ env.NAME }}` in a file is the variable with this prefix and the name. */
export const fileVariablePrefix = toEnvironmentName('var-')

/** A variable of the process with this prefix is a secret for a webhook. */
export const secretPrefix = 'WEBHOOK_'

export const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** Undefined when none is close. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const wanted = plain(given)
  const maxTypos = Math.max(1, Math.floor(wanted.length / 3))
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const name of known) {
    // Names whose lengths differ more cannot be close.
    if (Math.abs(plain(name).length - wanted.length) > maxTypos) continue
    const distance = editDistance(wanted, plain(name))
    if (distance < bestDistance) [best, bestDistance] = [name, distance]
  }
  return bestDistance <= maxTypos ? best : undefined
}

/** The nearest known name, or the only one that starts with what was written. */
export function meantName(given: string, known: readonly string[]): string | undefined {
  const nearest = nearestName(given, known)
  if (nearest !== undefined || given.length < 4) return nearest
  const longer = known.filter((name) => plain(name).startsWith(plain(given)))
  return longer.length === 1 ? longer[0] : undefined
}

/** `; did you mean "x"?`, or empty. Compares the first known names. A variable of a shell is written as an expression. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const variable = /\$\{?(?:env\.)?([A-Za-z_]\w{0,127})/.exec(given)?.[1]
  if (variable !== undefined) return `; write \${{ env.${variable} }} for the variable ${fileVariablePrefix}${variable}`
  // Looking for the nearest of thousands, thousands of times, would take minutes.
  const name = meantName(given, [...known].slice(0, 200))
  return name === undefined ? '' : `; did you mean "${name}"?`
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

export function secondsIn(text: string): number | undefined {
  const [, count, unit = ''] =
    /^(\d{1,9}(?:\.\d{1,3})?)\s*([smhd])(?:ec|ecs|in|ins|rs?|ours?|ays?|inutes?|econds?)?$/i.exec(text.trim()) ?? []
  return count === undefined ? undefined : Number(count) * (secondsOf[unit.toLowerCase()] ?? 0)
}

/** `; did you mean "5m" or "15m"?` A number without a unit may be in seconds or minutes. Undefined where a known name is not a duration. */
export function nearestDurations(given: string, known: readonly string[]): string | undefined {
  const durations = known.map((name) => ({ name, seconds: secondsIn(name) ?? Number.NaN }))
  if (durations.length === 0 || durations.some(({ seconds }) => Number.isNaN(seconds))) return undefined
  if (/^\d{1,9}$/.test(given)) return asQuestion(durations.filter(({ seconds }) => [1, 60].includes(seconds / Number(given))))
  const wanted = secondsIn(given)
  if (wanted === undefined) return undefined
  const sorted = durations.toSorted((a, b) => a.seconds - b.seconds)
  const below = sorted.findLast(({ seconds }) => seconds <= wanted)
  const above = sorted.find(({ seconds }) => seconds >= wanted)
  return asQuestion([...new Set([below, above])].filter((one) => one !== undefined))
}

const asQuestion = (found: readonly { readonly name: string }[]) =>
  found.length === 0 ? '' : `; did you mean ${found.map(({ name }) => `"${name}"`).join(' or ')}?`

// Case, dashes and underscores count as no difference. Only the beginning of a very long name is compared.
const plain = (name: string) => name.slice(0, 64).toLowerCase().replace(/[-_ ]/g, '')

// Optimal string alignment: insert, delete, replace, swap of two neighbors.
function editDistance(a: string, b: string) {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i])
  const at = (i: number, j: number): number => rows[i]?.[j] ?? j
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const steps = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1)]
      if (swapped) steps.push(at(i - 2, j - 2) + 1)
      rows[i]?.push(Math.min(...steps))
    }
  }
  return at(a.length, b.length)
}

/** Names of inputs, variables and keys of files that earlier builds had, and what to do instead. */
const dropped: Readonly<Record<string, string>> = {
  'adopt-from': 'set previous-project or previous-repository in .watchkeeper.yml',
  overrides:
    'make the value a variable of the files, set it in variables of the environment or in the instance, and set ids in adopt of the environment',
  recordings: 'backtest tests the incidents of the files on the data of the service',
  'record-group-names': 'nothing is recorded any more',
  'max-alerts': 'select decides which alerts are silenced',
  'min-size-ratio': 'set minSizeRatio in a policy of the file in checks',
  'require-restore-days': 'set requireRestoreDays in a policy of the file in checks',
  results: 'set results in a policy of the file in checks',
  'max-restore-minutes': 'set maxRestoreMinutes below tables in the file in checks',
}

export const adviceOnDropped = (name: string): string | undefined => (Object.hasOwn(dropped, name) ? dropped[name] : undefined)

/** Undefined for a name that never was one. */
export function whyDropped(name: string): string | undefined {
  const advice = adviceOnDropped(name)
  return advice && `is not supported any more; ${advice}`
}
