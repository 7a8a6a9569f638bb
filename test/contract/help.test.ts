import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { operationNames } from '../../src/operations.ts'
import { toKebab } from '../../src/platform/core/names.ts'
import { metaOf } from '../../src/platform/documents/schema.ts'
import { settingsSchema } from '../../src/platform/operation/inputs.ts'
import { allOperations } from '../support/examples.ts'
import { runCliInside } from '../support/run-cli-inside.ts'

const helpOf = async (...args: readonly string[]): Promise<string> => {
  const { exitCode, stdout } = await runCliInside(args)
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}`)
  return stdout
}

const commands = [...operationNames, 'init', 'demo', 'emulator', 'schema', 'licenses', 'completion']

describe('--help', () => {
  it.each(commands)('of %s fits 45 lines of 80 columns', async (name) => {
    const lines = (await helpOf(name, '--help')).trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(45)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(await helpOf('help', name)).toBe(`${lines.join('\n')}\n`)
  })

  it.each(allOperations)('of $name has every input of its own, an example and the exit codes', async ({ name, operation }) => {
    const help = await helpOf(name, '--help')
    for (const input of Object.keys(operation.input.shape))
      expect(help).toMatch(new RegExp(input === operation.positional ? `^  <${input}> ` : `^  --${toKebab(input)}(?: |$)`, 'm'))
    expect(help).toContain(`\nExamples:\n  watchkeeper ${name}`)
    expect(help).toContain('\nExit codes: 0 success')
    // A default that is not a value a user could write.
    expect(help).not.toContain('[object')
  })

  it('of an input that operations share has what is special in the operation, and schema does, too', async () => {
    const help = (await helpOf('backtest', '--help')).replace(/\s+/g, ' ')
    expect(help).toContain('Conditions: key=KEY, name=NAME, name~PART, all; without any, only alerts that the files change')
    expect(help).toContain('The default is last-7-days')
    const { inputs } = JSON.parse(await helpOf('schema', 'usage-cost')) as { inputs: readonly { name: string; note?: string }[] }
    expect(inputs.find(({ name }) => name === 'period')?.note).toContain('the default is `month-to-date`')
  })

  it('has the options of all commands, and the variables of secrets, behind help options', async () => {
    const help = `${await helpOf('help', 'options')}${await helpOf('plan', '--help')}`
    for (const [name, field] of Object.entries(settingsSchema.shape)) {
      const variable = `WATCHKEEPER_${toKebab(name).replaceAll('-', '_').toUpperCase()}`
      expect(help).toMatch(metaOf(field).secret ? new RegExp(`^  ${variable}$`, 'm') : new RegExp(`^  --${toKebab(name)}(?: |$)`, 'm'))
    }
  })

  it('lists the commands, with one line for those of single objects that have no task of their own', async () => {
    const help = await helpOf('--help')
    const listed = commands.filter((name) => new RegExp(`^  ${name} `, 'm').test(help))
    expect(commands.filter((name) => !listed.includes(name))).toEqual(
      operationNames.filter((name) => /^(?!silence-).*(?:alert|dashboard)|saved-search/.test(name)),
    )
    expect(help).toMatch(/\n {2}list-alerts, get-alert, create-dashboard and others: watchkeeper schema\n\n/)
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('has the texts of a page below each other, and two blanks after a longer term', async () => {
    const startsOf = async (row: RegExp, ...args: readonly string[]) => [
      ...new Set((await helpOf(...args)).split('\n').flatMap((line) => row.exec(line)?.[0].length ?? [])),
    ]
    expect(await startsOf(/^ {2}(?:\S.*?)? {2,}(?=\S)/, '--help')).toEqual([18])
    for (const name of commands) {
      const starts = await startsOf(/^ {2}[<-]\S.{0,20}? {2,}(?=\S)/, name, '--help')
      expect([name, ...starts.filter((start) => start !== 26)]).toEqual([name])
      expect(await startsOf(/^ {2}[<-]\S.{21,}? {3,}(?=\S)/, name, '--help')).toEqual([])
    }
  })

  it('and the documents have the seven main operations first', async () => {
    const seven = ['validate', 'plan', 'apply', 'drift', 'pull', 'usage-cost', 'doctor']
    const help = (await helpOf('help')).split('\n').flatMap((line) => /^ {2}([a-z-]+) {2}/.exec(line)?.[1] ?? [])
    expect(help.slice(0, 7)).toEqual(seven)
    for (const path of ['README.md', 'docs/start.md', 'docs/operations.md']) {
      const linked = [
        ...readFileSync(join(import.meta.dirname, '../..', path), 'utf8').matchAll(/\[`([a-z-]+)`\]\((?:[\w/.]*operations\.md)?#\1\)/g),
      ].map(([, name]) => name)
      expect(linked.slice(0, 7), path).toEqual(seven)
    }
  })
})
