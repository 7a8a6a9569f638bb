// Owns the result of pull: what became of each object, and the files that it writes.
import { structuredPatch } from 'diff'
import * as z from 'zod'
import { pullKinds } from '../../provision/pull/draft.ts'
import type { DraftedFile } from '../../provision/pull/draft-files.ts'
import { finding, findingToResult } from '../findings.ts'
import type { Pulled } from './pulling.ts'

const count = (what: string) => z.int().describe(what)

export const pullOutput = z.object({
  changed: z.boolean().describe('Whether any file was written.'),
  filesWritten: count('Number of files that were written, new ones included.'),
  added: count('Objects that came into the files.'),
  updated: count('Objects whose declarations changed.'),
  unchanged: count('Objects that the files had as the service has them.'),
  missing: count('Objects that the files declare and the service does not have; their declarations stay.'),
  leftOut: count('Objects that no file can hold, or that nobody can tell whose they are.'),
})

const line = z.object({ sign: z.enum(['+', '-', ' ']), text: z.string() })

const object = z.object({
  section: z.string().describe('`dashboards`, `savedSearches` or `alerts`.'),
  key: z.string().describe('The key in the files; empty for what is in none.'),
  name: z.string(),
  what: z.enum(pullKinds).describe('`foreign` bears the mark of another project.'),
  id: z.string().optional(),
  file: z.string().optional(),
  reason: z.string().optional().describe('Why it was left out.'),
})

const writtenFile = z.object({
  path: z.string(),
  isNew: z.boolean(),
  size: z.int().describe('Bytes of the content.'),
  content: z.string(),
  lines: z.array(line).optional().describe('What changed, with the lines around it; absent for a new file.'),
})

export const pullDetails = z.object({
  project: z.string().describe('Whose the objects are.'),
  objects: z.array(object).describe('Every object of the service and of the files.'),
  writtenFiles: z.array(writtenFile).describe('The files that were written.'),
  findings: z.array(finding).describe('What is wrong, and what is worth knowing.'),
})

export type PullResult = z.output<typeof pullOutput> & z.output<typeof pullDetails>

export type PulledResultObject = PullResult['objects'][number]

export function toPullResult({ project, files, objects, findings }: Pulled): PullResult {
  const numberOf = (what: PulledResultObject['what']): number => objects.filter((one) => one.what === what).length
  return {
    changed: files.length > 0,
    filesWritten: files.length,
    added: numberOf('added'),
    updated: numberOf('updated'),
    unchanged: numberOf('unchanged'),
    missing: numberOf('missing'),
    leftOut: numberOf('left-out'),
    project,
    objects: objects.map(({ section, key, name, what, id, path, reason }) => ({
      section,
      key,
      name,
      what,
      ...(id !== undefined && { id }),
      ...(path !== undefined && { file: path }),
      ...(reason !== undefined && { reason }),
    })),
    writtenFiles: files.map(toWrittenFile),
    findings: findings.map(findingToResult),
  }
}

function toWrittenFile({ path, before, after }: DraftedFile): PullResult['writtenFiles'][number] {
  return {
    path,
    isNew: before === undefined,
    size: Buffer.byteLength(after),
    content: after,
    ...(before !== undefined && { lines: changedLines(before, after) }),
  }
}

/** Texts that differ in more lines than this are shown as a whole. */
const mostDifferences = 2000

function changedLines(before: string, after: string): z.output<typeof line>[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: mostDifferences })
  const lines =
    patch?.hunks.flatMap((hunk, i) => [...(i === 0 ? [] : [' …']), ...hunk.lines]) ?? after.split('\n').map((text) => `+${text}`)
  return lines
    .filter((text) => !text.startsWith('\\'))
    .map((text) => ({ sign: text.startsWith('+') ? '+' : text.startsWith('-') ? '-' : ' ', text: text.slice(1) }))
}
