// Owns how old a backup may be when nobody says so: what follows from the period in which backups are made.

/** Where no period is known: one backup a day, and two hours to make it. */
export const standardHours = 26

/** Least time that a backup gets beyond its period. */
const leastSlackHours = 2

/** A backup may take this many times as long as it usually does. */
const patience = 2

/** Nobody makes backups more rarely than once a year. */
const longestPeriodHours = 366 * 24

/**
 * Ages count from the start, so the newest backup that is done is as old as the period plus its successor's duration just
 * before that one is done too. Undefined for a period that is none.
 */
export function limitForPeriod(periodHours: number, usualHours: number): number | undefined {
  if (!(periodHours > 0 && periodHours <= longestPeriodHours)) return undefined
  // A duration in the wrong unit must not let a gate sleep for months: a whole backup may be missed and no more.
  const slack = Math.min(periodHours, Math.max(leastSlackHours, patience * usualHours))
  return periodHours + slack
}

// Owns whether the backups of a service can be relied on: six outcomes, decided from the list, an age limit and the moment.
// Every field may be missing; what is not known never makes an outcome better.

export interface BackupFacts {
  readonly status: string | undefined
  readonly startedMs: number | undefined
  readonly finishedMs: number | undefined
  /** Of one in progress: so far. */
  readonly durationMs: number | undefined
}

export const outcomes = ['fresh', 'running', 'stale', 'failing', 'never', 'unknown'] as const

export type Outcome = (typeof outcomes)[number]

/** Why the list does not tell: a date that is still to come, no date at all, no status that means anything. */
export type Riddle = 'ahead' | 'undated' | 'unclear'

/** Why an outcome is trusted less: `unproven`: nothing says that it is done but that it has an end. */
export type Doubt = 'unproven' | 'unclear' | 'undated'

export interface Dated<B> {
  readonly backup: B
  readonly ageMs: number
}

export interface Freshness<B> {
  readonly outcome: Outcome
  readonly passes: boolean
  /** What decided; absent for `never` and `unknown`. */
  readonly decisive?: Dated<B>
  /** The last one that something could be restored from, where its date is known. */
  readonly newestDone?: Dated<B>
  /** One that was started since; it may make things better soon. */
  readonly inProgress?: Dated<B>
  /** For `unknown`. */
  readonly riddle?: Riddle
  readonly doubts: readonly Doubt[]
}

/** Clocks differ a little; what is further ahead than this is wrong, or the clock is. */
export const clockSkewMs = 5 * 60_000

type State = 'done' | 'error' | 'running' | 'unclear'

const states: Readonly<Record<string, State>> = { done: 'done', error: 'error', in_progress: 'running' }

/** An API that tells no status tells an end of finished backups alone. */
export function stateOf({ status, finishedMs }: Pick<BackupFacts, 'status' | 'finishedMs'>): State {
  if (status === undefined) return finishedMs === undefined ? 'unclear' : 'done'
  return Object.hasOwn(states, status) ? (states[status] ?? 'unclear') : 'unclear'
}

/** The moment whose data a backup holds, as well as it can be told. Undefined when nothing tells it. */
function beganMs(backup: BackupFacts, nowMs: number): number | undefined {
  const { startedMs, finishedMs, durationMs } = backup
  if (startedMs !== undefined) return startedMs
  if (finishedMs !== undefined) return finishedMs - (durationMs ?? 0)
  return stateOf(backup) === 'running' && durationMs !== undefined ? nowMs - durationMs : undefined
}

interface Placed<B> extends Dated<B> {
  readonly state: State
}

/** The equally old: a failure is the last word. */
const byAge = (a: Placed<unknown>, b: Placed<unknown>): number =>
  a.ageMs - b.ageMs || Number(b.state === 'error') - Number(a.state === 'error')

