// They are no objects of the service, so only backtests use them.
import * as z from 'zod'
import { keyForm, keyGrammar } from '../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, type Location, type Rules } from '../../platform/core/diagnostics.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { quote } from '../../platform/core/text.ts'
import type { ReadDocument } from '../../platform/documents/document.ts'
import { valueAt } from '../../platform/documents/schema.ts'
import { schemaDiagnostics, schemaRules } from '../../platform/documents/validate.ts'
import { duration, durationMsOf } from '../../platform/operation/inputs.ts'

const time = (description: string) => z.iso.datetime({ offset: true }).meta({ description, accepts: 'a time such as 2026-01-31T08:00:00Z' })

export const declaredIncident = z
  .strictObject({
    name: z.string().min(1).max(400).meta({ description: 'Name in reports.' }),
    start: time('When users were affected first.'),
    end: time('When it was over.'),
    alerts: z
      .array(z.string().regex(/^[a-z0-9*][a-z0-9._*-]{0,127}$/))
      .min(1)
      .max(100)
      .meta({
        description: 'Each of these alerts must notify: keys, or patterns such as `checkout-*`.',
        accepts: 'keys of alerts, or patterns with *',
      }),
    within: duration('How long after the start each alert must have notified, such as `10m`.'),
    maxNotifications: z.int().min(0).max(100_000).optional().meta({
      description:
        'The most notifications that each of these alerts may send outside of its incidents, from the day before this one to the day after it.',
      accepts: 'a whole number from 0',
    }),
  })
  .meta({ id: 'incident' })

export interface SpelledIncident {
  readonly key: string
  readonly location: Location
  readonly document: ReadDocument
}

export interface Incident {
  readonly key: string
  readonly name: string
  readonly location: Location
  readonly startMs: number
  readonly endMs: number
  readonly alerts: readonly string[]
  readonly withinMs: number
  readonly maxNotifications?: number | undefined
}

export const incidentRules = {
  'incident-time': { severity: 'error', description: 'An incident ends before it starts, or is longer than 7 days.' },
  'incident-alerts': { severity: 'error', description: 'An incident names an alert that no file declares.' },
  'incident-untestable': { severity: 'note', description: 'An incident is older than the data that the service still has.' },
} as const satisfies Rules

interface ReadIncidents {
  readonly incidents: readonly Incident[]
  readonly diagnostics: readonly Diagnostic[]
}

export function readIncidents(all: readonly SpelledIncident[], alertKeys: readonly string[]): ReadIncidents {
  const results = all.map((one) => readIncident(one, alertKeys))
  return { incidents: results.flatMap(({ incidents }) => incidents), diagnostics: results.flatMap(({ diagnostics }) => diagnostics) }
}

function readIncident({ key, location, document }: SpelledIncident, alertKeys: readonly string[]): ReadIncidents {
  const failed = (diagnostics: readonly Diagnostic[]): ReadIncidents => ({ incidents: [], diagnostics })
  if (!keyGrammar.test(key)) {
    const message = `incidents: "${quote(key)}" is not a key; accepted: ${keyForm}`
    return failed([diagnosticOf(schemaRules, 'schema', location, message)])
  }
  const path = ['incidents', key]
  const { data, error } = declaredIncident.safeParse(valueAt(document.value, path))
  if (error !== undefined) {
    const wrong = schemaDiagnostics(error, document, declaredIncident, path)
    // A text that is not a duration breaks two rules with one message.
    return failed(wrong.filter(({ message }, i) => wrong.findIndex((one) => one.message === message) === i))
  }
  const [startMs, endMs] = [Date.parse(data.start), Date.parse(data.end)]
  const unknown = data.alerts.flatMap((pattern, i) =>
    alertKeys.some((alert) => matches(pattern, alert))
      ? []
      : [
          diagnosticOf(
            incidentRules,
            'incident-alerts',
            document.locationOf([...path, 'alerts', i]),
            `incidents.${key}.alerts[${i}]: no alert in these files has the key "${quote(pattern)}"`,
          ),
        ],
  )
  // A longer one needs more values than one request has.
  const reason = endMs <= startMs ? 'is not after start' : endMs - startMs > 7 * dayMs ? 'is more than 7 days after start' : undefined
  const wrongTime =
    reason === undefined
      ? []
      : [diagnosticOf(incidentRules, 'incident-time', document.locationOf([...path, 'end']), `incidents.${key}.end: ${reason}`)]
  if (unknown.length > 0 || wrongTime.length > 0) return failed([...wrongTime, ...unknown])
  const alerts = alertKeys.filter((alert) => data.alerts.some((pattern) => matches(pattern, alert)))
  const { name, within, maxNotifications } = data
  return {
    incidents: [
      { key, name, location, startMs, endMs, alerts: [...new Set(alerts)].toSorted(), withinMs: durationMsOf(within), maxNotifications },
    ],
    diagnostics: [],
  }
}

/** `*` matches any text. The shortest match of each part is enough, so that no pattern takes more than one pass. */
function matches(pattern: string, key: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return key === pattern
  if (!key.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = key.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return key.length - last.length >= at && key.endsWith(last)
}
