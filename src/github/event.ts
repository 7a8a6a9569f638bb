// Owns reading the event that started the run, as far as it says which pull request this is about.
import { readFile, stat } from 'node:fs/promises'
import * as z from 'zod'

const pullRequest = z.looseObject({
  number: z.int().positive(),
  head: z.looseObject({ sha: z.string().optional(), repo: z.looseObject({ full_name: z.string().optional() }).nullish() }).optional(),
})

const eventSchema = z.looseObject({
  pull_request: pullRequest.optional().catch(undefined),
  issue: z.looseObject({ number: z.int().positive(), pull_request: z.unknown().optional() }).optional().catch(undefined),
})

export type RunEvent = z.output<typeof eventSchema>

/** Larger than any that GitHub sends. */
const largestBytes = 32 * 1024 * 1024

/** Empty when there is none that can be read: then the commit has to tell. */
export async function readEvent(file: string | undefined): Promise<RunEvent> {
  if (file === undefined) return {}
  try {
    const { size } = await stat(file)
    if (size > largestBytes) return {}
    return eventSchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data ?? {}
  } catch {
    return {}
  }
}