/** `backups` in any order. An age of just the limit passes. */
export function judgeFreshness<B extends BackupFacts>(backups: readonly B[], limitMs: number, nowMs: number): Freshness<B> {
  if (backups.length === 0) return { outcome: 'never', passes: false, doubts: [] }
  const placed = backups
    .flatMap((backup): readonly Placed<B>[] => {
      const began = beganMs(backup, nowMs)
      return began === undefined ? [] : [{ backup, state: stateOf(backup), ageMs: nowMs - began }]
    })
    .toSorted(byAge)
  // No age can be trusted then: one that looks fresh may be a day older.
  if (placed.some((one) => isAhead(one, nowMs))) return unknown('ahead')
  const here = placed.map((one) => ({ ...one, ageMs: Math.max(0, one.ageMs) }))
  const undated = backups.filter((backup) => beganMs(backup, nowMs) === undefined)
  return decide(here, undated, limitMs)
}

const isAhead = <B extends BackupFacts>({ backup: { finishedMs }, ageMs }: Placed<B>, nowMs: number): boolean =>
  ageMs < -clockSkewMs || (finishedMs !== undefined && finishedMs > nowMs + clockSkewMs)

const unknown = <B>(riddle: Riddle): Freshness<B> => ({ outcome: 'unknown', passes: false, riddle, doubts: [] })

function decide<B extends BackupFacts>(placed: readonly Placed<B>[], undated: readonly B[], limitMs: number): Freshness<B> {
  const newestDone = placed.find(({ state }) => state === 'done')
  // One in progress proves nothing yet, so the last one that came to an end counts.
  const lastEnded = placed.find(({ state }) => state === 'done' || state === 'error')
  const inProgress = placed.slice(0, newestDone && placed.indexOf(newestDone)).find(({ state }) => state === 'running')
  const rest = { ...(newestDone && { newestDone }), ...(inProgress && { inProgress }), doubts: doubtsAbout(placed, undated, newestDone) }
  if (lastEnded?.state === 'error') return { outcome: 'failing', passes: false, decisive: lastEnded, ...rest }
  if (newestDone !== undefined) {
    const passes = newestDone.ageMs <= limitMs
    return { outcome: passes ? 'fresh' : 'stale', passes, decisive: newestDone, ...rest }
  }
  if (undated.some((backup) => stateOf(backup) === 'error')) return { outcome: 'failing', passes: false, ...rest }
  if (undated.length > 0) return unknown('undated')
  // The one that has been at it longest: since then there should have been a backup.
  const first = placed.findLast(({ state }) => state === 'running')
  if (first === undefined) return unknown('unclear')
  return { outcome: 'running', passes: first.ageMs <= limitMs, decisive: first, ...rest }
}

function doubtsAbout<B extends BackupFacts>(
  placed: readonly Placed<B>[],
  undated: readonly B[],
  newestDone: Placed<B> | undefined,
): readonly Doubt[] {
  const newer = newestDone === undefined ? placed : placed.slice(0, placed.indexOf(newestDone))
  return [
    ...(newestDone !== undefined && newestDone.backup.status === undefined ? (['unproven'] as const) : []),
    ...(newer.some(({ state }) => state === 'unclear') ? (['unclear'] as const) : []),
    // One in progress changes nothing, whenever it was started.
    ...(undated.some((backup) => stateOf(backup) !== 'running') ? (['undated'] as const) : []),
  ]
}

/** Worst first. What is known to be bad comes before what could not be checked. */
const order: readonly Outcome[] = ['never', 'failing', 'stale', 'running', 'unknown', 'fresh']

interface Judged {
  readonly outcome: Outcome
  readonly passes: boolean
  readonly ageMs: number | undefined
}

/** What fails before what passes, then by outcome, then the older before the newer. */
export const byWorst = (a: Judged, b: Judged): number =>
  Number(a.passes) - Number(b.passes) || order.indexOf(a.outcome) - order.indexOf(b.outcome) || (b.ageMs ?? 0) - (a.ageMs ?? 0)
