import { describe, expect, it } from 'vitest'
import {
  type BodyContext,
  digestOfReason,
  markerOf,
  readBody,
  readMemory,
  writeBody,
  writeIssueComment,
} from '../../../../src/delivery/github/body.ts'
import { say, untrusted } from '../../../../src/platform/core/line.ts'
import { createRedact } from '../../../../src/platform/core/secrets.ts'
import type { Block } from '../../../../src/platform/report/blocks.ts'
import { contentOf, startMs } from '../../../support/notify.ts'

const maxBodyCharacters = 65_536

const marker = markerOf('comment', 'cost')
const keep = (text: string): string => text

const run = {
  apiUrl: new URL('https://api.example'),
  proxy: {},
  owner: 'acme',
  repository: 'shop',
  url: undefined,
  job: 'cost',
  labelParts: [],
  commit: '',
  branch: '',
  refName: '',
  ghRepository: 'acme/shop',
  rerunCommand: undefined,
  pullRequest: 12,
  isFromFork: false,
}

const contextFor = (blocks: readonly Block[], redact = keep): BodyContext => ({
  content: contentOf('fail', { blocks }),
  label: 'cost',
  run,
  redact,
})

const write = (blocks: readonly Block[], old?: string, redact = keep): string => writeBody('comment', contextFor(blocks, redact), old)

const saying = (text: string): readonly Block[] => [{ kind: 'verdict', status: 'fail', line: say`It is ${text}` }]

const table = (rows: number, cell: string): Block => ({
  kind: 'table',
  columns: [{ title: 'A' }, { title: 'B' }],
  rows: Array.from({ length: rows }, (_, i) => [[untrusted(`${i}`)], [untrusted(cell)]]),
})

const foldsIn = (body: string): readonly string[] =>
  [...body.matchAll(/<details><summary>Previous report<\/summary>([\s\S]*?)<\/details>/g)].map(([, text = '']) => text)

