import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BodyContext, markerOf, readBody, writeBody, writeIssueComment } from '../../src/delivery/github/body.ts'
import type { Effect } from '../../src/emulator/index.ts'
import { alertCollection } from '../../src/kinds/alert/alert.ts'
import { dashboardCollection } from '../../src/kinds/dashboard/dashboard-wire.ts'
import { isOf } from '../../src/kinds/kinds.ts'
import { checkReferences } from '../../src/kinds/references.ts'
import type { ErrorKind } from '../../src/platform/core/errors.ts'
import { say, untrusted } from '../../src/platform/core/line.ts'
import { readDocument } from '../../src/platform/documents/document.ts'
import type { Block } from '../../src/platform/report/blocks.ts'
import { renderMarkdown } from '../../src/platform/report/markdown.ts'
import { lint } from '../../src/sync/declarations/lint.ts'
import { cpuRatio, tenfold } from '../support/clocks.ts'
import { forEachEntry, hostile, hostileYaml } from '../support/corpus.ts'
import { fileWith, readText, readValue, written } from '../support/declarations.ts'
import { useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'
import { contentOf } from '../support/notify.ts'
import { kindsIn, unexpectedHtml } from '../support/output-oracle.ts'
import { apiErrorOf, service, type TestSession, withSession } from '../support/session.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const list = ({ api }: TestSession) => alertCollection.list(api, service)

const gzipped = (text: string) => ({ kind: 'body', bytes: gzipSync(text), headers: { 'content-encoding': 'gzip' } }) as const

// Each of these once took minutes, with deadline and signals unheard: nothing else runs while one of them is read.
describe('an answer that is made to be slow is refused in time that grows with the answer', () => {
  const strings = (count: number): string => '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",'.repeat(count)
  const page = (text: string): Effect => ({ kind: 'status', status: 400, body: text, contentType: 'text/html' })

  it.each<[string, number, (count: number) => Effect, ErrorKind]>([
    ['a page of nothing but opening brackets', 1_000_000, (count) => page('<'.repeat(count)), 'refused'],
    ['a million elements that do not fit', 1_000_000, (count) => gzipped(`[${'0,'.repeat(count)}0]`), 'bad-answer'],
    ['a mistake at the end of 16 MB', 290_000, (count) => gzipped(`[${strings(count)}}`), 'bad-answer'],
  ])('%s', async (_, count, effectOf, kind) => {
    const prepare = (effect: Effect) => async () => {
      emulator().reset()
      expect((await apiErrorOf(withSession(emulator(), list, { faults: [{ times: 2, effect }] }))).kind).toBe(kind)
    }
    expect(await cpuRatio(prepare(effectOf(count)), prepare(effectOf(count / 10)))).toBeLessThanOrEqual(tenfold)
  })
})

describe('a 404', () => {
  it.each([
    ['without a body', ''],
    ['with a page', '<html><body>Cannot GET /x</body></html>'],
  ])('%s is an address that does not serve the API', async (_, body) => {
    const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ effect: { kind: 'status', status: 404, body } }] }))
    expect(error.kind).toBe('not-served')
  })

  it('a 404 without a body deletes nothing', async () => {
    const remove = ({ api }: TestSession) => alertCollection.remove(api, service, '65f5e4a35eedc0de0000001f')
    const error = await apiErrorOf(withSession(emulator(), remove, { faults: [{ effect: { kind: 'status', status: 404, body: '' } }] }))
    expect(error.kind).toBe('not-served')
  })

  it('a 404 of a list is about the service', async () => {
    const elsewhere = { ...service, serviceId: 'c0ffee00-0000-4000-8000-0000000000ff' }
    const error = await apiErrorOf(withSession(emulator(), ({ api }) => dashboardCollection.list(api, elsewhere)))
    expect(error.message).toContain('The service does not exist')
  })
})

