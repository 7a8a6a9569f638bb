import { describe, expect, it } from 'vitest'
import { majorTag, readPins, releaseTag, updateReferences } from '../../../scripts/action-references.ts'

const [oldPin, newPin] = [`${'a'.repeat(40)} # v1.0.0`, `${'b'.repeat(40)} # v2.0.0`]
const pins = readPins([`- uses: x/y@${newPin}\n- uses: x/z/init@${newPin}\n`, `- uses: x/y@${newPin}\n`])
const update = (text: string, file = 'docs/x.md'): string => updateReferences(text, pins, file)

describe('the pins of workflows', () => {
  it('the pins of workflows are read by action, wherever in its repository it is', () => {
    expect([...pins]).toEqual([
      ['x/y', newPin],
      ['x/z', newPin],
    ])
  })

  it('the pins of workflows are rejected when two workflows differ', () => {
    expect(() => readPins([`uses: x/y@${oldPin}`, `uses: x/y@${newPin}`])).toThrow('.github/workflows pins x/y to two versions')
  })
})

describe('the references of a document', () => {
  it.each([
    ['an old pin', `  - uses: x/y@${oldPin}\n`, `  - uses: x/y@${newPin}\n`],
    ['a tag', '- uses: x/y@v1\n', `- uses: x/y@${newPin}\n`],
    ['an action in a folder', `uses: x/z/other@${oldPin}`, `uses: x/z/other@${newPin}`],
    ['an action in prose', 'Write `uses: x/y@v1`.', `Write \`uses: x/y@${newPin}\`.`],
    ['this action', 'uses: watchkeeper/watchkeeper@v999\n', `uses: watchkeeper/watchkeeper@${majorTag}\n`],
    [
      'a reusable workflow',
      'watchkeeper/watchkeeper/.github/workflows/x.yml@v999',
      `watchkeeper/watchkeeper/.github/workflows/x.yml@${majorTag}`,
    ],
    [
      'the address of a schema',
      'com/watchkeeper/watchkeeper/v999/schemas/x.json',
      `com/watchkeeper/watchkeeper/${majorTag}/schemas/x.json`,
    ],
  ])('the references of a document are updated for %s', (_, text, wanted) => {
    expect(update(text)).toBe(wanted)
    expect(update(wanted)).toBe(wanted)
  })

  it('the references of a document are the release in a reusable workflow, so that a call at a commit runs one version', () => {
    const file = '.github/workflows/reusable-drift.yml'
    for (const tag of ['v999', 'v999.1.2', 'v0.0.1-rc.1'])
      expect(update(`uses: watchkeeper/watchkeeper@${tag}\n`, file)).toBe(`uses: watchkeeper/watchkeeper@${releaseTag}\n`)
  })

  it('the references of a document are the version in the name of an image', () => {
    const image = `ghcr.io/watchkeeper/watchkeeper:${releaseTag.slice(1)}`
    for (const version of ['999.1.2', '0.0.1-rc.1']) expect(update(`ghcr.io/watchkeeper/watchkeeper:${version} plan`)).toBe(`${image} plan`)
  })

  it.each(['uses: ./', 'uses: watchkeeper/watchkeeper@<commit> # v0.1.0', 'watchkeeper/watchkeeper@v0.1.0', 'npm pack watchkeeper@0.1.0'])(
    'the references of a document are left as they are in %s',
    (text) => {
      expect(update(text)).toBe(text)
    },
  )

  it('the references of a document are rejected for an action that no workflow pins', () => {
    expect(() => update('uses: x/unknown@v1')).toThrow('docs/x.md uses x/unknown, which no workflow in .github/workflows pins')
  })
})
