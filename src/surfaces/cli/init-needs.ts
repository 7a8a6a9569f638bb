// Owns what files want to be set before they work, found by reading them: secrets, variables, and what nobody sets.

export interface Needs {
  readonly secrets: readonly string[]
  readonly variables: readonly string[]
  /** What files take from the environment of a step, and no workflow among them puts there. */
  readonly environment: readonly string[]
}

const secret = /\bsecrets\.([A-Za-z_]\w*)/g
/** A fleet file names secrets, and its workflow looks them up. */
const namedSecret = /\b(?:api-key-id|api-key-secret|api-url)-name: *([A-Za-z_]\w*)/g
const variable = /\bvars\.([A-Za-z_]\w*)/g
const fromEnvironment = /\$\{\{ *env\.([A-Za-z_]\w*) *\}\}/g
/** `NAME: ${{ … }}` in an `env:` of a workflow. */
const toEnvironment = /^ +([A-Z_][A-Z0-9_]*): *\$\{\{/gm

export function needsOf(texts: readonly string[]): Needs {
  const namesIn = (...patterns: readonly RegExp[]): readonly string[] => {
    const found = texts.flatMap((text) => patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name)))
    return [...new Set(found)].sort()
  }
  const set = new Set(namesIn(toEnvironment))
  return {
    secrets: namesIn(secret, namedSecret),
    variables: namesIn(variable),
    environment: namesIn(fromEnvironment).filter((name) => !set.has(name)),
  }
}
