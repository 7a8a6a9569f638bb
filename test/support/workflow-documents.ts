// Owns which workflows there are: the repository's own, the examples, and those that documents show.
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

export const ownWorkflows: readonly WorkflowDocument[] = filesIn('.github/workflows', '.yml').map(asDocument)

export const exampleWorkflows: readonly WorkflowDocument[] = filesIn('examples/workflows', '.yml').map(asDocument)

export const allWorkflows: readonly WorkflowDocument[] = [...ownWorkflows, ...exampleWorkflows, ...shownWorkflows]