describe('closing a session', () => {
  it('ends what is still under way: the report of a failed window does not wait for the others', async () => {
    const ended = withSession(
      emulator(),
      async (session) => {
        const waiting = list(session).catch((thrown: unknown) => thrown)
        while (emulator().requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
        await session.close()
        return waiting
      },
      { faults: [{ effect: { kind: 'hang' } }] },
    )
    expect(await ended).toMatchObject({ kind: 'canceled' })
  })
})

const messagesOf = (text: string): readonly string[] => {
  const reading = readDocument(text, 'f.yml')
  return 'diagnostics' in reading ? reading.diagnostics.map(({ message }) => message) : []
}

/** Three hundred lines, read so often, are what a hostile document may take. */
const plain = Array.from({ length: 300 }, (_, i) => `key-${i}: value`).join('\n')
const maxPlain = 150

it('reading a hostile document gives a document or a few diagnostics, and takes no longer than some plain documents', () =>
  forEachEntry(hostileYaml, async ({ text, message }) => {
    const messages = messagesOf(text)
    const ratio = await cpuRatio(
      () => messagesOf(text),
      () => messagesOf(plain),
      maxPlain,
    )
    expect(ratio).toBeLessThanOrEqual(maxPlain)
    if (message === undefined) expect(messages).toEqual([])
    else expect(messages[0]).toMatch(message)
    expect(messages.length).toBeLessThanOrEqual(20)
  }))

it('reading a hostile document does not change the depth of stack traces', () => {
  const before = Error.stackTraceLimit
  for (const { text } of hostileYaml.filter(({ text }) => text.length < 10_000)) messagesOf(text)
  expect(Error.stackTraceLimit).toBe(before)
})

it('validate reports a hostile document as a diagnostic', () =>
  forEachEntry(
    hostileYaml.filter(({ text }) => text.length < 100_000),
    async ({ text, message: expected }) => {
      const { document } = await invokeText({
        inputs: { operation: 'validate', profile: 'clickhouse-cloud' },
        files: { 'observability/a.yml': text },
      })
      const syntax = (document.diagnostics as { rule: string; message: string }[]).filter(({ rule }) => rule === 'syntax')
      expect(document.error).toBeUndefined()
      if (expected === undefined) expect(syntax).toEqual([])
      else expect(syntax[0]?.message).toMatch(expected)
    },
  ))

const kinds = ['root', 'heading', 'paragraph', 'text', 'inlineCode', 'list', 'listItem', 'table', 'tableRow', 'tableCell', 'html', 'code']
const expected = new Set([...kinds, 'emphasis'])

const everywhere = (text: string): readonly Block[] => [
  { kind: 'verdict', status: 'pass', line: say`Alert ${text}` },
  { kind: 'paragraph', line: say`${text}` },
  { kind: 'list', items: [say`${text}`, say`x ${text} y`] },
  { kind: 'facts', facts: [{ label: 'Name', value: [untrusted(text)] }] },
  { kind: 'table', columns: [{ title: 'Name' }], rows: [[[untrusted(text)]]] },
  { kind: 'details', title: text, blocks: [{ kind: 'paragraph', line: say`${text}` }] },
  { kind: 'message', text: text.slice(0, 2000) },
  { kind: 'preformatted', text: text.slice(0, 2000) },
]

it('every hostile text is shown as text only in a summary', () =>
  forEachEntry(hostile, ({ value }) => {
    const text = renderMarkdown(everywhere(value))
    expect([...kindsIn(text)].filter((kind) => !expected.has(kind))).toEqual([])
    expect(unexpectedHtml(text)).toEqual([])
  }))

const contextFor = (blocks: readonly Block[]): BodyContext => ({
  content: contentOf('fail', { blocks }),
  label: 'cost',
  run: {
    apiUrl: new URL('https://api.example'),
    proxy: {},
    owner: 'acme',
    repository: 'shop',
    url: undefined,
    job: 'cost',
    labelParts: [],
    commit: '',
    branch: '',
    refName: '',
    ghRepository: 'acme/shop',
    rerunCommand: undefined,
    pullRequest: 12,
    isFromFork: false,
  },
  redact: (text) => text,
})

const ownComments = /^(?:<!-- watchkeeper (?:comment|memory): [^<>]* -->\s*)+$/

it('every hostile text is shown as text only in a comment, also in its folded previous report', () =>
  forEachEntry(
    hostile.filter(({ id }) => !id.startsWith('size')),
    ({ value }) => {
      const harmless: readonly Block[] = [{ kind: 'verdict', status: 'fail', line: say`It is ${'new'}` }]
      const write = (blocks: readonly Block[], old?: string) => writeBody('comment', contextFor(blocks), old)
      const body = write(harmless, write(everywhere(value)))
      const again = write(everywhere(value), body)
      for (const text of [body, again, writeIssueComment('Now.', contextFor(everywhere(value)))]) {
        expect([...kindsIn(text)].filter((kind) => !expected.has(kind))).toEqual([])
        expect(unexpectedHtml(text).filter((html) => !ownComments.test(html.trim()))).toEqual([])
      }
      const { report } = readBody(again, markerOf('comment', 'cost'))
      expect(report).toContain('Alert')
      const folds = [...again.matchAll(/<details><summary>Previous report<\/summary>([\s\S]*?)<\/details>/g)]
      expect(folds.map(([, text]) => text)).toEqual([expect.stringContaining('`new`')])
    },
  ))

it('every hostile text stays inside the marker as a label', () =>
  forEachEntry(
    hostile.filter(({ id }) => !id.startsWith('size')),
    ({ value }) => {
      const mark = markerOf('issue', value)
      expect(mark).toMatch(/^<!-- watchkeeper issue: [\w.~%]* -->$/)
      expect(mark.slice(4, -3)).not.toContain('--')
    },
  ))

describe('any file of declarations', () => {
  /** The number of diagnostics, and those without a usable location or message. */
  const check = (value: unknown) => {
    const read = readValue(value, { X: '1' })
    const all = [...read.diagnostics, ...checkReferences(read), ...lint(read, {})]
    const odd = all.filter(({ location, rule, message }) => {
      const hasPlace = location.file === 'f.yml' && Number(location.line) >= 1 && Number(location.column) >= 1
      return !hasPlace || rule === '' || !/^(?!.*(?:\[object|undefined|NaN)).+$/s.test(message)
    })
    return { count: read.diagnostics.length + read.objects.length, odd }
  }

  /** What a message must not contain, unless the file itself contains it. */
  const words = /object|undefined|NaN/

  it('yields diagnostics or objects, and never an exception', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!words.test(JSON.stringify(value)) && JSON.stringify(value) !== '{}')
        const { count, odd } = check(value)
        expect(odd).toEqual([])
        expect(count).toBeGreaterThan(0)
      }),
      { numRuns: 100 },
    )
  })

  it('any file of declarations may have keys that every object inherits', () => {
    for (const name of ['toString', 'valueOf', 'toJSON', '__proto__', 'constructor'])
      for (const value of [{ [name]: [] }, { alerts: { a: { [name]: [], interval: { [name]: [] }, dashboard: { [name]: [] } } } }])
        expect(check(JSON.parse(JSON.stringify(value))).count).toBeGreaterThan(0)
    expect(check([{ toString: [] }]).odd).toEqual([])
  })

  it('any file of declarations may be any text', () => {
    const part = fc.constantFrom(
      'alerts',
      ': ',
      '\n',
      '  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '&a',
      '*a',
      '"',
      "'",
      '|',
      '>',
      '#',
      '!',
      '%',
      '?',
      'x',
      '1',
      written('‹env.X›'),
      '<<',
      '---',
      '\t',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        readText(parts.join(''), { X: '1' })
      }),
      { numRuns: 100 },
    )
  })

  it('any file of declarations may have objects with any fields', () => {
    const names = [
      'name',
      'tiles',
      'dashboard',
      'tile',
      'savedSearch',
      'threshold',
      'channel',
      'channels',
      'config',
      'raw',
      'sourceId',
      '__proto__',
    ]
    const section = fc.constantFrom('dashboard', 'savedSearch', 'alert')
    const object = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6, noNullPrototype: true })
    const objects = fc.dictionary(fc.constantFrom('a', 'b', 'alerts'), object, { minKeys: 1, noNullPrototype: true })
    fc.assert(
      fc.property(section, objects, object, (name, declared, defaults) => {
        fc.pre(!words.test(JSON.stringify([declared, defaults])))
        expect(check({ [name]: declared })).toMatchObject({ count: expect.any(Number), odd: [] })
        expect(check({ [name]: declared, defaults: { [name]: defaults } }).odd).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('any file of declarations may hold every hostile text of the corpus', () =>
    forEachEntry(
      // Larger texts take their time in the parser, which has a test of its own.
      hostileYaml.filter(({ text }) => text.length < 100_000),
      async ({ text }) => {
        const ratio = await cpuRatio(
          () => readText(text),
          () => readText(plain),
          maxPlain,
        )
        expect(ratio).toBeLessThanOrEqual(maxPlain)
      },
    ))

  it('keeps a hostile name unchanged', () =>
    forEachEntry(
      hostile.filter(({ value }) => value.length < 1024),
      ({ value }) => {
        const name = value.toWellFormed()
        const { objects, diagnostics } = readValue(fileWith({ alert: { message: `x${name}` }, tile: { name: `x${name}` } }))
        if (name.includes(written('‹').trim())) expect(diagnostics.map(({ rule }) => rule)).toContain('variable')
        else expect(objects.find(isOf('alert'))?.value.message).toBe(`x${name}`)
      },
    ))
})
