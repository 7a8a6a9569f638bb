// Random sequences of persons in the web app, authors of files, upgrades of the server, rotated secrets, renamed references and runs, for one object.
// The oracle remembers every value that a person wrote, and shares no code with the rules that it judges.
import { declarationDigest, toAdoptedId, withBase } from '../../src/kinds/base.ts'
import type { Body, StoredObject } from '../../src/kinds/kind.ts'
import { addressOf, type KindName, sections } from '../../src/kinds/kind-names.ts'
import { createKinds, type Kinds } from '../../src/kinds/kinds.ts'
import { profileNamed } from '../../src/platform/api/profiles.ts'
import type { Change, Plan } from '../../src/sync/decide/change.ts'
import type { StoredObjects } from '../../src/sync/plan/stored-objects.ts'
import { readValue } from './declarations.ts'
import { afterApply, nowMs, planOf, remoteStateWith } from './plans.ts'
import { randomFrom } from './random.ts'

type Random = () => number

/** Two fields of an object and the text or tags around its marker, each as a number: a value of a file is even, and one of a person is odd. */
type Values = Readonly<Record<Field, number>>

type Field = 'a' | 'b' | 'text'

const fields = ['a', 'b', 'text'] as const

/** How a kind has these fields, in a file and in the service. */
interface Subject {
  readonly kind: KindName
  readonly isSelfHosted?: true
  declare(values: Values): Body
  /** The stored fields of a change by a person. `text` is that with the marker, where there is one. */
  store(field: Field, value: number, stored: StoredObject): Body
  read(stored: StoredObject, kinds: Kinds): Values
  /** What the server fills in after an upgrade. */
  fill?(stored: StoredObject): Body
}

const place = { x: 0, y: 0, w: 12, h: 4 }
const chart = (where: unknown) => ({ displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where }] })
const intervals = ['1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d']
const isMarkerTag = (tag: string): boolean => /^wk[a-z]?:/.test(tag)
const numberIn = (text: unknown): number => Number(/\d+/.exec(String(text))?.[0] ?? -1)
const tilesOf = (stored: StoredObject) => stored.tiles as readonly (Body & { readonly config: Body })[]

const taggedText = {
  store: (value: number, stored: StoredObject): Body => ({ tags: [`t${value}`, ...((stored.tags ?? []) as string[]).filter(isMarkerTag)] }),
  read: (stored: StoredObject): number => numberIn(((stored.tags ?? []) as string[]).find((tag) => !isMarkerTag(tag))),
}

const markedText = (field: string) => ({
  store: (value: number, stored: StoredObject): Body => ({
    [field]: String(stored[field] ?? '').replace(/^[^\n]*?(?=\n\nwatchkeeper:|$)/, `t${value}`),
  }),
  read: (stored: StoredObject): number => numberIn(/^t\d+/.exec(String(stored[field] ?? ''))?.[0]),
})

const note = markedText('note')
const description = markedText('description')

