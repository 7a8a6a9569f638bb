// Every event that applies, way to merge and ending, and pairs of what else happens: another project or environment on the same pull
// request, what comes later, and the shape of the workflow.
import { demandEqual, type JobOptions, search } from './github-story.ts'
import {
  applied,
  included,
  notApplied,
  type Owner,
  obs,
  otherProject,
  own,
  production,
  short,
  staging,
  type Team,
  without,
} from './github-team.ts'
import { type MergeMethod, mergeMethods, type Pull } from './repository.ts'

export const events = ['push', 'workflow_dispatch', 'schedule', 'workflow_run', 'pull_request closed', 'merge queue', 'tag'] as const
export const endings = ['applied', 'failed', 'in part', 'canceled', 'refused', 'rejected', 'plan failed'] as const
export const others = [
  'alone',
  'other project applied',
  'other project waits',
  'staging applied',
  'staging fails',
  'staging skipped',
] as const
export const laters = [
  ...['nothing', 're-run', 'older run', 'next merge', 'next merge fails'],
  ...['merge of the app', 'direct push', 'revert', 'late plan'],
] as const
export const shapes = ['one job', 'two jobs', 'plan and apply in one job'] as const

export interface Cell {
  readonly event: (typeof events)[number]
  readonly method: MergeMethod
  readonly ending: (typeof endings)[number]
  readonly other: (typeof others)[number]
  readonly later: (typeof laters)[number]
  readonly shape: (typeof shapes)[number]
}

export const pairsOf = (cell: Cell): readonly string[] => {
  const levels = Object.entries(cell).map(([name, level]) => `${name}: ${level}`)
  return levels.flatMap((one, i) => levels.slice(i + 1).map((two) => `${one}, ${two}`))
}

/** The other factors of a cell are those whose pairs came up least so far. */
function tableOfCells(): readonly Cell[] {
  const seen = new Map<string, number>()
  const rest = others.flatMap((other) => laters.flatMap((later) => shapes.map((shape) => ({ other, later, shape }))))
  const main = events.flatMap((event) => mergeMethods.flatMap((method) => endings.map((ending) => ({ event, method, ending }))))
  return main.map((one) => {
    const cells = rest.map((more) => ({ ...one, ...more }))
    const cost = (cell: Cell): number => pairsOf(cell).reduce((sum, pair) => sum + (seen.get(pair) ?? 0) ** 2, 0)
    const best = cells.reduce((a, b) => (cost(b) < cost(a) ? b : a))
    for (const pair of pairsOf(best)) seen.set(pair, (seen.get(pair) ?? 0) + 1)
    return best
  })
}

export const cells: readonly Cell[] = tableOfCells()

/** The pull request that the cell is about, and its merge. */
interface Merged {
  readonly t: Team
  readonly x: Pull
  readonly merge: string
  /** The merge before it. */
  readonly before: string
  readonly owner: Owner
}

/** How the event of a merge starts a job. */
function startedBy(event: Cell['event'], { t, x: { number, head }, merge: commit, owner }: Merged): JobOptions & Owner {
  const tested = { workflow_run: { head_branch: 'main', head_repository: { full_name: 'acme/shop' } } }
  const closed = { pull_request: { number, merged: true, head: { sha: head, repo: { full_name: 'acme/shop' } } } }
  const started = { ...owner, commit, event: 'push' }
  if (event === 'workflow_run') return { ...started, commit: t.repository.head(), checkedOut: commit, event, payload: tested }
  if (event === 'pull_request closed') return { ...started, event: 'pull_request', payload: closed }
  if (event === 'merge queue') return started
  return event === 'tag' ? { ...started, ref: 'refs/tags/v1' } : { ...started, event }
}

/** What the pull requests say at the end, as far as a person can tell without the code. */
function expected({ event, ending, other, later }: Cell, { x, z, second }: Record<'x' | 'z' | 'second', string>): Said {
  const isRefused = ending === 'refused' && event !== 'tag'
  const first: Readonly<Record<Cell['ending'], string>> = {
    applied: applied(x),
    failed: notApplied(x),
    'in part': `Applied in part in ${short(x)}`,
    canceled: 'Plan',
    refused: isRefused
      ? `Not applied: \`main\` (${short(second)}) has newer files. Start the workflow on \`main\` if no run of it follows. To go back, revert.`
      : applied(x),
    rejected: 'Not applied yet: planned in [`this run`]',
    'plan failed': 'Not applied: the plan failed',
  }
  const isApplied = first[ending] === applied(x)
  const isLaterApplied = later === 'next merge' || later === 'direct push' || later === 'revert'
  const own = isApplied ? applied(x) : isLaterApplied ? included(z) : later === 're-run' && !isRefused ? applied(x) : first[ending]
  const ofOther: Readonly<Record<Cell['other'], readonly string[]>> = {
    alone: [],
    'other project applied': [applied(x)],
    'other project waits': ['Plan'],
    'staging applied': [applied(x)],
    'staging fails': [notApplied(x)],
    'staging skipped': ['Plan'],
  }
  return {
    x: [own, ...ofOther[other]],
    // Merged before the run of x, and its own run never comes.
    second: ending === 'refused' ? [isLaterApplied ? included(z) : 'Plan'] : [],
    y: later === 'next merge' ? [applied(z)] : later === 'next merge fails' ? [notApplied(z)] : [],
  }
}

