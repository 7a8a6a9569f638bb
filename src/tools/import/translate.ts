// One alert rule of Grafana as a declared alert, with each difference in a sentence.

import * as z from 'zod'
import { type AlertInterval, alertIntervals, intervalMs } from '../../kinds/alert/schedule.ts'
import type { Body } from '../../kinds/kind.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { refuseSql } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import { isBreach } from '../../signals/backtest/evaluate.ts'
import { expandTemplate, refuse, renderAlone, UnusableSql } from '../../signals/backtest/window-sql.ts'
import {
  formatSeconds,
  type GrafanaQuery,
  type GrafanaRule,
  isGiven,
  querySchema,
  type RuleCondition,
  type RuleInFile,
  readCondition,
  ruleSchema,
  textOrEmpty,
  toSeconds,
} from './grafana-file.ts'
import { type AlertSql, toAlertSql } from './shape.ts'
import { alertTexts, translateTime } from './time.ts'

/** What the person who imports decides, by the names in Grafana. */
interface ImportChoices {
  readonly connections: ReadonlyMap<string, string>
  /** `*` is for rules without a contact point of their own. */
  readonly webhooks: ReadonlyMap<string, string>
}

export interface Translated {
  /** The fields of a file, without the dashboard. */
  readonly alert: Body & { readonly interval: AlertInterval; readonly query: { readonly sql: string; readonly connection: string } }
  readonly condition: RuleCondition
  readonly isGrouped: boolean
}

export const outcomeSchema = z.object({
  title: z.string(),
  uid: z.string(),
  folder: z.string(),
  group: z.string(),
  location: z.string(),
  result: z.enum(['exact', 'changed', 'refused', 'paused']),
  differences: z.array(z.string()).describe('Each difference in a sentence.'),
  reason: z.string().optional().describe('Why the rule is refused, and what to do.'),
})

export type ImportOutcome = z.output<typeof outcomeSchema> & { readonly translated?: Translated }

export async function translateRule(
  rule: RuleInFile,
  choices: ImportChoices,
  sqlFunctions: readonly string[] = [],
): Promise<ImportOutcome> {
  const { data, error } = ruleSchema.safeParse(rule.value)
  const { uid, title } = isMapping(rule.value) ? rule.value : {}
  const { folder, group, location } = rule
  const common = {
    folder,
    group,
    location,
    uid: textOrEmpty(uid),
    title: textOrEmpty(title) || textOrEmpty(uid) || 'rule without title',
    differences: [],
  }
  if (error !== undefined)
    return { ...common, result: 'refused', reason: `${error.issues[0]?.path.join('.') || 'the rule'} is missing or wrong` }
  if (data.isPaused === true) return { ...common, result: 'paused' }
  try {
    const { differences, ...translated } = translate(data, rule, choices)
    const { alert, isGrouped } = translated
    const whole = renderAlone({ text: alert.query.sql, shape: isGrouped ? 'over-time' : 'number', tableOf: () => undefined }, 0)
    const reason = 'reason' in whole ? whole.reason : await refuseSql(whole.sql, false, sqlFunctions)
    if (reason !== undefined) refuse(reason)
    return { ...common, result: differences.length === 0 ? 'exact' : 'changed', differences, translated }
  } catch (thrown) {
    if (thrown instanceof UnusableSql)
      return {
        ...common,
        result: 'refused',
        reason: thrown.message.replace(/^the tile uses .*/, 'the query uses a variable of a dashboard; write its value'),
      }
    throw thrown
  }
}

function translate(rule: GrafanaRule, inFile: RuleInFile, choices: ImportChoices): Translated & { readonly differences: string[] } {
  if (!isEmpty(rule.record)) return refuse('a recording rule sends no notification; leave it in Grafana')
  if (rule.title.trim() === '') return refuse('the rule has no title')
  if (rule.title.length > 512) return refuse('the title has more than 512 characters')
  const condition = readCondition(rule)
  const differences: string[] = [...condition.differences]
  const { interval, windows } = readSchedule(rule, inFile, differences)
  const connection = connectionOf(condition.query, choices)
  const sql = translateSql(condition, interval, differences)
  const alert = {
    name: rule.title,
    query: { sql: sql.sql, connection },
    ...toThreshold(condition, sql, differences),
    interval,
    ...(windows > 1 && { numConsecutiveWindows: windows }),
    channel: { type: 'webhook', webhook: webhookOf(rule, choices) },
    ...toTexts(rule, inFile, sql, differences),
  }
  describeMissing(rule, condition, sql, differences)
  describeOthers(rule, differences)
  return { alert, condition, isGrouped: sql.isGrouped, differences }
}

/**
 * Grafana fires when the condition has held for the time of `for` since its first violation: after one evaluation more than the time has
 * intervals. Most services refuse an interval of 30s.
 */