const subjects: readonly Subject[] = [
  {
    kind: 'alert',
    declare: ({ a, b, text }) => ({
      name: 'One',
      savedSearch: 'shared',
      threshold: a,
      interval: intervals[b % intervals.length],
      note: `t${text}`,
      channel: { type: 'webhook', webhook: 'oncall' },
    }),
    store: (field, value, stored) =>
      field === 'text'
        ? note.store(value, stored)
        : field === 'a'
          ? { threshold: value }
          : { interval: intervals[value % intervals.length] },
    read: (stored) => ({ a: Number(stored.threshold), b: intervals.indexOf(String(stored.interval)), text: note.read(stored) }),
    fill: () => ({ displayName: 'Filled in', tags: ['filled'] }),
  },
  {
    kind: 'savedSearch',
    declare: ({ a, b, text }) => ({ name: 'One', source: 'Logs', where: `w${a}`, orderBy: `o${b}`, tags: [`t${text}`] }),
    store: (field, value, stored) =>
      field === 'text' ? taggedText.store(value, stored) : field === 'a' ? { where: `w${value}` } : { orderBy: `o${value}` },
    read: (stored) => ({ a: numberIn(stored.where), b: numberIn(stored.orderBy), text: taggedText.read(stored) }),
    fill: () => ({ select: 'Timestamp, Body' }),
  },
  {
    kind: 'dashboard',
    declare: ({ a, b, text }) => ({
      name: 'One',
      tags: [`t${text}`],
      tiles: [
        { name: 'A', ...place, config: chart(`w${a}`) },
        { name: 'B', ...place, y: 4, config: chart(`w${b}`) },
      ],
    }),
    store(field, value, stored) {
      if (field === 'text') return taggedText.store(value, stored)
      const select = [{ aggFn: 'count', where: `w${value}`, whereLanguage: 'lucene' }]
      return {
        tiles: tilesOf(stored).map((tile) => (tile.name === field.toUpperCase() ? { ...tile, config: { ...tile.config, select } } : tile)),
      }
    },
    read(stored) {
      const whereOf = (name: string): number => {
        const config = tilesOf(stored).find((tile) => tile.name === name)?.config
        return numberIn((config?.select as readonly Body[] | undefined)?.[0]?.where)
      }
      return { a: whereOf('A'), b: whereOf('B'), text: taggedText.read(stored) }
    },
    fill: (stored) => ({ tiles: tilesOf(stored).map((tile) => ({ ...tile, config: { fitYAxisToData: true, ...tile.config } })) }),
  },
  {
    kind: 'webhook',
    isSelfHosted: true,
    declare: ({ a, b, text }) => ({
      name: 'One',
      service: 'generic',
      urlFrom: 'WEBHOOK_URL',
      body: `{"a":${a},"b":${b}}`,
      description: `t${text}`,
    }),
    store(field, value, stored) {
      if (field === 'text') return description.store(value, stored)
      const body = JSON.parse(String(stored.body)) as Body
      return { body: JSON.stringify({ ...body, [field]: value }) }
    },
    read(stored) {
      const { a, b } = JSON.parse(String(stored.body)) as { readonly a: number; readonly b: number }
      return { a, b, text: description.read(stored) }
    },
  },
]

interface World {
  readonly subject: Subject
  readonly kinds: Kinds
  readonly canPatch: boolean
  readonly random: Random
  service: StoredObjects
  declared: Values
  adopt: string | undefined
  /** How often a reference got another object, a secret another value, and whether the server was upgraded. */
  references: number
  secrets: number
  isUpgraded: boolean
  /** The last value of a person by field, with the step in which it was written. */
  persons: Map<Field, { readonly value: number; readonly at: number }>
  /** Whether a person removed the marker since the last run. */
  isUnmarked: boolean
  /** The step in which an author last decided or pulled. */
  decidedAt: number
  step: number
  readonly log: string[]
  readonly problems: string[]
}

const key = 'one'

const isOne = ({ name }: StoredObject): boolean => name === 'One'

const oneIn = ({ service, subject }: World): StoredObject | undefined => service[subject.kind].find(isOne)

function replaceOne(world: World, change: (one: StoredObject) => StoredObject): void {
  const { subject, service } = world
  world.service = remoteStateWith({ ...service, [subject.kind]: service[subject.kind].map((one) => (isOne(one) ? change(one) : one)) })
}

/** The object of these files, one more of its kind that stays as it is, and a saved search that alerts watch. */
function filesOf({ subject, declared, adopt }: World): object {
  const section = sections[subject.kind]
  const { name: _, ...others } = subject.declare({ a: 2, b: 4, text: 6 })
  const files: Record<string, Record<string, object>> = { savedSearches: { shared: { name: 'Shared', source: 'Logs' } } }
  files[section] = {
    ...files[section],
    [key]: { ...subject.declare(declared), ...(adopt !== undefined && { adopt }) },
    other: { name: 'Other', ...others },
  }
  return files
}

const secretOf =
  ({ secrets }: World) =>
  (): string =>
    `https://hooks.example/services/secret-${secrets}`

