import * as z from 'zod'
import { declaredAlert } from '../../kinds/alert/alert.ts'
import { word } from '../../kinds/fields.ts'
import { keyGrammar } from '../../kinds/marker.ts'
import type { Location, Rules } from '../../platform/core/diagnostics.ts'
import type { ReadDocument } from '../../platform/documents/document.ts'

/** The length of a condition. The longest query repeats it four times, and the API accepts 100,000 characters. */
const condition = (description: string) => word(4000).meta({ description, accepts: 'a condition in SQL' })

const { channel, channels } = declaredAlert.shape

const recipients = (description: string) =>
  z
    .strictObject({ channel, channels })
    .refine((given) => (given.channel === undefined) !== (given.channels === undefined), {
      message: 'must have either channel or channels',
      params: { isComplete: true, needs: ['channel', 'channels'] },
    })
    .optional()
    .meta({ description })

export const declaredSlo = z.strictObject({
  name: word(400).meta({ description: 'Name in reports. The dashboard and the alerts have it in their names.' }),
  source: word(1024).meta({ description: 'Name of a source of traces or logs.', accepts: 'the name of a source' }),
  total: condition("Selects the events that count, such as `SpanKind = 'Server'`."),
  good: condition("Selects the good ones among them, such as `StatusCode != 'Error'`."),
  groupBy: word(1000)
    .optional()
    .meta({ description: 'One SLO for each value of this SQL expression, such as `ServiceName`.', accepts: 'an expression in SQL' }),
  // 0.999 would be a mistake: nearly no event has to be good.
  objective: z
    .number()
    .gt(1)
    .lt(100)
    .meta({ description: 'Percentage of good events, such as 99.9.', accepts: 'a percentage above 1 and below 100, such as 99.9' }),
  window: z.enum(['7d', '28d', '30d']).meta({ description: 'The time that the objective is about. It ends now.' }),
  minEvents: z.int().min(1).max(1_000_000_000).default(100).meta({
    description: 'Burn rates of windows with fewer events count as 0, so that they send no notification.',
    accepts: 'a whole number from 1',
  }),
  alerts: z
    .strictObject({
      page: recipients('Notified when the budget is burning so fast that somebody must act at once.'),
      ticket: recipients('Notified when the budget is burning faster than the objective allows.'),
    })
    .optional()
    .meta({ description: 'Who is notified. Without it, there is only the dashboard.' }),
  noData: recipients('Notified when there was no event in the last hour.'),
  note: declaredAlert.shape.note,
})

/** What a file may leave to its defaults, and to the environment. */
export const writtenSlo = declaredSlo.partial().meta({ id: 'slo' })

export type DeclaredSlo = z.output<typeof declaredSlo>

export interface SpelledSlo {
  readonly key: string
  readonly location: Location
  readonly document: ReadDocument
  /** Fields with wrong defaults: an SLO without them may lack nothing. */
  readonly wrongDefaults: readonly string[]
}

/** The longest suffix of a generated key has ten characters. */
export const isSloKey = (key: string): boolean => keyGrammar.test(key) && key.length <= maxKeyLength

const maxKeyLength = 53

export const sloKeyForm = `lower-case letters, digits, dots, dashes and underscores; at most ${maxKeyLength}; the first is a letter or digit`

export const sloRules = {
  'slo-condition': {
    severity: 'error',
    description: 'A condition of an SLO is not SQL, or could change the meaning of the rest of the query.',
  },
  'slo-objective': { severity: 'error', description: 'An alert of an SLO can never fire at this objective.' },
} as const satisfies Rules

export const sloServiceRules = {
  'slo-source': { severity: 'error', description: 'An SLO cannot be computed from its source.' },
  'slo-failing-query': {
    severity: 'warning',
    description: 'The server cannot run a query of an SLO, so its alerts never fire. A condition may name a column that does not exist.',
  },
  'slo-slow-query': {
    severity: 'warning',
    description: 'A query of an SLO takes more than 10 seconds. The server ends queries after 30 seconds, and the alert then never fires.',
  },
} as const satisfies Rules
