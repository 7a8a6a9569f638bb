// The commands of skills/watchkeeper/SKILL.md work in the order in which it shows them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isOperationName, operations } from '../../src/operations.ts'
import { exitCodes } from '../../src/platform/core/errors.ts'
import { toEnvironmentName } from '../../src/platform/core/names.ts'
import { inputsFor, methodsOf, useEmulator } from '../support/emulator.ts'
import { runCli } from '../support/run-process.ts'

const skill = readFileSync(new URL('../../skills/watchkeeper/SKILL.md', import.meta.url), 'utf8')
const example = readFileSync(new URL('../../examples/observability/checkout.yml', import.meta.url), 'utf8')
const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const commands = [...skill.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))

describe('skills/watchkeeper/SKILL.md', () => {
  it('skills/watchkeeper/SKILL.md has a name and a description for tools that load it', () => {
    expect(skill).toMatch(/^---\nname: watchkeeper\ndescription: [^\n]{100,500}\n---\n/)
  })

  it('shows commands that work, of which only apply writes', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-skill-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    mkdirSync(join(directory, 'observability'))
    writeFileSync(
      join(directory, 'observability/ordering.yml'),
      example.replaceAll('checkout', 'ordering').replaceAll('Checkout', 'Ordering'),
    )
    const settings = Object.entries(inputsFor(emulator(), 'hyperdx')).map(([name, value]) => [toEnvironmentName(name), value])
    expect(commands.length).toBeGreaterThan(12)
    for (const command of commands) {
      const [program, name = '', ...args] = command.split(' ')
      expect(program).toBe('watchkeeper')
      const isWrite = isOperationName(name) && (await operations[name]()).effect === 'write'
      expect([command, isWrite]).toEqual([command, name === 'apply'])
      const env = { ...Object.fromEntries(settings), ...(!isWrite && { WATCHKEEPER_READ_ONLY: 'true' }) }
      const ran = await runCli([name, ...args], env, { directory })
      // The files are ahead of the service.
      const exitCode = name === 'drift' ? exitCodes.gateFailed : exitCodes.ok
      expect([command, ran.exitCode, ran.exitCode === exitCode ? '' : ran.stdout]).toEqual([command, exitCode, ''])
      expect(JSON.parse(ran.stdout), command).toEqual(expect.any(Object))
    }
    expect(methodsOf(emulator())).toContain('POST')
  })

  it('skills/watchkeeper/SKILL.md lists every exit code', () => {
    const [, list = ''] = /## Exit codes\n\n([\s\S]*)$/.exec(skill) ?? []
    expect([...list.matchAll(/(?:^|· )\s*(\d+) /g)].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes))
  })
})
