// Adapts the workflows of examples/ to a repository. Each function returns other texts as they are.
import { isMap, isNode, isScalar, isSeq, type Pair, parseDocument, visit } from 'yaml'
import { fileVariablePrefix } from '../../../core/names.ts'

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Edits the text at the places that its document gives. Writing the document again would format the rest, too. */
function editPairs(text: string, editsOf: (pair: Pair) => readonly Edit[]): string {
  const edits: Edit[] = []
  visit(parseDocument(text), { Pair: (_, pair) => void edits.push(...editsOf(pair)) })
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((edited, edit) => `${edited.slice(0, edit.start)}${edit.text}${edited.slice(edit.end)}`, text)
}

export const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : '')

const hasValue = ({ value }: Pair, expected: string): boolean => isScalar(value) && value.value === expected

/** Parsed nodes have a range: the start, and the end without what follows on the line. */
const rangeOf = (node: unknown): readonly [number, number] => {
  const [start = 0, end = 0] = (isNode(node) ? node.range : undefined) ?? []
  return [start, end]
}

const replaceNode = (node: unknown, text: string): Edit => {
  const [start, end] = rangeOf(node)
  return { start, end, text }
}

const removeLines = (text: string, first: Pair, last: Pair = first): Edit => {
  const [start, end] = [rangeOf(first.key)[0], rangeOf(last.value)[1]]
  return { start: text.lastIndexOf('\n', start - 1) + 1, end: text.indexOf('\n', end) + 1 || text.length, text: '' }
}

/** Also the lines of comments directly above, which are about the setting. */
function removeSetting(text: string, setting: Pair): Edit {
  const { start, end } = removeLines(text, setting)
  const [comments = ''] = /(?:(?<![^\n])[ \t]*#.*\n)*$/.exec(text.slice(0, start)) ?? []
  return { start: start - comments.length, end, text: '' }
}

const cloudSettings: ReadonlySet<string> = new Set([
  'organization-id',
  'service-id',
  'api-key-id',
  'api-key-secret',
  'sql-key-id',
  'sql-key-secret',
])

const selfHostedSettings = ['hyperdx', `api-url: $\{{ vars.WATCHKEEPER_API_URL }}`, `api-key: $\{{ secrets.WATCHKEEPER_API_KEY }}`]

/** A workflow for a self-hosted server, on a runner that reaches it. One that sends no requests stays on the runners of GitHub. */
export const toSelfHosted = (text: string): string => (text.includes('profile: clickhouse-cloud') ? moveToServer(text) : text)

const moveToServer = (text: string): string =>
  editPairs(text, (pair) => {
    const { value } = pair
    if (keyOf(pair) === 'runs-on' && hasValue(pair, 'ubuntu-latest')) return [replaceNode(value, 'self-hosted')]
    if (!isMap(value) || value.get('profile') !== 'clickhouse-cloud') return []
    return value.items.flatMap((setting) => {
      if (cloudSettings.has(keyOf(setting))) return [removeSetting(text, setting)]
      if (keyOf(setting) !== 'profile') return []
      const [start] = rangeOf(setting.key)
      const indentation = text.slice(text.lastIndexOf('\n', start), start)
      return [replaceNode(setting.value, selfHostedSettings.join(indentation))]
    })
  })

/** A workflow for ClickHouse Cloud. Only examples that send no requests are for a self-hosted server. */
export const toCloud = (text: string): string =>
  editPairs(text, (pair) => (keyOf(pair) === 'profile' && hasValue(pair, 'hyperdx') ? [replaceNode(pair.value, 'clickhouse-cloud')] : []))

/** A workflow for the default branch of the repository. */
export const onBranch = (text: string, branch: string): string =>
  branch === 'main'
    ? text
    : editPairs(text, (pair) => {
        const { value } = pair
        if (keyOf(pair) === 'branches' && isSeq(value))
          return value.items.flatMap((item) => (isScalar(item) && item.value === 'main' ? [replaceNode(item, `'${branch}'`)] : []))
        const onMain = "github.ref == 'refs/heads/main'"
        return keyOf(pair) === 'if' && hasValue(pair, onMain) ? [replaceNode(value, onMain.replace('main', branch))] : []
      })

/** A workflow without the variables of the starter set. */
export const withoutFileVariables = (text: string): string =>
  editPairs(text, (pair) => {
    const variables = isMap(pair.value) ? pair.value.items : []
    const last = variables.at(-1)
    const hasOnlyFileVariables = keyOf(pair) === 'env' && variables.every((variable) => keyOf(variable).startsWith(fileVariablePrefix))
    return hasOnlyFileVariables && last !== undefined ? [removeLines(text, pair, last)] : []
  })
