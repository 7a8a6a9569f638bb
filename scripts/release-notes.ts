// `node scripts/release-notes.ts v1.2.3 <commit>` prints the notes of a release. It fails when tag, package, changelog and .changes disagree.
import { readFileSync } from 'node:fs'
import { renderNotes } from './changelog.ts'
import { readManifest } from './shipped.ts'

export interface Release {
  readonly tag: string
  readonly commit: string
  /** package.json's. */
  readonly version: string
  readonly changelog: string
  /** The rendered notes in .changes: empty at a release, because `npm run changelog` moved them. */
  readonly unreleased: string
}

/** Throws an `Error` that says what to correct. */
export function releaseNotes({ tag, commit, version, changelog, unreleased }: Release): string {
  if (tag !== `v${version}`)
    throw new Error(`The tag is ${tag}, but package.json has ${version}. Set the version with npm version, then tag that commit.`)
  const changes = version.includes('-') ? unreleased : changesOf(version, changelog, unreleased)
  if (changes === '') throw new Error(`${version} has no changes. Add a note to .changes.`)
  return `${changes}\n\nPinned to its commit: \`uses: watchkeeper/watchkeeper@${commit} # ${tag}\`\n`
}

function changesOf(version: string, changelog: string, unreleased: string): string {
  if (unreleased !== '') throw new Error('.changes still has notes. Run npm run changelog before you tag a release.')
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.split(' ')[0] === version)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}. Run npm run changelog.`)
  const [heading = '', ...lines] = section.split('\n')
  if (!/\(\d{4}-\d{2}-\d{2}\)$/.test(heading)) throw new Error(`CHANGELOG.md has no date for ${version}: ## ${version} (YYYY-MM-DD)`)
  return lines.join('\n').trim()
}

if (import.meta.main) {
  const root = new URL('..', import.meta.url).pathname
  const read = (name: string): string => readFileSync(`${root}/${name}`, 'utf8')
  const [tag = '', commit = ''] = process.argv.slice(2)
  const { version } = readManifest()
  try {
    process.stdout.write(releaseNotes({ tag, commit, version, changelog: read('CHANGELOG.md'), unreleased: renderNotes(root) }))
  } catch (error) {
    console.error(`::error::${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
