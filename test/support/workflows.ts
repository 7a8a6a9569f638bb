import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { parse } from 'yaml'
import { majorTag, releaseTag } from '../../scripts/action-references.ts'

// All workflows: the repository's own, those that others call, the examples, and those that documents show.

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const filesIn = (directory: string, extension: string): readonly string[] =>
  readdirSync(`${root}/${directory}`)
    .filter((name) => name.endsWith(extension))
    .map((name) => `${directory}/${name}`)

export interface WorkflowDocument {
  readonly name: string
  readonly text: string
}

const documents = [...readdirSync(root).filter((name) => name.endsWith('.md')), ...filesIn('docs', '.md')]

/** Fenced YAML, with its first line in its name. */
const shownYaml: readonly WorkflowDocument[] = documents.flatMap((document) =>
  [...read(document).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => ({
    name: `${document}: ${text.split('\n')[0]?.trim()}`,
    text,
  })),
)

const isWorkflow = ({ text }: WorkflowDocument): boolean => /^jobs:/m.test(text)

export const shownWorkflows: readonly WorkflowDocument[] = shownYaml.filter(isWorkflow)

const frame = 'on: push\njobs:\n  shown:\n    runs-on: ubuntu-latest\n    strategy: { matrix: { environment: [staging] } }\n'

/** Steps, or a part of a job with them, each in a workflow. */
export const shownSteps: readonly WorkflowDocument[] = shownYaml
  .filter((shown) => !isWorkflow(shown) && /^ *(?:- )?uses: /m.test(shown.text))
  .map(({ name, text }) => {
    const dedented = text.replaceAll(new RegExp(`^${/^ */.exec(text)?.[0]}`, 'gm'), '')
    return { name, text: frame + (dedented.startsWith('- ') ? `steps:\n${dedented}` : dedented).replaceAll(/^(?=.)/gm, '    ') }
  })

const asDocument = (name: string): WorkflowDocument => ({ name, text: read(name) })

const isReusable = ({ name }: WorkflowDocument): boolean => name.startsWith('.github/workflows/reusable-')

const workflows = filesIn('.github/workflows', '.yml').map(asDocument)

export const ownWorkflows: readonly WorkflowDocument[] = workflows.filter((workflow) => !isReusable(workflow))

/** They lie here, and run in the repositories of those who call them, with their secrets. */
export const reusableWorkflows: readonly WorkflowDocument[] = workflows.filter(isReusable)

const exampleWorkflows: readonly WorkflowDocument[] = filesIn('examples/workflows', '.yml').map(asDocument)

/** What people copy. */
export const copiedWorkflows: readonly WorkflowDocument[] = [...exampleWorkflows, ...shownWorkflows]

export const allWorkflows: readonly WorkflowDocument[] = [...ownWorkflows, ...reusableWorkflows, ...copiedWorkflows]

// What GitHub's own parser says of a workflow or of action.yml. It finds our workflows where others call them.

// It is published for bundlers: it imports JSON without saying so, which Node refuses.
registerHooks({
  load: (url, context, next) => next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
})
const { validate } = await import('@actions/languageservice')

let parsedCount = 0

const fileProvider = {
  async getFileContent({ path }: { readonly path: string }) {
    const found = reusableWorkflows.find(({ name }) => name === path)
    if (found === undefined) throw new Error(`there is no ${path}`)
    return { name: path, content: found.text }
  },
}

// The parser remembers what it said of a path, so that each text needs a path of its own.
export async function complaintsOf(text: string, file = '.github/workflows/x.yml'): Promise<readonly string[]> {
  const complaints = await validate(TextDocument.create(`file:///${parsedCount++}/${file}`, 'yaml', 1, text), { fileProvider })
  return complaints.map(({ message }) => JSON.stringify(message))
}

// Rules for the workflows of this project and for those it gives to others. Each rule returns what breaks it.

export interface Step {
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, unknown>>
}

export interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'timeout-minutes'?: number
  /** Absent where the job is another workflow. */
  readonly steps?: readonly Step[]
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly environment?: string
  readonly name?: string
  readonly strategy?: { readonly matrix?: Readonly<Record<string, readonly string[]>> }
}

