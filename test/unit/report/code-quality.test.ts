import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../src/core/diagnostics.ts'
import { renderCodeQuality } from '../../../src/report/code-quality.ts'
import { forEachEntry, hostile } from '../../support/corpus.ts'

interface Entry {
  readonly description: string
  readonly check_name: string
  readonly fingerprint: string
  readonly severity: string
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } }
}

const render = (...diagnostics: readonly Diagnostic[]): readonly Entry[] => JSON.parse(renderCodeQuality(diagnostics)) as readonly Entry[]

const diagnostic = (changes: Partial<Diagnostic> = {}): Diagnostic => ({
  rule: 'unknown-field',
  severity: 'error',
  message: 'is wrong',
  location: { file: 'a/b.yml', line: 3, column: 5 },
  ...changes,
})

const fingerprints = (...diagnostics: readonly Diagnostic[]): readonly string[] =>
  render(...diagnostics).map(({ fingerprint }) => fingerprint)

describe('a code quality report', () => {
  it('a code quality report has what GitLab requires for each diagnostic', () => {
    expect(render(diagnostic())).toEqual([
      {
        description: 'is wrong',
        check_name: 'unknown-field',
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        severity: 'major',
        location: { path: 'a/b.yml', lines: { begin: 3 } },
      },
    ])
  })

  it('a code quality report is an empty list without diagnostics, so that GitLab shows that problems are fixed', () => {
    expect(renderCodeQuality([])).toBe('[]\n')
  })

  it.each([
    ['error', 'major'],
    ['warning', 'minor'],
    ['note', 'info'],
  ] as const)('a code quality report has %s as %s', (severity, shown) => {
    expect(render(diagnostic({ severity }))[0]?.severity).toBe(shown)
  })

  it('a code quality report has the first line for a diagnostic about a whole file, without a leading dot in the path', () => {
    expect(render(diagnostic({ location: { file: './a.yml' } }))[0]?.location).toEqual({ path: 'a.yml', lines: { begin: 1 } })
  })

  it('a code quality report has the same fingerprint for a diagnostic whose line moved', () => {
    expect(fingerprints(diagnostic())).toEqual(fingerprints(diagnostic({ location: { file: 'a/b.yml', line: 300 } })))
  })

  it('a code quality report has different fingerprints for the same message twice in a file, and for other rules, files and messages', () => {
    const all = fingerprints(
      diagnostic(),
      diagnostic({ location: { file: 'a/b.yml', line: 9 } }),
      diagnostic({ rule: 'other' }),
      diagnostic({ message: 'is odd' }),
      diagnostic({ location: { file: 'c.yml', line: 3 } }),
    )
    expect(new Set(all).size).toBe(5)
  })

  it('keeps text from files as it is', () =>
    forEachEntry(hostile, ({ value }) => {
      const [entry] = render(diagnostic({ message: value, location: { file: `${value}.yml` } }))
      expect(entry?.description).toBe(value.toWellFormed())
    }))
})
