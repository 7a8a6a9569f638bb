// The fleet file: organizations, their services, and the names of their secrets. It has no credentials and no address of an API, so that
// an edit cannot send a key elsewhere.
import * as z from 'zod'
import { cloudProfileNames } from '../api/profiles.ts'
import { parseDocument } from '../documents/parse.ts'
import * as fields from '../operation/inputs.ts'
import { choice, uuid } from '../operation/inputs.ts'
import { type Condition, isSelected, selectInput } from '../operation/select.ts'

/** Input of `fleet-matrix` and `fleet-report`. */
const fleetField = fields.filePath('File with the organizations, their services, and the names of their secrets.')

export const fleetFile = fleetField.meta({
  ...fleetField.meta(),
  missing: 'set it to a file such as fleet.yml; watchkeeper init fleet writes one',
})

/** Input of `fleet-matrix` and `fleet-report`, which must select the same services. */
export const selectServices = selectInput('Selects services by their labels in the file.', ['label']).optional()

export const operationsInput = (description: string) =>
  fields.lines(description, 'names of operations, one per line', z.string().regex(/^[a-z][a-z-]{1,40}$/))

// Part of the name of a leg, which is also the name of jobs, files and artifacts. Dots join the parts, so a part has no dots.
const nameField = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/)
    .meta({ description, accepts: 'letters, digits, dashes and underscores, at most 63' })

// Upper case, as GitHub lists them. Rejects keys, which have lower-case letters or are long runs of letters and digits.
const secretNameGrammar = /^(?!GITHUB_)(?!(?=[A-Z]*\d)[A-Z\d]{16,}$)[A-Z_][A-Z0-9_]{0,99}$/

const secretName = (kind: string, description: string) =>
  z
    .string()
    .regex(secretNameGrammar)
    .optional()
    .meta({ description, accepts: `the name of a ${kind} in capitals, such as SHOP_API_KEY; never its value`, secret: true })

/** Names of settings that have their own field or must be a secret. */
const reservedSetting =
  /^(?:operation|organization-id|service-id|services|profile|api-url)$|(?:^|-)(?:key|keys|secret|secrets|token|password|credential|credentials)(?:-|$)/

// Marked as secret, so that a key in the wrong place is never shown.
const settingValue = z
  .union([z.string().regex(/^[^\u0000-\u001f\u007f]{1,1024}$/), z.number(), z.boolean()])
  .meta({ accepts: 'one line of at most 1024 characters, a number, or true or false', secret: true })

const settings = z
  .record(z.string(), settingValue)
  .superRefine((values, context) => {
    const reject = (setting: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [setting], message, params: { isComplete: true } })
    for (const setting of Object.keys(values)) {
      if (!/^[a-z][a-z0-9-]{0,62}$/.test(setting)) reject(setting, 'has an invalid name; accepted: lower-case letters, digits and dashes')
      else if (reservedSetting.test(setting)) reject(setting, 'cannot be a setting: it has its own field, or it is a secret')
    }
  })
  .optional()
  .meta({
    description: 'More values for the legs of this service or organization. The workflow reads them as `matrix.settings.<name>`.',
    accepts: 'a map of names and values',
    secret: true,
  })

const label = z
  .string()
  .regex(/^[\w.:/=-]{1,63}$/)
  .meta({ accepts: 'letters, digits and . : / = _ -, at most 63' })

const service = z.strictObject({
  name: nameField('Name of the service in legs and reports.'),
  'service-id': uuid('The service.'),
  labels: z.array(label).max(20).default([]).meta({ description: 'Labels for selecting services.' }),
  settings,
})

const organization = z
  .strictObject({
    name: nameField('Name of the organization in legs and reports. An organization with several keys may have several entries.'),
    'organization-id': uuid('The organization.'),
    profile: choice(cloudProfileNames, 'The server behind the API.').optional(),
    'api-url-name': secretName('variable', 'Name of the variable with the base URL of the API, for an API without a profile.'),
    environment: z
      .string()
      .regex(/^[^\u0000-\u001f\u007f]{1,255}$/)
      .optional()
      .meta({ description: 'GitHub deployment environment with the credentials.', accepts: 'the name of an environment' }),
    'api-key-id-name': secretName('secret or variable', 'Name of the secret or variable with the id of the API key.'),
    'api-key-secret-name': secretName('secret', 'Name of the secret with the secret of the API key.'),
    settings,
    services: z.array(service).max(10_000).default([]).meta({ description: 'The services.' }),
  })
  .superRefine((given, context) => {
    if (given.environment !== undefined) return
    for (const field of ['api-key-id-name', 'api-key-secret-name'] as const)
      if (given[field] === undefined) context.addIssue({ code: 'custom', path: [field], message: 'is missing' })
  })

export const fleetFileSchema = z
  .strictObject({ $schema: z.string().optional(), organizations: z.array(organization).min(1).max(1000) })
  .superRefine(({ organizations }, context) => {
    const seen = new Map<string, string>()
    const rejectDuplicate = (field: string, path: PropertyKey[], value: string, where: string): void => {
      const first = seen.get(`${field} ${value}`)
      if (first === undefined) seen.set(`${field} ${value}`, where)
      else
        context.addIssue({
          code: 'custom',
          path: [...path, field],
          message: `is already the ${field} of ${first}`,
          params: { isComplete: true },
        })
    }
    // Ignores case, because some file systems and GitHub do.
    for (const [i, { name, services }] of organizations.entries()) {
      rejectDuplicate('name', ['organizations', i], name.toLowerCase(), `number ${i + 1}`)
      for (const [j, one] of services.entries()) {
        const path = ['organizations', i, 'services', j]
        rejectDuplicate('name', path, `${name}.${one.name}`.toLowerCase(), `number ${j + 1} of ${name}`)
        rejectDuplicate('service-id', path, one['service-id'], `${name}.${one.name}`)
      }
    }
  })

type OrganizationEntry = z.output<typeof organization>

export type Settings = Readonly<NonNullable<z.output<typeof settings>>>

export interface FleetService {
  readonly name: string
  readonly serviceId: string
  readonly labels: readonly string[]
  /** Includes the settings of the organization. */
  readonly settings: Settings
}

export interface FleetOrganization extends Omit<OrganizationEntry, 'organization-id' | 'settings' | 'services'> {
  readonly organizationId: string
  readonly settings: Settings
  readonly services: readonly FleetService[]
}

/**
 * Parses a fleet file. With conditions, it keeps the services for which all of them hold, and the organizations of those services.
 * Throws an InputError with the location of every mistake.
 */
export function readFleet(text: string, path: string, select?: readonly Condition[]): readonly FleetOrganization[] {
  const { organizations } = parseDocument(text, path, fleetFileSchema)
  const fleet = organizations.map(toOrganization)
  if (select === undefined) return fleet
  return fleet
    .map((one) => ({ ...one, services: one.services.filter((service) => isSelected(select, service)) }))
    .filter(({ services }) => services.length > 0)
}

function toOrganization({
  'organization-id': organizationId,
  settings: shared = {},
  services,
  ...rest
}: OrganizationEntry): FleetOrganization {
  return {
    ...rest,
    organizationId,
    settings: shared,
    services: services.map(({ 'service-id': serviceId, settings: own = {}, ...one }) => ({
      ...one,
      serviceId,
      settings: { ...shared, ...own },
    })),
  }
}
