// `init` where no process is needed: what an answer means, what files want, and where nothing is written.
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askForKits, kits, makeFile, needsOf, placeOf, selectKits } from '../../../src/runtime/cli/init.ts'

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

  const askWith = async (typed: string) => {
    const input = new PassThrough()
    const asking = askForKits(input, () => undefined)
    input.end(typed)
    return (await asking)?.map(({ name }) => name)
  }

  it('may come with commas, after others that meant nothing', async () => {
    expect(await askWith('x\n9\n 3,fleet \n')).toEqual(['plan-and-apply', 'fleet'])
  })

  it('is undefined when the input ends before it', async () => {
    expect(await askWith('')).toBeUndefined()
    expect(await askWith('nonsense\n')).toBeUndefined()
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
