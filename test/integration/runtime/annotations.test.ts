import { expect, it } from 'vitest'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import type { RanAction } from '../../support/run-process.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

/** Dashboards of one name, which is a warning for each but one, and unknown keys, which are errors. */
const file = (warnings: number, errors: number): string =>
  [
    'dashboards:',
    ...Array.from({ length: warnings + 1 }, (_, i) => `  same${i}: { name: Same, tiles: [] }`),
    ...Array.from({ length: errors }, (_, i) => `  wrong${i}:\n    name: Wrong ${i}\n    tiles: []\n    nonsense: 1`),
    '',
  ].join('\n')

const validate = (warnings: number, errors: number, env: Readonly<Record<string, string>> = {}): Promise<RanAction> =>
  runAsAction({
    inputs: { operation: 'validate', files: 'x.yml', profile: 'clickhouse-cloud' },
    files: { 'x.yml': file(warnings, errors) },
    env,
  })

const shown = ({ stdout }: RanAction, kind: string): readonly string[] =>
  stdout.split('\n').filter((line) => line.startsWith(`::${kind} `) || line.startsWith(`::${kind}::`))

it('shows ten errors and ten warnings of a step at most, by file and line, and counts the rest', async () => {
  const ran = await validate(30, 25)
  const [errors, warnings] = [shown(ran, 'error'), shown(ran, 'warning')]
  expect(errors).toHaveLength(10)
  expect(errors.filter((line) => /^::error file=x\.yml,line=\d+,col=\d+::/.test(line))).toHaveLength(9)
  expect(errors.at(-1)).toMatch(/^::error title=Watchkeeper validate::/)
  expect(warnings.length).toBeLessThanOrEqual(10)
  for (const warning of warnings) expect(warning).toMatch(/^::warning file=x\.yml,line=\d+,col=\d+::/)
  const { diagnostics = [] } = ran.result as { readonly diagnostics?: readonly { readonly severity: string }[] }
  const count = (severity: string): number => diagnostics.filter((one) => one.severity === severity).length
  expect(ran.stdout).toContain(`\n${count('error') - 9} more annotations with the severity error are in the summary.\n`)
  expect(ran.stdout).toContain(`\n${count('warning') - 9} more annotations with the severity warning are in the summary.\n`)
})

it('leaves room among them for what could not be written', async () => {
  const ran = await validate(30, 0, { GITHUB_OUTPUT: '/dev/full', GITHUB_STEP_SUMMARY: '/dev/full', RUNNER_TEMP: '/dev/null/nowhere' })
  const warnings = shown(ran, 'warning')
  expect(warnings).toHaveLength(10)
  expect(warnings.filter((line) => line.includes('could not be written'))).toHaveLength(3)
  expect(warnings.at(-1)).toMatch(/^::warning title=Watchkeeper validate::/)
})

it('the log of an apply has a line of progress every ten seconds, not one for each of 40 objects', { tags: 'slow' }, async () => {
  const savedSearches = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`s${i}`, { name: `S ${i}`, source: 'Logs' }]))
  const startedAtMs = performance.now()
  const ran = await runAsAction({
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'apply', project: 'shop/progress', files: 'a.json' },
    files: { 'a.json': JSON.stringify({ savedSearches }) },
    secrets,
  })
  expect(ran.result).toMatchObject({ status: 'pass', toCreate: 40 })
  expect((ran.stdout.match(/^\d+\/40 /gm) ?? []).length).toBeLessThanOrEqual((performance.now() - startedAtMs) / 10_000)
})
