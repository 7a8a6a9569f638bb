import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { demo } from '../../../src/emulator/index.ts'
import { errorKinds } from '../../../src/platform/core/errors.ts'
import { resultErrorSchema } from '../../../src/platform/operation/result.ts'
import { nextCommand } from '../../../src/runtime/cli/next-command.ts'
import { asOptions, inputsFor, useEmulator } from '../../support/emulator.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud' })

const flags = () => asOptions(inputsFor(emulator(), 'clickhouse-cloud')).flags

/** The error of a command with `--json`, whose stdout is one JSON object. */
async function errorOf(args: readonly string[]) {
  const { exitCode, stdout } = await runCliInside([...args, '--json'], { env: { WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret } })
  const { error } = z.object({ status: z.literal('error'), error: resultErrorSchema.strict() }).parse(JSON.parse(stdout))
  return { exitCode, ...error }
}

describe('an error with --json is one JSON object', () => {
  it('an error with --json has every wrong input, and the schema of the operation as the next command', async () => {
    const error = await errorOf(['usage-cost', '--budget', 'lots', '--period', 'never', ...flags()])
    expect(error).toMatchObject({ exitCode: 2, kind: 'input', retryable: false, nextCommand: 'watchkeeper schema usage-cost' })
    expect(error.diagnostics.map(({ location }) => location.file).sort()).toEqual(['budget', 'period'])
    expect(error.message).toContain('budget: "lots" is not accepted')
    expect((await errorOf(['create-alert'])).diagnostics).toContainEqual(
      expect.objectContaining({ rule: 'missing-input', location: { file: 'alert' } }),
    )
  })

  it('an error with --json has the same form for an unknown command, an unknown option and an unknown operation', async () => {
    expect(await errorOf(['aply'])).toMatchObject({
      kind: 'input',
      message: 'Unknown command aply. Did you mean apply?',
      nextCommand: 'watchkeeper schema',
    })
    expect(await errorOf(['plan', '--filez', 'x'])).toMatchObject({ kind: 'input', nextCommand: 'watchkeeper schema plan' })
    expect(await errorOf(['schema', 'aply'])).toMatchObject({ kind: 'input', nextCommand: 'watchkeeper schema' })
  })

  it('an error with --json has doctor for the same service as the next command, without the key', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 401 } })
    const error = await errorOf(['list-alerts', ...flags()])
    expect(error).toMatchObject({ exitCode: 3, kind: 'authentication', retryable: false, httpStatus: 401, diagnostics: [] })
    expect(error.nextCommand).toBe(
      `watchkeeper doctor --api-url ${emulator().url} --api-key-id ${demo.apiKeyId} --organization-id ${demo.organizationId} --service-id ${demo.services.checkout} --json`,
    )
  })

  it('an error with --json has pull as the next command where no file matches, and init without a server', async () => {
    const missing = ['--files', 'none/*.yml']
    expect((await errorOf(['plan', '--project', 'shop/main', ...missing, ...flags()])).nextCommand).toMatch(/^watchkeeper pull --api-url /)
    expect((await errorOf(['validate', ...missing])).nextCommand).toBe('watchkeeper init')
  })

  it('an error with --json says whether the same command may succeed later', async () => {
    emulator().addFault({ times: 100, effect: { kind: 'status', status: 503 } })
    expect(await errorOf(['list-alerts', '--max-attempts', '1', ...flags()])).toMatchObject({ kind: 'server', retryable: true })
  })
})

describe('the next command', () => {
  const given = { name: 'apply', inputs: { files: 'a b.yml\nc.yml', prune: 'true', maxDeletes: '9' }, yes: true } as const

  it('the next command is the same command after the rate limit', () => {
    expect(nextCommand({ ...given, isWrite: true }, { kind: 'rate-limited', diagnostics: [] })).toBe(
      "watchkeeper apply --files 'a b.yml' --files c.yml --prune --max-deletes 9 --yes --json",
    )
  })

  it('the next command is the same command only after what time cures', () => {
    const again = nextCommand({ ...given, isWrite: true }, { kind: 'rate-limited', diagnostics: [] })
    const kinds = (Object.keys(errorKinds) as (keyof typeof errorKinds)[]).filter(
      (kind) => nextCommand({ ...given, isWrite: true }, { kind, diagnostics: [] }) === again,
    )
    expect(kinds).toEqual(['rate-limited', 'deadline'])
    const cured = Object.entries(errorKinds).flatMap(([kind, { cure }]) => (cure === 'time' ? [kind] : []))
    expect(cured).toEqual(['rate-limited', 'server', 'network', 'timeout', 'deadline'])
  })

  it('the next command is a plan after an apply that was not completed or not allowed, and a list after a single write', () => {
    const plan = "watchkeeper plan --files 'a b.yml' --files c.yml --prune --max-deletes 9 --json"
    for (const kind of ['incomplete', 'may-exist', 'canceled'] as const)
      expect(nextCommand({ ...given, isWrite: true }, { kind, diagnostics: [] })).toBe(plan)
    const refused = { rule: 'input', severity: 'error', message: '', location: { file: 'operation' } } as const
    const other = { ...refused, location: { file: 'files' } }
    for (const diagnostics of [[refused], [other, refused]])
      expect(nextCommand({ ...given, isWrite: true }, { kind: 'input', diagnostics })).toBe(plan)
    expect(nextCommand({ ...given, isWrite: true }, { kind: 'input', diagnostics: [other] })).toBe('watchkeeper schema apply')
    const reporting = { ...given, inputs: { ...given.inputs, reports: 'json=apply.json' }, isWrite: true }
    expect(nextCommand(reporting, { kind: 'incomplete', diagnostics: [] })).toBe(plan)
    const create = { ...given, name: 'create-alert', inputs: {}, isWrite: true } as const
    expect(nextCommand(create, { kind: 'may-exist', diagnostics: [] })).toBe('watchkeeper list-alerts --json')
  })

  it('the next command is the same one after a read that was canceled', () => {
    const list = { ...given, name: 'list-alerts', inputs: { select: 'x' }, yes: false, isWrite: false } as const
    expect(nextCommand(list, { kind: 'canceled', diagnostics: [] })).toBe('watchkeeper list-alerts --select x --json')
  })

  it('the next command does not seem to switch read-only off', () => {
    const silence = { ...given, name: 'silence-alerts', inputs: { readOnly: 'false' }, isWrite: true } as const
    expect(nextCommand(silence, { kind: 'conflict', diagnostics: [] })).toBe('watchkeeper list-alerts --json')
    expect(nextCommand({ ...silence, inputs: { readOnly: 'true' } }, { kind: 'conflict', diagnostics: [] })).toContain(' --read-only ')
  })

  it('the next command is missing after a bug, which no command helps with', () => {
    expect(nextCommand({ ...given, isWrite: true }, { kind: 'bug', diagnostics: [] })).toBeUndefined()
  })
})
