import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { describeOperations, settings } from '../../scripts/reference/describe.ts'
import { planRules, toSarifRules } from '../../src/changes/rules.ts'
import { auditRules } from '../../src/cost/idling/audit-report.ts'
import { inputDiagnostic, isMissingInput } from '../../src/platform/core/diagnostics.ts'
import { errorKinds } from '../../src/platform/core/errors.ts'
import { toCamel, toKebab } from '../../src/platform/core/names.ts'
import { settingsSchema } from '../../src/platform/operation/inputs.ts'
import { kits } from '../../src/runtime/cli/init/kits.ts'
import { commonOutputs } from '../../src/runtime/cli/schema.ts'
import { decodeAll, parseFields } from '../../src/runtime/settings.ts'
import { pullRules } from '../../src/sync/pull/verify-draft.ts'
import { forEachEntry } from '../support/corpus.ts'
import { allOperations } from '../support/examples.ts'
import { reusable } from '../support/run-workflow.ts'
import { allWorkflows, copiedWorkflows, parseWorkflow, shownSteps, stepsOf } from '../support/workflows.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))

const documents = ['.', 'docs', 'docs/decisions'].flatMap(markdownIn)

/** Inputs, outputs and their values, operations, rules, kinds of errors, kits, and inputs of reusable workflows. */
async function knownNames(): Promise<ReadonlySet<string>> {
  const operations = await describeOperations()
  const fields = operations.flatMap(({ inputs, outputs, details }) => [...inputs, ...outputs, ...details])
  const valuesOf = (schema: unknown): readonly string[] =>
    [...JSON.stringify(schema).matchAll(/"(?:enum|const)":(\[[^\]]*\]|"[^"]*")/g)].flatMap(
      ([, value = '']) => JSON.parse(value) as string | string[],
    )
  const schemas = allOperations.flatMap(({ operation: { input, output, details } }) =>
    [input, output, details].map((one) => z.toJSONSchema(one, { unrepresentable: 'any', io: 'input' })),
  )
  const workflows = [...reusable.values()].flatMap(
    ({
      on: {
        workflow_call: { inputs, secrets, outputs },
      },
    }) => [inputs, secrets, outputs].flatMap((one) => Object.keys(one)),
  )
  return new Set([
    ...[...settings, ...fields, ...commonOutputs].map(({ name }) => toKebab(name)),
    ...[...settings, ...fields].flatMap(({ accepts }) => accepts.split(/[^a-z-]+/)),
    ...schemas.flatMap(valuesOf),
    ...operations.map(({ name }) => name),
    ...Object.keys(errorKinds),
    ...[...planRules, ...toSarifRules(pullRules)].map(({ id }) => id),
    ...Object.keys(auditRules),
    ...kits.map(({ name }) => name),
    ...workflows,
    ...readdirSync(join(root, 'examples/workflows')).map((name) => name.replace('.yml', '')),
  ])
}

const withoutCode = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/<!--[\s\S]*?-->/g, '')

