import { isScalar, type Pair, parseDocument, visit } from 'yaml'
import { fileVariablePrefix } from '../../../core/names.ts'
import { keyOf } from './edit-workflow.ts'

/** The settings that the files need. */
export interface Needs {
  readonly secrets: readonly string[]
  readonly variables: readonly string[]
  /** Environment variables that the files need in a step, and that none of the workflows sets. */
  readonly environment: readonly string[]
  /** Environment variables that the files need on a machine without these workflows. */
  readonly ofFiles: readonly string[]
}

/** A fleet file names secrets, and its workflow looks them up. */
const secretNameFields: ReadonlySet<string> = new Set(['api-key-id-name', 'api-key-secret-name', 'api-url-name'])

/** Finds the secrets and variables in the texts of YAML files. */
export function needsOf(texts: readonly string[]): Needs {
  const strings: string[] = []
  const pairs: (readonly [key: string, value: string])[] = []
  for (const text of texts)
    visit(parseDocument(text), {
      Pair: (_, pair: Pair) => void (isScalar(pair.value) && pairs.push([keyOf(pair), String(pair.value.value)])),
      Scalar: (_, { value }) => void (typeof value === 'string' && strings.push(value)),
    })
  const namesIn = (pattern: RegExp): readonly string[] =>
    strings.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  const namedSecrets = pairs.flatMap(([key, value]) => (secretNameFields.has(key) ? [value] : []))
  const passed = new Set(pairs.flatMap(([key, value]) => (value.startsWith('${{') ? [key] : [])))
  // A workflow can set a variable and read it itself.
  const keys = new Set(pairs.map(([key]) => key))
  const ofFiles = namesIn(/\$\{\{ *env\.([A-Za-z_]\w*) *\}\}/g)
    .filter((name) => !keys.has(name))
    .map((name) => `${fileVariablePrefix}${name}`)
  return {
    secrets: sorted([...namesIn(/\bsecrets\.([A-Za-z_]\w*)/g), ...namedSecrets]),
    variables: sorted(namesIn(/\bvars\.([A-Za-z_]\w*)/g)),
    environment: sorted(ofFiles.filter((name) => !passed.has(name))),
    ofFiles: sorted(ofFiles),
  }
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()
