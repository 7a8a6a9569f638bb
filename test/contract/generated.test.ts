import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { majorTag, updateReferences } from '../../scripts/action-references.ts'
import { rebuiltFiles } from '../../scripts/commit-rebuilt.ts'
import { fillMarkers, generate } from '../../scripts/generate.ts'
import { describeOperations, type FieldFacts, settings } from '../../scripts/reference/describe.ts'
import { operationNames, operations } from '../../src/operations.ts'
import { defaultApiUrl } from '../../src/platform/operation/inputs.ts'
import type { Operation } from '../../src/platform/operation/operation.ts'
import { toJsonSchema } from '../../src/runtime/cli/schema.ts'
import { forEachEntry } from '../support/corpus.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const documents = readdirSync(root).filter((name) => name.endsWith('.md'))

describe('an update by Dependabot', () => {
  const copy = mkdtempSync(join(tmpdir(), 'watchkeeper-pins-'))
  afterAll(() => rmSync(copy, { recursive: true }))
  const copyAll = (paths: readonly string[]): void => {
    for (const path of paths) cpSync(join(root, path), join(copy, path), { recursive: true })
  }

  it('an update of actions and packages by Dependabot reaches all that is made from them, in files that commit-rebuilt accepts', {
    tags: 'slow',
  }, async () => {
    copyAll([
      '.github',
      'docs',
      'examples',
      'package.json',
      'package-lock.json',
      'scripts/install.sh',
      'src/platform/report/page',
      ...documents,
    ])
    // Made from package.json and the operations, which are not updated. Everything else is made again, because the copy lacks it.
    copyAll(['src/platform/core/version.ts', 'src/runtime/cli/summaries.ts', 'src/runtime/input-names.ts'])
    const links = ['node_modules', 'test'].map((folder) => join(copy, folder))
    for (const link of links) symlinkSync(join(root, basename(link)), link)
    const oldPins = new Set<string>()
    for (const name of readdirSync(join(copy, '.github/workflows'))) {
      const file = join(copy, '.github/workflows', name)
      const updated = readFileSync(file, 'utf8').replaceAll(/(?<=@)[0-9a-f]{40}(?= # v)/g, (pin) => {
        oldPins.add(pin)
        return [...pin].reverse().join('')
      })
      writeFileSync(file, updated)
    }
    const written = await generate(copy, false)
    expect(written).toEqual(
      expect.arrayContaining(['docs/files.md', 'examples/workflows/plan.yml', 'src/platform/report/page-assets.ts', '.node-version']),
    )
    // A list of all files follows links.
    for (const link of links) unlinkSync(link)
    const copied = readdirSync(copy, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const stale = copied.filter(({ parentPath, name }) => {
      const text = readFileSync(join(parentPath, name), 'utf8')
      return [...oldPins].some((pin) => text.includes(pin))
    })
    expect(stale).toEqual([])
    for (const path of written) cpSync(join(copy, path), join(copy, 'rebuilt', path))
    expect(rebuiltFiles(join(copy, 'rebuilt'))).toEqual([...written].sort())
  })
})

it('the major tag is that of package.json, wherever it is written', () => {
  const paths = execFileSync('git', ['ls-files', '*.md', '*.yml', '*.ts', '*.json'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !/^(?:test|dist|CHANGELOG\.md)/.test(path) && existsSync(join(root, path)))
  const tags = paths.flatMap((path) =>
    [...read(path).matchAll(/watchkeeper\/watchkeeper(?:\/[\w./-]+)?[@/](v\d+)(?!\.\d)/g)].map(([, tag]) => ({ path, tag })),
  )
  expect(tags.length).toBeGreaterThan(50)
  expect(tags.filter(({ tag }) => tag !== majorTag)).toEqual([])
})

it('the version of the package is that of package.json, wherever npx runs it', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect([...new Set([...read('docs/workflows.md').matchAll(/watchkeeper@(\d\S*)/g)].map(([, one]) => one))]).toEqual([version])
  expect(updateReferences('npx --yes watchkeeper@9.9.9-rc.1 plan', new Map(), 'x')).toBe(`npx --yes watchkeeper@${version} plan`)
})

it('a README without a marker is an error, not a README without a table', () => {
  expect(fillMarkers('a <!-- generated:x -->old<!-- /generated:x --> b', { x: 'new' }, 'README.md')).toBe(
    'a <!-- generated:x -->\nnew\n<!-- /generated:x --> b',
  )
  expect(() => fillMarkers('nothing', { x: 'new' }, 'README.md')).toThrow('README.md lacks <!-- generated:x -->')
})

describe('action.yml', () => {
  const action = parse(read('action.yml')) as {
    inputs: Record<string, { description: string; default?: string; required?: boolean }>
    outputs: Record<string, { description: string }>
    runs: object
  }

  it('sets no default that would hide variables or the config file, but that of the token and a word for no address', () => {
    const defaults = Object.entries(action.inputs).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]]))
    expect(defaults).toEqual([
      ['api-url', defaultApiUrl],
      ['github-token', `\${{ github.token }}`],
    ])
  })

  it('has what a step decides, and no setting of the operator', async () => {
    const operations = (await describeOperations()).filter(({ isOutsideOfAction }) => isOutsideOfAction !== true)
    const all = [...settings, ...operations.flatMap(({ inputs }) => inputs)]
    const [inputs, others] = [(one: FieldFacts) => one.setting === undefined, (one: FieldFacts) => one.setting !== undefined].map(
      (isWanted) => [...new Set(all.filter(isWanted).map(({ name }) => name))].sort(),
    )
    expect(Object.keys(action.inputs).sort()).toEqual(['operation', ...(inputs ?? [])].sort())
    expect(others).toContain('timeout-seconds')
  })

  it('requires the operation alone', () => {
    expect(Object.entries(action.inputs).flatMap(([name, { required }]) => (required ? [name] : []))).toEqual(['operation'])
  })

  it('runs the bundle on Node 24, and interpolates nothing else', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/index.js' })
    expect(read('action.yml').match(/\$\{\{.*?\}\}/g)).toEqual([`\${{ github.token }}`])
  })

  it('has the outputs that workflows use in a condition or a later step, and no others', () => {
    const outputs =
      'status failure-reason result result-file changed applied needs-apply to-delete plan-file count ids id grand-total-credits unit forecast-credits budget-exceeded budget-used-percent runs-out-on remaining-credits days-left budget-left backup-status backup-age-hours restore-status'
    expect(Object.keys(action.outputs).sort()).toEqual(outputs.split(' ').sort())
  })
})

