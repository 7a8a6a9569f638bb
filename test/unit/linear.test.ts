import { describe, expect, it } from 'vitest'
import { readMemory } from '../../src/delivery/github/body.ts'
import { withAdoptedId } from '../../src/kinds/adopt.ts'
import { readTextMarker, readTextSecrets, readTextSnapshot, withoutTextMarker } from '../../src/kinds/marker.ts'
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
import { causeOfVerdict } from '../../src/runtime/cause.ts'
import { parseFormula } from '../../src/signals/backtest/formula.ts'
import { toField } from '../../src/signals/backtest/query.ts'
import { kindOfType } from '../../src/signals/backtest/read-windows.ts'
import { luceneColumns } from '../../src/signals/backtest/terms.ts'
import { cpuMsOf } from '../support/clocks.ts'

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
  ...{ readTextMarker, readTextSecrets, readTextSnapshot, withoutTextMarker, readMemory, luceneColumns, redactGiven, redactCopies },
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

const maxRatio = 30

describe('a loop over data of others is linear', () => {
  it('R4: ten times the text takes each reader, redactor and tokenizer about ten times as long, whatever it is made of', () => {
    const wrong = Object.entries(readers).flatMap(([name, reader]) =>
      parts.flatMap((part) => {
        const long = measure(reader, part.repeat(30_000 / part.length))
        if (long.failure !== undefined) return [`${name}, ${part}: ${long.failure}`]
        // No clock is exact below a millisecond.
        if (long.ms < maxRatio) return []
        const shortMs = Math.max(1, ...[1, 2].map(() => measure(reader, part.repeat(3_000 / part.length)).ms))
        return long.ms < maxRatio * shortMs ? [] : [`${name}, ${part}: ${long.ms / shortMs}`]
      }),
    )
    expect(wrong).toEqual([])
  })

  it('R4: ten times the webhooks do not make a search take longer', () => {
    const text = Array.from({ length: 2000 }, (_, i) => `see hooks${i % 50}.example/help/${i}`).join(' ')
    const [few, many] = [600, 6000].map(copies).map((redact) => Math.min(...[1, 2, 3].map(() => cpuMsOf(() => redact(text)))))
    expect((many ?? 0) / (few ?? 0)).toBeLessThan(4)
  })
})