describe('a comment or an issue', () => {
  // GitHub mails them, and a mail shows the source of a chart, and all details unfolded.
  it.each(['comment', 'issue'] as const)('has no chart in a %s, and no details that every run has', (kind) => {
    const records = { kind: 'details', title: 'Records', blocks: [table(3, 'x')] } as const
    const blocks: readonly Block[] = [
      ...saying('high'),
      { kind: 'chart', title: 'CHC per day', unit: 'CHC', points: [{ label: '1 Nov', value: 1 }] },
      { ...records, isQuiet: true },
      { ...records, title: 'All fields' },
    ]
    const body = writeBody(kind, contextFor(blocks), undefined)
    expect(body).toMatch(/^<!-- .*-->\n<!-- .*-->\n\n### ❌ It is `high`\n\n<details><summary>All fields/)
    expect(body).not.toMatch(/mermaid|CHC|Records/)
  })
})

describe('the previous report', () => {
  it('the previous report is folded under the new report', () => {
    const second = write(saying('new'), write(saying('old')))
    expect(second).toMatch(/^<!-- .*-->\n<!-- .*-->\n\n### ❌ It is `new`/)
    expect(foldsIn(second)).toEqual([expect.stringContaining('### ❌ It is `old`')])
  })

  it('the previous report stays the same when the new report equals the current one', () => {
    const second = write(saying('new'), write(saying('old')))
    expect(write(saying('new'), second)).toBe(second)
  })

  it('the previous report is replaced by a newer previous report', () => {
    const third = write(saying('three'), write(saying('two'), write(saying('one'))))
    expect(foldsIn(third)).toEqual([expect.stringContaining('`two`')])
    expect(third).not.toContain('`one`')
  })

  it('the previous report is found when GitHub changed the line ends', () => {
    const old = write(saying('old')).replaceAll('\n', '\r\n')
    expect(foldsIn(write(saying('new'), old))).toEqual([expect.stringContaining('`old`')])
  })

  it('the previous report is dropped when somebody edited it', () => {
    const edited = write(saying('old')).replace('It is', '@octocat it is')
    expect(foldsIn(write(saying('new'), edited))).toEqual([])
    expect(write(saying('new'), edited)).not.toContain('@octocat')
  })

  it('the previous report is empty for a comment with a marker and without a memory', () => {
    expect(foldsIn(write(saying('new'), `${marker}\nhello`))).toEqual([])
    expect(readBody(`${marker}\n<!-- watchkeeper memory: nonsense -->`, marker).memory).toBeUndefined()
  })
})

describe('the length', () => {
  it.each([
    ['letters', 'x'.repeat(100)],
    ['emoji, which have more bytes than characters', '😀'.repeat(50)],
  ])('the length stays below the limit of GitHub, cut between two rows, with %s', (_, cell) => {
    const body = write([...saying('long'), table(5000, cell)])
    expect(body.length).toBeLessThanOrEqual(maxBodyCharacters)
    expect(body.length).toBeGreaterThan(25_000)
    const rows = body.split('\n').filter((line) => line.startsWith('| `'))
    for (const [i, row] of rows.entries()) expect(row).toBe(`| \`${i}\` | \`${cell}\` |`)
    expect(body).toContain(`*${5000 - rows.length} more rows did not fit. See the summary of the run.*`)
    expect(body).toMatch(/From this run of job `cost`\.\n$/)
  })

  it.each([1, 100, 300, 600, 1000, 3000])('the length stays below the limit with a previous report, for %i rows', (rows) => {
    const old = write([...saying('old'), table(rows, 'y'.repeat(80))])
    const body = write([...saying('new'), table(rows, 'x'.repeat(80))], old)
    expect(body.length).toBeLessThanOrEqual(maxBodyCharacters)
    expect(foldsIn(body)).toHaveLength(1)
    expect(body.includes('`old`') || body.includes('*The previous report is too long to show here.*')).toBe(true)
    expect(write([...saying('newest'), table(rows, 'x'.repeat(80))], body).length).toBeLessThanOrEqual(maxBodyCharacters)
  })

  it('the length of a comment under an issue is short', () => {
    const word = writeIssueComment('It has recovered.', contextFor([...saying('done'), table(5000, 'x')]))
    expect(word).toBe('It has recovered.\n\n### ❌ It is `done`\n\n\nFrom this run of job `cost`.\n')
  })
})

it('makes different markers for different labels', () => {
  const labels = ['a', 'A', 'a b', 'a%20b', 'a-b', 'a--b', 'a/b', 'ä', 'a\u0308', '']
  expect(new Set(labels.map((label) => markerOf('comment', label))).size).toBe(labels.length)
})

it('redacts a secret in the body and in the memory', () => {
  const secret = 'p%a"s\\s<&>é-canary-0123456789'
  const body = write(saying(`a ${secret} b`), write(saying(secret), undefined, createRedact([secret])), createRedact([secret]))
  expect(body).not.toContain('canary')
  expect(readBody(body, marker).report).toContain('`a *** b`')
})

it('stores the time of the run and a digest of the reason without its figures', () => {
  const [, line = ''] = write(saying('x')).split('\n')
  expect(readMemory(line)).toMatchObject({ atMs: startMs, reason: digestOfReason('The cost') })
  expect(digestOfReason('above 100 by 3.5')).toBe(digestOfReason('above 250 by 12.75'))
  expect(digestOfReason('above 1,000.5.')).toBe(digestOfReason('above 999.'))
  expect(digestOfReason('it is 2 d old')).toBe(digestOfReason('it is 1 d 23 h old'))
  expect(digestOfReason('above 100')).not.toBe(digestOfReason('below 100'))
})

it('has the command that runs it again below the verdict and its reasons', () => {
  const context = contextFor([...saying('wrong'), { kind: 'list', items: [say`a reason`] }, table(1, 'cell')])
  const advised = { ...context, run: { ...run, rerunCommand: 'gh run rerun 1' }, content: { ...context.content, advice: { empty: [] } } }
  expect(writeBody('comment', advised, undefined)).toMatch(/It is `wrong`.*a reason.*To run it again: `gh run rerun 1`.*cell/s)
})
