// An SLO becomes a dashboard and alerts before anything is planned, so that it is treated as any other object.

import * as z from 'zod'
import { nameRules } from '../../kinds/derive.ts'
import type { DeclaredKey } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Declared, parseObject } from '../../kinds/kinds.ts'
import { createNameIndex } from '../../kinds/name-index.ts'
import { repeatedKey } from '../../kinds/references.ts'
import { type Source, tableOfSource } from '../../kinds/source/source-wire.ts'
import { type Diagnostic, diagnosticOf } from '../../platform/core/diagnostics.ts'
import { longestRun } from '../../platform/core/escape.ts'
import { withoutUndefined } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'
import type { ValuePath } from '../../platform/documents/document.ts'
import { ownValue, valueAt } from '../../platform/documents/schema.ts'
import { formatPath, schemaDiagnostics, schemaRules } from '../../platform/documents/validate.ts'
import { refuseCondition } from './condition.ts'
import { type DeclaredSlo, declaredSlo, isSloKey, type SpelledSlo, sloKeyForm, sloRules, sloServiceRules } from './slo-file.ts'
import {
  type BurnRateAlert,
  budgetShare,
  budgetSql,
  burnRateAlerts,
  burnRateSql,
  digitsOf,
  eventsSql,
  indicatorSql,
  maxBurnRate,
  maxObjectiveDigits,
  type SloSource,
  wantedAlerts,
} from './slo-sql.ts'

export interface Slo extends SpelledSlo {
  readonly value: DeclaredSlo
}

export interface ReadSlos {
  readonly slos: readonly Slo[]
  /** Dashboards and alerts of the SLOs, with a placeholder for the source. */
  readonly objects: readonly Declared[]
  readonly diagnostics: readonly Diagnostic[]
}

/** `declared` are the other objects of the files. */
export function readSlos(all: readonly SpelledSlo[], declared: readonly DeclaredKey[]): ReadSlos {
  const results = all.map(readSlo)
  // Keys that are there twice are errors of the files.
  const slos = [...new Map(results.flatMap((one) => ('slo' in one ? [[one.slo.key, one.slo] as const] : []))).values()]
  const objects = slos.flatMap((slo) => expandSlo(slo, unknownSource))
  const places = new Map(declared.map((one) => [addressOf(one), one.location]))
  const repeated = objects.flatMap((one) => {
    const before = places.get(addressOf(one))
    return before === undefined ? [] : [repeatedKey(addressOf(one), one.location, before, '; the SLO makes an object with this key')]
  })
  return { slos, objects, diagnostics: [...results.flatMap((one) => ('diagnostics' in one ? one.diagnostics : [])), ...repeated] }
}

function readSlo(one: SpelledSlo): { readonly slo: Slo } | { readonly diagnostics: readonly Diagnostic[] } {
  const { key, location, document, wrongDefaults } = one
  const path = ['slos', key]
  if (!isSloKey(key)) {
    const message = `slos: "${quote(key)}" is not a key; accepted: ${sloKeyForm}`
    return { diagnostics: [diagnosticOf(schemaRules, 'schema', location, message)] }
  }
  const spelled = valueAt(document.value, path)
  const { data, error } = declaredSlo.safeParse(spelled)
  if (error !== undefined) {
    const isConsequence = (field: string): boolean => wrongDefaults.includes(field) && ownValue(spelled, field) === undefined
    const issues = error.issues.filter(({ path: [field] }) => !isConsequence(String(field)))
    return { diagnostics: schemaDiagnostics(new z.ZodError(issues), document, declaredSlo, path) }
  }
  const slo = { ...one, value: data }
  const diagnostics = [...checkConditions(slo), ...checkObjective(slo)]
  return diagnostics.length > 0 ? { diagnostics } : { slo }
}

const locate = ({ document, key, location }: SpelledSlo, path: ValuePath) =>
  path.length === 0 ? location : document.locationOf(['slos', key, ...path])

