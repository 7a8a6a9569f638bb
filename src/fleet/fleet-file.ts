import * as z from 'zod'
import { profileNames } from '../api/profiles.ts'
import { saysItAll } from '../documents/diagnose.ts'
import { readWritten } from '../documents/written-document.ts'
import * as fields from '../operation/fields.ts'
import { choice, uuid } from '../operation/fields.ts'

// Owns the inputs that `matrix` and `report` share: what belongs to the fleet must be the same for both.

export const fleetFile = fields.filePath('File with the organizations, their services, and the names of their secrets.')

export const labels = fields
  .lines('Only services that bear one of these labels.', 'labels, one a line', fields.text('A label.', 63))
  .optional()

// Owns the fleet file: what a person may write in it. It names secrets and never holds one, and no address that a key could go to.

// Becomes part of a leg's name, which names jobs, files and artifacts: no dot, because a dot joins the parts.
const word = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/)
    .meta({ description, accepts: 'letters, digits, dashes and underscores, at most 63' })

// Capitals, as GitHub lists them: keys hold lower-case letters, or are long runs of letters and digits.
const nameGrammar = /^(?!GITHUB_)(?!(?=[A-Z]*\d)[A-Z\d]{16,}$)[A-Z_][A-Z0-9_]{0,99}$/

const nameOf = (what: string, description: string) =>
  z
    .string()
    .regex(nameGrammar)
    .optional()
    .meta({ description, accepts: `the name of a ${what} in capitals, such as SHOP_API_KEY; never its value`, secret: true })

/** What a setting may not be: it has a field of its own, or belongs into a secret. */
const reserved =
  /^(?:operation|organization-id|service-id|services|profile|api-url)$|(?:^|-)(?:key|keys|secret|secrets|token|password|credential|credentials)(?:-|$)/

// Somebody may take the settings for the place of a key: nothing of them is ever shown.
const setting = z
  .union([z.string().regex(/^[^\u0000-\u001f\u007f]{1,1024}$/), z.number(), z.boolean()])
  .meta({ accepts: 'one line of at most 1024 characters, a number, or true or false', secret: true })

const settings = z
  .record(z.string(), setting)
  .superRefine((values, context) => {
    const refuse = (name: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message, params: { saysItAll } })
    for (const name of Object.keys(values)) {
      if (!/^[a-z][a-z0-9-]{0,62}$/.test(name)) refuse(name, 'has a name that is no word of lower-case letters, digits and dashes')
      else if (reserved.test(name)) refuse(name, 'is no setting: it has a field of its own, or is given to the leg by the name of a secret')
    }
  })
  .optional()
  .meta({
    description: 'What the legs of this service or organization are given besides, as `matrix.settings.<name>`.',
    accepts: 'a map of names and values',
    secret: true,
  })

const label = z
  .string()
  .regex(/^[\w.:/=-]{1,63}$/)
  .meta({ accepts: 'letters, digits and . : / = _ -, at most 63' })

const service = z.strictObject({
  name: word('What the service is called in legs and reports.'),
  'service-id': uuid('The service.'),
  labels: z.array(label).max(20).default([]).meta({ description: 'Words to choose services by.' }),
  settings,
})

const organization = z
  .strictObject({
    name: word('What the organization is called in legs and reports. One with several keys may stand here several times.'),
    'organization-id': uuid('The organization.'),
    profile: choice(profileNames, 'The product behind the API.').optional(),
    'api-url-name': nameOf('variable', 'Name of the variable that holds the base url of the API, where no profile knows it.'),
    environment: z
      .string()
      .regex(/^[^\u0000-\u001f\u007f]{1,255}$/)
      .optional()
      .meta({ description: 'Deployment environment of GitHub that holds the credentials.', accepts: 'the name of an environment' }),
    'api-key-id-name': nameOf('secret or variable', 'Name of the secret, or variable, that holds the id of the API key.'),
    'api-key-secret-name': nameOf('secret', 'Name of the secret that holds the secret of the API key.'),
    settings,
    services: z.array(service).max(10_000).default([]).meta({ description: 'The services.' }),
  })
  .superRefine((given, context) => {
    if (given.environment !== undefined) return
    for (const field of ['api-key-id-name', 'api-key-secret-name'] as const)
      if (given[field] === undefined) context.addIssue({ code: 'custom', path: [field], message: 'is missing' })
  })

type Written = z.output<typeof organization>

/** Both spellings of a file system and of GitHub: names that differ in case alone are one. */
const folded = (name: string): string => name.toLowerCase()

export const fleetFileSchema = z
  .strictObject({ $schema: z.string().optional(), organizations: z.array(organization).min(1).max(1000) })
  .superRefine(({ organizations }, context) => {
    const seen = new Map<string, string>()
    const refuseSecond = (kind: string, path: PropertyKey[], id: string, where: string): void => {
      const first = seen.get(`${kind} ${id}`)
      if (first === undefined) seen.set(`${kind} ${id}`, where)
      else context.addIssue({ code: 'custom', path, message: `is also the ${kind} of ${first}`, params: { saysItAll } })
    }
    for (const [i, { name, services }] of organizations.entries()) {
      refuseSecond('name', ['organizations', i, 'name'], folded(name), `number ${i + 1}`)
      for (const [j, one] of services.entries()) {
        const path = ['organizations', i, 'services', j]
        refuseSecond('name', [...path, 'name'], folded(`${name}.${one.name}`), `number ${j + 1} of ${name}`)
        refuseSecond('service-id', [...path, 'service-id'], one['service-id'], `${name}.${one.name}`)
      }
    }
  })

export interface FleetService {
  readonly name: string
  readonly serviceId: string
  readonly labels: readonly string[]
  readonly settings: Settings
}

export interface FleetOrganization extends Omit<Written, 'name' | 'organization-id' | 'settings' | 'services'> {
  readonly name: string
  readonly organizationId: string
  readonly settings: Settings
  readonly services: readonly FleetService[]
}

export type Settings = Readonly<Record<string, string | number | boolean>>

/**
 * Throws an InputError with the place of everything that is wrong. With labels, those services that bear one of them, and the
 * organizations that have such services.
 */
export function readFleet(text: string, path: string, labels: readonly string[] = []): readonly FleetOrganization[] {
  const { organizations } = readWritten(text, path, fleetFileSchema)
  const fleet = organizations.map(toOrganization)
  if (labels.length === 0) return fleet
  const isChosen = (one: FleetService): boolean => one.labels.some((label) => labels.includes(label))
  return fleet.map((one) => ({ ...one, services: one.services.filter(isChosen) })).filter(({ services }) => services.length > 0)
}

function toOrganization({ name, 'organization-id': organizationId, settings: own = {}, services, ...rest }: Written): FleetOrganization {
  return {
    ...rest,
    name,
    organizationId,
    settings: own,
    services: services.map(({ 'service-id': serviceId, settings: special = {}, ...one }) => ({
      ...one,
      serviceId,
      settings: { ...own, ...special },
    })),
  }
}
