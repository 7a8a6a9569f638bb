import { isDay } from '../../platform/core/dates.ts'
import type { Decimal } from '../../platform/core/decimal.ts'
import { counted, join, joinFirst, joinSome, type Line, say, strong, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { type Block, paragraph, severityLooks } from '../../platform/report/blocks.ts'
import { formatMoney, formatMoneyPair, formatRange, formatShortDay } from '../../platform/report/format.ts'
import type { Report, Verdict } from '../../platform/report/report.ts'
import { facts, shown, table } from '../../platform/report/table.ts'
import { unitWords } from '../usage/phrases.ts'
import type { AuditResult } from './audit-result.ts'

export function judgeAudit(result: AuditResult): Verdict {
  const { errorCount, warningCount, findings, services, unchecked, maxSavings, savingsLow, unit = '' } = result
  const failures = unchecked.filter(({ isFailure }) => isFailure)
  const notChecked = failures.map(uncheckedWords)
  if (maxSavings !== undefined && (savingsLow === undefined || services.length === 0))
    return { status: 'fail', sentence: say`max-savings cannot be judged.`, reasons: notChecked }
  if (maxSavings !== undefined && savingsLow?.gt(maxSavings) === true) {
    const [savings, limit] = formatMoneyPair(savingsLow, maxSavings)
    const sentence = [trusted(`Savings of at least ${savings} ${unit} a month exceed max-savings of ${limit} ${unit}.`)]
    return { status: 'fail', sentence, reasons: notChecked, cause: say`savings exceed max-savings` }
  }
  const found = say`${headlineOf(result)}.`
  if (errorCount > 0) {
    const named = findings.filter(({ severity }) => severity === 'error').map(({ name, rule }) => say`${name}: ${trusted(rule)}`)
    return { status: 'fail', sentence: found, reasons: [...named, ...notChecked], cause: joinSome(named, maxInCause) }
  }
  if (warningCount > 0) return { status: 'warn', sentence: found, reasons: notChecked }
  const [first, ...others] = notChecked
  return first === undefined ? { status: 'pass', reasons: [] } : { status: 'warn', sentence: first, reasons: others }
}

/** Number of findings that a title names. */
const maxInCause = 2

/** `3 findings on 4 services could save up to 210.00 CHC a month`. */
function headlineOf({ findingCount, services, savingsHigh, savingsLow, unit = '' }: AuditResult): Line {
  const on = say`${counted(findingCount, 'finding')} on ${counted(services.length, 'service')}`
  if (findingCount === 0) return say`No findings on ${counted(services.length, 'service')}`
  if (savingsHigh === undefined || savingsLow === undefined || savingsHigh.lte(0)) return on
  return say`${on} could save ${trusted(`${amountWords(savingsLow, savingsHigh)} ${unit} a month`)}`
}

/** `up to 84.00`, `70.0–95.0`. */
const amountWords = (low: Decimal, high: Decimal): string => (low.lte(0) ? `up to ${formatMoney(high)}` : formatRange(low, high))

export function reportAudit(result: AuditResult): Report {
  const { findings, unchecked } = result
  return {
    headline: headlineOf(result),
    blocks: [
      factsOf(result),
      serviceTable(result),
      ...chartOf(result),
      ...changes(result),
      ...(unchecked.length === 0 ? [] : [{ kind: 'list' as const, items: unchecked.map(uncheckedWords) }]),
      paragraph(findings.some(({ high }) => high !== undefined) ? limitsOf(result) : []),
    ],
  }
}

/** The findings with the largest savings. */
export const findingLines = ({ findings }: AuditResult): readonly Line[] =>
  findings.slice(0, 3).map((one) => say`${one.name}: ${evidenceOf(one)}`)

/** `1 alert evaluated at least once in the idle timeout of 15 min: Catalog errors.` */
function evidenceOf({ evidence, names = [] }: AuditFinding): Line {
  if (names.length === 0) return [trusted(`${evidence}.`)]
  const listed = names.map((name) => say`${name}`)
  return say`${trusted(evidence)}: ${joinFirst(3, listed)}.`
}

const uncheckedWords = ({ what, name, reason }: AuditResult['unchecked'][number]): Line =>
  say`Not checked: ${trusted(what)}${name === undefined ? [] : say` of ${name}`}: ${untrustedSentence(reason)}`

const limitsOf = ({ unit = '', maxSavings }: AuditResult): Line => [
  trusted(
    `Estimates in ${unitWords(unit) ?? unit}, for a month of 30 days like the last final days. Activities do not say who woke a service, so findings about awake time have no lower limit. Findings about the same awake hours count once in the sum.${maxSavings === undefined ? '' : ' max-savings is compared with "at least", the sum of the lower limits.'}`,
  ),
]

/** The headline has the other figures. */
function factsOf({ savingsLow, unit = '', maxSavings }: AuditResult): Block {
  const amount = (value: Decimal): string => `${formatMoney(value)} ${unit}`
  return facts({
    'Savings a month, at least': maxSavings && shown(savingsLow, amount),
    'Limit (max-savings)': shown(maxSavings, amount),
  })
}

type AuditFinding = AuditResult['findings'][number]

/** Findings without an amount that differ only in their service are one row. */
function foldFindings(findings: readonly AuditFinding[]): readonly (readonly [AuditFinding, ...AuditFinding[]])[] {
  const keyOf = ({ name, serviceId, command, ...rest }: AuditFinding): string =>
    JSON.stringify(rest.high === undefined ? rest : [name, serviceId, rest])
  return [...Map.groupBy(findings, keyOf).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  )
}

const namesOf = (same: readonly AuditFinding[]): Line =>
  joinFirst(
    10,
    same.map(({ name }) => say`${name}`),
  )

interface Row {
  readonly name: string
  /** The most expensive first. */
  readonly findings: readonly AuditFinding[]
  /** Undefined for a warehouse. */
  readonly service?: AuditResult['services'][number] | undefined
}

/** Services with findings first. */
function rowsOf({ findings, services }: AuditResult): readonly Row[] {
  const found = [...Map.groupBy(findings, ({ serviceId, name }) => serviceId ?? name)].map(([key, same]) => ({
    name: same[0]?.name ?? '',
    findings: same,
    service: services.find(({ id }) => id === key),
  }))
  const others = services.filter((service) => found.every((one) => one.service !== service))
  return [...found, ...others.map((service) => ({ name: service.name, findings: [], service }))]
}

const worstOf = ({ findings }: Row): AuditFinding['severity'] | undefined =>
  (['error', 'warning', 'note'] as const).find((wanted) => findings.some(({ severity }) => severity === wanted))

function serviceTable(result: AuditResult): Block {
  const { unit = '' } = result
  return table(
    'Services',
    rowsOf(result),
    {
      Service: (row) => {
        const worst = worstOf(row)
        return worst === undefined ? row.name : say`${trusted(severityLooks[worst].sign)} ${row.name}`
      },
      Findings: ({ findings }) =>
        findings.length === 0
          ? undefined
          : join(
              findings.map((one) => findingWords(one, unit)),
              '\n',
            ),
      [`>Compute (${unit} a month)`]: ({ service }) => shown(service?.monthlyCompute, formatMoney),
      '>Awake': ({ service }) => service && trusted(service.awakePercent === undefined ? 'not estimable' : `${service.awakePercent}%`),
      Sleeps: ({ service }) => service && trusted(service.alwaysOn ? `${service.idling} (always on)` : service.idling),
      State: ({ service }) => service?.state,
      '>Known days': ({ service }) => service?.knownDays,
    },
    (row) => severityLooks[worstOf(row) ?? 'note'].status,
  )
}

/** `idling-off, up to 145.44 CHC a month: Idling is off.` The amount does not break, so that a narrow window keeps the column readable. */
function findingWords(finding: AuditFinding, unit: string): Line {
  const { rule, low, high, notEstimable } = finding
  const amount = notEstimable !== undefined ? ', not estimable' : low && high ? `, ${amountWords(low, high)} ${unit} a month` : ''
  return say`${strong(rule)}${trusted(amount.replaceAll(' ', '\u00a0'))}: ${evidenceOf(finding)}`
}

function chartOf({ awakeByDay, services }: AuditResult): readonly Block[] {
  if (awakeByDay.length < 2) return []
  const last = awakeByDay.at(-1)?.day ?? ''
  const count = services.filter(({ awakePercent }) => awakePercent !== undefined).length
  return [
    {
      kind: 'chart',
      title: `Awake hours per day (${count === 1 ? '1 service' : `${count} services together`})`,
      unit: 'h',
      valueName: 'Awake',
      points: awakeByDay.flatMap(({ day, hours }) =>
        isDay(day) && isDay(last) ? [{ label: formatShortDay(day, last), value: hours }] : [],
      ),
    },
  ]
}

/** Findings whose changes are not folded. */
const maxOpen = 10

/** What to know, why there is no amount, and the commands. */
function changes({ findings }: AuditResult): readonly Block[] {
  const parts = foldFindings(
    findings.filter(({ command, advice, notEstimable }) => [command, advice, notEstimable].some((one) => one !== undefined)),
  )
  const rest = parts.slice(maxOpen).flatMap(changeOf)
  if (parts.length === 0) return []
  return [
    { kind: 'paragraph', line: [strong('What to change')] },
    ...parts.slice(0, maxOpen).flatMap(changeOf),
    ...(rest.length === 0 ? [] : [{ kind: 'details' as const, title: `${parts.length - maxOpen} more changes`, blocks: rest }]),
  ]
}

function changeOf(same: readonly [AuditFinding, ...AuditFinding[]]): readonly Block[] {
  const [{ rule, advice, notEstimable }] = same
  const commands = same.flatMap(({ command }) => command ?? [])
  const sentences = [
    say`${namesOf(same)} (${trusted(rule)}):`,
    ...(advice === undefined ? [] : [[trusted(advice)]]),
    ...(notEstimable === undefined ? [] : [say`Not estimable: ${trusted(notEstimable)}.`]),
  ]
  return [
    { kind: 'paragraph', line: join(sentences, ' ') },
    ...(commands.length === 0 ? [] : [{ kind: 'preformatted' as const, text: commands.join('\n') }]),
  ]
}
