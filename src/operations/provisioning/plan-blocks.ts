// Owns how a plan, and what became of it, is shown: numbers, then what is wrong, then each object as a review would show it.
import type { Action } from '../../provision/change.ts'
import { unmanaged } from '../../provision/match.ts'
import type { Block, DiffLine } from '../../report/blocks.ts'
import { toDiffLines } from '../../report/diff.ts'
import { counted, data, join, type Line, ours, say } from '../../report/line.ts'
import { findingsBlock } from '../findings.ts'
import type { PlannedObject, PlanResult } from './plan-result.ts'

const signs: Readonly<Record<Action, DiffLine['sign']>> = {
  create: '+',
  update: '~',
  replace: '~',
  delete: '-',
  adopt: '~',
  unchanged: ' ',
}

const verbs: Readonly<Record<Action, string>> = {
  create: 'create',
  update: 'update',
  replace: 'replace',
  delete: 'delete',
  adopt: 'adopt',
  unchanged: 'leave',
}

export const nouns: Readonly<Record<string, string>> = { dashboards: 'dashboard', savedSearches: 'saved search', alerts: 'alert' }

export const placeOf = ({ file, line }: PlannedObject): string => (file === undefined ? '' : line === undefined ? file : `${file}:${line}`)

/** Nothing where nothing could be counted. */
export function planFacts(result: PlanResult): Block {
  const { toCreate, toUpdate, toReplace, toDelete, toAdopt, unchanged } = result
  const facts = { Create: toCreate, Update: toUpdate, Replace: toReplace, Delete: toDelete, Adopt: toAdopt, Unchanged: unchanged - toAdopt }
  const shown = Object.entries(facts).filter(([label, count]) => count > 0 || !['Replace', 'Adopt'].includes(label))
  if (result.objects.length === 0 && result.findings.some(({ severity }) => severity === 'error')) return { kind: 'facts', facts: [] }
  return { kind: 'facts', facts: shown.map(([label, count]) => ({ label, value: [ours(String(count))] })) }
}

/** `1 to create, 2 to update`; the words of a plan in one line. */
export function planWords({ toCreate, toUpdate, toReplace, toDelete }: PlanResult): Line {
  const parts = { create: toCreate, update: toUpdate, replace: toReplace, delete: toDelete }
  const words = Object.entries(parts).filter(([, count]) => count > 0)
  return join(
    words.map(([verb, count]) => say`${count} to ${ours(verb)}`),
    ', ',
  )
}

export const findingBlocks = ({ findings }: PlanResult): readonly Block[] => (findings.length === 0 ? [] : [findingsBlock(findings)])

/** One diff for all objects, so that a page stays one page. */
export function objectBlocks(result: PlanResult): readonly Block[] {
  const changed = result.objects.filter(({ action }) => action !== 'unchanged' && action !== 'adopt')
  return [
    { kind: 'diff', lines: [...changed, ...result.objects.filter(isRenamed)].flatMap(toLines) },
    ...adoptions(result),
    ...hiddenParts(result),
    ...leftovers(result),
    ...unchecked(result),
  ]
}

/** Nothing differs, but it was another key's or another project's. */
const isRenamed = ({ action, notes }: PlannedObject): boolean => action === 'adopt' && notes.some((note) => note !== unmanaged)

/** What a client cannot see, and so cannot keep. */
export const hiddenPartsText =
  'PromQL tiles, and in other tiles the filter (`where`), `granularity`, `alternateRowBackground` and `ratioMode` that were set in the web app'

const hiddenParts = ({ objects }: PlanResult): readonly Block[] => {
  const written = objects.filter(({ section, action }) => section === 'dashboards' && (action === 'update' || action === 'adopt'))
  if (written.length === 0) return []
  const line = say`Writing ${counted(written.length, 'existing dashboard')} deletes what the API does not show of ${ours(written.length === 1 ? 'it' : 'them')}: ${ours(hiddenPartsText)}. Written: ${namesOf(written)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Existing dashboards to write', written)]
}

/** Objects that still read as one sentence. */
const mostNamed = 5

type Named = Pick<PlannedObject, 'section' | 'key' | 'name' | 'id'>

function namesOf(objects: readonly Named[]): Line {
  const named = objects.slice(0, mostNamed).map(({ section, key, name }) => say`${ours(nouns[section] ?? '')} ${key || name}`)
  const more = objects.length > mostNamed ? [say`${objects.length - mostNamed} more`] : []
  return join([...named, ...more], ', ')
}

function toLines(object: PlannedObject, index: number): readonly DiffLine[] {
  const { section, key, name, action, id, notes, fields, origin } = object
  const label = [nouns[section], key, key === name ? '' : JSON.stringify(name)].filter(Boolean).join(' ')
  const where = placeOf(object) || id
  const why =
    action === 'update' && origin !== undefined ? [`since the last apply, ${origin === 'files' ? 'the files' : 'the service'} changed`] : []
  return [
    ...(index === 0 ? [] : [{ sign: ' ' as const, text: '' }]),
    { sign: signs[action], text: `${verbs[action]} ${label}${where ? `  (${where})` : ''}` },
    ...[...notes, ...why].map((note): DiffLine => ({ sign: ' ', text: `  # ${note}` })),
    ...toDiffLines(fields),
  ]
}

const adoptions = ({ objects }: PlanResult): readonly Block[] => {
  const adopted = objects.filter(({ action }) => action === 'adopt')
  if (adopted.length === 0) return []
  const [are, them] = adopted.length === 1 ? ['object is', 'it'] : ['objects are', 'them']
  const line = say`${adopted.length} ${ours(are)} as declared. apply takes ${ours(them)} over by writing this project's marker: ${namesOf(adopted)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Objects to adopt', adopted)]
}

/** Of more than the sentence above it can name. */
const objectTable = (title: string, objects: readonly Named[]): readonly Block[] =>
  objects.length <= mostNamed
    ? []
    : [
        {
          kind: 'details',
          title: `${title} (${objects.length})`,
          blocks: [
            {
              kind: 'table',
              columns: [{ title: 'Kind' }, { title: 'Key' }, { title: 'Name' }, { title: 'Id' }],
              rows: objects.map(({ section, key, name, id = '' }) => [[ours(nouns[section] ?? '')], [data(key)], [data(name)], [data(id)]]),
            },
          ],
        },
      ]

const leftovers = ({ leftovers: left }: PlanResult): readonly Block[] => {
  if (left.length === 0) return []
  const line = say`${left.length} ${ours(left.length === 1 ? 'object bears' : 'objects bear')} this project's mark and ${ours(left.length === 1 ? 'is' : 'are')} in no file; prune deletes such objects: ${namesOf(left)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Objects in no file', left)]
}

const unchecked = ({ uncheckedCount }: PlanResult): readonly Block[] =>
  uncheckedCount === 0
    ? []
    : [
        {
          kind: 'paragraph',
          line: say`${counted(uncheckedCount, 'changed dashboard')} not checked by the server: it is asked about twenty at most, and older ones cannot be asked.`,
        },
      ]