const planIn = (world: World): Plan =>
  planOf(filesOf(world), world.service, { kinds: world.kinds, canPatch: world.canPatch, secret: secretOf(world), isWrite: true })

const changeIn = (plan: Plan, { subject }: World): Change | undefined =>
  plan.changes.find((change) => change.kind === subject.kind && change.key === key)

const wordsOf = (change: Change | undefined): string =>
  change === undefined ? 'nothing' : `${change.action}${'origin' in change && change.origin !== undefined ? ` (${change.origin})` : ''}`

/** The service after a run, with what the server fills in, and with the bases that the run records then. */
function write(world: World, plan: Plan): void {
  const { subject, kinds } = world
  const written = plan.changes.filter(({ action }) => action !== 'unchanged' && action !== 'held')
  world.service = fill(world, afterApply({ ...plan, changes: written }, world.service, kinds))
  const kind = kinds[subject.kind]
  const desired = new Map(written.filter((change) => change.kind === subject.kind).map(({ name, desired: body }) => [name, body ?? {}]))
  const withBases = world.service[subject.kind].map((one) => {
    const body = desired.get(String(one.name))
    return body === undefined ? one : { ...one, ...withBase(kind, kind.toBody(one), body) }
  })
  world.service = remoteStateWith({ ...world.service, [subject.kind]: withBases })
}

function fill({ subject, isUpgraded }: World, service: StoredObjects): StoredObjects {
  if (!isUpgraded || subject.fill === undefined) return service
  return remoteStateWith({
    ...service,
    [subject.kind]: service[subject.kind].map((one) => ({
      ...subject.fill?.(one),
      ...one,
      ...('tiles' in one && subject.fill?.(one)),
    })),
  })
}

/** A run: what it says and writes, and what the oracle says of that. Returns the change of the object. */
function apply(world: World): Change | undefined {
  const before = oneIn(world)
  const plan = planIn(world)
  const change = changeIn(plan, world)
  world.log.push(`→ ${wordsOf(change)}`)
  const origin = change !== undefined && 'origin' in change ? change.origin : undefined
  const isUnchangedByPersons = world.persons.size === 0 && !world.isUnmarked
  world.isUnmarked = change?.action === 'held' && world.isUnmarked
  if (isUnchangedByPersons && (origin === 'service' || origin === 'both')) world.problems.push(`"${origin}" although no person changed it`)
  if (isUnchangedByPersons && change?.action === 'held' && before !== undefined && markerOf(before, world))
    world.problems.push('held although no person changed it')
  write(world, plan)
  const after = oneIn(world)
  if (before !== undefined && after !== undefined) {
    reportLosses(world, before, after, change)
    if (change?.action === 'unchanged' || change?.action === 'mark') reportDifferences(world, after, change.action)
  }
  const again = planIn(world).changes.filter(({ action }) => action !== 'unchanged' && action !== 'held')
  if (again.length > 0) world.problems.push(`a second run writes: ${again.map((one) => `${addressOf(one)} ${wordsOf(one)}`).join(', ')}`)
  return change
}

function reportLosses(world: World, before: StoredObject, after: StoredObject, change: Change | undefined): void {
  const [was, is] = [before, after].map((one) => world.subject.read(one, world.kinds))
  const origin = change !== undefined && 'origin' in change ? change.origin : undefined
  const isSaid = origin === 'service' || origin === 'unknown'
  for (const [field, { value, at }] of [...world.persons]) {
    if (was?.[field] !== value || is?.[field] === value) continue
    world.persons.delete(field)
    if (!isSaid && world.decidedAt < at) world.problems.push(`lost ${field} of a person with the words: ${wordsOf(change)}`)
  }
}

function reportDifferences(world: World, after: StoredObject, action: string): void {
  const [is, wanted] = [world.subject.read(after, world.kinds), valuesOf(world)]
  for (const field of fields) if (is[field] !== wanted[field]) world.problems.push(`"${action}" although it differs`)
}

