// Judges how a run of the action ended, whatever it was about: what must hold after success and after every failure.
import { isDeepStrictEqual } from 'node:util'
import { foreignHtml, kindsIn } from './markdown-oracle.ts'
import { commandsOf, type RanAction } from './run-process.ts'

const always = ['status', 'failure-reason', 'request-id', 'result', 'result-file']

/** Node kinds that our own Markdown is made of; a link, an image or a list of tasks is not among them. */
const ourKinds = new Set(
  'root heading paragraph text inlineCode table tableRow tableCell html emphasis strong code list listItem break'.split(' '),
)

const commandsFor: Readonly<Record<string, readonly string[]>> = { pass: [], warn: ['warning'], fail: ['error'], error: ['error'] }

/** Sentences; none when all is well. */
export function complaintsAbout(ran: RanAction): readonly string[] {
  const { outputs, result, summary, stdout, stderr, exitCode } = ran
  const status = outputs.get('status') ?? ''
  const reason = outputs.get('failure-reason') ?? ''
  const isGreen = status === 'pass' || status === 'warn'
  const checks: readonly (readonly [boolean, string])[] = [
    [always.every((name) => outputs.has(name)), `outputs are missing: ${always.filter((name) => !outputs.has(name)).join(', ')}`],
    [result !== undefined && isSameResult(ran), 'the result file and the output differ'],
    [isGreen === (exitCode === 0), `status ${status}, but exit code ${exitCode}`],
    [(status === 'pass') === (reason === ''), `status ${status}, but the reason is "${reason}"`],
    [status !== 'error' || reason.split('\n').length <= 5, 'the message is longer than five lines'],
    [!reason.includes('This is a bug'), 'it takes itself for broken'],
    [!/^\s+at .*\(?(?:file|node):/m.test(`${stdout}${stderr}`), 'it shows a stack'],
    [stderr === '', `there is something on standard error: ${stderr}`],
    [summary !== '', 'there is no summary'],
    [foreignHtml(summary).length === 0, 'the summary holds foreign HTML'],
    [[...kindsIn(summary)].every((kind) => ourKinds.has(kind)), 'the summary holds foreign Markdown'],
    [isDeepStrictEqual(commandsOf(ran), commandsFor[status]), `its commands are ${commandsOf(ran).join(', ')}`],
    [
      ran.ending === undefined || ran.ending.resources.every((kind) => idle.has(kind)),
      `it left behind ${ran.ending?.resources.join(', ')}`,
    ],
  ]
  return checks.filter(([holds]) => !holds).map(([, complaint]) => complaint)
}

/** The standard streams. */
const idle = new Set(['PipeWrap', 'TTYWrap', 'FSReqCallback'])

function isSameResult({ outputs, result }: RanAction): boolean {
  const output = JSON.parse(outputs.get('result') ?? 'null') as Record<string, unknown> | null
  return output?.truncated === true || isDeepStrictEqual(output, result)
}
