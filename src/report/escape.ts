// Owns escaping, all of it: one function for each place that gives some characters a meaning.
import { clip, printable } from '../core/text.ts'

/** Longest piece of foreign text that a report shows; the result file has the rest. */
const longestData = 200

const shown = (text: string, longest = longestData): string => printable(clip(text, longest))

/** Foreign text in Markdown, as a code span: nothing in it is markup, a mention, a link or a reference. */
export function markdownData(text: string, longest?: number): string {
  if (text === '') return '*(empty)*'
  const content = shown(text, longest)
  const fence = '`'.repeat(longestRun(content) + 1)
  // A code span loses one space on each side if it holds anything else, and cannot begin or end with its own fence.
  const needsRoom = /^[` ]|[` ]$/.test(content) && content.trim() !== ''
  return needsRoom ? `${fence} ${content} ${fence}` : `${fence}${content}${fence}`
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))

/** Words of ours in Markdown: they mean no markup either. */
export const markdownWords = (text: string): string => text.replace(/[\\`*_[\]<>|~&]/g, '\\$&')

/**
 * Foreign text in a table's cell. A table splits at `|` even in code spans, and parsers disagree about `\|` after a backslash;
 * an entity splits nowhere.
 */
export const markdownCellData = (text: string, longest?: number): string =>
  shown(text, longest).includes('|') ? htmlData(text, longest) : markdownData(text, longest)

/** Foreign text over several lines in Markdown. */
export function markdownBlock(text: string): string {
  const content = text.split('\n').map(printable).join('\n')
  const fence = '`'.repeat(Math.max(3, longestRun(content) + 1))
  return `${fence}text\n${content}\n${fence}`
}

/** Foreign lines in a block that GitHub colours by the first character of each. */
export function markdownDiff(lines: readonly string[]): string {
  const content = lines.map((line) => printable(line)).join('\n')
  const fence = '`'.repeat(Math.max(3, longestRun(content) + 1))
  return `${fence}diff\n${content}\n${fence}`
}

/** Text inside HTML inside Markdown: every mark of ASCII as an entity, so that neither of the two sees one. */
export const htmlText = (text: string): string => printable(text).replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`)

export const htmlData = (text: string, longest?: number): string => `<code>${htmlText(shown(text, longest))}</code>`

/** Foreign text in a terminal or a log. */
export const terminalData = (text: string, longest?: number): string => (text === '' ? '(empty)' : shown(text, longest))

/**
 * One line of a log on GitHub. The runner obeys `::command::` at a line's start, whatever white space stands before it, and
 * the older `##[command]` anywhere in it (actions/runner, ActionCommand.cs).
 */
export const logLine = (text: string): string =>
  printable(text)
    .replace(/^(\s*):(?=:)/, '$1:\\')
    .replaceAll('##[', '##\\[')

/** JSON on a standard stream, which a runner reads like any log: quoting does not stop `##[command]`, spelling the `#` out does. */
export const jsonLine = (json: string): string => json.replaceAll('##[', '#\\u0023[')
