import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  htmlUntrusted,
  jsonLine,
  logLine,
  markdownBlock,
  markdownCellUntrusted,
  markdownDiff,
  markdownTrusted,
  markdownUntrusted,
  terminalUntrusted,
} from '../../../../src/platform/core/escape.ts'
import { clip, printable } from '../../../../src/platform/core/text.ts'
import { anyCodePoint, forEachEntry, hostile } from '../../../support/corpus.ts'
import { decodeEntities, kindsIn, parseMarkdown, unexpectedHtml, visibleText } from '../../../support/output-oracle.ts'
import { commandsIn } from '../../../support/runner-oracle.ts'

const shown = (text: string): string => (text === '' ? '(empty)' : printable(clip(text, 200)))
const anyText = fc.string({ unit: anyCodePoint, maxLength: 300 })
const nastyText = fc
  .array(fc.constantFrom('`', '``', '|', '\\', '\n', ' ', '<', '>', '&', '*', '_', '[', ']', '@', '#', ':', '~', 'a'), { maxLength: 20 })
  .map((parts) => parts.join(''))

describe('a hostile text', () => {
  it('a hostile text is only text in a paragraph', () =>
    forEachEntry(hostile, ({ value }) => {
      expect(visibleText(`x ${markdownUntrusted(value)} y`)).toBe(`x ${shown(value)} y`)
      expect(
        [...kindsIn(`x ${markdownUntrusted(value)} y`)].every((kind) =>
          ['root', 'paragraph', 'text', 'inlineCode', 'emphasis'].includes(kind),
        ),
      ).toBe(true)
    }))

  it('a hostile text is only text in a table, and stays in its cell', () =>
    forEachEntry(hostile, ({ value }) => {
      const table = `| a | b |\n| --- | --- |\n| ${markdownCellUntrusted(value)} | z |\n`
      const [, row] = parseMarkdown(table).children?.[0]?.children ?? []
      expect(row?.children).toHaveLength(2)
      expect(visibleText(table)).toBe(`ab${shown(value)}z`)
      expect(unexpectedHtml(table)).toEqual([])
    }))

  it('a hostile text is only text inside HTML', () =>
    forEachEntry(hostile, ({ value }) => {
      const html = htmlUntrusted(value)
      expect(html).toMatch(/^<code>[^<>]*<\/code>$/s)
      expect(decodeEntities(html.slice(6, -7))).toBe(printable(clip(value, 200)))
    }))

  it('a hostile text is only text in a code block', () =>
    forEachEntry(hostile, ({ value }) => {
      const tree = parseMarkdown(markdownBlock(value.slice(0, 5000)))
      expect(tree.children?.map(({ type }) => type)).toEqual(['code'])
    }))

  it('a hostile text starts no command in a log', () =>
    forEachEntry(hostile, ({ value }) => {
      expect(commandsIn(logLine(value))).toEqual([])
      expect(logLine(value)).not.toMatch(/[\r\n]/)
    }))

  it('a hostile text starts no command as JSON on a standard stream, and is still the same JSON', () =>
    forEachEntry(hostile, ({ value }) => {
      const json = jsonLine(JSON.stringify({ name: value }, null, 2))
      expect(commandsIn(json)).toEqual([])
      expect(JSON.parse(json)).toEqual({ name: value })
    }))
})

describe('escaping', () => {
  it.each([anyText, nastyText])('shows in Markdown what was given', (texts) => {
    fc.assert(fc.property(texts, (text) => void expect(visibleText(`x ${markdownUntrusted(text)} y`)).toBe(`x ${shown(text)} y`)))
  })

  it.each([anyText, nastyText])('shows in a table what was given', (texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        const table = `| a | b |\n| --- | --- |\n| ${markdownCellUntrusted(text)} | z |\n`
        expect(visibleText(table)).toBe(`ab${shown(text)}z`)
      }),
    )
  })

  it('lets no text start a command', () => {
    const parts = fc.array(fc.constantFrom('::', '##[', ']', 'error', 'add-mask', ' ', '\u00a0', '\n', '\r', ':', '#', '[', 'x'), {
      maxLength: 12,
    })
    fc.assert(fc.property(parts, (pieces) => void expect(commandsIn(logLine(pieces.join('')))).toEqual([])))
  })

  it.each([
    ['::error::x', ':\\:error::x'],
    ['  ::error::x', '  :\\:error::x'],
    ['a ::error::x', 'a ::error::x'],
    ['a: b', 'a: b'],
    ['##[error]x ##[add-mask]y', '##\\[error]x ##\\[add-mask]y'],
    ['# # [x]', '# # [x]'],
  ])('changes no more of the line "%s" than necessary', (text, expected) => {
    expect(logLine(text)).toBe(printable(expected))
  })

  it.each([
    ['a`b', '``a`b``'],
    ['`a', '`` `a ``'],
    ['a`', '`` a` ``'],
    [' a', '`  a `'],
    ['a ', '` a  `'],
    ['a b', '`a b`'],
    ['   ', '`   `'],
    ['a``b`c', '```a``b`c```'],
  ])('writes "%s" as %s', (text, expected) => {
    expect(markdownUntrusted(text)).toBe(expected)
  })

  it('keeps the lines of a block, and its fence outside of them', () => {
    expect(markdownBlock('a\nb')).toBe('```text\na\nb\n```')
    expect(markdownBlock('a\n````')).toBe('`````text\na\n````\n`````')
    expect(markdownDiff(['+ a', '- b'])).toBe('```diff\n+ a\n- b\n```')
    expect(markdownDiff(['+ ```', '- b'])).toBe('````diff\n+ ```\n- b\n````')
  })

  it('marks an empty text', () => {
    expect([terminalUntrusted(''), terminalUntrusted('x'), terminalUntrusted('abcdef', 3)]).toEqual(['(empty)', 'x', clip('abcdef', 3)])
  })

  it('leaves no markup in trusted text either', () => {
    expect(visibleText(markdownTrusted('a*b*c_d_ `e` [f](g) <b> ~~h~~ | i'))).toBe('a*b*c_d_ `e` [f](g) <b> ~~h~~ | i')
  })
})

describe('the oracle', () => {
  it('detects the commands that escaping prevents', () => {
    expect(commandsIn('::error::x').map(({ name }) => name)).toEqual(['error'])
    expect(commandsIn('  ::add-mask::e').map(({ name }) => name)).toEqual(['add-mask'])
    expect(commandsIn('cpu ##[error]x').map(({ name }) => name)).toEqual(['error'])
    expect(commandsIn('"##[add-mask]e"').map(({ name }) => name)).toEqual(['add-mask'])
  })
})
