// Streams that break and variables that are wrong. The verdict is the same.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demo, type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { runWithFailure } from '../../support/faults.ts'

const root = new URL('../../..', import.meta.url).pathname
const execute = promisify(execFile)

let directory: string
let emulator: Emulator
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-surroundings-'))
  emulator = await startEmulator()
})
afterAll(async () => {
  await emulator.close()
  await rm(directory, { recursive: true })
})

const environment = (file: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  WATCHKEEPER_API_URL: emulator.url,
  WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
  WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
  WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
  WATCHKEEPER_SERVICE_ID: demo.services.checkout,
  INPUT_REPORTS: `json=${file}`,
  INPUT_OPERATION: 'usage-cost',
  INPUT_PERIOD: 'last-30-days',
  INPUT_BUDGET: '0',
  GITHUB_OUTPUT: join(directory, 'output'),
  GITHUB_STEP_SUMMARY: join(directory, 'summary'),
})

/** Through a shell, whose last word is the exit code of the program and not of its reader. */
async function shell(line: string): Promise<{ readonly code: number; readonly status: unknown }> {
  const file = join(directory, `${Math.random()}.json`)
  for (const name of ['output', 'summary']) await writeFile(join(directory, name), '', { flag: 'a' })
  const script = line
    .replaceAll('ACTION', `"${process.execPath}" "${root}dist/index.js"`)
    .replaceAll('CLI usage-cost', `"${process.execPath}" "${root}npm/cli.js" usage-cost --reports json="${file}"`)
  const { stdout } = await execute('bash', ['-c', `set +e; ${script}; echo "code:$CODE"`], { env: environment(file) })
  const result = JSON.parse(await readFile(file, 'utf8')) as { status: unknown }
  return { code: Number(/code:(\d+)/.exec(stdout)?.[1]), status: result.status }
}

describe.concurrent('V4: a reader that goes away changes no verdict', () => {
  it.each<[string, string, number]>([
    ['after one line of the log', '(ACTION; echo $? >&3) 3>code | head -1 >/dev/null; sleep 0.1; CODE=$(cat code)', 1],
    ['before the first line of the log', '(ACTION; echo $? >&3) 3>code | true; sleep 0.1; CODE=$(cat code)', 1],
    [
      'after one line of the report',
      '(CLI usage-cost --period last-30-days --budget 0; echo $? >&3) 3>code | head -1 >/dev/null; sleep 0.1; CODE=$(cat code)',
      10,
    ],
    ['with a log that was closed', 'ACTION >&- 2>&-; CODE=$?', 1],
    ['with a log that is full', 'ACTION >/dev/full 2>/dev/full; CODE=$?', 1],
    ['with a reader that is slow', '(ACTION; echo $? >&3) 3>code | (sleep 1; cat >/dev/null); sleep 0.1; CODE=$(cat code)', 1],
  ])('the verdict stays the same %s', async (name, line, code) => {
    const file = join(directory, `code-${name.replaceAll(' ', '-')}`)
    expect(await shell(line.replaceAll('3>code', `3>${file}`).replaceAll('cat code', `cat ${file}`))).toEqual({ code, status: 'fail' })
  })
})

describe.concurrent('a wrong environment is tolerated, or rejected with a reason', () => {
  it('gives the same verdict in unusual environments', () =>
    forEachEntry<[string, Readonly<Record<string, string>>]>(
      [
        ['a time zone that does not exist', { TZ: 'Mars/Olympus_Mons' }],
        ['a language of one byte for each letter', { LANG: 'C', LC_ALL: 'C' }],
        ['no home', { HOME: '' }],
        ['a home that does not exist', { HOME: '/nowhere' }],
        ['an empty proxy', { HTTPS_PROXY: '', HTTP_PROXY: ' ' }],
        ['debugging of the runner', { RUNNER_DEBUG: '1', ACTIONS_STEP_DEBUG: 'true' }],
      ],
      async (_, env) => {
        const { outcome } = await runWithFailure('read a cost', undefined, { env })
        expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET', added: 0, problems: [] })
      },
      { atOnce: 4 },
    ))

  it('a missing file of certificate authorities causes a warning of Node only', async () => {
    const env = { NODE_EXTRA_CA_CERTS: '/nowhere.pem' }
    const plain = await runWithFailure('read', undefined, { env })
    expect(plain.outcome).toMatchObject({ exitCode: 0, conclusion: 'pass' })
    const { outcome, ran } = await runWithFailure('read', undefined, { env, url: 'https://127.0.0.1:9', inputs: { 'max-attempts': '1' } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'network' })
    expect(ran.stderr).toContain('/nowhere.pem')
  })

  it('S3: unchecked certificates are rejected before anything is sent', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '' })
    expect(ran.outputs.get('failure-reason')).toContain('NODE_TLS_REJECT_UNAUTHORIZED: is 0')
  })
})
