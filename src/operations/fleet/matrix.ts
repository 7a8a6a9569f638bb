// Owns the operation that makes a matrix of jobs from a fleet. It schedules nothing: GitHub's runners do.
import * as z from 'zod'
import { InputError } from '../../kernel/errors.ts'
import { counted, data, ours, say } from '../../report/line.ts'
import { choice, integer } from '../fields.ts'
import { defineOperation } from '../operation.ts'
import { readFleet } from './fleet-file.ts'
import { fleetFile, labels } from './inputs.ts'
import { type Leg, legSchema, legsOfOrganizations, legsOfServices, mostLegs } from './legs.ts'

// GitHub takes 1 MiB for all outputs of a job together and counts two bytes a character; a little is left for the others.
const longestMatrix = 500_000

const shared = z.object({
  key: z.string().describe('Name of the secret with the id of the key, after its environment.'),
  services: z.int(),
  legs: z.int(),
  largestLeg: z.int().describe('Most services in one leg.'),
})

export const matrix = defineOperation({
  summary: 'Makes the matrix of jobs that goes over a fleet of organizations and services, from a file and offline.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    fleet: fleetFile,
    per: choice(['service', 'organization'], 'What a leg is about; services share legs where there are more of them than legs.').default(
      'service',
    ),
    labels,
    maxLegs: integer(
      'Most legs. A leg is a job: fewer legs cost fewer minutes, and those of one key share its rate limit.',
      1,
      mostLegs,
    ).default(mostLegs),
  }),
  output: z.object({
    matrix: z.object({ include: z.array(legSchema) }).describe('For `strategy.matrix`, by way of `fromJSON`.'),
    legCount: z.int().describe('Number of legs.'),
    serviceCount: z.int().describe('Number of services in them.'),
    organizationCount: z.int().describe('Number of organizations in them.'),
    maxParallel: z.int().describe('For `strategy.max-parallel`: the number of keys, so that few legs of one key run at once.'),
  }),
  details: z.object({
    keys: z.array(shared).describe('What the legs of each key have to share its rate limit among.'),
    legs: z.array(z.object({ name: z.string(), services: z.array(z.string()) })).describe('The legs, with the names of their services.'),
  }),
  example: { fleet: 'examples/fleet.yml' },
  async run({ files }, { fleet: path, per, labels: wanted, maxLegs }) {
    const fleet = readFleet(await files.read(path, 'fleet'), path, wanted)
    const legs = per === 'service' ? legsOfServices(fleet, maxLegs) : legsOfOrganizations(fleet, maxLegs)
    const [first] = legs
    if (first === undefined) throw nothing(path, wanted)
    const made = { include: legs.map(({ fields }) => fields) }
    const { length } = JSON.stringify(made)
    if (length > longestMatrix) throw tooLong(path, length)
    const keys = [...Map.groupBy(legs, ({ key }) => key)].map(([key, ofKey]) => ({ key, ...sharesOf(ofKey) }))
    return {
      matrix: made,
      legCount: legs.length,
      serviceCount: legs.reduce((sum, { services }) => sum + services.length, 0),
      organizationCount: new Set(legs.map(({ fields }) => fields['organization-id'])).size,
      maxParallel: keys.length,
      keys,
      legs: legs.map(({ fields, services }) => ({ name: fields.name, services: services.map(({ name }) => name) })),
    }
  },
  report: ({ legCount, serviceCount, organizationCount, maxParallel, keys, legs }) => ({
    headline: say`${counted(serviceCount, 'service')} of ${counted(organizationCount, 'organization')} in ${counted(legCount, 'leg')}`,
    blocks: [
      {
        kind: 'facts',
        facts: [
          { label: 'Legs', value: say`${legCount}` },
          { label: 'Keys', value: say`${maxParallel}` },
          { label: 'Largest leg', value: [counted(Math.max(...keys.map(({ largestLeg }) => largestLeg)), 'service')] },
        ],
      },
      {
        kind: 'paragraph',
        line: [ours('Legs of one key share its rate limit; least time is one request for each service, at 10 in 10 seconds.')],
      },
      {
        kind: 'table',
        columns: [{ title: 'Key' }, ...['Services', 'Legs', 'Largest leg', 'Least time'].map(onTheRight)],
        rows: keys.map(({ key, services, legs: count, largestLeg }) => [
          [data(key)],
          say`${services}`,
          say`${count}`,
          say`${largestLeg}`,
          say`${Math.max(services, count)} s`,
        ]),
      },
      {
        kind: 'details',
        title: 'Legs',
        blocks: [
          {
            kind: 'table',
            columns: [{ title: 'Leg' }, { title: 'Services' }],
            rows: legs.map(({ name, services }) => [
              [data(name)],
              services.flatMap((service, i) => (i === 0 ? [data(service)] : [ours(' '), data(service)])),
            ]),
          },
        ],
      },
    ],
  }),
})

const onTheRight = (title: string) => ({ title, align: 'right' as const })

function sharesOf(legs: readonly Leg[]) {
  const sizes = legs.map(({ services }) => services.length)
  return { services: sizes.reduce((sum, size) => sum + size, 0), legs: legs.length, largestLeg: Math.max(...sizes) }
}

const nothing = (path: string, labels: readonly string[] | undefined): InputError =>
  new InputError([
    labels === undefined
      ? { name: path, message: 'has no service' }
      : { name: 'labels', message: `no service of ${path} bears ${labels.join(' or ')}` },
  ])

const tooLong = (path: string, length: number): InputError =>
  new InputError([
    {
      name: 'fleet',
      message: `${path} makes a matrix of ${length} characters, and an output of a job holds ${longestMatrix}. Choose services by labels, or use several files`,
    },
  ])
