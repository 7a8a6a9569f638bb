import * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import { type Diagnostic, diagnosticSchema, errorsIn } from '../core/diagnostics.ts'
import { inputError, WatchkeeperError } from '../core/errors.ts'
import { counted, type Line, say, trusted } from '../core/line.ts'
import { didYouMean } from '../core/names.ts'
import { listFirst, quote } from '../core/text.ts'
import { environmentInput, inEnvironment } from '../declarations/environment.ts'
import { filesInput, findDeclarations } from '../declarations/find-declarations.ts'
import { htmlFileInput, htmlFiles } from '../operation/html-file.ts'
import { list } from '../operation/inputs.ts'
import { type Context, defineOperation, pass, type Verdict } from '../operation/operation.ts'
import type { Block, Status } from '../report/blocks.ts'
import { formatDuration, formatTime } from '../report/format.ts'
import { keyGrammar } from '../resources/marker.ts'
import { sourceCollection } from '../resources/sources/source-wire.ts'
import { type BudgetState, burnRateWindows, currentWindow, judgeBudget, spentByDay } from '../slos/error-budget.ts'
import { type Slo, sourceOf } from '../slos/expand-slos.ts'
import { readHistory, requestsOfHistory, stepMs } from '../slos/slo-series.ts'
import { judgeDiagnostics } from './plan/plan-report.ts'

const percent = (what: string) => z.number().describe(what)

const input = z.strictObject({
  files: filesInput,
  env: environmentInput,
  slos: list('The SLOs to check instead of all.', 'keys of SLOs in the files', z.string().regex(keyGrammar)).optional(),
  until: z.iso.datetime({ offset: true }).optional().meta({
    description: 'End of all windows, rounded down to five minutes. The default is now.',
    accepts: 'a time such as 2026-01-31T08:00:00Z',
  }),
  minBudgetLeft: z.number().min(-1000).max(100).optional().meta({
    description: 'Fails unless every SLO has at least this percentage of its error budget left.',
    accepts: 'a percentage of at most 100, such as 10',
  }),
  maxBurnRate: z.number().positive().max(100_000).optional().meta({
    description:
      'Fails if the error budget of an SLO was burning faster than this in the last hour. 1 spends exactly the budget in the window.',
    accepts: 'a number above 0, such as 1 or 14.4',
  }),
  htmlFile: htmlFileInput,
})

const output = z.object({
  sloCount: z.int().describe('Number of checked SLOs. With `groupBy`, each group counts.'),
  withinBudget: z.int().describe('SLOs with error budget left.'),
  spent: z.int().describe('SLOs whose error budget is spent.'),
  notEnoughData: z.int().describe('SLOs with fewer events in their window than `minEvents`.'),
  budgetLeft: percent('The lowest percentage of error budget that is left. Absent if no SLO has enough events.').optional(),
  burnRate: z.number().optional().describe('The highest burn rate of the last hour. Absent if no SLO has enough events.'),
  worstSlo: z.string().describe('Key of the SLO with the least error budget left. Empty without SLOs.'),
})

const rates = z.partialRecord(z.enum(burnRateWindows), z.number())

const checkedSlo = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  group: z.string().optional().describe('The value of `groupBy`.'),
  objective: percent('Percentage of good events that is wanted.'),
  window: z.string(),
  status: z.enum(['within-budget', 'spent', 'not-enough-data']),
  total: z.number().describe('Events in the window. With a sample rate, estimated.'),
  good: z.number().describe('Good events among them.'),
  indicator: percent('Percentage of good events.').optional(),
  budgetLeft: percent('Percentage of the error budget that is left; negative when more than all of it is spent.').optional(),
  burnRates: rates.describe('Burn rates by window. A window with too few events is absent.'),
  burning: z.array(z.string()).describe('Conditions of alerts that are true now: `page-1h`, `page-6h`, `ticket-3d`.'),
  runsOut: z
    .string()
    .describe('When the budget runs out at the burn rate of the last hour: a time, `spent`, `never` (not within ten years) or `unknown`.'),
  days: z.array(z.object({ day: z.string(), spent: percent('Percentage of the error budget.') })).describe('What each UTC day spent.'),
})

type CheckedSlo = z.output<typeof checkedSlo>

