import { kindLabels } from '../../kinds/kind-names.ts'
import { type Line, placed, say, trusted } from '../../platform/core/line.ts'
import { clip, firstOf, plural } from '../../platform/core/text.ts'
import type { Block, DiffLine } from '../../platform/report/blocks.ts'
import { type SideNames, toDiffLines } from '../../platform/report/diff-lines.ts'
import { wrap } from '../../platform/report/terminal.ts'
import { type Action, spellOrigin } from '../../sync/decide/change.ts'
import { type PlannedObject, type PlanResult, sinceWhen } from './plan-result.ts'

const leads: Readonly<Record<Action, readonly [DiffLine['sign'], string]>> = {
  create: ['+', ''],
  update: ['~', ''],
  delete: ['-', ''],
  replace: ['~', 'replace '],
  adopt: ['~', 'adopt '],
  mark: ['~', 'mark '],
  release: ['~', 'release '],
  held: [' ', ''],
  unchanged: [' ', ''],
}

interface Entry {
  readonly lines: readonly DiffLine[]
  /** No blank line separates two short entries. */
  readonly isShort: boolean
  readonly place?: Line
}

/** All changes in one diff, to keep the page short. It sums up new objects, whose fields are below it. */
export function changeBlocks(
  objects: readonly PlannedObject[],
  { slos = [], objects: all }: Pick<PlanResult, 'slos' | 'objects'>,
  sides?: SideNames,
): readonly Block[] {
  const created = objects.filter(({ action }) => action === 'create')
  const newSlos = slos.flatMap((slo) => {
    const made = all.filter(({ madeFrom }) => madeFrom === `slos.${slo.key}`)
    return made.length > 0 && made.every(({ action }) => action === 'create') ? [{ ...slo, made }] : []
  })
  const ofSlos = new Set(newSlos.flatMap(({ made }) => made))
  const others = objects.filter((object) => !ofSlos.has(object))
  const entries = [...groupInstances(others).map((group) => toEntry(group, sides)), ...newSlos.map(toSloEntry)]
  const [first, second] = created
  const diff: Block = { kind: 'diff', lines: joinEntries(entries), places: entries.flatMap(({ place }) => (place ? [place] : [])) }
  if (first === undefined) return [diff]
  return [
    diff,
    {
      kind: 'details',
      title: `All fields of ${second === undefined ? `${kindLabels[first.kind]} ${first.key}` : `${created.length} new objects`}`,
      blocks: [{ kind: 'diff', lines: joinEntries(created.map(({ summary: _, ...object }) => toEntry([object]))) }],
    },
  ]
}

const joinEntries = (entries: readonly Entry[]): readonly DiffLine[] =>
  entries.flatMap(({ lines, isShort }, i) => {
    const previous = entries[i - 1]
    const isSeparate = previous !== undefined && !(isShort && previous.isShort)
    return isSeparate ? [{ sign: ' ' as const, text: '' }, ...lines] : lines
  })

/** Equal changes of several instances are one group. */
const groupInstances = (objects: readonly PlannedObject[]): readonly (readonly PlannedObject[])[] => [
  ...Map.groupBy(objects, (object) => (object.instance === undefined ? object : templateOf(object))).values(),
]

/** A text that is equal for equal changes of several instances, without their keys. Tags are sorted, so a key can be anywhere in them. */
function templateOf({ instance = '', id: _, url: __, layout: ___, ...object }: PlannedObject): string {
  const key = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(instance)}(?![\\p{L}\\p{N}])`, 'gu')
  const withoutKey = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll(key, '\u0000') : value)
  return JSON.stringify(object, (_field, value: unknown) => (Array.isArray(value) ? value.map(withoutKey).toSorted() : withoutKey(value)))
}

function toEntry([object, ...others]: readonly PlannedObject[], sides?: SideNames): Entry {
  if (object === undefined) return { lines: [], isShort: true }
  const { kind, key, name, action, id, file, line, notes, summary, fields, origin } = object
  const where = file === undefined ? id : line === undefined ? file : `${file}:${line}`
  // With names for both sides, a table says who changed what.
  const why = action === 'update' && origin !== undefined && sides === undefined ? [spellOrigin(origin, sinceWhen(object))] : []
  const instances = others.flatMap(({ instance }) => instance ?? [])
  const same = instances.length === 0 ? [] : [`the same for ${plural(instances.length, 'more instance')}: ${firstOf(10, instances)}`]
  const shown = summary === undefined ? fields : []
  return {
    lines: [
      toHead(action, [kindLabels[kind], key, key === name ? '' : JSON.stringify(name)], where),
      ...[...notes, ...why].map((note) => below(`# ${note}`)),
      ...(summary === undefined ? [] : toParagraph(summary)),
      ...toDiffLines(shown, action === 'update' || action === 'replace' ? sides : undefined),
      ...same.flatMap(toParagraph),
    ],
    isShort: shown.length === 0,
    ...(file !== undefined && { place: say`${trusted(kindLabels[kind])} ${placed(key || name, { file, line })}` }),
  }
}

type NewSlo = NonNullable<PlanResult['slos']>[number] & { readonly made: readonly PlannedObject[] }

function toSloEntry({ key, name, summary, made: [first, ...others] }: NewSlo): Entry {
  const { file, line } = first ?? {}
  return {
    lines: [
      toHead('create', ['SLO', key, key === name ? '' : JSON.stringify(name)], `${file}:${line}`),
      ...toParagraph(`${summary}. Makes dashboard ${key}.slo and ${plural(others.length, 'alert')}.`),
    ],
    isShort: true,
    ...(file !== undefined && { place: say`SLO ${placed(key, { file, line })}` }),
  }
}

function toHead(action: Action, label: readonly string[], where: string | undefined): DiffLine {
  const [sign, verb] = leads[action]
  return { sign, text: `${verb}${label.filter(Boolean).join(' ')}${where ? `  (${where})` : ''}` }
}

const below = (text: string): DiffLine => ({ sign: ' ', text: `  ${text}` })

/** A terminal of 80 columns, without the indent. */
const paragraphWidth = 76

const maxSummaryLength = 600

const toParagraph = (text: string): readonly DiffLine[] =>
  wrap(clip(text.replaceAll(/\s+/g, ' '), maxSummaryLength), paragraphWidth).map(below)
