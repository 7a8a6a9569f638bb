// Owns putting what changes into files: each file once, with all that belongs into it.
import { readDocument } from '../document.ts'
import { interpolate } from '../interpolate.ts'
import { ownValue } from '../variants.ts'
import { type Addition, editFile, type Update } from './edit-file.ts'
import { newFile } from './new-file.ts'

export interface DraftedFile {
  readonly path: string
  /** Undefined for a file that does not exist yet. */
  readonly before: string | undefined
  readonly after: string
}

interface Placed {
  readonly path: string
}

export interface Writing {
  readonly texts: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
  readonly updates: readonly (Update & Placed)[]
  readonly additions: readonly (Addition & Placed)[]
}

export interface WrittenFiles {
  readonly files: readonly DraftedFile[]
  /** Expressions that gave way to what they no longer stand for, by object. */
  readonly lost: ReadonlyMap<string, readonly string[]>
}

export function writeFiles({ texts, variable, updates, additions }: Writing): WrittenFiles {
  const paths = [...new Set([...updates, ...additions].map(({ path }) => path))].sort()
  const lost = new Map<string, readonly string[]>()
  const files = paths.map((path): DraftedFile => {
    const of = <T extends Placed>(all: readonly T[]): readonly T[] => all.filter((one) => one.path === path)
    const before = texts.get(path)
    if (before === undefined) return { path, before, after: newFile(path, of(additions)) }
    const edited = editFile({
      path,
      text: before,
      defaults: defaultsIn(path, before, variable),
      updates: of(updates),
      additions: of(additions),
    })
    for (const [object, expressions] of edited.lost) lost.set(object, expressions)
    return { path, before, after: edited.text }
  })
  return { files: files.filter(({ before, after }) => before !== after), lost }
}

function defaultsIn(path: string, text: string, variable: Writing['variable']): unknown {
  const reading = readDocument(text, path)
  return 'value' in reading ? interpolate(ownValue(reading.value, 'defaults'), { variable }).value : undefined
}