const details = z.object({
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  until: z.string().describe('End of all windows.'),
  slos: z.array(checkedSlo).describe('The SLOs, in the order of the files.'),
  requestCount: z.int().describe('Number of requests for values.'),
  asleep: z.boolean().describe('Whether the service slept, so that nothing was checked. Only in ClickHouse Cloud.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes on the files.'),
})

type Result = z.output<typeof output> & z.output<typeof details>

type CheckContext = Context<'read', 'service-or-server'>

async function runCheck(context: CheckContext, { files, slos: keys, until }: z.output<typeof input>): Promise<Result> {
  if (await context.files.mayBeFromFork())
    throw new WatchkeeperError(
      'refused',
      'SLOs are not checked: the files may be those of a pull request from a fork, and the server would run their SQL.',
    )
  if (!context.api.hasSql)
    throw inputError(
      'sql-key-id',
      'is missing: in ClickHouse Cloud, SLOs are counted with SQL, by a key that the query endpoint of the service lists',
    )
  const found = await findDeclarations(files, context)
  const errors = errorsIn(found.diagnostics)
  const endMs = readEnd(until, context.clock.now())
  const common = { ...ofEnvironment(context), until: new Date(endMs).toISOString() }
  const unchecked = (diagnostics: readonly Diagnostic[]): Result => ({
    ...toCounts([]),
    ...common,
    slos: [],
    requestCount: 0,
    asleep: false,
    diagnostics: [...diagnostics],
  })
  if (errors.length > 0) return unchecked(errors)
  const wanted = selectSlos(found.slos, keys)
  const { items: sources } = await sourceCollection.list(context.api, context.service)
  const resolved = wanted.map((slo) => ({ slo, source: sourceOf(slo, sources) }))
  const unknown: readonly Diagnostic[] = resolved.flatMap(({ source }) => ('diagnostic' in source ? [source.diagnostic] : []))
  if (unknown.length > 0) return unchecked(unknown)
  const checked: CheckedSlo[] = []
  for (const [i, { slo, source }] of resolved.entries()) {
    if ('diagnostic' in source) continue
    const histories = await readHistory(context, { slo: slo.value, source, endMs }).catch((thrown: unknown) => {
      throw nameSlo(slo, thrown)
    })
    if (histories === 'asleep') return { ...unchecked(found.diagnostics), asleep: true }
    // Without any event, there is no group.
    for (const history of histories.length === 0 ? [{ hours: [], steps: [] }] : histories)
      checked.push(
        toChecked(slo, {
          state: judgeBudget(slo.value, history, endMs),
          group: history.group,
          days: spentByDay(slo.value, history, endMs),
        }),
      )
    await context.progress({ done: i + 1, total: resolved.length, line: say`SLO ${slo.key}`, result: async () => ({}) })
  }
  return {
    ...toCounts(checked),
    ...common,
    slos: checked,
    requestCount: requestsOfHistory(context.api) * resolved.length,
    asleep: false,
    diagnostics: [...found.diagnostics],
  }
}

/** The server answers a wrong condition with status 500. The usual advice for that status would lead away from the file. */
function nameSlo({ key, location }: Slo, thrown: unknown): unknown {
  if (!(thrown instanceof ApiError) || (thrown.kind !== 'server' && thrown.kind !== 'refused')) return thrown
  const [what = '', ...rest] = thrown.message.split('\n')
  const message = [
    `slos.${key} was not counted (${location.file}:${location.line}). ${what}`,
    'If the answer names a column or a function, correct total, good or groupBy of this SLO.',
    ...rest,
  ].join('\n')
  return new ApiError({ ...thrown, message })
}

/** A step of burn rates. Throws an InputError for a later one: windows without data yet would burn too little, and pass. */
function readEnd(until: string | undefined, nowMs: number): number {
  const endMs = Math.floor((until === undefined ? nowMs : Date.parse(until)) / stepMs) * stepMs
  if (endMs > nowMs) throw inputError('until', 'is in the future; set it to a time that has passed, or leave it out')
  return endMs
}

const ofEnvironment = ({ environment }: CheckContext) => (environment === undefined ? {} : { environment: environment.name })

function selectSlos(slos: readonly Slo[], keys: readonly string[] | undefined): readonly Slo[] {
  if (slos.length === 0) throw inputError('files', 'declare no SLOs; add some below slos')
  for (const key of keys ?? [])
    if (!slos.some((slo) => slo.key === key))
      throw inputError(
        'slos',
        `"${quote(key, 60)}" is not an SLO in these files${didYouMean(
          key,
          slos.map((slo) => slo.key),
        )}`,
      )
  return keys === undefined ? slos : slos.filter(({ key }) => keys.includes(key))
}

