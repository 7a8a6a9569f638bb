import * as z from 'zod'
import { isResourceId, isSegment, isUuid } from '../api/path.ts'
import { profileNames } from '../api/profiles.ts'
import { shortestSecret } from '../core/secrets.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** Of a list given as text: commas separate items, as line ends do. */
    commas?: boolean
    /** The default in action.yml only: an expression that the runner evaluates. */
    actionDefault?: string
  }
}

const oneLine = z.string().regex(/^[^\r\n]*$/)

export const text = (description: string, longest = 1024) =>
  oneLine
    .min(1)
    .max(longest)
    .meta({ description, accepts: `one line of at most ${longest} characters` })

/** A pattern for files inside the workspace. */
export const glob = z
  .string()
  .max(256)
  .refine((text) => text !== '' && !/^[/\\~]|^[A-Za-z]:|(?:^|\/)\.\.(?:\/|$)|[\0\r\n]/.test(text))

/** May run over several lines. */
export const longText = (description: string, longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .meta({ description, accepts: `text of at most ${longest} characters` })

export const filePath = (description: string, accepts = 'a path inside the workspace') =>
  oneLine.min(1).max(4096).meta({ description, accepts })

export const uuid = (description: string) =>
  z
    .string()
    .transform((id) => id.toLowerCase())
    .refine(isUuid)
    .meta({ description, accepts: 'a uuid such as 11111111-2222-4333-8444-555555555555' })

/** Id of a dashboard or an alert. */
export const resourceId = (description: string) =>
  z.string().refine(isResourceId).meta({ description, accepts: 'an id: letters, digits and ._~-, at most 128' })

/** An id that is only sent inside a body, never in a path. */
export const opaqueId = (description: string) =>
  z
    .string()
    .regex(/^[\w.:~-]{1,128}$/)
    .meta({ description, accepts: 'an id: letters, digits and ._~:-, at most 128' })

export const choice = <const T extends readonly [string, ...string[]]>(options: T, description: string) =>
  z.enum(options).meta({ description, accepts: options.join(', ') })

export const flag = (description: string) => z.boolean().meta({ description, accepts: 'true or false' })

export const integer = (description: string, least: number, most: number) =>
  z
    .int()
    .min(least)
    .max(most)
    .meta({ description, accepts: `a whole number from ${least} to ${most}` })

export const decimalNumber = (description: string) => z.number().meta({ description, accepts: 'a number such as 5 or 0.25' })

export const lines = (description: string, accepts: string, item: z.ZodType<string, string>) =>
  z.array(item).max(100).meta({ description, accepts })

/** Like lines, and also with commas between the items: for items that hold none. */
export const list = (description: string, accepts: string, item: z.ZodType<string, string>) =>
  z.array(item).min(1).max(100).meta({ description, accepts, commas: true })

/** More than zero. */
export const positiveNumber = (description: string, most: number, accepts: string) =>
  z.number().positive().max(most).meta({ description, accepts })

/** An object as the API takes it, given inline. */
export const documentText = (noun: string) => longText(`The ${noun} as YAML or JSON, in the API's field names.`, 1_000_000).optional()

export const documentFile = (noun: string) => filePath(`File with the ${noun} as YAML or JSON, in the API's field names.`).optional()

// HTTP Basic splits at the first colon; a control character cannot be sent at all.
const keyIdGrammar = /^[\x21-\x39\x3b-\x7e]{1,256}$/
const keySecretGrammar = /^[^\u0000-\u001f\u007f]{1,1024}$/

const tokenGrammar = new RegExp(`^[\\x21-\\x7e]{${shortestSecret},1024}$`)

/** The inputs that all operations have in common. */
export const settingsSchema = z.strictObject({
  apiKeyId: z
    .string()
    .regex(keyIdGrammar)
    .optional()
    .meta({ description: 'Id of the API key.', accepts: 'visible ASCII characters without a colon' }),
  apiKeySecret: z
    .string()
    .min(shortestSecret)
    .regex(keySecretGrammar)
    .optional()
    .meta({
      description: 'Secret of the API key. Give it as a secret or in the environment, never in a file.',
      accepts: `at least ${shortestSecret} characters, none of them a control character`,
      secret: true,
    }),
  organizationId: uuid('The organization.').optional(),
  serviceId: uuid('The service.').optional(),
  profile: choice(
    profileNames,
    'The product behind the API: sets api-url and observability-path, and knows what that product can do beyond the neutral contract.',
  ).optional(),
  apiUrl: z.string().optional().meta({
    description: 'Base url of the API; needed without a profile.',
    accepts: 'https://host[:port][/path]; http for loopback addresses alone',
  }),
  observabilityPath: z.string().refine(isSegment).optional().meta({
    description: 'Path segment of dashboards, alerts and sources; `observability` unless a profile says otherwise.',
    accepts: 'lower-case letters, digits and dashes',
  }),
  timeoutSeconds: integer('Deadline for the whole operation, in seconds. Each request has 30 seconds of it at most.', 1, 21_600).default(
    600,
  ),
  maxAttempts: integer('Tries for each request.', 1, 20).default(5),
  warnOnly: flag('A failed gate is a warning, and the step stays green.').default(false),
  summary: flag('Write a job summary.').default(true),
  comment: choice(
    ['off', 'always', 'changes', 'on-failure'],
    'Whether the action keeps one comment on the pull request up to date. `changes`: once there is something to say. What has been said is kept up to date in any case.',
  ).default('off'),
  commentLabel: text(
    'Keeps the comment and the issue of one job apart from those of others; by default workflow, job, step, operation, and service or organization.',
    100,
  ).optional(),
  prNumber: integer('The pull request to comment on, where the event does not tell.', 1, 2_147_483_647).optional(),
  issue: choice(
    ['off', 'on-failure'],
    'Whether the action opens an issue when the operation fails. There is one for each label: it is updated, and closed on recovery.',
  ).default('off'),
  githubToken: z
    .string()
    .regex(tokenGrammar)
    .optional()
    .meta({
      description: 'Token for `comment` and `issue`, which nothing else uses.',
      accepts: `a token of GitHub's: at least ${shortestSecret} visible ASCII characters`,
      secret: true,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the runner evaluates it
      actionDefault: '${{ github.token }}',
    }),
  config: filePath('File with settings of the repository; `.watchkeeper.yml` is read where it exists.').optional(),
  resultFile: filePath(
    'Where the full result goes, as JSON; by default a new file under RUNNER_TEMP; outside a runner only when given.',
    'a path',
  ).optional(),
})

export type Settings = z.output<typeof settingsSchema>

/**
 * What a config file in the repository may set: nothing that decides where the key goes, or who pays. A label or a pull-request number
 * in it would be that of every job.
 */
export const fileSettings: readonly (keyof Settings)[] = [
  'organizationId',
  'serviceId',
  'profile',
  'observabilityPath',
  'timeoutSeconds',
  'maxAttempts',
  'warnOnly',
  'summary',
  'comment',
  'issue',
]

/** Inputs of operations that a config file may set as well: the owner of objects must not change with the repository's name. */
export const fileInputs = ['project'] as const
