// Owns the inputs that every operation knows: where the service is, who asks, and how this tool behaves.
import * as z from 'zod'
import { isSegment } from '../api/path.ts'
import { profileNames } from '../api/profiles.ts'
import { shortestSecret } from '../core/secrets.ts'
import { choice, filePath, flag, integer, text, uuid } from './fields.ts'

// HTTP Basic splits at the first colon; a control character cannot be sent at all.
const keyIdGrammar = /^[\x21-\x39\x3b-\x7e]{1,256}$/
const keySecretGrammar = /^[^\u0000-\u001f\u007f]{1,1024}$/

const tokenGrammar = new RegExp(`^[\\x21-\\x7e]{${shortestSecret},1024}$`)

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
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the runner that reads it
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
 * What a config file in the repository may set: nothing that decides where the key goes, or who pays. A label there would be that of
 * every job, and a number that of every pull request.
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

/** Inputs of operations that a config file may set as well: whose the objects are must not change with the repository's name. */
export const fileInputs = ['project'] as const
