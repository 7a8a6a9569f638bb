import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addRelease, noteFiles, renderNotes } from '../../../scripts/changelog.ts'
import { releaseNotes } from '../../../scripts/release-notes.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'watchkeeper-changes-'))
  mkdirSync(join(root, '.changes'))
  write('README.md', '# Change notes\n')
})
afterEach(() => rmSync(root, { recursive: true }))

const write = (name: string, text: string): void => writeFileSync(join(root, '.changes', name), text)

describe('the notes in .changes', () => {
  it('the notes in .changes are valid in this repository', () => {
    const repository = new URL('../../..', import.meta.url).pathname
    expect(renderNotes(repository).match(/^- /gm) ?? []).toHaveLength(noteFiles(repository).length)
  })

  it('the notes in .changes are sorted by kind, then by file name, without the README', () => {
    write('b.fixed.md', 'Second fix.\n')
    write('a.fixed.md', 'First fix.\n\nWith details.\n')
    write('c.breaking.md', 'Rename an input.\n')
    expect(renderNotes(root)).toBe(
      '### Breaking changes\n\n- Rename an input.\n\n### Fixed\n\n- First fix.\n  \n  With details.\n- Second fix.',
    )
    expect(noteFiles(root)).toEqual(['.changes/a.fixed.md', '.changes/b.fixed.md', '.changes/c.breaking.md'])
  })

  it.each([
    ['an unknown kind', 'a.feature.md', 'A feature.', '.changes/a.feature.md: the name must end with .breaking.md, .added.md'],
    ['no kind', 'a.md', 'A feature.', 'the name must end with'],
    ['another type of file', 'a.added.txt', 'A feature.', 'the name must end with'],
    ['no text', 'a.added.md', ' \n', '.changes/a.added.md is empty'],
  ])('the notes in .changes are rejected with %s', (_, name, text, message) => {
    write(name, text)
    expect(() => renderNotes(root)).toThrow(message)
  })
})

describe('a new section of the changelog', () => {
  const empty = '# Changelog\n\nIntroduction.\n'
  const first = addRelease(empty, '1.0.0', '2026-12-01', '- First.')

  it('a new section of the changelog comes after the introduction, and before older ones', () => {
    expect(first).toBe('# Changelog\n\nIntroduction.\n\n## 1.0.0 (2026-12-01)\n\n- First.\n')
    expect(addRelease(addRelease(first, '1.1.0', '2026-12-02', '- Second.'), '1.2.0', '2026-12-03', '- Third.')).toBe(
      '# Changelog\n\nIntroduction.\n\n## 1.2.0 (2026-12-03)\n\n- Third.\n\n## 1.1.0 (2026-12-02)\n\n- Second.\n\n## 1.0.0 (2026-12-01)\n\n- First.\n',
    )
  })

  it('a new section of the changelog becomes the notes of the release', () => {
    const changelog = addRelease(first, '1.1.0', '2026-12-02', '### Fixed\n\n- A bug.')
    expect(releaseNotes({ tag: 'v1.1.0', commit: 'c', version: '1.1.0', changelog, unreleased: '' })).toMatch(
      /^### Fixed\n\n- A bug\.\n\nPinned/,
    )
  })

  it.each([
    ['without notes', '1.1.0', '', '.changes has no notes'],
    ['for a version that it has', '1.0.0', '- More.', 'CHANGELOG.md already has 1.0.0'],
    ['for a pre-release', '1.1.0-rc.1', '- More.', '1.1.0-rc.1 is a pre-release'],
  ])('a new section of the changelog is rejected %s', (_, version, notes, message) => {
    expect(() => addRelease(first, version, '2026-12-02', notes)).toThrow(message)
  })
})