const markerOf = (one: StoredObject, { kinds, subject }: World) => kinds[subject.kind].readMarker(kinds[subject.kind].toBody(one))

/** What the files say, as it is stored: an interval is one of a few. */
const valuesOf = ({ declared, subject }: World): Values =>
  subject.kind === 'alert' ? { ...declared, b: declared.b % intervals.length } : declared

/** What the message of a held object prints as the way to keep the values of the file. */
const entryIn = (change: Change | undefined): string | undefined =>
  change?.action === 'held'
    ? change.remedies.flatMap((remedy) => /([\w.~-]+@\d+\.[0-9a-f]{10}\.files)/.exec(remedy)?.[1] ?? [])[0]
    : undefined

function decide(world: World, entry: string): void {
  world.adopt = entry
  world.decidedAt = world.step + 0.5
}

/** As `pull` does: the values of the service, and what both were like. */
function pull(world: World): void {
  const one = oneIn(world)
  if (one === undefined) return
  const { subject, kinds } = world
  const before = valuesOf(world)
  const values = subject.read(one, kinds)
  world.declared = values
  world.persons.clear()
  world.decidedAt = world.step + 0.5
  const isChanged = fields.some((field) => before[field] !== values[field])
  if (markerOf(one, world) !== undefined && !isChanged) return
  const value = readValue(filesOf({ ...world, adopt: undefined })).objects.find((object) => object.key === key)?.value as Body
  const desired = changeIn(planIn(world), world)?.desired ?? {}
  world.adopt = toAdoptedId(kinds[subject.kind], one, desired, declarationDigest(value))
}

const clone = (world: World): World => ({ ...world, persons: new Map(world.persons), log: [], problems: [] })

/** After each way that the message prints, the same run does not hold the object any more. */
function followEach(world: World, held: Change): void {
  const entry = entryIn(held)
  const ways: Readonly<Record<string, (copy: World) => void>> = {
    ...(held.action === 'held' && held.remedies.some((remedy) => remedy.includes('watchkeeper pull')) && { pull }),
    ...(entry !== undefined && { decision: (copy: World) => decide(copy, entry) }),
  }
  if (entry === undefined) world.problems.push('held without a decision to copy')
  for (const [way, follow] of Object.entries(ways)) {
    const copy = clone(world)
    follow(copy)
    if (changeIn(planIn(copy), copy)?.action === 'held') world.problems.push(`still held after: ${way}`)
    if (way !== 'pull') continue
    copy.declared = { ...copy.declared, a: copy.declared.a + 2 }
    if (changeIn(planIn(copy), copy)?.action === 'held') world.problems.push('held again after a pull and a change of the author')
  }
  if (world.random() < 0.6) {
    const [way = '', follow] = Object.entries(ways)[Math.floor(world.random() * Object.keys(ways).length)] ?? []
    follow?.(world)
    world.log.push(`follow ${way}`)
    apply(world)
  }
}

function byPerson(world: World, field: Field, more: (one: StoredObject) => Body = () => ({})): void {
  const value = world.subject.kind === 'alert' && field === 'b' ? 1 + 2 * Math.floor(world.random() * 4) : 2 * world.step + 101
  const one = oneIn(world)
  if (one === undefined || world.subject.read(one, world.kinds)[field] === value) return
  replaceOne(world, (stored) => {
    const changed = { ...stored, ...world.subject.store(field, value, stored) }
    return { ...changed, ...more(changed) }
  })
  world.persons.set(field, { value, at: world.step })
}

const withoutMarkers =
  ({ subject, kinds }: World) =>
  (one: StoredObject): Body =>
    kinds[subject.kind].withoutMarker(kinds[subject.kind].toBody(one))

