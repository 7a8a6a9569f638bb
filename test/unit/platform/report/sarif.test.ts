import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../../src/platform/core/diagnostics.ts'
import { renderSarif } from '../../../../src/platform/report/sarif.ts'
import { forEachEntry, hostile } from '../../../support/corpus.ts'

const rules = [
  { id: 'one', description: 'The first.', severity: 'error' as const },
  { id: 'two', description: 'The second.', severity: 'note' as const },
]

interface Log {
  readonly version: string
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] } }
      readonly results: readonly {
        readonly ruleId: string
        readonly ruleIndex: number
        readonly level: string
        readonly message: { readonly text: string }
        readonly locations: readonly [
          {
            readonly physicalLocation: {
              readonly artifactLocation: { readonly uri: string }
              readonly region: { readonly startLine: number; readonly startColumn?: number }
            }
          },
        ]
      }[]
    },
  ]
}

const render = (diagnostics: readonly Diagnostic[]): Log => JSON.parse(renderSarif(rules, diagnostics)) as Log

const diagnostic = (changes: Partial<Diagnostic> = {}): Diagnostic => ({
  rule: 'one',
  severity: 'error',
  message: 'is wrong',
  location: { file: 'a/b.yml', line: 3, column: 5 },
  ...changes,
})

describe('diagnostics as SARIF', () => {
  it('diagnostics as SARIF have no links in their messages, because brackets are escaped', () => {
    const messageOf = (message: string): string | undefined => render([diagnostic({ message })]).runs[0].results[0]?.message.text
    expect(messageOf('tiles["A"]: wrong')).toBe('tiles\\["A"\\]: wrong')
    expect(messageOf('[docs](https://evil.example)')).toBe('\\[docs\\](https://evil.example)')
    // A backslash of the text must not undo the escape.
    expect(messageOf('\\[docs\\](1) C:\\x')).toBe('\\\\\\[docs\\\\\\](1) C:\\x')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('[', ']', '(', ')', '\\', 'a', '1') }), (text) => {
        const written = messageOf(text) ?? ''
        // As a reader of SARIF takes it: escapes first, and no bracket is left.
        expect(written.replace(/\\[\\[\]]/g, '')).not.toMatch(/[[\]]/)
      }),
    )
  })

  it('diagnostics as SARIF have all fields that code scanning requires', () => {
    const { version, runs } = render([diagnostic(), diagnostic({ rule: 'two', severity: 'warning' })])
    expect(version).toBe('2.1.0')
    expect(runs[0].tool.driver).toMatchObject({
      name: 'watchkeeper',
      rules: [
        {
          id: 'one',
          shortDescription: { text: 'The first.' },
          fullDescription: { text: 'The first.' },
          help: { text: expect.stringContaining('The first.') },
          defaultConfiguration: { level: 'error' },
        },
        { id: 'two', defaultConfiguration: { level: 'note' } },
      ],
    })
    expect(runs[0].results).toMatchObject([
      {
        ruleId: 'one',
        ruleIndex: 0,
        level: 'error',
        message: { text: 'is wrong' },
        locations: [{ physicalLocation: { artifactLocation: { uri: 'a/b.yml' }, region: { startLine: 3, startColumn: 5 } } }],
      },
      // What the repository made of the rule, not what it usually is.
      { ruleId: 'two', ruleIndex: 1, level: 'warning' },
    ])
  })

  it('diagnostics as SARIF that are about a whole file are at its first line', () => {
    const [result] = render([diagnostic({ location: { file: 'a.yml' } })]).runs[0].results
    expect(result?.locations[0].physicalLocation.region).toEqual({ startLine: 1 })
  })

  it.each(['a b.yml', 'ä.yml', '#1?.yml', '%41.yml', 'a\nb.yml', '::error::.yml', '\ud800.yml', '[x].yml'])(
    'diagnostics as SARIF name the file by a relative uri that leads back to it: %j',
    (file) => {
      const [result] = render([diagnostic({ location: { file: `d/${file}`, line: 1 } })]).runs[0].results
      const { uri } = result?.locations[0].physicalLocation.artifactLocation ?? { uri: '' }
      expect(uri).toMatch(/^d\/[\w.~!*'()%-]+$/)
      expect(decodeURIComponent(uri)).toBe(`d/${file.toWellFormed()}`)
    },
  )

  it('diagnostics as SARIF keep a message as it is, but for the escapes', () =>
    forEachEntry(
      hostile.filter(({ value }) => value.length < 1024),
      ({ value }) => {
        const text = render([diagnostic({ message: value })]).runs[0].results[0]?.message.text ?? ''
        expect(text.replace(/((?:\\\\)*)\\([[\]])/g, (_, run: string, bracket: string) => run.slice(run.length / 2) + bracket)).toBe(value)
      },
    ))

  it('diagnostics as SARIF are the most severe ones when there are more than code scanning accepts', () => {
    const notes = Array.from({ length: 25_000 }, () => diagnostic({ rule: 'two', severity: 'note' }))
    const { results } = render([...notes, diagnostic()]).runs[0]
    expect(results).toHaveLength(25_000)
    expect(results.at(-1)?.level).toBe('error')
  })

  it('diagnostics as SARIF may be none, which closes earlier ones', () => {
    expect(render([]).runs[0].results).toEqual([])
  })
})
