import * as z from 'zod'
import { projectForm, projectGrammar } from '../kinds/marker.ts'
import { flag, flagOr, glob, grouped, integer, lines, list, variable } from '../platform/operation/inputs.ts'
import { environmentInput } from '../sync/declarations/environment.ts'
import { defaultFiles } from '../sync/declarations/find-declarations.ts'

export const filesInput = lines(
  'Reads declarations from these files and directories. One glob or directory per line; of a directory, all YAML files are read.',
  'globs inside the workspace, one per line',
  glob,
).default(defaultFiles)

const repairs = ['duplicates', 'rewrite', 'secrets'] as const

export const defaultMaxDeletes = 5

export const planInput = z.strictObject({
  ...grouped('Files', {
    files: filesInput,
    env: environmentInput,
    project: z.string().regex(projectGrammar).optional().meta({
      description:
        'Names the owner of the objects. Each object stores it in a marker. The default is `project` in .watchkeeper.yml, then the repository.',
      accepts: projectForm,
    }),
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
