// Owns what keeps the comment and the issue of one job apart from those of others, when nobody gave it a name. Pure.
import type { Run } from './run.ts'

/** The jobs of a matrix differ in nothing but what they look at, and steps of one job in nothing but their place. */
export const defaultLabel = ({ workflow, job, step }: Run, operation: string, target: string | undefined): string =>
  [workflow, job, stepWord(step), operation, target].filter((part) => part !== undefined && part !== '').join(' / ')

// The runner names a step after its id; one without an id after the action, with a number from the second one on.
function stepWord(step: string): string | undefined {
  if (!step.startsWith('__')) return step
  const [, number] = /_(\d+)$/.exec(step) ?? []
  return number === undefined ? undefined : `step ${number}`
}
