import * as z from 'zod'
import { isSegment, isUuid } from '../api/path.ts'
import { defaultProfile, profileNames } from '../api/profiles.ts'
import { dayMs } from '../core/durations.ts'
import { secondsIn } from '../core/names.ts'
import { minSecretLength } from '../core/secrets.ts'
import { metaOf } from '../documents/schema.ts'
import { isWebhookUrl } from '../http/webhook-url.ts'
import { reportsInput } from './reports.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** Commas separate the items of a text, as line ends do. */
    commas?: boolean
    /** The default in action.yml only: an expression that the runner evaluates. */
    actionDefault?: string
    setting?: 'variable'
    note?: string
  }
}

/** The operator of a runner or a person decides it, and no step: it is a `WATCHKEEPER_` variable in the action. */
export const variable = <const T extends z.ZodType>(field: T): T => field.meta({ ...metaOf(field), setting: 'variable' })

export const noted = <const T extends z.ZodType>(field: T, note: string): T => field.meta({ ...metaOf(field), note })

export const grouped = <const Shape extends Readonly<Record<string, z.ZodType>>>(group: string, shape: Shape): Shape =>
  // The keys stay, each with a clone of its schema.
  Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, field.meta({ ...metaOf(field), group })])) as Shape

const oneLine = z.string().regex(/^[^\r\n]*$/)

export const text = (description: string, maxLength = 1024) =>
  oneLine
    .min(1)
    .max(maxLength)
    .meta({ description, accepts: `one line of at most ${maxLength} characters` })

/** Rejects absolute paths and `..`. */
export const glob = z
  .string()
  .max(256)
  .refine((text) => text !== '' && !/^[/\\~]|^[A-Za-z]:|(?:^|\/)\.\.(?:\/|$)|[\0\r\n]/.test(text))