interface Judged {
  readonly state: BudgetState
  readonly group: string | undefined
  readonly days: CheckedSlo['days'] | ReturnType<typeof spentByDay>
}

function toChecked({ key, value }: Slo, { state, group, days }: Judged): CheckedSlo {
  const { total, good, indicator, budgetLeft, burnRates, burning, runsOut } = state
  return {
    key,
    name: value.name,
    ...(group !== undefined && { group }),
    objective: value.objective,
    window: value.window,
    status: budgetLeft === undefined ? 'not-enough-data' : budgetLeft <= 0 ? 'spent' : 'within-budget',
    total,
    good,
    ...(indicator !== undefined && { indicator }),
    ...(budgetLeft !== undefined && { budgetLeft }),
    burnRates: { ...burnRates },
    burning: [...burning],
    runsOut: runsOut.kind === 'at' ? new Date(runsOut.ms).toISOString() : runsOut.kind,
    days: [...days],
  }
}

function toCounts(slos: readonly CheckedSlo[]) {
  const numberOf = (status: CheckedSlo['status']): number => slos.filter((slo) => slo.status === status).length
  const left = slos.flatMap(({ budgetLeft }) => budgetLeft ?? [])
  const burning = slos.flatMap(({ burnRates }) => burnRates[currentWindow] ?? [])
  return {
    sloCount: slos.length,
    withinBudget: numberOf('within-budget'),
    spent: numberOf('spent'),
    notEnoughData: numberOf('not-enough-data'),
    ...(left.length > 0 && { budgetLeft: Math.min(...left) }),
    ...(burning.length > 0 && { burnRate: Math.max(...burning) }),
    worstSlo:
      slos.toSorted((a, b) => (a.budgetLeft ?? Number.POSITIVE_INFINITY) - (b.budgetLeft ?? Number.POSITIVE_INFINITY))[0]?.key ?? '',
  }
}

/** Too few events never pass: a gate on them fails, and without a gate the verdict is a warning. */
function judge(result: Result, { minBudgetLeft, maxBurnRate }: z.output<typeof input>): Verdict {
  if (errorsIn(result.diagnostics).length > 0) return judgeDiagnostics(result)
  if (result.asleep) return { status: minBudgetLeft === undefined && maxBurnRate === undefined ? 'warn' : 'fail', reasons: [asleep] }
  const failures = result.slos.flatMap((slo) => [...belowBudget(slo, minBudgetLeft), ...aboveBurnRate(slo, maxBurnRate)])
  if (failures.length > 0) return { status: 'fail', reasons: firstOf(failures) }
  const warnings = result.slos.flatMap((slo): readonly Line[] => {
    if (slo.status === 'not-enough-data') return [say`${nameOf(slo)} has not enough data`]
    return slo.status === 'spent' ? [say`the error budget of ${nameOf(slo)} is spent`] : []
  })
  return warnings.length > 0 ? { status: 'warn', reasons: firstOf(warnings) } : pass
}

/** An SLO can have thousands of groups. The table and the result have all of them. */
const maxReasons = 20

const firstOf = (reasons: readonly Line[]): readonly Line[] => listFirst(reasons, maxReasons, (rest) => say`${rest} more`)

const asleep = say`the service is asleep, and a query would wake it; set wake-service to allow that`

function belowBudget(slo: CheckedSlo, least: number | undefined): readonly Line[] {
  if (least === undefined) return []
  if (slo.budgetLeft === undefined)
    return [say`${nameOf(slo)} has not enough data for min-budget-left: ${counted(slo.total, 'event')} in ${trusted(slo.window)}`]
  return slo.budgetLeft < least
    ? [say`${nameOf(slo)} has ${trusted(roundApart(slo.budgetLeft, least))}% of its error budget left, below ${least}%`]
    : []
}

function aboveBurnRate(slo: CheckedSlo, most: number | undefined): readonly Line[] {
  if (most === undefined) return []
  const rate = slo.burnRates[currentWindow]
  if (rate === undefined) return [say`${nameOf(slo)} has not enough data for max-burn-rate in the last hour`]
  return rate > most
    ? [say`${nameOf(slo)} burns its error budget ${trusted(roundApart(rate, most))} times as fast as allowed, above ${most}`]
    : []
}