function readSchedule(rule: GrafanaRule, { interval: given }: RuleInFile, differences: string[]) {
  if (given == null) return refuse('the export has no interval of its group; export the group, or all rules as a provisioning file')
  const seconds = toSeconds(given) || refuse(`the interval ${quote(textOrEmpty(given))} of the group is not a duration`)
  const pending = isEmpty(rule.for) ? 0 : (toSeconds(rule.for) ?? refuse(`the duration ${quote(String(rule.for))} in for is not known`))
  const interval = alertIntervals.find((one) => one !== '30s' && intervalMs[one] >= seconds * 1000)
  if (interval === undefined) return refuse('the group is evaluated less often than once a day, the longest interval')
  const longer = intervalMs[interval] / 1000
  const windows = Math.ceil(pending / longer) + 1
  if (longer !== seconds) differences.push(`evaluated every ${interval}; Grafana did every ${formatSeconds(seconds)}`)
  const [before, now] = [Math.ceil(pending / seconds) * seconds, (windows - 1) * longer]
  if (before !== now)
    differences.push(`fires ${formatSeconds(now)} after the first violation; Grafana did after ${formatSeconds(before)} (for: ${rule.for})`)
  return { interval, windows }
}

function connectionOf({ datasourceUid, model, refId }: GrafanaQuery, { connections }: ImportChoices) {
  const { type, uid } = isMapping(model?.datasource) ? model.datasource : {}
  const name = datasourceUid ?? textOrEmpty(uid)
  if (isGiven(type) && type !== 'grafana-clickhouse-datasource')
    return refuse(`${quote(refId)} reads a data source of type ${quote(textOrEmpty(type))}; leave the rule in Grafana`)
  const advice = `if it is ClickHouse, set ${spellInput('connection', `${quote(name)}=NAME`)}`
  return connections.get(name) ?? refuse(`the data source ${quote(name)} has no connection; ${advice}`)
}

function webhookOf({ notification_settings: own }: GrafanaRule, { webhooks }: ImportChoices) {
  const name = own?.receiver ?? '*'
  const contact = own == null ? 'a rule without a contact point' : `the contact point ${quote(name)}`
  return webhooks.get(name) ?? refuse(`${contact} has no webhook; set ${spellInput('webhook', `${quote(name)}=NAME`)}`)
}

/** A check of the values proves or removes it. */
export const unlessTyped = 'fails in Grafana, or has other values, unless '

function translateSql({ query, reduction, isClassic, evaluator }: RuleCondition, interval: AlertInterval, differences: string[]): AlertSql {
  const { from, to } = query.relativeTimeRange ?? {}
  const range = `${formatSeconds(from ?? 0)}${to ? ` to ${formatSeconds(to)}` : ''}`
  const used = new Set<string>()
  const texts = alertTexts(query, interval, () =>
    used.add(`the query keeps its time range, ${range} before an evaluation; the interval is ${interval}`),
  )
  const { sql, readsLater } = translateTime(sqlOf(query), texts)
  differences.push(...used)
  if (readsLater)
    differences.push('rows after the end of a window count, too, so that a late evaluation and a backtest can have other values')
  const [direction = ''] = /^(?:above|below)/.exec(evaluator.thresholdType) ?? []
  const found = toAlertSql(
    sql,
    reduction,
    isClassic ? worstOf[direction] : undefined,
    /^(?:1|table)$/i.test(textOrEmpty(query.model?.format)),
  )
  if (found.unsorted !== undefined) differences.push(found.unsorted)
  if (found.untold.length > 0) differences.push(`${unlessTyped}${found.untold.join(' and ')}; ${spellInput('check', 'true')} tells`)
  if (found.mayHaveRows) differences.push('the query may have several rows, of which the first counts; Grafana would fail')
  if (isClassic && found.isGrouped) return refuse('a classic condition about several groups can only be above or below a number')
  const expanded = expandTemplate({ text: found.sql, shape: found.isGrouped ? 'over-time' : 'number', tableOf: () => undefined })
  if ('reason' in expanded) return refuse(expanded.reason)
  if (found.sql.length > 100_000) return refuse('the query has more than 100,000 characters after its translation')
  return { ...found, sql: tidy(found.sql).trim() }
}

function sqlOf({ refId, model }: GrafanaQuery) {
  const { rawSql, format } = model ?? {}
  if (/^(?:2|3|logs|traces?)$/i.test(textOrEmpty(format))) return refuse('the query returns logs or traces, and no number')
  if (textOrEmpty(rawSql).length > 30_000) return refuse('the query has more than 30,000 characters')
  return textOrEmpty(rawSql).trim() || refuse(`${quote(refId)} has no SQL in rawSql`)
}

const worstOf: Readonly<Record<string, 'max' | 'min'>> = { above: 'max', below: 'min' }

/** A block of YAML has no tabs, and no blanks at the ends of lines. A text keeps its own. */
const tidy = (sql: string) => (/'[^']*[\n\t][^']*'/.test(sql) ? sql : sql.replace(/(?<![ \t\r])[ \t\r]+$/gm, '').replace(/\t/g, '  '))

