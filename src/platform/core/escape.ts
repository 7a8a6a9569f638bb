import type { Untrusted } from './line.ts'
import { clip, printable } from './text.ts'

const shownText = (text: string, maxLength = 200) => printable(clip(text, maxLength))

/** What a code span shows. */
export const codeOf = ({ text, isCode = false }: Untrusted): string => (isCode ? text.slice(1, -1) : text)

/** Nothing in a code span is markup, a mention, a link or a reference. */
export function markdownUntrusted(text: string, maxLength?: number): string {
  if (text === '') return '*(empty)*'
  const content = shownText(text, maxLength)
  const fence = '`'.repeat(longestRun(content) + 1)
  // A code span loses one space on each side, and cannot begin or end with its own fence.
  const needsRoom = /^[` ]|[` ]$/.test(content) && content.trim() !== ''
  return needsRoom ? `${fence} ${content} ${fence}` : `${fence}${content}${fence}`
}

export const longestRun = (text: string): number => (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0)

/** Trusted text may hold marks but no markup. */
export const markdownTrusted = (text: string): string => text.replace(/[\\`*_[\]<>|~&]/g, '\\$&')

/** A table splits at `|` even in code spans, and parsers disagree about `\|` after a backslash; an entity is always safe. */
export const markdownCellUntrusted = (text: string, maxLength?: number): string =>
  shownText(text, maxLength).includes('|') ? htmlUntrusted(text, maxLength) : markdownUntrusted(text, maxLength)

export function markdownBlock(text: string): string {
  const content = text.split('\n').map(printable).join('\n')
  const fence = '`'.repeat(Math.max(3, longestRun(content) + 1))
  return `${fence}text\n${content}\n${fence}`
}

/** GitHub colors lines by their first character. */
export function markdownDiff(lines: readonly string[]): string {
  const content = lines.map((line) => printable(line)).join('\n')
  const fence = '`'.repeat(Math.max(3, longestRun(content) + 1))
  return `${fence}diff\n${content}\n${fence}`
}

/** HTML may be inside Markdown: as an entity, no mark has a meaning in either. */
export const htmlText = (text: string): string => printable(text).replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`)

export const htmlUntrusted = (text: string, maxLength?: number): string => `<code>${htmlText(shownText(text, maxLength))}</code>`

/** Nothing in a code span is a mention, a link, an emoji or markup. No escape for a backtick exists. */
export const slackUntrusted = (text: string, maxLength?: number): string =>
  text === '' ? '_(empty)_' : `\`${slackTrusted(shownText(text, maxLength).replaceAll('`', "'"))}\``

export const slackTrusted = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export const uriPath = (path: string): string => path.toWellFormed().split('/').map(encodeURIComponent).join('/')

/** In a message of SARIF, `[text](target)` is a link. A backslash before a bracket would undo the escape. */
export const sarifText = (text: string): string => text.replace(/(?<!\\)(\\*)([[\]])/g, '$1$1\\$2')

/** Nothing is markup in a terminal, a log, or a text run of an Adaptive Card. */
export const terminalUntrusted = (text: string, maxLength?: number): string => (text === '' ? '(empty)' : shownText(text, maxLength))

/**
 * The runner obeys `::command::` at a line's start, whatever white space precedes it, and the older `##[command]` anywhere in it
 * (actions/runner, ActionCommand.cs).
 */
export const logLine = (text: string): string =>
  printable(text)
    .replace(/^(\s*):(?=:)/, '$1:\\')
    .replaceAll('##[', '##\\[')

/** The runner reads JSON on a standard stream as a log: quotes do not stop `##[command]`, but an escaped `#` does. */
export const jsonLine = (json: string): string => json.replaceAll('##[', '#\\u0023[')
