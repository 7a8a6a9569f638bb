// `node scripts/release-notes.ts v1.2.3 <commit>` prints what CHANGELOG.md says of a version. It fails when tag, package and changelog disagree.
import { readFileSync } from 'node:fs'

export interface Release {
  readonly tag: string
  readonly commit: string
  /** package.json's. */
  readonly version: string
  readonly changelog: string
}

/** Throws an `Error` that says what to correct. */
export function releaseNotes({ tag, commit, version, changelog }: Release): string {
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, but package.json says ${version}: npm version, then tag that commit`)
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.split(' ')[0] === version)
  if (section === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}`)
  const [heading = '', ...lines] = section.split('\n')
  if (!/\(\d{4}-\d{2}-\d{2}\)$/.test(heading)) throw new Error(`CHANGELOG.md gives ${version} no date: ## ${version} (YYYY-MM-DD)`)
  const changes = lines.join('\n').trim()
  if (changes === '') throw new Error(`CHANGELOG.md lists no change of ${version}`)
  return `${changes}\n\nPinned to its commit: \`uses: watchkeeper/watchkeeper@${commit} # ${tag}\`\n`
}

if (import.meta.main) {
  const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
  const [tag = '', commit = ''] = process.argv.slice(2)
  const { version } = JSON.parse(read('package.json')) as { version: string }
  try {
    process.stdout.write(releaseNotes({ tag, commit, version, changelog: read('CHANGELOG.md') }))
  } catch (error) {
    console.error(`::error::${(error as Error).message}`)
    process.exitCode = 1
  }
}