interface Workflow {
  readonly on: string | readonly string[] | Readonly<Record<string, unknown>>
  readonly permissions?: unknown
  readonly concurrency?: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

/** This action, at its major tag, at its release, or as the checkout. */
const ownUse = new RegExp(`uses: (?:\\./|watchkeeper/watchkeeper(?:/[\\w./-]+)?@(?:${majorTag}|${RegExp.escape(releaseTag)})$)`)

interface Rule {
  readonly says: string
  /** Holds for the project's own workflows alone. */
  readonly own?: boolean
  broken(workflow: Workflow, text: string): readonly string[]
}

export const triggersOf = ({ on }: Workflow): readonly string[] =>
  typeof on === 'string' ? [on] : Array.isArray(on) ? (on as readonly string[]) : Object.keys(on)

export const stepsOf = ({ jobs }: Pick<Workflow, 'jobs'>): readonly Step[] => Object.values(jobs).flatMap(({ steps = [] }) => steps)

const checkoutsOf = (workflow: Workflow): readonly Step[] =>
  stepsOf(workflow).filter(({ uses = '' }) => uses.startsWith('actions/checkout@'))

/** Rights that let a job leave something behind that others trust. */
const mayPublish = ({ permissions = {} }: Job): boolean => permissions['id-token'] === 'write' || permissions.contents === 'write'

export const rules: readonly Rule[] = [
  {
    says: 'grants nothing to all of its jobs',
    broken: ({ permissions }) => (JSON.stringify(permissions) === '{}' ? [] : [`permissions: ${JSON.stringify(permissions)}`]),
  },
  {
    says: 'pins every action but this one to a commit, with its version beside it',
    broken: (_, text) =>
      text
        .split('\n')
        .filter((line) => /\buses: /.test(line) && !ownUse.test(line))
        .filter((line) => !/uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
  },
  {
    says: 'ends by itself',
    broken: ({ jobs }) =>
      Object.entries(jobs).flatMap(([name, job]) => (job.uses !== undefined || (job['timeout-minutes'] ?? 0) > 0 ? [] : [name])),
  },
  {
    says: 'runs no script that an expression is part of',
    broken: (workflow) => stepsOf(workflow).flatMap(({ run = '' }) => (run.includes('${{') ? [run] : [])),
  },
  {
    says: 'keeps no credentials in a checkout',
    broken: (workflow) =>
      checkoutsOf(workflow).flatMap((step) => (step.with?.['persist-credentials'] === false ? [] : [JSON.stringify(step)])),
  },
  {
    says: 'is not started by strangers with rights of its own, and then checks out what they wrote',
    broken: (workflow) => {
      const triggers = triggersOf(workflow)
      if (triggers.includes('pull_request_target')) return ['pull_request_target']
      if (!triggers.includes('workflow_run')) return []
      return checkoutsOf(workflow).flatMap((step) => ['ref', 'repository'].filter((input) => step.with?.[input] !== undefined))
    },
  },
  {
    says: 'names no person as the author of commits for a pull request',
    broken: (workflow) =>
      stepsOf(workflow)
        .filter(({ uses = '', with: inputs = {} }) => uses.includes('/create-pull-request@') && inputs.author !== (inputs.committer ?? ''))
        .map(({ uses = '' }) => uses),
  },
  {
    says: 'hands its secrets to no other workflow as a whole',
    broken: (_, text) => text.split('\n').filter((line) => /secrets:\s*inherit/.test(line)),
  },
  {
    says: 'knows no secret: what it may do, it may do for one run',
    own: true,
    broken: (_, text) => [...text.matchAll(/\bsecrets\.\w+/g)].map(([secret]) => secret),
  },
  {
    says: 'says what happens when it is started twice',
    own: true,
    broken: ({ concurrency }) => (typeof concurrency === 'object' && concurrency !== null ? [] : ['no concurrency']),
  },
  {
    says: 'uses no cache where something is published',
    own: true,
    broken: ({ jobs }) =>
      Object.entries(jobs).flatMap(([name, job]) => {
        const nodes = (job.steps ?? []).filter(({ uses = '' }) => uses.startsWith('actions/setup-node@'))
        return mayPublish(job) && nodes.some((step) => step.with?.['package-manager-cache'] !== false) ? [name] : []
      }),
  },
]

const parsed = new Map<string, Workflow>()

/** Parses a text once, because there is a test for each rule. */
export function parseWorkflow(text: string): Workflow {
  const workflow = parsed.get(text) ?? (parse(text) as Workflow)
  parsed.set(text, workflow)
  return workflow
}

/** Every right to write, as `job: right`. */
export const rightsToWrite = ({ jobs }: Workflow): readonly string[] =>
  Object.entries(jobs).flatMap(([name, { permissions = {} }]) =>
    Object.entries(permissions).flatMap(([right, level]) => (level === 'write' ? [`${name}: ${right}`] : [])),
  )
