import * as z from 'zod'
import { projectForm, projectGrammar, repositoryDigestGrammar } from '../kinds/marker.ts'
import { flag, flagOr, glob, grouped, integer, lines, list, variable } from '../platform/operation/inputs.ts'
import type { PreviousOwner } from '../sync/decide/identify.ts'
import { environmentInput } from '../sync/declarations/environment.ts'
import { defaultFiles } from '../sync/declarations/find-declarations.ts'

export const filesInput = lines(
  'Reads declarations from these files and directories. One glob or directory per line; of a directory, all YAML files are read.',
  'globs inside the workspace, one per line',
  glob,
).default(defaultFiles)

const addressGrammar = /^[A-Za-z0-9.-]+(?:\/[\w.-]+){2,}$/

const previousOwner = z.strictObject({
  project: z.string().regex(projectGrammar).optional(),
  /** Its digest, or its address. */
  repository: z.union([z.string().regex(repositoryDigestGrammar), z.string().regex(addressGrammar)]).optional(),
})

/** By `project` and `repository`; `none` is a line of its own. */
export const adoptFromInput = z
  .array(z.string())
  .min(1)
  .max(2)
  .transform((lines, context): PreviousOwner => {
    if (lines.length === 1 && lines[0] === 'none') return { none: true }
    const entries = new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
    const { data } = previousOwner.safeParse(Object.fromEntries(entries))
    if (data !== undefined && entries.size === lines.length) return data
    context.addIssue({ code: 'custom', message: 'is not a previous owner' })
    return z.NEVER
  })
  .meta({
    description:
      'Adopts objects of the owner before a rename: `project=OLD`, `repository=HOST/OWNER/NAME`, or both. Where a message shows 10 hex digits in place of a repository, give these after `repository=`. `none` creates a second set of objects instead. The run says when this input can be removed.',
    accepts: 'project=NAME, repository=github.com/shop/infra or repository=0123456789, one per line; or none',
  })

const repairs = ['duplicates', 'rewrite', 'secrets'] as const

export const defaultMaxDeletes = 5

/** The inputs of a plan, which all operations that make one share. */
export const planInput = z.strictObject({
  ...grouped('Files', {
    files: filesInput,
    env: environmentInput,
    project: z.string().regex(projectGrammar).optional().meta({
      description:
        'Names the owner of the objects. Each object stores it in a marker. The default is `project` in .watchkeeper.yml, then the repository.',
      accepts: projectForm,
    }),
    adoptFrom: adoptFromInput.optional(),
  }),
  ...grouped('Deletes and repairs (the same for plan and apply)', {
    prune: flagOr(
      'forget',
      "Deletes the project's objects that no file declares. `forget` keeps them, and only removes their ownership marker.",
    ).default(false),
    maxDeletes: integer('Maximum number of deletes. With more, the operation fails and writes nothing.', 0, 10_000).default(
      defaultMaxDeletes,
    ),
    allowEmpty: variable(
      flag(
        'Accepts files that declare nothing, or no files. With prune, apply then deletes or forgets all objects of the project.',
      ).default(false),
    ),
    repair: variable(
      list(
        'Repairs in this run: `duplicates`, `rewrite`, `secrets`. `duplicates` repairs objects that two runs created at once: it keeps one of each, deletes other alerts and saved searches that are equal to it, and only removes the marker of the rest. `rewrite` also writes the managed dashboards and saved searches that need no change, after an upgrade that asks for it. `secrets` also sends the secrets of unchanged webhooks, after one was changed by hand.',
        repairs.join(', '),
        z.enum(repairs),
      ).optional(),
    ),
  }),
})
