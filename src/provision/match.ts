// Owns which declared object is which actual one: by mark, by id, or by name where the file says so. Pure.
import { quote } from '../kernel/text.ts'
import type { Declared } from './declarations.ts'
import type { Finding } from './finding.ts'
import type { Actual, Kind } from './kinds/kind.ts'
import type { FoundMark } from './marker.ts'

export interface Marked {
  readonly actual: Actual
  readonly mark: FoundMark | undefined
}

export interface Pair {
  readonly declared: Declared
  /** Undefined for what is to be created. */
  readonly found?: Marked | undefined
}

export interface Matching {
  readonly pairs: readonly Pair[]
  /** Objects with this project's mark that no file declares. */
  readonly leftovers: readonly Marked[]
  readonly findings: readonly Finding[]
}

export const matchRules = {
  'mark-twice': 'Two objects bear one mark: two runs created them at once, or somebody copied one.',
  'not-ours': 'An object that the files claim bears the mark of another key or project.',
  'ambiguous-adoption': 'Several objects could be meant by `adopt`.',
  'missing-object': 'An id that the files give belongs to no object.',
  'same-name': 'An object of this name exists and is not taken over: a second one will be created.',
} as const

interface Subject {
  readonly kind: Kind
  readonly project: string
  readonly declared: readonly Declared[]
  readonly actual: readonly Actual[]
}

export function matchObjects({ kind, project, declared, actual }: Subject): Matching {
  const marked = actual.map((one) => ({ actual: one, mark: kind.markIn(kind.bodyOf(one)) }))
  const projectToken = kind.markStyle.projectToken(project)
  const ours = marked.filter(({ mark }) => mark?.project === projectToken)
  const index: Index = {
    kind,
    tokenOf: (key) => kind.markStyle.token(project, key),
    byToken: Map.groupBy(ours, ({ mark }) => mark?.token ?? ''),
    freeByName: Map.groupBy(
      marked.filter(({ mark }) => mark === undefined),
      (one) => one.actual.name ?? '',
    ),
    byId: new Map(marked.map((one) => [one.actual.id, one])),
  }
  const findings: Finding[] = []
  const taken = new Set<Marked>()
  const pairs = declared.map((one): Pair => {
    const { found, complaint } = findFor(one, index)
    if (complaint !== undefined) findings.push(complaint)
    if (found !== undefined && taken.has(found)) findings.push(report(one, 'not-ours', `${found.actual.id} is claimed by two keys`))
    if (found !== undefined) taken.add(found)
    return { declared: one, found }
  })
  const claimed = new Set(declared.map(({ key }) => index.tokenOf(key)))
  return { pairs, leftovers: ours.filter((one) => !taken.has(one) && !claimed.has(one.mark?.token ?? '')), findings }
}

interface Index {
  readonly kind: Kind
  tokenOf(key: string): string
  readonly byToken: ReadonlyMap<string, readonly Marked[]>
  readonly freeByName: ReadonlyMap<string, readonly Marked[]>
  readonly byId: ReadonlyMap<string, Marked>
}

interface Search {
  readonly found?: Marked
  readonly complaint?: Finding
}

const report = ({ section, key, place }: Declared, rule: keyof typeof matchRules, message: string): Finding => ({
  rule,
  severity: rule === 'same-name' ? 'warning' : 'error',
  place,
  message: `${section}.${key}: ${message}`,
})

function findFor(declared: Declared, index: Index): Search {
  const { kind, byToken, tokenOf } = index
  const [own, second] = byToken.get(tokenOf(declared.key)) ?? []
  if (own !== undefined && second !== undefined) {
    const message = `two ${kind.noun}s bear this mark, ${own.actual.id} and ${second.actual.id}: delete the one that is not wanted`
    return { found: own, complaint: report(declared, 'mark-twice', message) }
  }
  const { id } = declared.value
  if (own !== undefined && id !== undefined && own.actual.id !== id)
    return { found: own, complaint: report(declared, 'not-ours', `the file names ${quote(id, 60)}, but the mark is on ${own.actual.id}`) }
  if (own !== undefined) return { found: own }
  return id === undefined ? findByName(declared, index) : findById(declared, id, index)
}

function findById(declared: Declared, id: string, { kind, byId }: Index): Search {
  const found = byId.get(id)
  if (found === undefined)
    return { complaint: report(declared, 'missing-object', `there is no ${kind.noun} ${quote(id, 60)}; without id a new one is created`) }
  if (found.mark === undefined) return { found }
  return { complaint: report(declared, 'not-ours', `${kind.noun} ${found.actual.id} bears the mark of another key or project`) }
}

function findByName(declared: Declared, { kind, freeByName }: Index): Search {
  const [first, second] = freeByName.get(declared.value.name) ?? []
  if (first === undefined) return {}
  if (!declared.value.adopt) {
    const message = `another ${kind.noun} called "${quote(declared.value.name, 60)}" exists (${first.actual.id}) and bears no mark; write adopt: true to take it over`
    return { complaint: report(declared, 'same-name', message) }
  }
  if (second === undefined) return { found: first }
  const message = `several ${kind.noun}s called "${quote(declared.value.name, 60)}" could be adopted (${first.actual.id}, ${second.actual.id}): give the id`
  return { complaint: report(declared, 'ambiguous-adoption', message) }
}
