// Judges everything that one finished run would print and write, on all surfaces at once and without a process: for corpora that are
// too large for one process each. What processes add is judged by outcome-oracle.ts.

import { jsonLine, logLine } from '../../src/core/escape.ts'
import type { RunResult } from '../../src/operation/operation.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { renderTerminal } from '../../src/report/terminal.ts'
import { foreignHtml, kindsIn } from './markdown-oracle.ts'
import { commandsIn } from './runner-oracle.ts'

const ourKinds = new Set(
  'root heading paragraph text inlineCode table tableRow tableCell html emphasis strong code list listItem break'.split(' '),
)

// A line of a log ends where a terminal or a runner would end it.
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** Sentences; none when all is well. */
export function complaintsAboutSinks({ blocks, document, outputs, files }: RunResult): readonly string[] {
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
    [foreignHtml(markdown).length === 0, `the summary holds HTML: ${foreignHtml(markdown).join(' ').slice(0, 100)}`],
    [kinds.length === 0, `the summary holds ${kinds.join(', ')}`],
    [Buffer.byteLength(markdown) <= 1024 * 1024, 'the summary is too long'],
    [Object.keys(outputs).every((name) => /^[a-z][a-z-]*$/.test(name)), `an output is called ${Object.keys(outputs).join(', ')}`],
    [files.every(({ content }) => !content.includes('\u0000')), 'a file holds a null byte'],
    [document.error?.kind !== 'bug', `it takes itself for broken: ${document.failureReason}`],
  ]
  return checks.filter(([holds]) => !holds).map(([, complaint]) => complaint)
}