/** As GitHub makes them. */
const anchorsIn = (text: string): readonly string[] =>
  [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it('every link in the documents leads to a file and a heading that exist', () =>
  forEachEntry(documents, (document) => {
    const links = [...withoutCode(read(document)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? document : join(dirname(document), path)
      expect(existsSync(join(root, target)), `${document}: ${link}`).toBe(true)
      if (anchor !== undefined) expect(anchorsIn(read(target)), `${document}: ${link}`).toContain(anchor)
    }
  }))

/** What is in backticks outside of code blocks, by document. */
const codeSpans: readonly (readonly [string, string])[] = [...documents, 'test/conformance/README.md', 'test/effects/README.md'].flatMap(
  (document) => [...withoutCode(read(document)).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => [document, span] as const),
)

it('every word with dashes that a document has as code is a name of this project, or one of the listed names of GitHub and others', async () => {
  const known = await knownNames()
  const others =
    'control-plane project-alerts github-pages github-script pull-requests runs-on security-events ubuntu-latest check-alerts self-test sql-functions previous-project previous-repository'
  const words = codeSpans.flatMap(([document, span]) => {
    const [, word] = /^([a-z]+(?:-[a-z]+)+)(?:$|[:=])/.exec(span) ?? []
    return word === undefined ? [] : [[document, word] as const]
  })
  expect(words.length).toBeGreaterThan(500)
  const unknown = words.filter(([, word]) => !known.has(word) && !others.split(' ').includes(word))
  expect([...new Set(unknown.map(([document, word]) => `${document}: ${word}`))]).toEqual([])
})

it('every input that a workflow or a document passes to this action exists', () => {
  const { inputs } = parse(read('action.yml')) as { readonly inputs: Readonly<Record<string, unknown>> }
  const passed = [...allWorkflows, ...shownSteps].flatMap(({ name, text }) =>
    stepsOf(parseWorkflow(text)).flatMap(({ uses = '', with: given = {} }) =>
      /^(?:\.\/?$|watchkeeper\/watchkeeper@)/.test(uses) ? Object.keys(given).map((input) => [name, input] as const) : [],
    ),
  )
  expect(passed.length).toBeGreaterThan(100)
  expect(passed.filter(([, input]) => !Object.hasOwn(inputs, input))).toEqual([])
})

it('every input of the action stands in a workflow that people copy', () => {
  const { inputs } = parse(read('action.yml')) as { readonly inputs: Readonly<Record<string, unknown>> }
  // A line that is switched off counts: what it would do stands beside it.
  const texts = [...copiedWorkflows, ...shownSteps].map(({ text }) => text.replaceAll(/^( *)# (?=[a-z][a-z-]*: \S)/gm, '$1'))
  const shown = texts.flatMap((text) =>
    stepsOf(parseWorkflow(text)).flatMap(({ uses = '', with: given = {} }) =>
      /^watchkeeper\/watchkeeper@/.test(uses) ? Object.keys(given) : [],
    ),
  )
  // Another name of the owner is a matter of one run.
  const left = Object.keys(inputs).filter((name) => !shown.includes(name))
  expect(left).toEqual([])
})

it('every value that a workflow or a document passes to this action is one that its operation accepts', () => {
  const passed = [...allWorkflows, ...shownSteps].flatMap(({ name, text }) =>
    stepsOf(parseWorkflow(text)).flatMap(({ uses = '', with: given = {} }) => {
      const operation = allOperations.find(
        (one) => /^(?:\.\/?$|watchkeeper\/watchkeeper@)/.test(uses) && one.name === given.operation,
      )?.operation
      if (operation === undefined) return []
      const values = Object.entries(given).flatMap(([input, value]) =>
        input === 'operation' || String(value).includes('${{') ? [] : [[toCamel(input), String(value).trim()] as const],
      )
      const shape = { ...settingsSchema.shape, ...operation.input.shape }
      const { diagnostics } = parseFields(z.object(shape), decodeAll(shape, Object.fromEntries(values)), (input, message) =>
        inputDiagnostic(toKebab(input), message),
      )
      const wrong = diagnostics.filter((one) => !isMissingInput(one)).map(({ location, message }) => `${location.file} ${message}`)
      const unknown = values
        .filter(([input]) => !Object.hasOwn(shape, input))
        .map(([input]) => `${input} is not an input of ${given.operation}`)
      return [{ name, count: values.length, wrong: [...wrong, ...unknown] }]
    }),
  )
  expect(passed.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(100)
  expect(passed.filter(({ wrong }) => wrong.length > 0)).toEqual([])
})

describe('README.md', () => {
  it('README.md has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  })

  it('leads to every document in docs', () => {
    expect(markdownIn('docs').filter((path) => !read('README.md').includes(`(${path})`))).toEqual([])
  })
})

it('no document, help text or schema has a word twice in a row', () => {
  const texts = ['action.yml', ...documents, 'schemas/observability.schema.json', 'schemas/config.schema.json']
  const doubled = texts.flatMap((path) => {
    const prose = read(path).replaceAll(/```[\s\S]*?```/g, '')
    return [...prose.matchAll(/(?<![\w.`-])([a-z]{2,}) \1(?![\w`-])/gi)].map(([words]) => `${path}: ${words}`)
  })
  expect(doubled).toEqual([])
})
