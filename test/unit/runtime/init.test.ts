// `init` where no process is needed: what an answer means, what files want, and where nothing is written.
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { onBranch, toSelfHosted, withoutFileVariables } from '../../../src/runtime/cli/init/edit-workflow.ts'
import { kits, selectKits } from '../../../src/runtime/cli/init/kits.ts'
import { needsOf } from '../../../src/runtime/cli/init/needs.ts'
import { askForChoice } from '../../../src/runtime/cli/init/prompts.ts'
import { makeFile, placeOf } from '../../../src/runtime/cli/init/safe-write.ts'
import { projectConfig } from '../../../src/runtime/cli/init/samples.ts'
import { openAsker } from '../../../src/runtime/cli/questions.ts'

describe('an answer', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['1'], ['cost-gate']],
    [
      ['drift', 'cost-gate'],
      ['cost-gate', 'drift'],
    ],
    [['2', 'cost-budgets', '2'], ['cost-budgets']],
    [[], []],
  ])('reads %j as kits, each once and in the order of the list', (words, names) => {
    const { chosen, diagnostics } = selectKits(words)
    expect([chosen.map(({ name }) => name), diagnostics]).toEqual([names, []])
  })

  it.each(['0', '12', '-1', '1.5', '99999999999', 'plan', 'constructor', '\u001b[2J'])('rejects %j as a kit', (word) => {
    const { chosen, diagnostics } = selectKits([word])
    expect([chosen, diagnostics.length]).toEqual([[], 1])
    expect(diagnostics[0]?.location.file).not.toContain('\u001b')
  })

  it.each([
    ['cost-gate', 'this kit needs ClickHouse Cloud; available kits: plan-and-apply, drift, drift-pull-request, replay, check-slos'],
    ['drfit', 'unknown kit; available kits: plan-and-apply, drift, drift-pull-request, replay, check-slos; did you mean "drift"?'],
    ['6', 'unknown kit; available kits: plan-and-apply, drift, drift-pull-request, replay, check-slos'],
  ])('rejects %j as a kit of a self-hosted server', (word, message) => {
    expect(selectKits([word], 'hyperdx').diagnostics.map((diagnostic) => diagnostic.message)).toEqual([message])
  })

  const askWith = async (typed: string, profiles: Parameters<typeof askForChoice>[2] = {}) => {
    const input = new PassThrough()
    const asked: string[] = []
    const write = (text: string) => void asked.push(text)
    const asking = askForChoice(openAsker(input, write), write, profiles)
    input.end(typed)
    const choice = await asking
    return { asked: asked.join(''), choice: choice && [choice.profile, ...choice.chosen.map(({ name }) => name)] }
  }

  it.each([
    ['\n1\n', ['clickhouse-cloud', 'cost-gate']],
    ['1\n1\n', ['clickhouse-cloud', 'cost-gate']],
    ['2\n1\n', ['hyperdx', 'plan-and-apply']],
    ['hyperdx\ndrift\n', ['hyperdx', 'drift']],
    ['toString\n3\n 2 \n1,2\n', ['hyperdx', 'plan-and-apply', 'drift']],
  ])('reads %j as a product and its kits', async (typed, choice) => {
    expect((await askWith(typed)).choice).toEqual(choice)
  })

  it.each([
    ['\n2\n', ['hyperdx', 'drift']],
    ['1\n1\n', ['clickhouse-cloud', 'cost-gate']],
  ])('reads %j as the profile of the environment after Enter, or another', async (typed, choice) => {
    const asked = await askWith(typed, { fromEnvironment: 'hyperdx' })
    expect(asked.choice).toEqual(choice)
    expect(asked.asked).toContain('or press Enter for your own server: ')
  })

  it('does not ask for the product when the profile is given', async () => {
    const { asked, choice } = await askWith('1\n', { given: 'hyperdx' })
    expect(choice).toEqual(['hyperdx', 'plan-and-apply'])
    expect(asked).not.toContain('self-hosted?')
    expect(asked).not.toContain('cost-gate')
  })

  it('reads kits separated by commas, after answers that were not valid', async () => {
    expect((await askWith('x\n99\n 5,fleet \n', { given: 'clickhouse-cloud' })).choice).toEqual([
      'clickhouse-cloud',
      'plan-and-apply',
      'fleet',
    ])
  })

  it.each(['', 'nonsense\n', '\n', '2\nnonsense\n'])('has no choice when the input ends before the answer: %j', async (typed) => {
    expect((await askWith(typed)).choice).toBeUndefined()
  })
})

