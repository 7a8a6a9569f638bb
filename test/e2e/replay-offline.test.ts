import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url).pathname

/** Runs the action from its source, and returns the files of which it called a function. */
async function enteredFiles(inputs: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-walk-'))
  try {
    for (const [name, text] of Object.entries({ output: '', summary: '', ...files })) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    await run(process.execPath, [join(root, 'test/support/entered-files.ts')], {
      env: {
        PATH: process.env.PATH,
        GITHUB_OUTPUT: join(directory, 'output'),
        GITHUB_STEP_SUMMARY: join(directory, 'summary'),
        GITHUB_WORKSPACE: directory,
        RUNNER_TEMP: directory,
        ENTERED_FILES: join(directory, 'entered.json'),
        ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
      },
    })
    const outputs = await readFile(join(directory, 'output'), 'utf8')
    if (!outputs.includes('pass')) throw new Error(`The run did not pass: ${outputs}`)
    const entered = JSON.parse(await readFile(join(directory, 'entered.json'), 'utf8')) as string[]
    // The entry point itself is replaced by the process that measures.
    return ['action.ts', ...entered]
  } finally {
    await rm(directory, { recursive: true })
  }
}

it('V12: replay uses no file of the HTTP client', async () => {
  const names = ['checkout.yml', 'recordings/payments-down/checkout-errors.json']
  const files = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(root, 'examples/incidents', name), 'utf8')] as const)),
  )
  const entered = await enteredFiles({ operation: 'replay', profile: 'hyperdx', files: 'checkout.yml' }, files)
  expect(entered).toContain('sync/replay.ts')
  expect(entered.filter((file) => /^platform\/(?:http|api)\/(?!profiles|proxy|cancellation)/.test(file))).toEqual([])
})
