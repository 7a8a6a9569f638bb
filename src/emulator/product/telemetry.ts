import { once } from '../../platform/core/concurrency.ts'
import { minuteMs } from '../../platform/core/durations.ts'

// Deterministic telemetry: one week of logs, spans and a gauge of four services, which repeats. It is the week that was stored in a real
// server to record how the product evaluates alerts (test/unit/backtest), so that both give the same answers.

export interface TelemetryRow {
  /** Milliseconds since the start of its week. */
  readonly atMs: number
  readonly [column: string]: string | number
}

export const telemetryKinds = ['log', 'trace', 'metric'] as const

export type TelemetryKind = (typeof telemetryKinds)[number]

const services = ['checkout', 'cart', 'payment', 'search'] as const

type Emitter = (typeof services)[number]

/** A Monday. */
const baseMs = Date.parse('2026-11-09T00:00:00Z')

const weekMinutes = 7 * 1440
const weekMs = weekMinutes * minuteMs

const minuteOf = (day: number, hour: number, minute = 0) => day * 1440 + hour * 60 + minute

/** Something that happens to some services for some minutes, perhaps in every nth one only. */
interface Disturbance {
  readonly services: readonly Emitter[]
  readonly start: number
  readonly minutes: number
  readonly every?: number
}

const bursts: readonly (Disturbance & { readonly severity: string; readonly count: number })[] = [
  { severity: 'error', services: ['cart'], start: minuteOf(0, 6), minutes: 30, count: 5, every: 2 },
  { severity: 'error', services: ['checkout'], start: minuteOf(1, 10, 2), minutes: 8, count: 6 },
  { severity: 'error', services: ['checkout'], start: minuteOf(2, 3), minutes: 60, count: 2 },
  { severity: 'error', services: ['payment'], start: minuteOf(3, 14, 37), minutes: 1, count: 50 },
  { severity: 'error', services: ['cart'], start: minuteOf(4, 23, 50), minutes: 30, count: 4 },
  { severity: 'ERROR', services: ['checkout', 'payment'], start: minuteOf(5, 12), minutes: 15, count: 10 },
  { severity: 'fatal', services: ['search'], start: minuteOf(6, 8, 13), minutes: 4, count: 3 },
]

/** Times without any row. */
const gaps: readonly Disturbance[] = [
  { services, start: minuteOf(3, 4, 10), minutes: 15 },
  { services: ['search'], start: minuteOf(2, 16), minutes: 45 },
]

const slowdowns: readonly (Disturbance & { readonly factor: number })[] = [
  { services: ['payment'], start: minuteOf(1, 15), minutes: 30, factor: 10 },
  { services: ['checkout'], start: minuteOf(5, 20, 5), minutes: 15, factor: 4 },
]

const failures: Disturbance = { services: ['payment'], start: minuteOf(3, 9), minutes: 60 }

const load: Disturbance = { services: ['cart'], start: minuteOf(4, 11), minutes: 20 }

const hits = (incident: Disturbance, service: Emitter, minute: number) =>
  incident.services.includes(service) &&
  minute >= incident.start &&
  minute < incident.start + incident.minutes &&
  (minute - incident.start) % (incident.every ?? 1) === 0

type RowsAt = (minute: number) => readonly TelemetryRow[]

const allRowsAt =
  (kind: TelemetryKind): RowsAt =>
  (minute) =>
    weeks[kind]()[minute] ?? []

/** The rows that match. Each row is asked for once, when its minute is visited for the first time. */
export function selectTelemetry(kind: TelemetryKind, matches: (row: TelemetryRow) => boolean): RowsAt {
  const selected: (readonly TelemetryRow[])[] = []
  const rowsAt = allRowsAt(kind)
  return (minute) => {
    selected[minute] ??= rowsAt(minute).filter(matches)
    return selected[minute]
  }
}

/** Calls `visit` with the rows from the first to the last moment, both included, and their times. */
export function visitTelemetry(
  rows: TelemetryKind | RowsAt,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  visit: (row: TelemetryRow, atMs: number) => void,
): void {
  const rowsAt = typeof rows === 'string' ? allRowsAt(rows) : rows
  for (let minute = Math.floor((fromMs - baseMs) / minuteMs); baseMs + minute * minuteMs <= toMs; minute++) {
    const week = Math.floor(minute / weekMinutes)
    for (const row of rowsAt(minute - week * weekMinutes)) {
      const atMs = baseMs + week * weekMs + row.atMs
      if (atMs >= fromMs && atMs <= toMs) visit(row, atMs)
    }
  }
}

const weekOf = (rowsOf: (service: Emitter, minute: number) => readonly TelemetryRow[]): readonly (readonly TelemetryRow[])[] =>
  Array.from({ length: weekMinutes }, (_, minute) =>
    services.flatMap((service) => (gaps.some((gap) => hits(gap, service, minute)) ? [] : rowsOf(service, minute))),
  )

/** Made when they are asked for, because few runs of the emulator need them. */
const weeks: Readonly<Record<TelemetryKind, () => readonly (readonly TelemetryRow[])[]>> = {
  log: once(() => weekOf(logRows)),
  trace: once(() => weekOf(spanRows)),
  metric: once(() => weekOf(gaugeRows)),
}

function logRows(service: Emitter, minute: number): readonly TelemetryRow[] {
  const row = (second: number, severity: string, body: string): TelemetryRow => ({
    atMs: minute * minuteMs + second * 1000,
    ServiceName: service,
    SeverityText: severity,
    Body: body,
  })
  const declined = `payment failed: order ${minute} declined`
  const errors = bursts.flatMap((burst) =>
    hits(burst, service, minute)
      ? Array.from({ length: burst.count }, (_, i) => row(11 + Math.floor(i / 2), burst.severity, declined))
      : [],
  )
  return [
    ...[5, 25, 45].map((second) => row(second, 'info', 'request completed ok')),
    ...(minute % 10 === 0 ? [row(30, 'warn', 'slow response from upstream')] : []),
    ...(service === 'checkout' && minute % 30 === 0 ? [row(10, 'error', 'connection refused: card-processor timeout')] : []),
    ...errors,
  ]
}

function spanRows(service: Emitter, minute: number): readonly TelemetryRow[] {
  const factor = slowdowns.find((slowdown) => hits(slowdown, service, minute))?.factor ?? 1
  const isFailing = hits(failures, service, minute)
  return [0, 1, 2, 3].map((i) => ({
    atMs: minute * minuteMs + (i * 15 + 2) * 1000,
    ServiceName: service,
    SpanName: `/api/${service}`,
    SpanKind: 'Server',
    Duration: (i + 1) * 50_000_000 * factor,
    StatusCode: i === 3 && isFailing ? 'Error' : 'Ok',
  }))
}

function gaugeRows(service: Emitter, minute: number): readonly TelemetryRow[] {
  const usual = [0.25, 0.3, 0.35, 0.4][minute % 4] ?? 0
  const value = hits(load, service, minute) ? 0.95 : usual
  return [{ atMs: minute * minuteMs, ServiceName: service, MetricName: 'cpu.utilization', Value: value }]
}
