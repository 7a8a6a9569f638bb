// Why a run fails, in a few words, for titles. Figures change from run to run, so a title has none.
import { type Diagnostic, errorsIn, isAboutInput } from '../platform/core/diagnostics.ts'
import { causeOf, InputError, type WatchkeeperError } from '../platform/core/errors.ts'
import { type Line, say, toPlainText, trusted, untrustedSentence } from '../platform/core/line.ts'
import type { Verdict } from '../platform/report/report.ts'
import { emptyVariable } from './read-input.ts'

/** The errors of the files say more than their number. */
export function causeOfVerdict({ status, cause, sentence: whole, reasons }: Verdict, diagnostics: readonly Diagnostic[] = []): Line {
  if (status !== 'fail' && status !== 'error') return []
  if (cause !== undefined) return cause
  const [error] = errorsIn(diagnostics)
  if (error !== undefined) return causeOfDiagnostic(error)
  const line = whole ?? reasons[0] ?? []
  const first = firstSentenceOf(line)
  const own = ownText(first)
  const figure = own.search(/\d/)
  const found = figure === -1 ? first : cutAt(first, own.slice(0, figure).search(/[:,(][^:,(]*$/))
  return found.length > 0 ? found : [trusted(status === 'fail' ? 'failed' : 'did not complete')]
}

/** The first problem of several. */
export function causeOfError(error: WatchkeeperError): Line {
  const [first] = error instanceof InputError ? error.diagnostics : []
  return first === undefined ? firstSentenceOf(untrustedSentence(causeOf(error))) : causeOfDiagnostic(first)
}

/** `budget is not a number`, `observability/checkout.yml: unknown field treshold`. */
function causeOfDiagnostic({ rule, message: text, location: { file, line } }: Diagnostic) {
  const variable = emptyVariable(text)
  if (variable !== undefined) return say`${variable} is empty`
  const isInput = line === undefined && /^[a-z-]+$/.test(file)
  // Amounts and ids of a message about objects: `alerts.slow: 2 alerts have this marker (65f…, 66a…)`.
  const message = text.replace(/^(\S+: )?\d+ (?=\p{Ll})/u, '$1several ').replaceAll(/ \((?=[^()]*\d)[^()]*\)/g, '')
  if (isInput && !isAboutInput({ rule })) return firstSentenceOf(untrustedSentence(message))
  // An input has advice after a colon, and an object of a file its name before one.
  return isInput
    ? firstSentenceOf(say`${file} ${untrustedSentence(message)}`, /[.:;](?:\s|$)/)
    : firstSentenceOf(say`${file}: ${untrustedSentence(message)}`)
}

/** Masks text of servers and files, by position, because it has signs and figures of its own. */
const ownText = (line: Line) => line.map(({ kind, text }) => (kind === 'trusted' ? text : '_'.repeat(text.length))).join('')

function cutAt(line: Line, end: number) {
  let left = end
  return line.flatMap((part) => {
    const text = part.text.slice(0, Math.max(0, left))
    left -= part.text.length
    return text === '' ? [] : [{ ...part, text }]
  })
}

function firstSentenceOf(line: Line, ends = /[.;](?:\s|$)/) {
  const end = ownText(line).search(ends)
  return end === -1 ? line : cutAt(line, end)
}

/** The cause within a sentence: `Budget exceeded` becomes `budget exceeded`. */
export function toCauseText([first, ...rest]: Line): string {
  if (first === undefined) return ''
  const isWord = first.kind === 'trusted' && /^[A-Z][a-z ]/.test(first.text)
  const start = isWord ? first.text.charAt(0).toLowerCase() + first.text.slice(1) : first.text
  return toPlainText([{ ...first, text: start }, ...rest]).trim()
}
