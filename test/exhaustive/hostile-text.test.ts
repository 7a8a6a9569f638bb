import { expect, it } from 'vitest'
import { say, untrusted } from '../../src/core/line.ts'
import { type BodyContext, markerOf, readBody, writeBody, writeIssueComment } from '../../src/forge/body.ts'
import { github } from '../../src/forge/github/github.ts'
import { gitlab } from '../../src/forge/gitlab/gitlab.ts'
import type { Block } from '../../src/report/blocks.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { forEachEntry, hostile } from '../support/corpus.ts'
import { contentOf } from '../support/notify.ts'
import { kindsIn, unexpectedHtml } from '../support/output-oracle.ts'

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

const contextFor = (blocks: readonly Block[], kind: BodyContext['kind']): BodyContext => ({
  content: contentOf('fail', { blocks }),
  label: 'cost',
  run: {
    apiUrl: new URL('https://api.example'),
    proxy: {},
    url: undefined,
    job: 'cost',
    labelParts: [],
    commit: '',
    pullRequest: 12,
    isFromFork: false,
  },
  redact: (text) => text,
  kind,
})

const ownComments = /^(?:<!-- watchkeeper (?:comment|memory): [^<>]* -->\s*)+$/

it('every hostile text is shown as text only in a comment, also in its folded previous report', () =>
  forEachEntry(
    hostile.filter(({ id }) => !id.startsWith('size')),
    ({ value }) => {
      const harmless: readonly Block[] = [{ kind: 'verdict', status: 'fail', line: say`It is ${'new'}` }]
      for (const forge of [github, gitlab]) {
        const write = (blocks: readonly Block[], old?: string) => writeBody('comment', contextFor(blocks, forge), old)
        const body = write(harmless, write(everywhere(value)))
        const again = write(everywhere(value), body)
        for (const text of [body, again, writeIssueComment('Now.', contextFor(everywhere(value), forge))]) {
          expect([...kindsIn(text)].filter((kind) => !expected.has(kind))).toEqual([])
          expect(unexpectedHtml(text).filter((html) => !ownComments.test(html.trim()))).toEqual([])
        }
        const { report } = readBody(again, markerOf('comment', 'cost'))
        expect(report).toContain('Alert')
        const folds = [...again.matchAll(/<details><summary>Previous report<\/summary>([\s\S]*?)<\/details>/g)]
        expect(folds.map(([, text]) => text)).toEqual([expect.stringContaining('`new`')])
      }
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