const nameOf = ({ key, group }: CheckedSlo): Line => (group === undefined ? say`${key}` : say`${key} (${group})`)

const inPercent = (value: number) => trusted(`${round(value, 2)}%`)

const inNumber = (value: number) => trusted(round(value, 2))

/** Never rounds to a limit that the value has not reached. */
function round(value: number, places: number): string {
  const rounded = Number(value.toFixed(places))
  return rounded === Math.round(value) && rounded !== value ? String(Number(value.toPrecision(6))) : String(rounded)
}

/** With as many digits as it takes to differ from the limit. */
function roundApart(value: number, limit: number): string {
  const places = [2, 4, 6, 8, 10, 12].find((count) => Number(value.toFixed(count)) !== limit)
  return places === undefined ? String(value) : round(value, places)
}

const statuses: Readonly<Record<CheckedSlo['status'], Status>> = { 'within-budget': 'pass', spent: 'fail', 'not-enough-data': 'warn' }

function sloTable({ slos, until }: Result): Block {
  const shown = ['1h', '6h', '3d'] as const
  const titles = ['SLO', 'Objective', 'Good', 'Budget left', ...shown.map((window) => `Burn rate ${window}`), 'Runs out', 'Burning']
  return {
    kind: 'table',
    columns: titles.map((title, i) => ({ title, ...(i > 1 && i < 7 && { align: 'right' as const }) })),
    rows: slos.map((slo) => [
      nameOf(slo),
      say`${trusted(`${slo.objective}% in ${slo.window}`)}`,
      slo.indicator === undefined ? say`not enough data` : [trusted(`${round(slo.indicator, 3)}%`)],
      slo.budgetLeft === undefined ? say`–` : [inPercent(slo.budgetLeft)],
      ...shown.map((window) => {
        const rate = slo.burnRates[window]
        return rate === undefined ? say`–` : [inNumber(rate)]
      }),
      runsOutWords(slo, until),
      slo.burning.length === 0 ? say`–` : [trusted(slo.burning.join(', '))],
    ]),
    statuses: slos.map(({ status }) => statuses[status]),
  }
}

function runsOutWords({ runsOut }: CheckedSlo, until: string): Line {
  const ms = Date.parse(runsOut) - Date.parse(until)
  return Number.isNaN(ms) ? [trusted(runsOut)] : [trusted(`in ${formatDuration(ms)}`)]
}

/** The most charts in a report. */
const maxCharts = 10

/** One chart for each SLO that spent something, the worst first, of its worst group. A title is not escaped, and a key needs no escape. */
function charts({ slos }: Result): readonly Block[] {
  const worstFirst = slos.filter(({ budgetLeft = 100 }) => budgetLeft < 100).toSorted((a, b) => (a.budgetLeft ?? 0) - (b.budgetLeft ?? 0))
  return worstFirst
    .filter(({ key }, i) => worstFirst.findIndex((one) => one.key === key) === i)
    .slice(0, maxCharts)
    .map(({ key, group, days }) => ({
      kind: 'chart',
      title: `Error budget of ${key} spent, by UTC day${group === undefined ? '' : ' (worst group)'}`,
      unit: '%',
      valueName: 'Spent',
      points: days.map(({ day, spent }) => ({ label: day, value: spent })),
    }))
}

export const checkSlo = defineOperation({
  summary: 'Checks the error budgets of the SLOs in files: what is left, how fast it burns, and when it runs out.',
  effect: 'read',
  scope: 'service-or-server',
  profiles: ['hyperdx', 'clickhouse-cloud'],
  profilesReason: 'other servers have neither values of charts nor SQL',
  input,
  output,
  details,
  example: { files: ['examples/slos/*.yml'] },
  run: runCheck,
  judge,
  report: (result) => ({
    headline:
      result.asleep || errorsIn(result.diagnostics).length > 0
        ? say`The SLOs were not checked`
        : say`${counted(result.sloCount, 'SLO')}${inEnvironment(result)} until ${trusted(formatTime(result.until))}`,
    blocks: [
      { kind: 'diagnostics', diagnostics: errorsIn(result.diagnostics) },
      ...(result.slos.length === 0 ? [] : [sloTable(result), ...charts(result)]),
    ],
    annotations: errorsIn(result.diagnostics),
  }),
  files: (_, { htmlFile }, blocks) => htmlFiles(htmlFile, 'Error budgets', blocks),
})
