import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('../..', import.meta.url).pathname

/** Words that make readers stop. Each with what to write instead. */
const avoided: readonly (readonly [string, string])[] = [
  ['nobody', 'name the subject, or use the passive'],
  ['whoever', 'the user who …'],
  ['somebody else', 'another user'],
  ['anybody', 'another user, everyone'],
  ['anew', 'again'],
  ['bears', 'has'],
  ['stands', 'is'],
  ['alone', 'only'],
  ['all the same', 'still'],
  ['(?<!there )is no [a-z]+', 'is not a …, unknown …'],
  ['what there is', 'the existing …'],
  ['what is [^.,;:]{1,40} is', 'name the subject'],
  ['told', 'passed, shown, informed'],
  ['said', 'reported, stated'],
  ['for good', 'permanently'],
  ['in any case', 'always'],
  ['as if nothing', 'describe the behavior'],
]

/** Good English that contains one of the words. */
const allowed: readonly { readonly text: RegExp; readonly reason: string }[] = [
  { text: /\bis no longer\b/i, reason: 'a common phrase about a change' },
  { text: /\b(?:leave|leaves|left|leaving)\s(?:\S+\s){1,4}alone\b/i, reason: '"to leave alone" means not to change' },
]

/** Where the words of a phrase may be separated: by spaces, or by the start of the next line of a comment. */
const gap = '\\s+(?:(?://|[*#>|])\\s+)?'

const pattern = new RegExp(`\\b(?:${avoided.map(([phrase]) => phrase.replaceAll(' ', gap)).join('|')})\\b`, 'gi')

/** The avoided words in a text, each as `line: sentence`. */
function findAvoided(text: string): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(({ 0: words, index }) => {
    const before = text.slice(Math.max(0, index - 100), index).split(/[.!?:]\s|\n\s*\n|['"`]/)
    const [after = ''] = text.slice(index + words.length, index + words.length + 100).split(/(?<=[.!?])\s|\n\s*\n|['"`]/)
    const sentence = `${before.at(-1)}${words}${after}`
      .replace(new RegExp(gap, 'g'), ' ')
      .replace(/^[\s/*#>|]+/, '')
      .trimEnd()
    if (allowed.some(({ text: one }) => one.test(sentence))) return []
    return [`${text.slice(0, index).split('\n').length}: ${sentence}`]
  })
}

// Source files are searched as a whole, including code, because none of the words is a good name either.
const folders: readonly (readonly [string, RegExp])[] = [
  ['src', /\.(?:ts|js|css)$/],
  ['docs', /\.md$/],
  ['examples', /\.ya?ml$/],
  ['.github/ISSUE_TEMPLATE', /\.yml$/],
  ['.changes', /\.md$/],
  ['skills', /\.md$/],
]

const singleFiles = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  'AGENTS.md',
  'action.yml',
  '.github/pull_request_template.md',
]

/** Libraries of others, as they are published. */
const vendored = 'src/report/page-assets.ts'

const files = [
  ...folders.flatMap(([folder, name]) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && name.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name))),
  ),
  ...singleFiles,
]
  .filter((file) => file !== vendored)
  .sort()

describe('the words of messages, comments and documents', () => {
  it('messages, comments and documents avoid words that make readers stop', () => {
    expect(files.length).toBeGreaterThan(200)
    const found = files.flatMap((file) => findAvoided(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`))
    expect(found).toEqual([])
  })

  it('finds forbidden words across two lines of a comment', () => {
    expect(findAvoided("// Keys.\n// It is\n// no key. Next.\nconst text = 'ask whoever asks'")).toEqual([
      '2: It is no key.',
      '4: ask whoever asks',
    ])
    expect(findAvoided('/**\n * Kept all the\n * same.\n */')).toEqual(['2: Kept all the same.'])
  })

  it('accepts a forbidden word in a phrase that is good English', () => {
    expect(findAvoided('There is no key. It is no longer there, and leaves other objects alone.')).toEqual([])
  })
})
