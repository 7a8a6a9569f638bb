// When the server evaluates an alert. Its windows begin at multiples of the interval since the epoch, unless an offset or a start between
// two of them shifts them. An alert with a start in the future is not evaluated. Recorded on HyperDX 2.36.
import { dayMs, minuteMs } from '../../platform/core/durations.ts'
import type { Body } from '../kind.ts'

export const alertIntervals = ['30s', '1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'] as const

export type AlertInterval = (typeof alertIntervals)[number]

/** Length of one window in milliseconds. */
export const intervalMs: Readonly<Record<AlertInterval, number>> = {
  '30s': minuteMs / 2,
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  '1h': 60 * minuteMs,
  '6h': 360 * minuteMs,
  '12h': 720 * minuteMs,
  '1d': 1440 * minuteMs,
}

/** Undefined for an interval that this version does not know. */
export function intervalMsOf(interval: unknown): number | undefined {
  const known = alertIntervals.find((one) => one === interval)
  return known === undefined ? undefined : intervalMs[known]
}

/** The latest border of two intervals, at or before the time. */
export const borderBefore = (timeMs: number, intervalMs: number): number => Math.floor(timeMs / intervalMs) * intervalMs

/** The first border of two intervals, at or after the time. */
export const borderAfter = (timeMs: number, intervalMs: number): number => Math.ceil(timeMs / intervalMs) * intervalMs

/** The server rejects a start later than this from now. */
export const maxAheadMs = 365 * dayMs

/** A later time is not one that the server accepts, and times after it could not be formatted. */
const maxStartMs = Date.UTC(9999, 0, 1)

/** Undefined without a start, and for one that is not a time. */
export function startMsOf({ scheduleStartAt }: Body): number | undefined {
  const ms = typeof scheduleStartAt === 'string' ? Date.parse(scheduleStartAt) : Number.NaN
  return ms <= maxStartMs ? ms : undefined
}

/** Whether the alert has a start, and its windows begin at the same times as without it. */
export function isAtBorder(alert: Body): boolean {
  const [startMs, intervalMs] = [startMsOf(alert), intervalMsOf(alert.interval)]
  return startMs !== undefined && intervalMs !== undefined && startMs % intervalMs === 0
}

export const toStart = (ms: number): string => new Date(ms).toISOString()

/** The end of the silence of an alert that the files leave to the service; undefined where it is evaluated, or where a file declares its start. */
export function undeclaredSilenceOf(stored: Body, desired: Body, nowMs: number): number | undefined {
  const startMs = startMsOf(stored)
  return startMs !== undefined && startMs > nowMs && desired.scheduleStartAt == null ? startMs : undefined
}

/** The desired body of an alert that is created again, silenced as long as the stored one. */
export function withSilenceOf(stored: Body, desired: Body, nowMs: number): Body {
  const [endMs, intervalMs] = [undeclaredSilenceOf(stored, desired, nowMs), intervalMsOf(desired.interval)]
  return endMs === undefined || intervalMs === undefined
    ? desired
    : { ...desired, scheduleStartAt: toStart(borderAfter(endMs, intervalMs)) }
}

/**
 * The desired body with the start that an update has to send, where no file declares one and the stored start is not harmless. Without a
 * start in the body, the server keeps the stored one. Null would make it evaluate the silenced windows afterwards, and notify about them.
 */
export function carryOverStart(desired: Body, stored: Body, nowMs: number): Body {
  const startMs = startMsOf(stored)
  const intervalMs = intervalMsOf(desired.interval)
  if (Object.hasOwn(desired, 'scheduleStartAt') || startMs === undefined || intervalMs === undefined) return desired
  const isAligned = startMs % intervalMs === 0
  if (startMs > nowMs) {
    // A silence whose end would shift the windows of the new interval.
    const isShifted = !isAligned && isAtBorder(stored)
    return isShifted ? { ...desired, scheduleStartAt: toStart(borderAfter(startMs, intervalMs)) } : desired
  }
  // A start disables the offset. It is cleared once the first window after it has been evaluated.
  if (hasOffset(desired)) return startMs + 2 * intervalMs <= nowMs ? { ...desired, scheduleStartAt: null } : desired
  return isAligned ? desired : { ...desired, scheduleStartAt: toStart(borderBefore(startMs, intervalMs)) }
}

/**
 * The stored body without a start that is not a difference: one that `carryOverStart` leaves to the service, or, where a file declares a start,
 * another one that also has no effect any more.
 */
export function withoutHarmlessStart(stored: Body, declared: Body, nowMs: number): Body {
  if (startMsOf(stored) === undefined) return stored
  if (!Object.hasOwn(carryOverStart(declared, stored, nowMs), 'scheduleStartAt')) return omitStart(stored)
  const isHarmless = ({ scheduleStartAt }: Body): boolean => {
    const body = { interval: declared.interval, scheduleStartAt }
    return isAtBorder(body) && (startMsOf(body) ?? 0) <= nowMs
  }
  return isHarmless(stored) && isHarmless(declared) ? { ...stored, scheduleStartAt: declared.scheduleStartAt } : stored
}

/** The stored body without a start that would be no difference once the rest of the body is in the file. */
export const withoutUnpulledStart = (stored: Body, { scheduleStartAt }: Body, nowMs: number): Body =>
  withoutHarmlessStart(stored, { ...omitStart(stored), ...(scheduleStartAt != null && { scheduleStartAt }) }, nowMs)

export const omitStart = ({ scheduleStartAt: _, ...others }: Body): Body => others

export const hasOffset = ({ scheduleOffsetMinutes }: Body): boolean =>
  typeof scheduleOffsetMinutes === 'number' && scheduleOffsetMinutes > 0
