// Random sequences of what happens to objects that other programs made: edits in the web app, in files and by another repository, markers that
// people remove, pulls and applies. An oracle that knows nothing of the planner says what may change.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/emulator/index.ts'
import { isMarkerTag, readTagMarker, readTextMarker, tagStyle, withoutTextMarker } from '../../src/kinds/marker.ts'
import { isSame } from '../../src/platform/core/equality.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { randomFrom } from '../support/random.ts'
import { seeds } from '../support/seeds.ts'
import { afterPull, project, type Site, type SiteFiles, withSite } from '../support/site.ts'

const path = 'observability/all.yml'
const globs = [path]

type Stored = JsonObject & { id: string; name?: string | null }
type Kind = 'dashboards' | 'savedSearches' | 'alerts'

const sections: readonly Kind[] = ['dashboards', 'savedSearches', 'alerts']

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('W21: objects that other programs made, profile %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const listOf = (kind: Kind): Stored[] => serviceOf(emulator())[kind] as unknown as Stored[]
  const all = (): readonly Stored[] => sections.flatMap(listOf)
  const snapshot = (): ReadonlyMap<string, Stored> => new Map(structuredClone(all()).map((one) => [one.id, one]))

  const markerOf = (one: Stored | undefined) => readTagMarker(one?.tags) ?? readTextMarker(one?.note)

  /** The object without markers and times. */
  const bareOf = ({ note, tags, updatedAt: _, ...one }: Stored): JsonObject => ({
    ...one,
    note: typeof note === 'string' ? withoutTextMarker(note).trimEnd() : '',
    tags: Array.isArray(tags) ? tags.filter((tag) => !isMarkerTag(tag)) : [],
  })

  /** What people call an object, and where it is: nothing is created beside an unmarked one of this place. */
  const placeOf = (one: Stored): string =>
    one.name
      ? `${'tiles' in one} ${'threshold' in one} ${one.name}`
      : `${one.savedSearchId ?? ''} ${one.dashboardId ?? ''} ${one.tileId ?? ''}`

  class Sequence {
    files: SiteFiles = {}
    readonly earlier: SiteFiles[] = []
    readonly log: string[] = []
    /** Objects as the last pull of these files saw them, by id. */
    pulled = new Map<string, JsonObject>()
    readonly #random: () => number
    readonly #site: Site

    constructor(site: Site, seed: number) {
      this.#site = site
      this.#random = randomFrom(seed)
    }

    pick<T>(items: readonly T[]): T | undefined {
      return items[Math.floor(this.#random() * items.length)]
    }

    text(): string {
      return String(this.files[path] ?? '')
    }

    async pull(only?: 'declared' | 'drifted'): Promise<void> {
      const before = this.text()
      const result = await this.#site.pull(this.files, globs, only === undefined ? {} : { only })
      this.files = afterPull(this.files, result)
      if (before !== '' && this.text() !== before) this.earlier.push({ [path]: before })
      // A pull that leaves an object out says nothing about it.
      const inFile = result.objects.filter(({ outcome }) => ['added', 'updated', 'unchanged'].includes(outcome)).map(({ id }) => id)
      for (const one of all().filter(({ id }) => inFile.includes(id) && this.text().includes(id))) this.pulled.set(one.id, bareOf(one))
      const validated = await this.#site.plan(this.files)
      const broken = validated.diagnostics.filter(({ rule, severity }) => severity === 'error' && ['schema', 'syntax'].includes(rule))
      if (broken.length > 0) throw new Error(`the pulled files are wrong: ${JSON.stringify(broken)}`)
    }

    /** Applies, and checks every change of an object against what the files may decide. */
    async apply(prune: boolean): Promise<void> {
      const before = snapshot()
      const result = await this.#site.apply(this.files, { prune, allowEmpty: true, maxDeletes: 100 })
      const after = snapshot()
      const isHeld = result.diagnostics.some(({ rule, severity }) => rule === 'held' && severity === 'error')
      for (const [id, one] of before) {
        const now = after.get(id)
        const problem = now === undefined ? whyNotDeleted(one, isHeld) : this.whyNotWritten(one, now)
        if (problem !== undefined) throw new Error(`${id} ${problem}`)
      }
      // Another declaration may be about one of them.
      const isFree = (one: Stored): boolean => markerOf(one) === undefined && !this.text().includes(one.id)
      const unmarked = new Set([...before.values()].filter(isFree).map(placeOf))
      const second = [...after.values()].find((one) => !before.has(one.id) && after.size > before.size && unmarked.has(placeOf(one)))
      if (second !== undefined) throw new Error(`${second.id} was created beside an unmarked object of its name`)
    }

    /** What is wrong about the write of an object; undefined for an allowed one. */
    whyNotWritten(before: Stored, after: Stored): string | undefined {
      const marker = markerOf(before)
      if (isSame(bareOf(before), bareOf(after)) || isOurs(before)) return undefined
      if (marker !== undefined) return 'belongs to another project and was written'
      // An id alone decides nothing.
      const isAsPulled =
        new RegExp(`adopt: "?${before.id}@\\S+"?$`, 'm').test(this.text()) && isSame(this.pulled.get(before.id), bareOf(before))
      return isAsPulled ? undefined : 'was overwritten, although it is not what was pulled'
    }

    editFile(): void {
      const lines = this.text().split('\n')
      const numbers = lines.flatMap((line, i) => (/^ +threshold: \d+$/.test(line) ? [i] : []))
      const i = this.pick(numbers)
      if (i === undefined) return
      lines[i] = (lines[i] ?? '').replace(/\d+/, String(1 + Math.floor(this.#random() * 90)))
      this.files = { [path]: lines.join('\n') }
    }

    removeDeclaration(): void {
      const text = this.text()
      const alert = this.pick([...text.matchAll(/^ {2}([\w-]+):\n(?: {4}.*\n)+/gm)].filter(([whole]) => whole.includes('threshold:')))
      if (alert !== undefined) this.files = { [path]: text.replace(alert[0], '') }
    }

    bareId(): void {
      this.files = { [path]: this.text().replace(/(adopt: [0-9a-f-]+)@\S+/, '$1') }
    }

    revert(): void {
      const earlier = this.pick(this.earlier)
      if (earlier !== undefined) this.files = earlier
    }

    editInWebApp(): void {
      const number = Math.floor(this.#random() * 90)
      const [alert, dashboard, search] = [this.pick(listOf('alerts')), this.pick(listOf('dashboards')), this.pick(listOf('savedSearches'))]
      const [tile] = (dashboard?.tiles ?? []) as JsonObject[]
      const edits = [
        () => Object.assign(alert ?? {}, { threshold: 100 + number }),
        () => Object.assign(search ?? {}, { where: `x:${number}` }),
        () => Object.assign(tile ?? {}, { name: `Tile ${number % 5}` }),
        () => Object.assign(tile ?? {}, { h: 1 + (number % 9) }),
        () => Object.assign(alert ?? {}, { name: number < 45 ? null : `Alert ${number % 3}` }),
        () => Object.assign(dashboard ?? {}, { name: `Dashboard ${number % 3} ${dashboard?.id}` }),
      ]
      this.pick(edits)?.()
    }

    removeMarker(): void {
      const one = this.pick(all().filter((object) => markerOf(object) !== undefined))
      if (one === undefined) return
      if ('note' in one) one.note = this.#random() < 0.5 ? null : 'Call Kim'
      else one.tags = this.#random() < 0.5 ? [] : ['by-hand']
    }

    deleteInWebApp(): void {
      const alerts = listOf('alerts')
      if (alerts.length > 2) alerts.splice(Math.floor(this.#random() * alerts.length), 1)
    }

    copyInWebApp(): void {
      const one = this.pick(listOf('alerts'))
      if (one !== undefined && all().length < 25)
        listOf('alerts').push({ ...structuredClone(one), id: newId(this.#random), note: this.#random() < 0.5 ? null : 'Copy' })
    }

    async otherRepository(): Promise<void> {
      const files = afterPull({}, await this.#site.pull({}, ['other/*.yml'], { project: 'other/project' }))
      if (Object.keys(files).length > 0) await this.#site.apply(files, { project: 'other/project' })
    }

    async step(): Promise<void> {
      const steps: Readonly<Record<string, () => void | Promise<void>>> = {
        pull: () => this.pull(),
        'pull declared': () => this.pull('declared'),
        'pull drifted': () => this.pull('drifted'),
        apply: () => this.apply(false),
        'apply again': () => this.apply(false),
        'apply with prune': () => this.apply(true),
        'edit a file': () => this.editFile(),
        'edit a file again': () => this.editFile(),
        'remove a declaration': () => this.removeDeclaration(),
        'make an id bare': () => this.bareId(),
        'revert the files': () => this.revert(),
        'edit in the web app': () => this.editInWebApp(),
        'edit in the web app again': () => this.editInWebApp(),
        'remove a marker': () => this.removeMarker(),
        'delete in the web app': () => this.deleteInWebApp(),
        'copy in the web app': () => this.copyInWebApp(),
        'apply another repository': () => (this.#random() < 0.2 ? this.otherRepository() : undefined),
      }
      const name = this.pick(Object.keys(steps)) ?? ''
      this.log.push(name)
      await steps[name]?.()
    }

    /** Whatever happened, a pull of everything ends it: what is left is applied without an error. */
    async settle(): Promise<readonly string[]> {
      await this.pull('declared')
      await this.pull()
      const applied = await this.#site.apply(this.files, {})
      const planned = await this.#site.plan(this.files)
      const errors = [...applied.diagnostics, ...planned.diagnostics].filter(({ severity }) => severity === 'error')
      // What another project has taken over is for a person to decide, and no pull takes over anything before that.
      const isOfOthers = ({ rule, message }: (typeof errors)[number]): boolean =>
        rule === 'owned-elsewhere' || rule === 'other-project' || message.includes('the project other/project owns')
      const isUndecided = errors.some(isOfOthers)
      return errors.filter((one) => !isOfOthers(one) && !(isUndecided && one.rule === 'held')).map(({ message }) => message)
    }
  }

  const isOurs = (one: Stored): boolean => ours.has(markerOf(one)?.project ?? '')

  const whyNotDeleted = (one: Stored, isHeld: boolean): string | undefined => {
    if (isHeld) return 'was deleted although an object was held'
    return isOurs(one) ? undefined : 'was deleted without our marker'
  }

  it('are never overwritten without consent, never created twice, and settle', async () => {
    for (const seed of seeds(200)) {
      emulator().reset()
      await withSite(emulator(), dialect, async (site) => {
        const sequence = new Sequence(site, seed)
        for (const alert of listOf('alerts').slice(0, 3)) alert.name = null
        try {
          await sequence.pull()
          for (let i = 0; i < 12; i++) await sequence.step()
          expect(await sequence.settle()).toEqual([])
        } catch (error) {
          throw new Error(`seed ${seed}: ${sequence.log.join(', ')}`, { cause: error })
        }
      })
    }
  }, 1_200_000)
})

/** The project of the site, in a text and as tags have it. */
const ours = new Set([project, tagStyle.projectToken(project)])

const newId = (random: () => number): string => Array.from({ length: 24 }, () => Math.floor(random() * 16).toString(16)).join('')