const pathOf = ({ document, key }: SpelledSlo, path: ValuePath) =>
  ['slos', key, formatPath(path, valueAt(document.value, ['slos', key]))].filter((part) => part !== '').join('.')

const diagnose = (slo: Slo, rule: keyof typeof sloRules, path: ValuePath, message: string) =>
  diagnosticOf(sloRules, rule, locate(slo, path), `${pathOf(slo, path)}: ${message}`)

function checkConditions(slo: Slo) {
  return (['total', 'good', 'groupBy'] as const).flatMap((field) => {
    const text = slo.value[field]
    const reason = text === undefined ? undefined : refuseCondition(text)
    return reason === undefined ? [] : [diagnose(slo, 'slo-condition', [field], reason)]
  })
}

function checkObjective(slo: Slo) {
  const { objective } = slo.value
  if (digitsOf(objective) > maxObjectiveDigits)
    return [diagnose(slo, 'slo-objective', ['objective'], `has more than ${maxObjectiveDigits} digits after the point`)]
  const highest = maxBurnRate(objective)
  return wantedAlerts(slo.value)
    .filter(({ rate }) => highest < rate)
    .map(({ recipient, rate }) =>
      diagnose(
        slo,
        'slo-objective',
        ['alerts', recipient],
        `never fires at a burn rate of ${rate}, because at an objective of ${objective}% the burn rate is at most ${round(highest)}; use an objective of at least ${round(100 - 100 / rate + 0.05)}%, or no ${recipient} alerts`,
      ),
    )
}

const round = (value: number) => String(Number(value.toFixed(1)))

const unknownSource: SloSource = {
  id: 'source',
  connectionId: 'connection',
  database: 'database',
  table: 'table',
  time: 'Timestamp',
}

export const isOfSlo = ({ madeFrom }: Declared): boolean => madeFrom?.startsWith('slos.') === true

/** A dashboard whose source the service does not have says so, and has a placeholder for it. */
export const resolveSlos = (slos: readonly Slo[], sources: readonly Source[]): readonly Declared[] =>
  slos.flatMap((slo) => {
    const source = sourceOf(slo, sources)
    if (!('diagnostic' in source)) return expandSlo(slo, source)
    const unresolved = [{ ...source.diagnostic, path: [] }]
    return expandSlo(slo, unknownSource).map((one) => (one.kind === 'dashboard' ? { ...one, unresolved } : one))
  })

export function sourceOf(slo: Slo, sources: readonly Source[]): SloSource | { readonly diagnostic: Diagnostic } {
  const refuse = (message: string) => ({
    diagnostic: diagnosticOf(sloServiceRules, 'slo-source', locate(slo, ['source']), `${pathOf(slo, ['source'])}: ${message}`),
  })
  const lookup = createNameIndex({ source: sources }).byName('source', slo.value.source)
  const found = sources.find((one) => 'id' in lookup && one.id === lookup.id)
  if (found === undefined) {
    const message = 'message' in lookup ? lookup.message : 'is unknown'
    return { diagnostic: diagnosticOf(nameRules, 'unknown-name', locate(slo, ['source']), `${pathOf(slo, ['source'])}: ${message}`) }
  }
  const { id, kind } = found
  if (kind !== 'log' && kind !== 'trace')
    return refuse(`is a source of kind ${quote(kind ?? 'unknown')}; SLOs need one of kind trace or log`)
  const table = tableOfSource(found)
  if (table === undefined) return refuse('the API does not show its connection, table and time column')
  for (const [part, text] of [
    ['timestamp column', table.time],
    ['table filter', table.filter],
    ['sample rate', table.sampleRate],
  ] as const) {
    const reason = text === undefined ? undefined : refuseCondition(text)
    if (reason !== undefined) return refuse(`the ${part} of the source cannot be used: it ${reason}`)
  }
  return { id, ...table }
}

const dashboardKey = (key: string): string => `${key}.slo`

