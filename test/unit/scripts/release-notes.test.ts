import { describe, expect, it } from 'vitest'
import { releaseNotes } from '../../../scripts/release-notes.ts'

const changelog = `# Changelog

## 1.3.0 (unreleased)

- Later.

## 1.2.0 (2026-12-01)

- Does more.
- Breaks less.

## 1.2.0-rc.1 (2026-11-24)

- Does more, perhaps.

## 1.1.0 (2026-11-01)
`
const notes = (version: string, tag = `v${version}`): string => releaseNotes({ tag, commit: 'a'.repeat(40), version, changelog })

describe('the notes of a release', () => {
  it('are what the changelog says of it, and how to pin it', () => {
    expect(notes('1.2.0')).toBe(
      `- Does more.\n- Breaks less.\n\nPinned to its commit: \`uses: watchkeeper/watchkeeper@${'a'.repeat(40)} # v1.2.0\`\n`,
    )
    expect(notes('1.2.0-rc.1')).toContain('- Does more, perhaps.')
  })

  it.each([
    ['the tag is of another version', '1.2.0', 'v1.2.1', 'the tag is v1.2.1, but package.json says 1.2.0'],
    ['the tag lacks its v', '1.2.0', '1.2.0', 'the tag is 1.2.0'],
    ['the changelog does not know it', '1.4.0', 'v1.4.0', 'CHANGELOG.md says nothing of 1.4.0'],
    ['the changelog knows only a longer one', '1.2', 'v1.2', 'CHANGELOG.md says nothing of 1.2'],
    ['it has no date yet', '1.3.0', 'v1.3.0', 'CHANGELOG.md gives 1.3.0 no date'],
    ['nothing has changed', '1.1.0', 'v1.1.0', 'CHANGELOG.md lists no change of 1.1.0'],
  ])('are refused when %s', (_, version, tag, reason) => {
    expect(() => notes(version, tag)).toThrow(reason)
  })
})
