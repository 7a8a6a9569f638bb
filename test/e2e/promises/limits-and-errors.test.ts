// R7 and R8: what people write is read within bounds, and whatever fails says what happened, where, and what to do.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../../src/documents/document.ts'
import type { Effect } from '../../../src/emulator/index.ts'
import { cpuMsOf } from '../../support/clocks.ts'
import { forEachEntry, maxMs } from '../../support/corpus.ts'
import { ids, inputsFor, useEmulator } from '../../support/emulator.ts'
import { runWithFailure, type TestAction } from '../../support/faults.ts'
import { invokeText } from '../../support/invoke.ts'
import { runAsAction } from '../../support/run-as-action.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const repeat = (count: number, make: (i: number) => string): string => Array.from({ length: count }, (_, i) => make(i)).join('')

/** Small to write down and large to read. */
const bombs: Readonly<Record<string, string>> = {
  'aliases of aliases': `a0: &a0 [x]\n${repeat(30, (i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(10)}]\n`)}`,
  'a long text behind 3,000 aliases': `a: &a ${'x'.repeat(1_000_000)}\nb: [${'*a, '.repeat(3000)}]\n`,
  'a long key behind 3,000 aliases': `a: &a { ${'x'.repeat(1000)}: 1 }\nb: [${'*a, '.repeat(6000)}]\n`,
  'an alias ten thousand times': `a: &a [${'x, '.repeat(1000)}]\nb: [${'*a, '.repeat(10_000)}]\n`,
  '101 levels': `a: ${'['.repeat(101)}${']'.repeat(101)}\n`,
  '20,000 levels': `a: ${'['.repeat(20_000)}`,
  '20,000 levels of blocks': repeat(1000, (i) => `${' '.repeat(i)}a:\n`),
  'a megabyte and more': `a: ${'x'.repeat(1024 * 1024)}\n`,
  'sixty thousand values': `a: [${'1,'.repeat(60_000)}]\n`,
  'thirty thousand keys': `{${repeat(30_000, (i) => `a${i},`)}}`,
  'ten thousand mistakes': repeat(10_000, () => 'a: b: c\n'),
  'quotes that do not close': `a: ${'"'.repeat(10_001)}\n`,
}

describe('R7: a file that is made to be slow or large is refused at once, with the place', () => {
  it('rejects every file that is built to be slow', () =>
    forEachEntry(Object.keys(bombs), (name) => {
      let reading: ReturnType<typeof readDocument> | undefined
      const ms = cpuMsOf(() => (reading = readDocument(bombs[name] ?? '', 'a.yml')))
      expect(ms).toBeLessThan(maxMs)
      expect(reading).toHaveProperty('diagnostics')
      const { diagnostics } = reading as { diagnostics: readonly { location: { file: string }; message: string }[] }
      expect(diagnostics.length).toBeLessThanOrEqual(20)
      for (const { location, message } of diagnostics) {
        expect(location.file).toBe('a.yml')
        expect(message.length).toBeLessThan(300)
      }
    }))

  it.each<[string, string]>([
    ['aliases of aliases', 'holds more than 50000 values'],
    ['20,000 levels', 'is nested deeper than 100 levels'],
    ['a megabyte and more', 'is larger than 1 MiB'],
  ])('the built bundle rejects a slow or large file at once: %s', async (name, words) => {
    const { outcome, ran } = await runWithFailure('create', undefined, {
      preload: {},
      files: { 'a.yml': bombs[name] ?? '' },
      inputs: { alert: 'a.yml' },
    })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '', added: 0 })
    expect(ran.outputs.get('failure-reason')).toContain(words)
    expect(ran.ending?.peakMegabytes).toBeLessThan(300)
  })

  const alertWith = (name: string): string => `alerts: { ${repeat(60, (i) => `a${i}: { name: "${name}" }, `)} }`
  const env = 'env.A'

  it.each<[string, string, string, string]>([
    ['a long value', 'x'.repeat(1_000_000), `\${{ ${env} }}`, `a.yml:1:23 error alerts.a0.name: \${{ ${env} }} is longer than 48 KiB`],
    [
      '60 names with 100 values',
      'x'.repeat(40_000),
      `\${{ ${env} }}`.repeat(100),
      'a.yml:1:6113: alerts.a5.name: the values of expressions make the files larger than 20 MB',
    ],
    [
      '600 values in one name',
      'x'.repeat(40_000),
      `\${{ ${env} }}`.repeat(600),
      'a.yml:1:23: alerts.a0.name: the values of expressions make the files larger than 20 MB',
    ],
  ])('the built bundle rejects files whose expressions make them large, with the place: %s', async (_, value, name, words) => {
    const ran = await runAsAction({
      preload: {},
      inputs: { ...inputsFor(emulator()), operation: 'validate', files: 'a.yml', env: 'prod' },
      files: { 'a.yml': alertWith(name), 'environments/prod.yml': `variables: { A: ${value} }` },
    })
    expect(ran).toMatchObject({ exitCode: 1 })
    expect(ran.stdout.replace(/ +/g, ' ')).toContain(words)
    expect(ran.ending?.peakMegabytes).toBeLessThan(300)
  })

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['update-alert', { alert: 'a.yml', id: ids.alert }, `{${repeat(20_000, (i) => `a${i}: 1,`)}}`],
    ['validate', { files: 'a.yml' }, `alerts: { x: {${repeat(10_000, (i) => `a${i}: 1,`)}} }`],
    ['validate', { files: 'a.yml' }, `alerts: {${repeat(8_000, (i) => `a${i}: 1,`)}}`],
  ])('reports a file with thousands of mistakes within seconds and on one screen: %s', async (operation, inputs, text) => {
    const startedAt = performance.now()
    const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation, ...inputs }, files: { 'a.yml': text } })
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    expect(ran.exitCode).toBe(2)
    expect(ran.reason.split('\n').length).toBeLessThanOrEqual(52)
  })

  const documents = JSON.parse(readFileSync(new URL('../../corpus/yaml.json', import.meta.url), 'utf8')) as {
    id: string
    value: string
    why: string
  }[]

  it('reads a strange document as written, or rejects it with its location', () =>
    forEachEntry(documents, async ({ value }) => {
      const files = { 'a.yml': value }
      const ran = await invokeText({
        inputs: { ...inputsFor(emulator()), operation: 'update-alert', id: ids.alert, alert: 'a.yml' },
        files,
      })
      if (ran.document.status === 'error') {
        expect(ran.document).toMatchObject({ error: { kind: 'input' } })
        expect(ran.reason).toMatch(/^(?:- )?a\.yml(?::\d+:\d+)?: /m)
        expect(emulator().requests).toEqual([])
      }
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
      expect(JSON.stringify(emulator().store)).not.toContain('polluted')
    }))
})

describe.concurrent('R8: an error says what happened, what to do, and which request it was', () => {
  const status = (code: number, more: object = {}): Effect => ({ kind: 'status', status: code, ...more })
  const where = (method: string, noun: string): string =>
    `Request: ${method} /v1/organizations/c0ffee00-0000-4000-8000-000000000001/services/c0ffee00-0000-4000-8000-0000000000c1/observability/${noun} at 127.0.0.1:PORT`

  it('explains every kind of failure', () =>
    forEachEntry<[TestAction, Effect, string]>(
      [
        [
          'read',
          status(401),
          `The API answered 401: INJECTED_FAULT: status 401 on request\nThe API rejects the key demo…0001. Check api-key-id and api-key-secret, and that the key is enabled and not expired.\n${where('GET', 'sources')} (request id ID)`,
        ],
        [
          'read',
          status(403),
          `The API answered 403: INJECTED_FAULT: status 403 on request\nThe key demo…0001 lacks a permission (needed: managing alerts and dashboards). Extend its role, or use another key.\n${where('GET', 'sources')} (request id ID)`,
        ],
        [
          'update',
          status(404),
          `The API answered 404: INJECTED_FAULT: status 404 on request\nThe alert does not exist, or the key demo…0001 has no access to it.\n${where('PUT', `alerts/${ids.alert}`)} (request id ID)`,
        ],
        [
          'read',
          status(404, { body: '<html>Cannot GET</html>' }),
          `The API answered 404: an HTML page, Cannot GET\nThis URL does not serve the API. Check api-url and observability-path (or profile).\n${where('GET', 'sources')}`,
        ],
        [
          'read',
          status(500),
          `The API answered 500: INJECTED_FAULT: status 500 on request\nThe server failed. Run this again later. If it continues, contact support with the request id.\n${where('GET', 'sources')} (request id ID, 2 attempts)`,
        ],
        [
          'update',
          status(503),
          `The API answered 503: INJECTED_FAULT: status 503 on request\nThe server may still have applied it: check the alert, or run this again.\n${where('PUT', `alerts/${ids.alert}`)} (request id ID, 2 attempts)`,
        ],
        [
          'create',
          status(502),
          `The API answered 502: INJECTED_FAULT: status 502 on request\nThe server may still have created the alert, so the request was not sent again. Check whether it exists before you run this again.\n${where('POST', 'alerts')} (request id ID)\nCurrently, no alert matches it.`,
        ],
        [
          'read',
          { kind: 'reset' },
          `No answer: the connection was closed before an answer (ECONNRESET)\nCheck api-url (127.0.0.1:PORT) and the network connection.\n${where('GET', 'sources')} (2 attempts)`,
        ],
        [
          'read',
          { kind: 'html' },
          `The API answered 200, but the answer is not JSON: an HTML page, Welcome to the guest network Please sign in Accept the terms \nCheck whether a proxy or a login page answers instead of the API.\n${where('GET', 'sources')} (2 attempts)`,
        ],
        [
          'read',
          { kind: 'body', text: '[{"id":7}]' },
          `The API answered 200, but the answer has an unexpected form: the answer[0].id is not of type string\n${where('GET', 'sources')}`,
        ],
      ],
      async (action, effect, message) => {
        const { outcome, ran, testApi } = await runWithFailure(action, { effect }, { times: 2, inputs: { 'max-attempts': '2' } })
        expect(outcome).toMatchObject({ exitCode: message.includes('The server may still') ? 4 : 1, problems: [] })
        const said = ran.outputs
          .get('failure-reason')
          ?.replaceAll(new URL(testApi.url).host, '127.0.0.1:PORT')
          .replace(/request id [0-9a-f-]{36}/, 'request id ID')
        expect(said).toBe(message)
        // The annotation and the summary name the operation.
        expect(ran.stdout).toContain(`::error title=Watchkeeper ${ran.result?.operation}::`)
        expect(ran.summary).toContain(String(ran.result?.operation))
      },
      { atOnce: 4 },
    ))
})
