// `init` where no process is needed: what an answer means, what files want, and where nothing is written.
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { profileNames as apiProfileNames } from '../../../src/api/profiles.ts'
import { askForChoice, kits, makeFile, needsOf, onBranch, placeOf, selectKits, toSelfHosted } from '../../../src/runtime/cli/init.ts'
import { profileNames } from '../../../src/runtime/cli/profile-names.ts'
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
  ])('%j means kits, each once and in the order of the list', (words, names) => {
    const { chosen, diagnostics } = selectKits(words)
    expect([chosen.map(({ name }) => name), diagnostics]).toEqual([names, []])
  })

  it.each(['0', '7', '-1', '1.5', '99999999999', 'plan', 'constructor', '\u001b[2J'])('%j means none', (word) => {
    const { chosen, diagnostics } = selectKits([word])
    expect([chosen, diagnostics.length]).toEqual([[], 1])
    expect(diagnostics[0]?.location.file).not.toContain('\u001b')
  })

  it.each([
    ['cost-gate', 'this kit needs ClickHouse Cloud; available kits: plan-and-apply, drift'],
    ['drfit', 'unknown kit; available kits: plan-and-apply, drift; did you mean "drift"?'],
    ['3', 'unknown kit; available kits: plan-and-apply, drift'],
  ])('%j means no kit of a self-hosted server', (word, message) => {
    expect(selectKits([word], 'hyperdx').diagnostics.map((diagnostic) => diagnostic.message)).toEqual([message])
  })

  const askWith = async (typed: string, profile?: 'clickhouse-cloud' | 'hyperdx') => {
    const input = new PassThrough()
    const asked: string[] = []
    const write = (text: string) => void asked.push(text)
    const asking = askForChoice(openAsker(input, write), write, profile)
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
  ])('%j names the product, then its kits', async (typed, choice) => {
    expect((await askWith(typed)).choice).toEqual(choice)
  })

  it('is not needed for the product when the profile is given', async () => {
    const { asked, choice } = await askWith('1\n', 'hyperdx')
    expect(choice).toEqual(['hyperdx', 'plan-and-apply'])
    expect(asked).not.toContain('self-hosted?')
    expect(asked).not.toContain('cost-gate')
  })

  it('may come with commas, after others that meant nothing', async () => {
    expect((await askWith('x\n9\n 3,fleet \n', 'clickhouse-cloud')).choice).toEqual(['clickhouse-cloud', 'plan-and-apply', 'fleet'])
  })

  it.each(['', 'nonsense\n', '\n', '2\nnonsense\n'])('is undefined when the input ends before it: %j', async (typed) => {
    expect((await askWith(typed)).choice).toBeUndefined()
  })
})

it('init and demo know every profile of the API', () => {
  expect(profileNames).toEqual(apiProfileNames)
})

describe('a workflow for a self-hosted server', () => {
  const example = (name: string): string => readFileSync(new URL(`../../../examples/workflows/${name}.yml`, import.meta.url), 'utf8')

  it.each(
    kits.filter(({ selfHosted }) => selfHosted).flatMap(({ files }) => files.filter((file) => file.example.startsWith('workflows/'))),
  )('has the settings of the server, and none of the cloud: $example', ({ example: path }) => {
    const text = toSelfHosted(example(path.slice('workflows/'.length, -'.yml'.length)))
    expect(needsOf([text])).toMatchObject({
      secrets: ['WATCHKEEPER_API_KEY'],
      variables: ['ERRORS_PER_FIVE_MINUTES', 'SERVICE_NAME', 'WATCHKEEPER_API_URL', 'WEBHOOK_NAME'],
    })
    expect(text).toContain('          profile: hyperdx\n          api-url: ')
    expect(text).toContain('    runs-on: self-hosted\n')
    expect(text).not.toMatch(/clickhouse-cloud|organization|service-id|api-key-|ubuntu/)
  })

  it('differs from the workflow for the cloud in nothing else', () => {
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
  it('applies what is merged to this branch, and differs in nothing else', () => {
    const text = readFileSync(new URL('../../../examples/workflows/apply.yml', import.meta.url), 'utf8')
    const lines = onBranch(text, 'release/2.0').split('\n')
    const changed = lines.filter((line) => !text.includes(line))
    expect(changed.map((line) => line.trim())).toEqual(["branches: ['release/2.0']", "if: github.ref == 'refs/heads/release/2.0'"])
    expect(onBranch(text, 'main')).toBe(text)
  })
})

describe('what files want', () => {
  const inBrackets = (text: string): string => `$\{{ ${text} }}`

  it('is found in any file, and listed once', () => {
    const workflow = `with: { a: ${inBrackets('secrets.KEY')}, b: ${inBrackets("vars.PLACE || 'x'")} }\nif: vars.ON && secrets.KEY\n`
    expect(needsOf([workflow, 'api-key-id-name: SHOP_ID'])).toEqual({
      secrets: ['KEY', 'SHOP_ID'],
      variables: ['ON', 'PLACE'],
      environment: [],
    })
  })

  it('is a variable of the environment where no workflow sets it', () => {
    const file = `name: ${inBrackets('env.STAGE')} ${inBrackets('env.SERVICE')}`
    expect(needsOf([file]).environment).toEqual(['SERVICE', 'STAGE'])
    expect(needsOf([file, `    env:\n      STAGE: ${inBrackets('vars.STAGE')}\n`])).toEqual({
      secrets: [],
      variables: ['STAGE'],
      environment: ['SERVICE'],
    })
  })
})

describe('the kits', () => {
  it('write no two things into one place, and none outside of the repository', () => {
    const targets = kits.flatMap(({ files }) => files.map(({ target }) => target))
    expect(new Set(targets).size).toBe(targets.length)
    for (const target of targets) expect(target).toMatch(/^(?:\.github\/workflows\/watchkeeper-[a-z-]+|[a-z][a-z/-]*)\.yml$/)
  })
})

describe('a file that is made', () => {
  const makeDirectory = async (): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-new-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    return directory
  }

  it('is not made over one that has come to be there in the meantime', async () => {
    const directory = await makeDirectory()
    expect(await placeOf(directory, 'a/b.yml')).toBe('free')
    expect(await makeFile(directory, 'a/b.yml', 'first')).toBe(true)
    expect(await makeFile(directory, 'a/b.yml', 'second')).toBe(false)
    expect(await placeOf(directory, 'a/b.yml')).toBe('taken')
    expect(await readFile(join(directory, 'a/b.yml'), 'utf8')).toBe('first')
  })

  it('is not made where a directory has become a link in the meantime', async () => {
    const [directory, outside] = [await makeDirectory(), await makeDirectory()]
    await symlink(outside, join(directory, 'a'))
    await expect(makeFile(directory, 'a/b.yml', 'x')).rejects.toThrow('link')
    expect(await placeOf(outside, 'b.yml')).toBe('free')
  })

  it('may be made in a repository that is reached through a link', async () => {
    const [directory, elsewhere] = [await makeDirectory(), await makeDirectory()]
    await symlink(directory, join(elsewhere, 'repository'))
    expect(await makeFile(join(elsewhere, 'repository'), 'a.yml', 'x')).toBe(true)
    expect(await readFile(join(directory, 'a.yml'), 'utf8')).toBe('x')
  })

  it('is not made below a file', async () => {
    const directory = await makeDirectory()
    await writeFile(join(directory, 'a'), '')
    expect(await placeOf(directory, 'a/b.yml')).toEqual({ refused: 'a is not a directory' })
  })
})
