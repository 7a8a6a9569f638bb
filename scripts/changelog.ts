// `npm run changelog` moves the change notes in .changes to a new section of CHANGELOG.md, for the version in package.json.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from './shipped.ts'

/** The headings of a release in their order, by the kind in a note's file name. */
const headings = { breaking: 'Breaking changes', added: 'Added', changed: 'Changed', fixed: 'Fixed', security: 'Security' } as const

type Kind = keyof typeof headings

const isKind = (text: string): text is Kind => Object.hasOwn(headings, text)

export const noteFiles = (root: string): readonly string[] =>
  readdirSync(join(root, '.changes'))
    .filter((name) => name !== 'README.md')
    .sort()
    .map((name) => join('.changes', name))

/** The Markdown of all notes, empty without any. Throws an `Error` that says what to correct. */
export function renderNotes(root: string): string {
  const notes = noteFiles(root).map((path) => {
    const [, kind = ''] = /\.([a-z]+)\.md$/.exec(path) ?? []
    if (!isKind(kind)) throw new Error(`${path}: the name must end with .${Object.keys(headings).join('.md, .')}.md`)
    const text = readFileSync(join(root, path), 'utf8').trim()
    if (text === '') throw new Error(`${path} is empty. Describe the change for users, or delete the file.`)
    return { kind, item: `- ${text.replaceAll('\n', '\n  ')}` }
  })
  const sections = Object.entries(headings).flatMap(([kind, heading]) => {
    const items = notes.filter((note) => note.kind === kind).map(({ item }) => item)
    return items.length === 0 ? [] : [`### ${heading}\n\n${items.join('\n')}`]
  })
  return sections.join('\n\n')
}

/** The changelog with a new section above the others. `date` is YYYY-MM-DD. Throws an `Error` that says what to correct. */
export function addRelease(changelog: string, version: string, date: string, notes: string): string {
  if (notes === '') throw new Error('.changes has no notes. A release needs at least one.')
  if (version.includes('-')) throw new Error(`${version} is a pre-release. Its notes stay in .changes until the release.`)
  if (changelog.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md already has ${version}. Set the next version with npm version.`)
  const [introduction = '', ...releases] = changelog.split(/^(?=## )/m)
  const older = releases.length === 0 ? '' : `\n${releases.join('')}`
  return `${introduction.trimEnd()}\n\n## ${version} (${date})\n\n${notes}\n${older}`
}

if (import.meta.main) {
  const root = new URL('..', import.meta.url).pathname
  const { version } = readManifest()
  const file = join(root, 'CHANGELOG.md')
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(file, addRelease(readFileSync(file, 'utf8'), version, date, renderNotes(root)))
  for (const path of noteFiles(root)) rmSync(join(root, path))
  console.log(`CHANGELOG.md has a section for ${version}.`)
}