function toThreshold({ evaluator: { withoutBorders, ...fields } }: RuleCondition, { isWhole }: AlertSql, differences: string[]) {
  const { threshold, thresholdMax } = fields
  if (!withoutBorders || thresholdMax === undefined) return fields
  if (!isWhole) {
    differences.push(`${threshold} and ${thresholdMax} fire, too; Grafana left them out (within_range)`)
    return fields
  }
  const whole = { ...fields, threshold: Math.floor(threshold) + 1, thresholdMax: Math.ceil(thresholdMax) - 1 }
  return whole.threshold > whole.thresholdMax ? refuse(`no whole number is between ${threshold} and ${thresholdMax}`) : whole
}

/** The server counts a number that is missing as 0. */
function describeMissing({ noDataState }: GrafanaRule, { evaluator }: RuleCondition, sql: AlertSql, differences: string[]) {
  const state = noDataState?.trim() || 'NoData'
  if (sql.missing === 'never') return
  const fires = isBreach({ thresholdMax: undefined, ...evaluator, interval: '1m', consecutive: 1, isGrouped: false }, 0)
  if (sql.isGrouped)
    differences.push(`a group without rows ${fires ? 'keeps its state' : 'is OK at once'}; Grafana waited for two evaluations`)
  // Grafana compares NaN like a number, which is unequal to every other.
  if (/^ok$/i.test(state) && !fires && evaluator.thresholdType !== 'not_equal') return
  if (/^alerting$/i.test(state) && fires && sql.missing === 'rows' && sql.isWhole) return
  const before: Readonly<Record<string, string>> = { ok: 'did not alert', alerting: 'alerted', keeplast: 'kept the last state' }
  const now = `${sql.isGrouped ? 'no data of all groups' : 'no data'} counts as 0${fires ? ', which fires' : ''}`
  differences.push(`${now}; Grafana ${before[state.toLowerCase()] ?? 'had a state for it'} (noDataState: ${state})`)
}

const maxTextLength = 3800

/** A template. The product reads the same brackets, with other names in them. */
const template = /\{\{[\s\S]*?(?:\}\}|$)/g

/** The summary and the description are for the notification, and everything else for the person on call. */
function toTexts(rule: GrafanaRule, inFile: RuleInFile, { isGrouped }: AlertSql, differences: string[]) {
  const { summary = '', description = '', __dashboardUid__, __panelId__, ...others } = rule.annotations ?? {}
  const linesOf = (values: object) => Object.entries(values).map(([name, value]) => `${name}: ${value}`)
  const dashboard = [rule.dashboardUid || __dashboardUid__, rule.panelId || __panelId__].filter(Boolean).join(', panel ')
  const message = [summary, description].filter((text) => text.trim() !== '').join('\n\n')
  const labels = linesOf(rule.labels ?? {}).join(', ')
  const note = [
    ...linesOf(others),
    ...(labels === '' ? [] : [`Labels: ${labels}`]),
    ...(dashboard === '' ? [] : [`Grafana dashboard: ${dashboard}`]),
    `Grafana rule: ${[inFile.folder, inFile.group, rule.uid ?? ''].filter((part) => part !== '').join(' / ')}`,
  ].join('\n')
  const group = isGrouped ? '{{group}}' : '…'
  const toProduct = (whole: string) => (whole.includes('$value') ? '{{value}}' : whole.includes('$labels') ? group : '…')
  const found = new Set(`${message}${note}`.match(template))
  if (found.size > 0) differences.push(`the texts have {{value}}, {{group}} or … in place of ${quote([...found].join(' '), 120)}`)
  if (Math.max(message.length, note.length) > maxTextLength) differences.push(`a text is cut at ${maxTextLength} characters`)
  const cut = (text: string) => text.slice(0, maxTextLength).toWellFormed()
  return { ...(message !== '' && { message: cut(message.replace(template, toProduct)) }), note: cut(note.replace(template, '…')) }
}

const withoutEffect = /^(?:org(?:Id|ID)|id|updated|provenance|folderUID|ruleGroup|guid|version)$/

/** A failing query, notifications, and fields without an equivalent. */
function describeOthers(rule: GrafanaRule, differences: string[]) {
  const state = rule.execErrState?.trim() || 'Alerting'
  if (!/^keeplast$/i.test(state)) differences.push(`a failing query keeps the last state; Grafana had another one (execErrState: ${state})`)
  const { receiver: _, ...timing } = rule.notification_settings ?? {}
  const given = Object.entries(timing).filter(([, value]) => isGiven(value))
  const shown = given.map(([name, value]) => quote(`${name}: ${JSON.stringify(value)}`)).join(', ')
  if (given.length > 0) differences.push(`notifies at each violated window; Grafana had ${shown}`)
  const others = [rule, ...(rule.data ?? []), ...(rule.data ?? []).map(({ model }) => ({ fillMode: model?.fillMode }))]
  const known = [...Object.keys(ruleSchema.shape), ...Object.keys(querySchema.shape)]
  for (const [name, value] of others.flatMap((fields) => Object.entries(fields)))
    if (!known.includes(name) && !withoutEffect.test(name) && isGiven(value))
      differences.push(`${quote(name)} has no equivalent; Grafana had ${quote(JSON.stringify(value) ?? '')}`)
}