describe('the JSON Schemas', () => {
  const ajv = new Ajv2020({ strict: false, strictSchema: true, validateFormats: false })
  ajv.addSchema(JSON.parse(read('schemas/observability.schema.json')), 'observability.schema.json')

  it('the JSON Schemas are JSON Schemas', () =>
    forEachEntry(readdirSync(`${root}/schemas`), (file) => {
      expect(ajv.validateSchema(JSON.parse(read(`schemas/${file}`)))).toBe(true)
    }))

  it('the JSON Schemas accept what the tool accepts and refuse what it refuses', () => {
    const validate = ajv.compile(JSON.parse(read('schemas/config.schema.json')))
    expect(validate({ 'timeout-seconds': 30, summary: true })).toBe(true)
    expect(validate({ 'api-url': 'https://evil.example' })).toBe(false)
    expect(validate({ 'timeout-seconds': 'soon' })).toBe(false)
    const alert = ajv.compile(JSON.parse(read('schemas/alert.schema.json')))
    expect(alert({ name: 'x', threshold: 1, interval: '1h', channel: { type: 'webhook', webhookId: 'x' } })).toBe(true)
    expect(alert({ treshold: 1 })).toBe(false)
  })

  it('the JSON Schemas accept ids of objects in an environment, and no fields of them', () => {
    const validate = ajv.compile(JSON.parse(read('schemas/environment.schema.json')))
    const valid: readonly unknown[] = [
      {},
      { 'service-id': 'c0ffee00-0000-4000-8000-0000000000c3', project: 'a/b', variables: { A: 'x', B: 1, C: true } },
      { adopt: { alerts: { a: '65f5e4a35eedc0de00000001@1.0123456789.012345' }, dashboards: { d: true } } },
    ]
    const invalid: readonly unknown[] = [
      { 'api-url': 'https://evil.example' },
      { 'allow-http': true },
      { variables: { A: ['x'] } },
      { adopt: { alert: {} } },
      { adopt: { alerts: { a: 'an id' } } },
      { adopt: { alerts: { a: { threshold: 5 } } } },
      { overrides: {} },
    ]
    for (const value of valid) expect(validate(value), `${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`).toBe(true)
    for (const value of invalid) expect(validate(value), JSON.stringify(value)).toBe(false)
  })

  it('the JSON Schemas accept the example of every operation', () =>
    forEachEntry(operationNames, async (name) => {
      const { example, input }: Operation = await operations[name]()
      expect(ajv.compile(toJsonSchema(input))(example)).toBe(true)
    }))
})