const acts: Readonly<Record<string, readonly [weight: number, act: (world: World) => void]>> = {
  'a person changes a field': [3, (world) => byPerson(world, world.random() < 0.5 ? 'a' : 'b')],
  'a person changes the text': [2, (world) => byPerson(world, 'text')],
  'a person replaces the text': [1, (world) => byPerson(world, 'text', withoutMarkers(world))],
  'a person removes the marker': [
    1,
    (world) => {
      replaceOne(world, (one) => ({ ...one, ...withoutMarkers(world)(one) }))
      world.isUnmarked = true
    },
  ],
  'a person deletes it': [
    0.3,
    (world) => {
      const { service, subject } = world
      world.service = remoteStateWith({ ...service, [subject.kind]: service[subject.kind].filter((one) => !isOne(one)) })
      world.persons.clear()
    },
  ],
  'the server is upgraded': [
    1,
    (world) => {
      world.isUpgraded = true
      world.service = fill(world, world.service)
    },
  ],
  'a secret is rotated': [1, (world) => void world.secrets++],
  'a reference gets another object': [
    1,
    (world) => {
      world.references++
      const source = [{ id: `logs${world.references}`, name: 'Logs' }]
      world.service = remoteStateWith({ ...world.service, source })
    },
  ],
  'an author changes a field': [
    3,
    (world) => {
      const field = world.random() < 0.5 ? 'a' : 'b'
      const value = world.subject.kind === 'alert' && field === 'b' ? 2 * Math.floor(world.random() * 4) : 2 * world.step + 100
      world.declared = { ...world.declared, [field]: value }
    },
  ],
  'an author names the id': [
    0.7,
    (world) => {
      world.adopt ??= oneIn(world)?.id
    },
  ],
  'an author pulls': [2, pull],
  'a run': [
    6,
    (world) => {
      const change = apply(world)
      if (change?.action === 'held') followEach(world, change)
    },
  ],
}

const names = Object.keys(acts)

function pick(random: Random): string {
  const total = names.reduce((sum, name) => sum + (acts[name]?.[0] ?? 0), 0)
  let left = random() * total
  for (const name of names) {
    left -= acts[name]?.[0] ?? 0
    if (left < 0) return name
  }
  return 'a run'
}

function start(seed: number): World {
  const random = randomFrom(seed * 7919)
  const subject = subjects[seed % subjects.length] as Subject
  const isSelfHosted = subject.isSelfHosted === true || random() < 0.5
  const world: World = {
    subject,
    kinds: createKinds(profileNamed(isSelfHosted ? 'hyperdx' : 'clickhouse-cloud'), nowMs),
    canPatch: isSelfHosted && random() < 0.5,
    random,
    service: remoteStateWith(),
    declared: { a: 2, b: 4, text: 6 },
    adopt: undefined,
    references: 0,
    secrets: 0,
    isUpgraded: false,
    persons: new Map(),
    isUnmarked: false,
    decidedAt: -1,
    step: 0,
    log: [`${subject.kind}, ${isSelfHosted ? 'self-hosted' : 'cloud'}`],
    problems: [],
  }
  write(world, planIn(world))
  // Half of the objects are as a person made them.
  if (random() < 0.5) {
    replaceOne(world, (one) => ({ ...one, ...withoutMarkers(world)(one) }))
    for (const field of fields) byPerson(world, field)
    world.log.push('made by a person')
  }
  return world
}

/** The problems of this many sequences, each with a shortest sequence. Every sequence has at least three runs. */
export function findProblems(count: number, from = 1): ReadonlyMap<string, string> {
  const found = new Map<string, readonly string[]>()
  for (let seed = from; seed < from + count; seed++) {
    const world = start(seed)
    const length = 4 + Math.floor(world.random() * 8)
    let runs = 0
    for (let step = 1; (step <= length || runs < 3) && world.problems.length === 0; step++) {
      world.step = step
      const name = step > length ? 'a run' : pick(world.random)
      if (name === 'a run') runs++
      world.log.push(name)
      acts[name]?.[1](world)
    }
    for (const problem of world.problems) {
      const known = found.get(problem)
      if (known === undefined || world.log.length < known.length) found.set(problem, [`seed ${seed}`, ...world.log])
    }
  }
  return new Map([...found].map(([problem, log]) => [problem, log.join(' · ')]))
}
