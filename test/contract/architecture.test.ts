import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'
import { describe, expect, it } from 'vitest'

const src = new URL('../../src', import.meta.url).pathname

const typeScriptIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

/** The lines with `as` and a type, without a comment on them or on the line before. */
function assertionsIn(text: string): readonly string[] {
  if (!/ as (?!const\b)/.test(text)) return []
  const lines = text.split('\n')
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length - 1
  const found: string[] = []
  new Visitor({
    TSAsExpression({ start, end, typeAnnotation }) {
      if (text.slice(typeAnnotation.start, typeAnnotation.end) === 'const') return
      const [first, last] = [lineAt(start), lineAt(end)]
      const isExplained = lines.slice(first, last + 1).some((line) => line.includes('// ')) || /^\s*\/\/ /.test(lines[first - 1] ?? '')
      if (!isExplained) found.push(lines[last]?.trim() ?? '')
    },
  }).visit(parseSync('file.ts', text).program)
  return found
}

describe('architecture', () => {
  it.each(['src', 'scripts', 'bench'])('gives a reason beside every type assertion in %s', { tags: 'slow' }, (folder) => {
    const root = join(src, '..', folder)
    const found = typeScriptIn(root).flatMap((file) =>
      assertionsIn(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line}`),
    )
    expect(found).toEqual([])
  })
})