describe('a workflow for a self-hosted server', () => {
  const example = (name: string): string => readFileSync(new URL(`../../../examples/workflows/${name}.yml`, import.meta.url), 'utf8')

  const workflows = kits
    .filter(({ selfHosted }) => selfHosted)
    .flatMap(({ files }) => files.filter(({ example }) => /^workflows\//.test(example)))

  // The objects of an SLO are declared without variables.
  const variablesOf = (path: string): readonly string[] =>
    path === 'workflows/check-slos.yml' ? [] : ['ERRORS_PER_FIVE_MINUTES', 'SERVICE_NAME', 'WEBHOOK_NAME']

  // A replay sends no requests.
  it.each(workflows.filter(({ example }) => example !== 'workflows/replay.yml'))(
    'has the settings of a self-hosted server, and none of the cloud: $example',
    ({ example: path }) => {
      const text = toSelfHosted(example(path.slice('workflows/'.length, -'.yml'.length)))
      expect(needsOf([text])).toMatchObject({
        secrets: ['WATCHKEEPER_API_KEY'],
        variables: [...variablesOf(path), 'WATCHKEEPER_API_URL'].sort(),
      })
      expect(text).toContain('          profile: hyperdx\n          api-url: ')
      expect(text).toContain('    runs-on: self-hosted\n')
      expect(text).not.toMatch(/clickhouse-cloud|organization|service-id|api-key-|sql-key|query endpoint|ubuntu/)
    },
  )

  it('changes only the settings and the runner of a workflow for a self-hosted server', () => {
    const text = example('plan')
    const removed = text.split('\n').filter((line) => !toSelfHosted(text).includes(line))
    expect(removed.map((line) => line.trim().split(':')[0])).toEqual([
      'runs-on',
      'profile',
      'organization-id',
      'service-id',
      'api-key-id',
      'api-key-secret',
    ])
  })
})

describe('a workflow for another default branch', () => {
  it('changes only the branch of a workflow for another default branch', () => {
    const text = readFileSync(new URL('../../../examples/workflows/apply.yml', import.meta.url), 'utf8')
    const lines = onBranch(text, 'release/2.0').split('\n')
    const changed = lines.filter((line) => !text.includes(line))
    expect(changed.map((line) => line.trim())).toEqual(["branches: ['release/2.0']", "if: github.ref == 'refs/heads/release/2.0'"])
    expect(onBranch(text, 'main')).toBe(text)
  })
})

it.each(['plan', 'apply', 'drift'])('removes only the variables of the starter set from the %s workflow, after pull', (name) => {
  const text = readFileSync(new URL(`../../../examples/workflows/${name}.yml`, import.meta.url), 'utf8')
  const start = text.indexOf('    env:\n')
  const end = text.indexOf('    steps:\n')
  expect(withoutFileVariables(text)).toBe(text.slice(0, start) + text.slice(end))
})

it.each(['null', '2026', '1e3', 'shop/infra'])('writes the project %s as a text into the config file', (project) => {
  expect(parse(projectConfig(project).text)).toEqual({ project })
})

describe('the settings that files need', () => {
  const inBrackets = (text: string): string => `$\{{ ${text} }}`

  it('finds the secrets and variables of any file, each once', () => {
    const workflow = `with:\n  a: ${inBrackets('secrets.KEY')}\n  b: ${inBrackets("vars.PLACE || 'x'")}\nif: vars.ON && secrets.KEY\n`
    expect(needsOf([workflow, 'api-key-id-name: SHOP_ID'])).toEqual({
      secrets: ['KEY', 'SHOP_ID'],
      variables: ['ON', 'PLACE'],
      environment: [],
      ofFiles: [],
    })
  })

  it('lists a variable of files as one of the environment where no workflow sets it', () => {
    const file = `name: ${inBrackets('env.STAGE')} ${inBrackets('env.SERVICE')}`
    expect(needsOf([file]).environment).toEqual(['WATCHKEEPER_VAR_SERVICE', 'WATCHKEEPER_VAR_STAGE'])
    expect(needsOf([file, `env:\n  WATCHKEEPER_VAR_STAGE: ${inBrackets('vars.STAGE')}\n`])).toEqual({
      secrets: [],
      variables: ['STAGE'],
      environment: ['WATCHKEEPER_VAR_SERVICE'],
      ofFiles: ['WATCHKEEPER_VAR_SERVICE', 'WATCHKEEPER_VAR_STAGE'],
    })
  })

  it('ignores secrets in comments', () => {
    expect(needsOf([`# notify-url: ${inBrackets('secrets.WEBHOOK')}\na: 1\n`]).secrets).toEqual([])
  })
})

describe('the kits', () => {
  it('has a different path inside the repository for each file of the kits', () => {
    const targets = kits.flatMap(({ files }) => files.map(({ target }) => target))
    expect(new Set(targets).size).toBe(targets.length)
    for (const target of targets) expect(target).toMatch(/^(?:\.github\/workflows\/watchkeeper-[a-z-]+|[a-z][a-z/-]*)\.yml$/)
  })
})

describe('a file that init creates', () => {
  const makeDirectory = async (): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-new-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    return directory
  }

  it('does not overwrite a file that was created in the meantime', async () => {
    const directory = await makeDirectory()
    expect(await placeOf(directory, 'a/b.yml')).toBe('free')
    expect(await makeFile(directory, 'a/b.yml', 'first')).toBe(true)
    expect(await makeFile(directory, 'a/b.yml', 'second')).toBe(false)
    expect(await placeOf(directory, 'a/b.yml')).toBe('taken')
    expect(await readFile(join(directory, 'a/b.yml'), 'utf8')).toBe('first')
  })

  it('does not write through a directory that became a link in the meantime', async () => {
    const [directory, outside] = [await makeDirectory(), await makeDirectory()]
    await symlink(outside, join(directory, 'a'))
    await expect(makeFile(directory, 'a/b.yml', 'x')).rejects.toThrow('link')
    expect(await placeOf(outside, 'b.yml')).toBe('free')
  })

  it('creates a file in a repository that is reached through a link', async () => {
    const [directory, elsewhere] = [await makeDirectory(), await makeDirectory()]
    await symlink(directory, join(elsewhere, 'repository'))
    expect(await makeFile(join(elsewhere, 'repository'), 'a.yml', 'x')).toBe(true)
    expect(await readFile(join(directory, 'a.yml'), 'utf8')).toBe('x')
  })

  it('refuses a path below a file', async () => {
    const directory = await makeDirectory()
    await writeFile(join(directory, 'a'), '')
    expect(await placeOf(directory, 'a/b.yml')).toEqual({ refused: 'a is not a directory' })
  })
})
