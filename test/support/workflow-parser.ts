// What GitHub's own parser says of a workflow or of action.yml. It finds our workflows where others call them.
import { validate } from '@actions/languageservice'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { reusableWorkflows } from './workflow-documents.ts'

let documents = 0

const fileProvider = {
  async getFileContent({ path }: { readonly path: string }) {
    const found = reusableWorkflows.find(({ name }) => name === path)
    if (found === undefined) throw new Error(`there is no ${path}`)
    return { name: path, content: found.text }
  },
}

// The parser remembers what it said of a path, so that each text needs a path of its own.
export async function complaintsOf(text: string, file = '.github/workflows/x.yml'): Promise<readonly string[]> {
  const complaints = await validate(TextDocument.create(`file:///${documents++}/${file}`, 'yaml', 1, text), { fileProvider })
  return complaints.map(({ message }) => JSON.stringify(message))
}
