import { describe, expect, it } from 'vitest'
import { releaseNotes } from '../../../scripts/release-notes.ts'

const changelog = `# Changelog

## 1.3.0 (unreleased)

- Later.

## 1.2.0 (2026-12-01)

- Does more.
- Breaks less.

## 1.1.0 (2026-11-01)
`
const notes = (version: string, { tag = `v${version}`, unreleased = '' } = {}): string =>
  releaseNotes({ tag, commit: 'a'.repeat(40), version, changelog, unreleased })

describe('the notes of a release', () => {
  it('the notes of a release are what the changelog says of it, and how to pin it', () => {
    expect(notes('1.2.0')).toBe(
      `- Does more.\n- Breaks less.\n\nPinned to its commit: \`uses: watchkeeper/watchkeeper@${'a'.repeat(40)} # v1.2.0\`\n`,
    )
  })

  it('the notes of a release of a pre-release are the notes in .changes', () => {
    expect(notes('1.3.0-rc.1', { unreleased: '### Added\n\n- More.' })).toMatch(/^### Added\n\n- More\.\n\nPinned/)
  })

  it.each([
    ['the tag is of another version', '1.2.0', { tag: 'v1.2.1' }, 'The tag is v1.2.1, but package.json has 1.2.0.'],
    ['the tag lacks its v', '1.2.0', { tag: '1.2.0' }, 'The tag is 1.2.0'],
    ['the changelog has no section', '1.4.0', {}, 'CHANGELOG.md has no section for 1.4.0'],
    ['the changelog has only a longer version', '1.2', {}, 'CHANGELOG.md has no section for 1.2'],
    ['the section has no date', '1.3.0', {}, 'CHANGELOG.md has no date for 1.3.0'],
    ['the section is empty', '1.1.0', {}, '1.1.0 has no changes'],
    ['.changes still has notes', '1.2.0', { unreleased: '- More.' }, '.changes still has notes. Run npm run changelog'],
    ['a pre-release has no notes', '1.3.0-rc.1', {}, '1.3.0-rc.1 has no changes'],
  ])('the notes of a release are rejected when %s', (_, version, options, reason) => {
    expect(() => notes(version, options)).toThrow(reason)
  })
})
