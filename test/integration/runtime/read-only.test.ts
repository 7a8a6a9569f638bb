import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { createClient } from '../../../src/index.ts'
import { toKebab } from '../../../src/platform/core/names.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { asOptions, ids, inputsFor, storesNothing, useEmulator } from '../../support/emulator.ts'
import { allOperations, placeFor, useExampleDirectory } from '../../support/examples.ts'
import { invokeText } from '../../support/invoke.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const root = useExampleDirectory()

const inputs = () => inputsFor(emulator(), 'clickhouse-cloud')
const flags = () => asOptions(inputs()).flags
const key = { WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret }
const variable = { ...key, WATCHKEEPER_READ_ONLY: 'true' }

const writing = allOperations.filter(({ operation }) => operation.effect === 'write')

const callOf = ({ name, operation }: (typeof allOperations)[number]): readonly string[] => [
  name,
  ...Object.entries(operation.example).flatMap(([input, value]) =>
    [value].flat().flatMap((one) => [...(input === operation.positional ? [] : [`--${toKebab(input)}`]), String(one)]),
  ),
]

describe('a read-only run', () => {
  it('W14: refuses every operation that writes before the first request, by option and by variable', async () => {
    expect(writing.length).toBeGreaterThan(6)
    await forEachEntry(writing, async (one) => {
      for (const [args, env] of [
        [[...flags(), '--read-only'], key],
        [flags(), variable],
      ] as const) {
        const ran = await runCliInside([...callOf(one), ...args, '--yes'], { env, directory: root() })
        expect([one.name, ran.exitCode]).toEqual([one.name, 2])
        expect(ran.stderr).toContain(`${one.name} writes to the service, but read-only is set`)
      }
    })
    expect(emulator().requests).toEqual([])
  })

  it('W14: a read-only run is not switched off by an option or a file of the repository', async () => {
    const args = ['delete-alert', ids.alert, ...flags(), '--yes', '--read-only', 'false']
    const refused = await runCliInside(args, { env: variable })
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining('delete-alert writes to the service, but read-only is set'),
    ])
    const file = await invokeText({
      inputs: { operation: 'list-sources', ...inputs() },
      env: variable,
      files: { '.watchkeeper.yml': 'read-only: false\n' },
    })
    expect(file.reason).toBe(
      '.watchkeeper.yml:1:1: "read-only" cannot be set in a file of the repository; set it as an input or a WATCHKEEPER_ variable',
    )
    expect(emulator().requests).toEqual([])
    // Without the variable, the same options delete the alert.
    expect((await runCliInside(args, { env: key })).exitCode).toBe(0)
  })

  it('rejects a variable that is neither true nor false, also beside a valid option', async () => {
    const ran = await runCliInside(['apply', ...flags(), '--yes', '--read-only', 'false'], {
      env: { ...key, WATCHKEEPER_READ_ONLY: 'yes' },
    })
    expect(ran).toMatchObject({ exitCode: 2 })
    expect(ran.stderr).toContain('"yes" is not accepted; accepted: true or false')
    expect(emulator().requests).toEqual([])
  })

  it('W14: refuses comments, issues and notifications before the first request, and sends none about this error', async () => {
    const ran = await invokeText({
      inputs: {
        operation: 'list-sources',
        ...inputs(),
        issue: 'on-failure',
        'notify-url': 'https://hooks.slack.com/services/T0/B0/abcdefgh',
      },
      env: { WATCHKEEPER_READ_ONLY: 'true' },
      files: { '.watchkeeper.yml': 'comment: always\n' },
      isAction: true,
    })
    for (const line of [
      '.watchkeeper.yml:1:10: comment: writes comments, but read-only is set, as an option or as WATCHKEEPER_READ_ONLY; set comment: off',
      'issue: writes issues, but read-only is set',
      'notify-url: sends notifications, but read-only is set',
    ])
      expect(ran.reason).toContain(line)
    const { comment, issue, notifyUrl } = ran.publishSettings
    expect([comment, issue, notifyUrl]).toEqual([undefined, undefined, undefined])
    expect(emulator().requests).toEqual([])
  })

  it('ignores comment and issue where the command line writes none', async () => {
    const ran = await invokeText({
      inputs: { operation: 'list-sources', ...inputs(), 'read-only': 'true' },
      files: { '.watchkeeper.yml': 'comment: always\n' },
    })
    expect(ran.document.status).toBe('pass')
  })

  it('W4: runs every operation that reads, which sends GET requests and POST requests that store nothing', { tags: 'slow' }, () =>
    forEachEntry(
      allOperations.filter(({ operation }) => operation.effect === 'read'),
      async (one) => {
        const sql = { 'sql-url': emulator().url, 'sql-key-id': demo.apiKeyId, 'sql-key-secret': demo.apiKeySecret }
        const place = asOptions({ ...inputs(), ...sql, ...placeFor(one.operation, emulator()) })
        const ran = await runCliInside([...callOf(one), ...place.flags, '--read-only'], { env: place.variables, directory: root() })
        expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining('read-only')])
        expect(emulator().requests.length > 0).toBe(one.operation.scope !== 'none')
        expect(emulator().requests.filter((request) => request.method !== 'GET' && !storesNothing(request))).toEqual([])
      },
      { before: () => emulator().reset() },
    ),
  )

  it('a read-only run is an option of the library', async () => {
    const client = createClient({ variables: { WATCHKEEPER_API_URL: emulator().url }, profile: 'clickhouse-cloud', readOnly: true })
    await expect(client.deleteAlert({ id: '65f5e4a35eedc0de0000001f' })).rejects.toThrow('but readOnly is set')
    expect(emulator().requests).toEqual([])
  })
})