/** The beginnings of the first lines of the comments on the pull requests: `second` overtakes `x`, and `y` comes after it. */
type Said = Readonly<Record<'x' | 'second' | 'y', readonly string[]>>

const wrongKey = { 'api-key-secret': 'wrong-secret-0123456789' }

/** The run of the merge itself, up to its ending. Returns the pull request that overtakes it, if one does. */
async function runOwn({ event, ending, shape }: Cell, merged: Merged): Promise<Pull | undefined> {
  const { t, owner } = merged
  const started = startedBy(event, merged)
  const plan: Partial<JobOptions> = { operation: 'plan', ...(ending === 'plan failed' && { inputs: wrongKey }) }
  const savesPlan = shape === 'two jobs' || ending === 'rejected' || ending === 'plan failed'
  if (event === 'merge queue')
    await t.job({ ...started, operation: 'plan', event: 'merge_group', ref: 'refs/heads/gh-readonly-queue/main/pr-1-abc' })
  if (ending === 'canceled') return undefined
  if (savesPlan || shape === 'plan and apply in one job') await t.job({ ...started, ...plan, job: 'apply', planFile: savesPlan })
  if (ending === 'rejected' || ending === 'plan failed') return undefined
  const overtaking = ending === 'refused' ? await t.opened([obs('v')], [owner]) : undefined
  if (overtaking !== undefined) t.repository.merge(overtaking)
  const fails = { failed: 'at once', 'in part': 'in part' } as const
  const failing = ending === 'failed' || ending === 'in part' ? { fails: fails[ending] } : {}
  await t.job({ ...startedBy(event, merged), planFile: savesPlan, ...failing })
  return overtaking
}

/** What comes after the run of the merge. Returns the commit that was pushed, and the pull request if it was merged. */
async function runLater({ event, later, method }: Cell, merged: Merged) {
  const { t, x, before, owner } = merged
  const { repository } = t
  if (later === 're-run') await t.job({ ...startedBy(event, merged), run: 502 })
  if (later === 'older run') demandEqual('the older run', (await t.apply(before, owner)).outputs.get('status'), 'warn')
  if (later === 'late plan') await t.plan(x, owner)
  if (later === 'merge of the app') repository.push({ 'app/main.go': '1' })
  if (later === 'direct push' || later === 'revert') {
    const pushed = repository.push(later === 'revert' ? { ...without('x'), ...without('x2') } : obs('n'))
    await t.apply(pushed, owner)
    return { pushed }
  }
  if (later !== 'next merge' && later !== 'next merge fails') return { pushed: '' }
  const y = await t.opened([obs('y')], [owner])
  const pushed = repository.merge(y, method)
  await t.apply(pushed, { ...owner, ...(later === 'next merge fails' && { fails: 'at once' as const }) })
  return { pushed, y }
}

/** Plays a cell of the table, and demands that the pull requests say at its end what is right. */
export async function playCell(t: Team, cell: Cell): Promise<void> {
  const { method, other } = cell
  const isStaging = other.startsWith('staging')
  const owner = isStaging ? production : own
  const second = other === 'alone' ? [] : [isStaging ? staging : otherProject]
  const w = await t.opened([obs('w')], [owner])
  const mergedW = t.repository.merge(w)
  await t.apply(mergedW, owner)
  const x = await t.opened([obs('x'), { ...obs('x2'), 'other/x.yml': search('other-x') }], [owner, ...second])
  const merge = t.repository.merge(x, method)
  const merged = { t, x, merge, before: mergedW, owner }
  const overtaking = await runOwn(cell, merged)
  const overtaken = t.repository.head()
  if (second.length > 0 && other !== 'other project waits' && other !== 'staging skipped')
    await t.apply(merge, { ...second[0], ref: 'refs/tags/v1', ...(other === 'staging fails' && { fails: 'at once' as const }) })
  const { pushed, y } = await runLater(cell, merged)
  const right = expected(cell, { x: merge, z: pushed, second: overtaken })
  for (const [name, pull] of Object.entries({ x, second: overtaking, y })) {
    const beginnings = right[name as keyof Said]
    const said = pull === undefined ? [] : t.headings(pull.number).map((line, i) => line.slice(0, beginnings[i]?.length))
    demandEqual(`the pull request ${name}`, said, beginnings)
  }
  demandEqual('the pull request before', t.headings(w.number), [applied(mergedW)])
}
