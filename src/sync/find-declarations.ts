import type { Profile } from '../api/profiles.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { inputError } from '../core/errors.ts'
import * as fields from '../operation/fields.ts'
import type { Files } from '../operation/operation.ts'
import { alertFieldsOf } from '../resources/alerts/alert-wire.ts'
import { type Abilities, checkReferences } from '../resources/references.ts'
import { type Declarations, readDeclarations, type SourceFile } from './declarations.ts'
import { type LintSettings, lint } from './lint.ts'

export const defaultFiles = ['observability/**/*.{yml,yaml,json}']

export const filesInput = fields
  .lines('Files with alerts and dashboards, as globs, one a line.', 'globs inside the workspace, one a line', fields.glob)
  .default(defaultFiles)

export interface Found extends Declarations {
  readonly paths: readonly string[]
}

/** Reads, checks and lints the files. Throws an InputError when a named file is missing, or when no file matches at all. */
export async function findDeclarations(globs: readonly string[], files: Files, profile: Profile, settings: LintSettings): Promise<Found> {
  const paths = await files.find(globs, 'files')
  const missing = paths.length === 0 ? globs : globs.filter((glob) => isPlain(glob) && !paths.includes(plainPath(glob)))
  if (missing.length > 0) throw inputError('files', `no file matches ${missing.join(', ')}`)
  const read = readDeclarations(await readAll(paths, files), files.variable)
  const abilities = abilitiesOf(profile)
  // A profile without the field cannot ask for it.
  const rules: LintSettings = abilities.alertFields.has('note') ? settings : { ...settings, 'missing-runbook': 'off' }
  const all = [...read.diagnostics, ...checkReferences(read, abilities), ...lint(read, rules)]
  return { ...read, paths, diagnostics: all.toSorted(byLocation) }
}

/** A file by its name must exist; a pattern may match nothing. */
const isPlain = (glob: string): boolean => !/[*?[\]{}()!+@\\]/.test(glob)

const plainPath = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

/** Of all files together: far more than people write by hand. */
const mostCharacters = 20_000_000

// One after the other: some systems cannot open a thousand files at once.
async function readAll(paths: readonly string[], files: Files): Promise<readonly SourceFile[]> {
  const texts: SourceFile[] = []
  let characters = 0
  for (const path of paths) {
    const text = await files.read(path, 'files')
    characters += text.length
    if (characters > mostCharacters) throw inputError('files', 'matches files of more than 20 MB together')
    texts.push({ path, text })
  }
  return texts
}

const abilitiesOf = (profile: Profile): Abilities => ({
  savedSearches: profile.savedSearches,
  webhookNames: profile.name !== 'neutral',
  alertFields: alertFieldsOf(profile),
})

const byLocation = ({ location: a }: Diagnostic, { location: b }: Diagnostic): number =>
  a.file.localeCompare(b.file, 'en') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