export const longText = (description: string, maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .meta({ description, accepts: `text of at most ${maxLength} characters` })

/** Relative to the workspace. Whether the file may be read is checked when it is opened. */
export const filePath = (description: string, accepts = 'a path inside the workspace') =>
  oneLine.min(1).max(4096).meta({ description, accepts })

/** Becomes lower case. */
export const uuid = (description: string) =>
  z
    .string()
    .transform((id) => id.toLowerCase())
    .refine(isUuid)
    .meta({ description, accepts: 'a UUID such as 11111111-2222-4333-8444-555555555555' })

export const idMeta = {
  description: 'Id of the alert, dashboard or backup that the operation is about.',
  accepts: 'an id: letters, digits and ._~-, at most 128; that of a backup is a UUID',
}

export const choice = <const T extends readonly [string, ...string[]]>(options: T, description: string) =>
  z.enum(options).meta({ description, accepts: options.join(', ') })

export const onMissingInput = choice(
  ['fail', 'warn', 'ignore'],
  'Sets what a gate does without data. The default is `fail`. In plan, it requires `backtest` or `price`.',
)

export const flag = (description: string) => z.boolean().meta({ description, accepts: 'true or false' })

export const flagOr = <const T extends string>(word: T, description: string) =>
  z.literal([true, false, word]).meta({ description, accepts: `true, false or ${word}` })

export const integer = (description: string, min: number, max: number) =>
  z
    .int()
    .min(min)
    .max(max)
    .meta({ description, accepts: `a whole number from ${min} to ${max}` })

export const lines = (description: string, accepts: string, item: z.ZodType<string, string>) =>
  z.array(item).max(100).meta({ description, accepts })

/** Commas separate items, so no item may contain one. */
export const list = <T extends string>(description: string, accepts: string, item: z.ZodType<T, string>) =>
  z.array(item).min(1).max(100).meta({ description, accepts, commas: true })

export const durationMsOf = (text: string): number => (secondsIn(text) ?? Number.NaN) * 1000

/** At most a year. The input accepts `none` in place of a time. */
export const duration = (description: string, none?: '0m') =>
  z
    .string()
    .regex(none === undefined ? /^[1-9]\d{0,5}[mhd]$/ : /^(?:[1-9]\d{0,5}[mhd]|0m)$/)
    .refine((text) => durationMsOf(text) <= 365 * dayMs)
    .meta({
      description,
      accepts: `minutes, hours or days such as 30m, 2h or 1d, at most 365d${none === undefined ? '' : `, or ${none}`}`,
    })

export const positiveNumber = (description: string, max: number, accepts: string) =>
  z.number().positive().max(max).meta({ description, accepts })

const tokenGrammar = new RegExp(`^[\\x21-\\x7e]{${minSecretLength},1024}$`)

const addressForm = 'https://host[:port][/path]; http for loopback addresses, and with allow-http'

// HTTP Basic splits at the first colon; a control character cannot be sent at all.
const keyId = z
  .string()
  .regex(/^[\x21-\x39\x3b-\x7e]{1,256}$/)
  .optional()

const passSecret = (variableName: string) => `Pass a secret, or set ${variableName}.`

const keySecret = (description: string, variableName: string) =>
  z
    .string()
    .min(minSecretLength)
    .regex(/^[^\u0000-\u001f\u007f]{1,1024}$/)
    .optional()
    .meta({
      description: `${description} ${passSecret(variableName)}`,
      accepts: `at least ${minSecretLength} characters, without control characters`,
      secret: true,
    })

/** What the action has where a step gives no address, so that an empty one is noticed. */
export const defaultApiUrl = 'auto'

export const settingsSchema = z.strictObject({
  apiKeyId: keyId.meta({ description: 'Id of the API key.', accepts: 'visible ASCII characters without a colon' }),
  apiKeySecret: keySecret('Secret of the API key.', 'WATCHKEEPER_API_KEY_SECRET'),
  apiKey: z
    .string()
    .regex(tokenGrammar)
    .optional()
    .meta({
      description: `Personal API access key, for \`profile: hyperdx\`. ${passSecret('WATCHKEEPER_API_KEY')}`,
      accepts: `at least ${minSecretLength} visible ASCII characters`,
      secret: true,
    }),
  sqlKeyId: keyId.meta({
    description:
      'Id of an API key that the query endpoint of the service lists, for operations that run SQL. Not for `profile: hyperdx`, which runs SQL with api-key.',
    accepts: 'visible ASCII characters without a colon',
  }),
  sqlKeySecret: keySecret('Secret of the key in sql-key-id.', 'WATCHKEEPER_SQL_KEY_SECRET'),
  sqlUrl: variable(
    z.string().optional().meta({
      description: 'Base URL of the query endpoints of ClickHouse Cloud. The default is `https://queries.clickhouse.cloud`.',
      accepts: addressForm,
    }),
  ),
  wakeService: variable(flag('Lets a query wake a service that sleeps. Otherwise, such a service is not checked.').default(false)),
  organizationId: uuid('Id of the organization in ClickHouse Cloud. Not for `profile: hyperdx`.').optional(),
  serviceId: uuid('Id of the service that the operation is about. Not for `profile: hyperdx`.').optional(),
  profile: choice(
    profileNames,
    'Says which product the server is: ClickHouse Cloud, or a self-hosted HyperDX or ClickStack (`hyperdx`).',
  ).default(defaultProfile),
  apiUrl: z.string().optional().meta({
    description:
      'Base URL of the API. Without it, or with `auto` in the action, the profile `clickhouse-cloud` uses `https://api.clickhouse.cloud`. The profile `hyperdx` needs the address of the API server, or that of the UI and `/api`; `/api/v2` is appended. An empty value is an error.',
    accepts: addressForm,
    actionDefault: defaultApiUrl,
  }),
  allowHttp: variable(
    flag('Accepts plain http for api-url beyond loopback addresses. Everyone on the network in between can read the key.').default(false),
  ),
  observabilityPath: variable(
    z.string().refine(isSegment).optional().meta({
      description: 'Path segment of dashboards, alerts and sources, for gateways. The default is `clickstack`. Not for `profile: hyperdx`.',
      accepts: 'lower-case letters, digits and dashes',
    }),
  ),
  uiUrl: variable(
    z
      .string()
      .max(1024)
      .regex(/^https?:\/\/[^\s\\/?#@]+(?:\/[^\s\\?#]*)?$/i)
      .refine((text) => URL.canParse(text))
      .optional()
      .meta({
        description:
          'Address of the web app. Reports of plan, apply and drift link to its dashboards and alerts. For `hyperdx`, the default is api-url without `/api` at its end.',
        accepts: 'http or https, host and path, without user, query and fragment',
      }),
  ),
  timeoutSeconds: variable(
    integer(
      'Time limit for the whole operation, in seconds. A single request takes 30 seconds at most, an SQL query 35.',
      1,
      21_600,
    ).default(600),
  ),
  maxAttempts: variable(integer('Maximum number of attempts for each request.', 1, 20).default(5)),
  readOnly: variable(
    flag(
      'Refuses every operation that writes to the service, and comments, issues and notifications, before the first request. Set in one place, it cannot be switched off in another.',
    ).default(false),
  ),
  warnOnly: flag('Turns a failed gate into a warning, so that the step passes.').default(false),
  summary: variable(flag('Writes a job summary.').default(true)),
  comment: choice(
    ['off', 'always', 'changes', 'on-failure'],
    'Decides which runs comment on the pull request. `changes` comments when the status is not `pass`, or the output `changed` is `true`. Later runs update the comment in every mode but `off`.',
  ).default('off'),
  commentLabel: text(
    'Identifies the comment and the issue of this job. The default consists of workflow, job, step, operation, environment, and service or organization. For the comment of `plan` and `apply`, it consists of project, environment and service.',
    100,
  ).optional(),
  prNumber: variable(
    integer('Number of the pull request to comment on. Required only for runs that do not know it.', 1, 2_147_483_647).optional(),
  ),
  issue: choice(
    ['off', 'on-failure'],
    'Decides whether a failed run opens an issue. Each `comment-label` has one issue. Later runs update it, and close it on recovery.',
  ).default('off'),
  githubToken: z
    .string()
    .regex(tokenGrammar)
    .optional()
    .meta({
      description:
        'Token for `comment` and `issue`, to compare files with the head of the branch before `apply`, and to read deployments at the time of cost spikes. It is not used for anything else.',
      accepts: `a GitHub token: at least ${minSecretLength} visible ASCII characters`,
      secret: true,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the runner evaluates it
      actionDefault: '${{ github.token }}',
    }),
  notifyUrl: z
    .string()
    .max(2048)
    .refine(isWebhookUrl)
    .optional()
    .meta({
      description: `URL of an incoming webhook of Slack, Teams or another receiver, which gets a message about the run. ${passSecret('WATCHKEEPER_NOTIFY_URL')} A failed delivery is a warning.`,
      accepts: 'an https URL without user and fragment; http for loopback addresses',
      secret: true,
    }),
  notifyFormat: variable(
    choice(
      ['slack', 'teams', 'json'],
      'Format of the message: Slack, an Adaptive Card for a Teams workflow, or plain values as JSON.',
    ).default('slack'),
  ),
  notifyOn: choice(
    ['change', 'failure', 'always'],
    'Decides which runs send a message: with `failure` every run that fails, with `always` every run, with `change` a run whose state differs from that of the last run. `change` requires `issue: on-failure`, because the issue keeps the last state. Reaching 50, 75, 90 or 100% of a budget is reported in every mode.',
  ).default('failure'),
  config: variable(filePath('Path of the config file. By default, `.watchkeeper.yml` is read if it exists.').optional()),
  reports: reportsInput,
})

export type Settings = z.output<typeof settingsSchema>

/** A pull request could change where the key goes. */
export const notInRepository = 'cannot be set in a file of the repository; set it as an input or a WATCHKEEPER_ variable'

/** A config file must not decide where the key goes. A label or a pull-request number would apply to every job. */
export const fileSettings: readonly (keyof Settings)[] = [
  'organizationId',
  'serviceId',
  'profile',
  'observabilityPath',
  'timeoutSeconds',
  'maxAttempts',
  'summary',
  'comment',
  'issue',
]

/** The owner of objects must not change when the repository is renamed. */
export const fileInputs = ['project'] as const