function expandSlo(slo: Slo, source: SloSource): readonly Declared[] {
  const { key, value, location } = slo
  const alert = (id: string, spelled: object, base: ValuePath) =>
    makeObject(slo, { kind: 'alert', key: `${key}.${id}`, location }, spelled, base)
  const rates = burnRateAlerts.flatMap((policy) => {
    const recipients = value.alerts?.[policy.recipient]
    if (recipients === undefined) return []
    return [alert(policy.id, burnRateAlert(slo, policy, recipients), ['alerts', policy.recipient])]
  })
  const board = makeObject(slo, { kind: 'dashboard', key: dashboardKey(key), location }, dashboard(value, source))
  if (value.noData === undefined) return [board, ...rates]
  return [board, ...rates, alert('no-data', noDataAlert(slo, value.noData), ['noData'])]
}

/** Channels are where the file has them, and everything else is the SLO. */
function makeObject(slo: Slo, declared: DeclaredKey, spelled: object, base: ValuePath = []): Declared {
  const result = parseObject(declared.kind, spelled)
  if ('error' in result) throw result.error
  const toSlo = ([field, ...rest]: ValuePath): ValuePath => (field === 'channel' || field === 'channels' ? [...base, field, ...rest] : base)
  return {
    ...declared,
    spelled,
    value: result.parsed.value,
    madeFrom: `slos.${slo.key}`,
    locationOf: (path) => locate(slo, toSlo(path)),
    pathOf: (path) => pathOf(slo, toSlo(path)),
  }
}

type Recipients = NonNullable<DeclaredSlo['noData']>

const tileOf = ({ long, short }: BurnRateAlert) => `Burn rate ${long.name} / ${short.name}`

const eventsTile = 'Events in the last hour'

const burnRateAlert = ({ key, value }: Slo, policy: BurnRateAlert, recipients: Recipients) => ({
  name: `${value.name}: burn rate ${policy.rate} over ${policy.long.name}`,
  dashboard: dashboardKey(key),
  tile: tileOf(policy),
  threshold: policy.rate,
  interval: policy.interval,
  ...withoutUndefined(recipients),
  message: `${value.objective}% in ${value.window}: ${formatOneDecimal(budgetShare(policy, value))}% of the error budget is spent in ${policy.long.name} at this rate`,
  note:
    value.note ??
    `The error budget of this SLO is burning ${policy.rate === 1 ? 'at least' : `${policy.rate} times`} as fast as the objective allows, in the last ${policy.long.name} and the last ${policy.short.name}. Look at the dashboard of this alert for the time when it began, and at the latest deployment.`,
})

const noDataAlert = ({ key, value }: Slo, recipients: Recipients) => ({
  name: `${value.name}: no events`,
  dashboard: dashboardKey(key),
  tile: eventsTile,
  threshold: 0,
  thresholdType: 'below_or_equal',
  interval: '15m',
  ...withoutUndefined(recipients),
  message: 'No event in the last hour, so the SLO cannot be measured',
  note: value.note ?? 'There was no event in the last hour. Is the service up, and does its telemetry arrive?',
})

const formatOneDecimal = (percent: number): string => String(Number(percent.toFixed(1)))

function dashboard(slo: DeclaredSlo, source: SloSource) {
  const isGrouped = slo.groupBy !== undefined
  const sql = { configType: 'sql', connectionId: source.connectionId, sourceId: source.id }
  const percent = { output: 'percent', mantissa: 2 }
  const rateTiles = burnRateAlerts.map((policy, i) => ({
    name: tileOf(policy),
    at: [i * 8, 6, 8, 4],
    config: {
      displayType: isGrouped ? 'line' : 'number',
      ...sql,
      sqlTemplate: burnRateSql(slo, source, policy),
      numberFormat: { output: 'number', mantissa: 2 },
      ...(isGrouped && { fillNulls: false }),
    },
  }))
  return {
    name: `SLO: ${slo.name}`,
    tags: ['slo'],
    tiles: [
      { name: 'About this SLO', at: [0, 0, 8, 6], config: { displayType: 'markdown', markdown: explain(slo) } },
      {
        name: 'Error budget left',
        at: [8, 0, 6, 6],
        config: {
          displayType: isGrouped ? 'table' : 'number',
          ...sql,
          sqlTemplate: budgetSql(slo, source),
          ...(!isGrouped && { numberFormat: percent }),
        },
      },
      {
        name: 'Good events',
        at: [14, 0, 10, 6],
        config: { displayType: 'line', ...sql, sqlTemplate: indicatorSql(slo, source), numberFormat: percent, fillNulls: false },
      },
      ...rateTiles,
      ...(slo.noData === undefined
        ? []
        : [{ name: eventsTile, at: [0, 10, 8, 4], config: { displayType: 'number', ...sql, sqlTemplate: eventsSql(slo, source) } }]),
    ],
  }
}

