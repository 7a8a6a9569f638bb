import { isDeepStrictEqual } from 'node:util'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { jsonLine, logLine } from '../../src/platform/core/escape.ts'
import type { RunResult } from '../../src/platform/operation/result.ts'
import { renderMarkdown } from '../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../src/platform/report/terminal.ts'
import { textOf } from './invoke.ts'
import { commandsOf, type RanAction } from './run-process.ts'
import { commandsIn } from './runner-oracle.ts'

// Reads Markdown as GitHub does and tells what a reader would see and what would happen: the judge of everything we escape.

interface Node {
  readonly type: string
  readonly value?: string
  readonly children?: readonly Node[]
}

let last: { readonly markdown: string; readonly root: Node } | undefined

/** One text is asked about several times in a row, and parsing it takes the longest. */
export function parseMarkdown(markdown: string): Node {
  if (last?.markdown !== markdown)
    last = { markdown, root: fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node }
  return last.root
}

export function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const child of node.children ?? []) yield* nodesOf(child)
}

export const kindsIn = (markdown: string): ReadonlySet<string> => new Set([...nodesOf(parseMarkdown(markdown))].map(({ type }) => type))

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }

const decode = (html: string): string =>
  html.replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name?: string) =>
    code ? String.fromCodePoint(Number(code)) : (entities[name ?? ''] ?? ''),
  )

/** The text of all cells, code spans and words, in order; our own tags read as nothing. */
export const visibleText = (markdown: string): string =>
  [...nodesOf(parseMarkdown(markdown))]
    .filter(({ type }) => type === 'text' || type === 'inlineCode' || type === 'code')
    .map(({ value = '' }) => value)
    .join('')

/** The first line of a report, without its sign. */
export const titleIn = (markdown: string): string => visibleText(markdown.split('\n', 1)[0] ?? '').replace(/^\S+ /, '')

/** Only these tags are ours, and none with an attribute. */
export function unexpectedHtml(markdown: string): readonly string[] {
  return [...nodesOf(parseMarkdown(markdown))]
    .filter(({ type }) => type === 'html')
    .map(({ value = '' }) => value)
    .filter((html) => !/^(?:<\/?(?:code|details|summary)>|<details><summary>[^<>]*<\/summary>)$/.test(html.trim()))
}

export const decodeEntities = decode

// Judges how a run of the action ended, whatever it was about: what must hold after success and after every failure.

const always = ['status', 'failure-reason', 'result', 'result-file']

/** Node kinds that our own Markdown is made of; a link, an image or a list of tasks is not among them. */
const commandsFor: Readonly<Record<string, readonly string[]>> = { pass: [], warn: ['warning'], fail: ['error'], error: ['error'] }

/** Sentences; none when all is well. */
export function problemsWithRun(ran: RanAction): readonly string[] {
  const { outputs, result, summary, stdout, stderr, exitCode } = ran
  const status = outputs.get('status') ?? ''
  const reason = outputs.get('failure-reason') ?? ''
  const isGreen = status === 'pass' || status === 'warn'
  // With RUNNER_DEBUG the log holds debug lines, too.
  const commands = commandsOf(ran).filter((name) => name !== 'debug')
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
    [unexpectedHtml(summary).length === 0, 'the summary holds HTML that is not ours'],
    [[...kindsIn(summary)].every((kind) => ourKinds.has(kind)), 'the summary holds Markdown that is not ours'],
    [isDeepStrictEqual(commands, commandsFor[status]), `its commands are ${commands.join(', ')}`],
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

// Judges everything that one finished run would print and write, on all surfaces at once and without a process: for corpora that are
// too large for one process each. What processes add is judged by outcome-oracle.ts.

/** Node kinds that our own Markdown is made of; a link, an image or a list of tasks is not among them. */
const ourKinds = new Set(
  'root heading paragraph text inlineCode table tableRow tableCell html emphasis strong code list listItem break'.split(' '),
)

// A line of a log ends where a terminal or a runner would end it.
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** Sentences; none when all is well. */
export function problemsWithOutput({ blocks, document, outputs, files }: RunResult): readonly string[] {
  const log = renderTerminal(blocks, { color: false })
  const painted = renderTerminal(blocks, { color: true })
  const markdown = renderMarkdown(blocks, 1024 * 1024)
  const json = jsonLine(JSON.stringify(document, null, 2))
  const kinds = [...kindsIn(markdown)].filter((kind) => !ourKinds.has(kind))
  const checks: readonly (readonly [boolean, string])[] = [
    [commandsIn(log.map(logLine).join('\n')).length === 0, 'the log holds a command'],
    [!log.map(logLine).some((line) => control.test(line)), 'the log holds a control character'],
    // Colours are ours; nothing else may begin with an escape.
    [!painted.some((line) => control.test(line.replace(/\u001b\[\d+m/g, ''))), 'the terminal gets a control character'],
    [commandsIn(json).length === 0, 'the JSON holds a command'],
    [JSON.stringify(JSON.parse(json)) === JSON.stringify(JSON.parse(JSON.stringify(document))), 'the JSON is not the document'],
    [unexpectedHtml(markdown).length === 0, `the summary holds HTML: ${unexpectedHtml(markdown).join(' ').slice(0, 100)}`],
    [kinds.length === 0, `the summary holds ${kinds.join(', ')}`],
    [Buffer.byteLength(markdown) <= 1024 * 1024, 'the summary is too long'],
    [Object.keys(outputs).every((name) => /^[a-z][a-z-]*$/.test(name)), `an output is called ${Object.keys(outputs).join(', ')}`],
    [files.every(({ content }) => !textOf(content).includes('\u0000')), 'a file holds a null byte'],
    [document.error?.kind !== 'bug', `it takes itself for broken: ${document.failureReason}`],
  ]
  return checks.filter(([holds]) => !holds).map(([, complaint]) => complaint)
}
