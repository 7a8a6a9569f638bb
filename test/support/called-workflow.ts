// Calls a reusable workflow: its inputs with their defaults, its jobs, and what it hands back.
import { parse } from 'yaml'
import { fill, isTrue } from './expressions.ts'
import { reusableWorkflows } from './workflow-documents.ts'
import { fillAll, type Ran, type RunnableJob, runJobs } from './workflow-run.ts'

export interface InputDefinition {
  readonly description?: string
  readonly type: 'string' | 'boolean' | 'number'
  readonly required?: boolean
  readonly default?: string | boolean | number
}

interface Described {
  readonly description?: string
}

export interface ReusableWorkflow {
  readonly on: {
    readonly workflow_call: {
      readonly inputs: Readonly<Record<string, InputDefinition>>
      readonly secrets: Readonly<Record<string, Described & { readonly required?: boolean }>>
      readonly outputs: Readonly<Record<string, Described & { readonly value: string }>>
    }
  }
  readonly concurrency: { readonly group: string; readonly 'cancel-in-progress': boolean | string }
  readonly jobs: Readonly<Record<string, RunnableJob>>
}

/** By the file's name between `reusable-` and `.yml`. */
export const reusable: ReadonlyMap<string, ReusableWorkflow> = new Map(
  reusableWorkflows.map(({ name, text }) => [/reusable-(.*)\.yml$/.exec(name)?.[1] ?? '', parse(text) as ReusableWorkflow]),
)

export interface Call {
  readonly inputs: Readonly<Record<string, string | boolean | number>>
  readonly secrets: Readonly<Record<string, string>>
  readonly github: Readonly<Record<string, unknown>>
  /** The repository of the caller, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** What happens before a job starts. */
  readonly before?: Readonly<Record<string, () => void>>
}

export interface Called {
  readonly jobs: Readonly<Record<string, Ran>>
  readonly outputs: Readonly<Record<string, string>>
  readonly group: string
  readonly cancelsInProgress: boolean
}

const nothing = { string: '', boolean: false, number: 0 } as const

export async function callWorkflow(name: string, { inputs: given, secrets, github, ...more }: Call): Promise<Called> {
  const workflow = reusable.get(name)
  if (workflow === undefined) throw new Error(`there is no reusable-${name}.yml`)
  const { inputs: defined, outputs } = workflow.on.workflow_call
  const inputs = Object.fromEntries(
    Object.entries(defined).map(([input, definition]) => [input, given[input] ?? definition.default ?? nothing[definition.type]]),
  )
  const values = { inputs, secrets, github }
  const jobs = await runJobs(workflow.jobs, { values, ...more })
  return {
    jobs,
    outputs: fillAll(Object.fromEntries(Object.entries(outputs).map(([output, { value }]) => [output, value])), { values: { jobs } }),
    group: fill(workflow.concurrency.group, { values }),
    cancelsInProgress: isTrue(String(workflow.concurrency['cancel-in-progress']), { values }),
  }
}