/** Everybody who opens the dashboard can read it without these files. */
function explain(slo: DeclaredSlo) {
  return [
    `**Objective: ${slo.objective}% good events in ${slo.window}.** The error budget is the other ${Number((100 - slo.objective).toFixed(maxObjectiveDigits))}%.`,
    '',
    `Events: ${inCode(slo.total)}  `,
    `Good: ${inCode(slo.good)}${slo.groupBy === undefined ? '' : `  \nFor each: ${inCode(slo.groupBy)}`}`,
    '',
    'A burn rate of 1 spends exactly the budget in the window. Each burn rate below is the smaller one of two windows that end at the end of the time range.',
    ...wantedAlerts(slo).map(
      (policy) =>
        `- ${policy.recipient} at ${policy.rate} over ${policy.long.name} and ${policy.short.name}: ${formatOneDecimal(budgetShare(policy, slo))}% of the budget`,
    ),
    '',
    `With fewer than ${slo.minEvents} events in the long window, or none in the short one, the burn rate counts as 0.`,
  ].join('\n')
}

const inCode = (text: string) => {
  const fence = '`'.repeat(longestRun(text) + 1)
  return `${fence} ${text.replaceAll(/\s+/g, ' ').trim()} ${fence}`
}

/** `99.9% in 30d; page at 2% of the budget in 1h, 5% in 6h → webhook oncall; no data → webhook oncall`. */
function summarize(slo: DeclaredSlo) {
  const { objective, window, alerts = {}, noData } = slo
  const channelsOf = ({ channel, channels = [] }: Recipients): string =>
    [...(channel === undefined ? [] : [channel]), ...channels]
      .map((one) => (one.type === 'email' ? `email ${one.emailRecipients}` : `webhook ${one.webhook ?? one.webhookId}`))
      .join(', ')
  const ofRates = (['page', 'ticket'] as const).flatMap((recipient) => {
    const recipients = alerts[recipient]
    if (recipients === undefined) return []
    const shares = burnRateAlerts
      .filter((policy) => policy.recipient === recipient)
      .map((policy, i) => `${formatOneDecimal(budgetShare(policy, slo))}%${i === 0 ? ' of the budget' : ''} in ${policy.long.name}`)
    return [`${recipient} at ${shares.join(', ')} → ${channelsOf(recipients)}`]
  })
  const ofSilence = noData === undefined ? [] : [`no data → ${channelsOf(noData)}`]
  return [`${objective}% in ${window}`, ...ofRates, ...ofSilence].join('; ')
}

export const describeSlos = (slos: readonly Slo[]) =>
  slos.map(({ key, value }) => ({
    key,
    name: value.name,
    summary: summarize(value),
    objective: value.objective,
    window: value.window,
    minEvents: value.minEvents,
    noDataAlert: value.noData !== undefined,
    alerts: wantedAlerts(value).map((policy) => ({
      key: `${key}.${policy.id}`,
      recipient: policy.recipient,
      burnRate: policy.rate,
      longWindow: policy.long.name,
      shortWindow: policy.short.name,
      interval: policy.interval,
      budgetShare: Number(budgetShare(policy, value).toFixed(1)),
    })),
  }))
