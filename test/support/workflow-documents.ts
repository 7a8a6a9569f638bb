// Owns which workflows there are: the repository's own, those that others call, the examples, and those that documents show.
import { readdirSync, readFileSync } from 'node:fs'

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

/** Fenced YAML that is a workflow, with its first line as its name. */
export const shownWorkflows: readonly WorkflowDocument[] = documents.flatMap((document) =>
  [...read(document).matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
    /^jobs:/m.test(text) ? [{ name: `${document}: ${text.split('\n')[0]}`, text }] : [],
  ),
)

const asDocument = (name: string): WorkflowDocument => ({ name, text: read(name) })

const isReusable = ({ name }: WorkflowDocument): boolean => name.startsWith('.github/workflows/reusable-')

const workflows = filesIn('.github/workflows', '.yml').map(asDocument)

export const ownWorkflows: readonly WorkflowDocument[] = workflows.filter((workflow) => !isReusable(workflow))

/** They lie here, and run in the repositories of those who call them, with their secrets. */
export const reusableWorkflows: readonly WorkflowDocument[] = workflows.filter(isReusable)

export const exampleWorkflows: readonly WorkflowDocument[] = filesIn('examples/workflows', '.yml').map(asDocument)

/** What people copy. */
export const copiedWorkflows: readonly WorkflowDocument[] = [...exampleWorkflows, ...shownWorkflows]

export const allWorkflows: readonly WorkflowDocument[] = [...ownWorkflows, ...reusableWorkflows, ...copiedWorkflows]
