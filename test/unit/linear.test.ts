import { describe, expect, it } from 'vitest'
import { readMemory } from '../../src/delivery/github/body.ts'
import { withAdoptedId } from '../../src/kinds/base.ts'
import { readTextMarker, readTextSecrets, withoutTextMarker } from '../../src/kinds/marker.ts'
import { credentialIn } from '../../src/platform/core/credentials.ts'
import * as escapes from '../../src/platform/core/escape.ts'
import { parseJson, parseJsonOrUndefined } from '../../src/platform/core/json.ts'
import { toPlainText, untrustedSentence } from '../../src/platform/core/line.ts'
import { createRedact } from '../../src/platform/core/secrets.ts'
import { readDocument } from '../../src/platform/documents/document.ts'
import { interpolate, newRoom } from '../../src/platform/documents/expressions.ts'
import { parseApiUrl } from '../../src/platform/http/proxy.ts'
import { createCopiedUrls, webhookSecrets } from '../../src/platform/http/webhook-url.ts'
import { parseCondition } from '../../src/platform/operation/select.ts'
import { causeOfVerdict } from '../../src/runtime/run-result.ts'
import { parseFormula } from '../../src/signals/backtest/formula.ts'
import { toField } from '../../src/signals/backtest/query.ts'
import { kindOfType } from '../../src/signals/backtest/read-windows.ts'
import { luceneColumns, sqlInLucene } from '../../src/signals/backtest/terms.ts'
import { cpuMsOf, cpuRatio, tenfold } from '../support/clocks.ts'

const copies = (count: number) => {
  const urls = createCopiedUrls()
  urls.add(Array.from({ length: count }, (_, i) => `https://hooks${i % 50}.example/services/T024BE7LD/${i}/xkQpWrTzLmNvB`))
  return createRedact([], urls.search)
}

const redactGiven = createRedact([
  'Canary-SECRET-1',
  'correct horse battery staple',
  'https://hooks.example/in/aB3dEf6hI?room=observability',
])
const redactCopies = copies(100)

/** What reads, hides or takes apart text of others. Checks of SQL have a test of their own. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  ...{ parseJsonOrUndefined, parseJson, credentialIn, webhookSecrets, parseCondition, parseApiUrl, parseFormula, toField, kindOfType },
  ...{
    readTextMarker,
    readTextSecrets,
    withoutTextMarker,
    readMemory,
    luceneColumns,
    sqlInLucene,
    redactGiven,
    redactCopies,
  },
  parseString: (text) => parseJson(`["${text}`),
  readDocument: (text) => readDocument(text, 'a.yml'),
  readBlock: (text) => readDocument(`a: |\n  ${text}`, 'a.yml'),
  interpolate: (text) => interpolate(text, { variable: () => 'x', room: newRoom() }),
  withAdoptedId: (text) => withAdoptedId([text], 'a@b'),
  causeOfVerdict: (text) => causeOfVerdict({ status: 'fail', sentence: [{ kind: 'untrusted', text }], reasons: [] }),
  untrustedSentence: (text) => toPlainText(untrustedSentence(text)),
  ...Object.fromEntries(
    Object.entries(escapes).map(([name, render]) => [
      name,
      (text: string) => (render as (text: unknown) => unknown)(name === 'markdownDiff' ? [text] : text),
    ]),
  ),
}

const parts = [
  ...[
    'a',
    ' ',
    '\n',
    'a ',
    ' \n',
    '\t',
    '.',
    ',',
    ':',
    '-',
    '--',
    '/',
    '//',
    '/./',
    '@',
    '_',
    '=',
    '#',
    '1',
    '1:',
    ':1',
    'T',
    '`',
    '\\',
    "'",
    '"',
  ],
  ...[
    '\\"',
    "'\\",
    "\\'",
    '(',
    '[',
    '{',
    '[]',
    '()',
    '{"a":',
    '[{"]\\\\\\"":',
    '<',
    '<a',
    '<!--',
    '/*',
    '&',
    '&amp;',
    '&amp;#x',
    '&#1 ',
    '%',
    '%25',
  ],
  ...[
    '%41',
    '\\u',
    '\\u0041',
    '$',
    '${{',
    `\${{ env.A }}`,
    '$__',
    'a:',
    'a: ',
    '- ',
    '&a ',
    '*a ',
    '? ',
    'a@',
    'a@b ',
    ' as',
    ' (1',
    '(0',
    '[watchkeeper',
  ],
  ...[
    'watchkeeper:',
    'YWJjZGVm',
    '616263',
    'Canary-SECRET-',
    'hooks.example/',
    'hooks1.example/services/',
    'https://',
    'password=',
    'Bearer ',
  ],
]

/** How long a reader takes, and why it throws: not for an error that says what is wrong with the text. */
function measure(reader: (text: string) => unknown, text: string) {
  let failure: unknown
  const ms = cpuMsOf(() => {
    try {
      reader(text)
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError) && !/nested deeper/.test(String(thrown))) failure = thrown
    }
  })
  return { ms, failure }
}

describe('a loop over data of others is linear', () => {
  it('R4: ten times the text takes each reader, redactor and tokenizer about ten times as long, whatever it is made of', {
    tags: 'slow',
  }, async () => {
    const wrong: string[] = []
    for (const [name, reader] of Object.entries(readers))
      for (const part of parts) {
        const [short, long] = [3_000, 30_000].map((length) => part.repeat(length / part.length))
        const { ms, failure } = measure(reader, long ?? '')
        // Quadratic work would take far longer.
        const isFast = ms < 30
        const ratio = isFast
          ? 0
          : await cpuRatio(
              () => measure(reader, long ?? ''),
              () => measure(reader, short ?? ''),
            )
        if (failure !== undefined || ratio > tenfold) wrong.push(`${name}, ${part}: ${failure ?? ratio}`)
      }
    expect(wrong).toEqual([])
  })

  it('R4: ten times the webhooks do not make a search take longer', { tags: 'slow' }, async () => {
    const text = Array.from({ length: 2000 }, (_, i) => `see hooks${i % 50}.example/help/${i}`).join(' ')
    const [few, many] = [copies(600), copies(6000)]
    expect(
      await cpuRatio(
        () => many(text),
        () => few(text),
        4,
      ),
    ).toBeLessThan(4)
  })
})
