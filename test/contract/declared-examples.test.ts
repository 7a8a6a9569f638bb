// The files that people copy are files that work: each is checked, applied to the emulator, and then nothing is left to do.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const root = new URL('../..', import.meta.url).pathname
const examples = ['observability', 'starter', 'adopt'].flatMap((folder) =>
  readdirSync(`${root}/examples/${folder}`).map((name) => `examples/${folder}/${name}`),
)

const env = { SERVICE: 'checkout', WEBHOOK: 'oncall', ERRORS_PER_FIVE_MINUTES: '20', GITHUB_REPOSITORY: 'shop/infra' }

const run = (operation: string, path: string) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation },
    env,
    files: { [path.replace('examples', 'observability')]: readFileSync(`${root}/${path}`, 'utf8') },
  })

it.each(examples)('%s can be applied, and then there is no drift', async (path) => {
  const { document: checked } = await run('validate', path)
  expect([checked.status, checked.findings]).toEqual(['pass', expect.not.arrayContaining([expect.objectContaining({ severity: 'error' })])])
  const { document: applied } = await run('apply', path)
  expect([applied.status === 'error', applied.changed]).toEqual([false, true])
  const { document: drift } = await run('drift', path)
  expect(drift).toMatchObject({ changed: false, toAdopt: 0 })
  expect(['pass', 'warn']).toContain(drift.status)
})
