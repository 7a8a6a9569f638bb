// Owns what documentation says of the workflows that others call: made from their files, so that it cannot say anything else.
import { parse } from 'yaml'
import * as z from 'zod'
import { code, lowerFirst, table } from './tables.ts'

const described = z.object({ description: z.string() })

const reusableWorkflow = z.object({
  on: z.object({
    workflow_call: z.object({
      inputs: z.record(
        z.string(),
        described.extend({
          type: z.enum(['string', 'boolean', 'number']),
          required: z.boolean().optional(),
          default: z.union([z.string(), z.boolean(), z.number()]).optional(),
        }),
      ),
      secrets: z.record(z.string(), described),
      outputs: z.record(z.string(), described),
    }),
  }),
  jobs: z.record(z.string(), z.object({ permissions: z.record(z.string(), z.enum(['read', 'write'])) })),
})

type ReusableWorkflow = z.output<typeof reusableWorkflow>

/** What stands in docs/reusable-workflows.md, by the name in its marker. `texts` are the files by their names without `.yml`. */
export const reusableParts = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, render(reusableWorkflow.parse(parse(text)))]))

function render({ on, jobs }: ReusableWorkflow): string {
  const { inputs, secrets, outputs } = on.workflow_call
  const rights = Object.entries(rightsOf(jobs)).map(([right, level]) => code(`${right}: ${level}`))
  return [
    [
      `Permissions that the caller grants: ${rights.join(', ')}.`,
      ...Object.entries(secrets).map(([name, { description }]) => `Secret ${code(name)}: ${lowerFirst(description)}`),
    ].join(' '),
    table(
      ['input', 'type', 'meaning', 'default'],
      Object.entries(inputs).map(([name, { type, description, required, default: standard }]) => [
        code(name),
        type,
        description,
        required === true ? 'required' : standard === undefined ? '' : code(String(standard)),
      ]),
    ),
    table(
      ['output', 'meaning'],
      Object.entries(outputs).map(([name, { description }]) => [code(name), description]),
    ),
  ].join('\n\n')
}

/** What all jobs together ask for, which is what a caller has to grant. */
function rightsOf(jobs: ReusableWorkflow['jobs']): Readonly<Record<string, string>> {
  const all = Object.values(jobs).flatMap(({ permissions }) => Object.entries(permissions))
  return Object.fromEntries(all.toSorted(([, one], [, other]) => one.localeCompare(other)))
}
