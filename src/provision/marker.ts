// Owns the mark by which an object is known as ours: project and key, and what was last applied, inside the object itself.
// There is no state file: who deletes a mark, takes the object out of this tool's hands.
import { digestOfText } from '../kernel/digest.ts'

export interface Mark {
  readonly project: string
  readonly key: string
  /** Of the declaration that was applied; tells whether a difference came about in the files or in the service. */
  readonly digest: string
}

/** A mark as it was found. What a style writes of project and key may be hashed, so marks are compared by what is written. */
export interface FoundMark {
  readonly project: string
  /** Project and key, as the style writes them. */
  readonly token: string
  readonly digest: string
  /** Undefined where the mark holds a hash of it. */
  readonly key: string | undefined
}

/** How marks are written in one place of an object. */
export interface MarkStyle {
  projectToken(project: string): string
  token(project: string, key: string): string
}

export const projectGrammar = /^[A-Za-z0-9][\w./-]{0,99}$/

const digestLength = 6

/** JSON with its keys in order, so that equal values have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) && !JSON.isRawJSON(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

export const digestOf = (value: unknown): string => digestOfText(canonicalText(value), digestLength)

/** Long enough that no two plans share one. */
export const longDigestOf = (value: unknown): string => digestOfText(canonicalText(value), 40)

// Whole lines, wherever they stand: below a mark, people go on writing.
const markLine = /^[ \t]*watchkeeper: ([\w./-]{1,100}) ([a-z0-9][a-z0-9._-]{0,62}) ([0-9a-f]{6})[ \t\r]*$/gm

/** The last one is the mark; what looks like it above is text. */
const lastMarkLine = (text: string): RegExpExecArray | undefined => [...text.matchAll(markLine)].at(-1)

/** The last line of a text that people read. */
export function markText(text: string | null | undefined, { project, key, digest }: Mark): string {
  const line = `watchkeeper: ${project} ${key} ${digest}`
  const own = withoutMarkLine(text)
  return own === '' ? line : `${own}\n\n${line}`
}

export function withoutMarkLine(text: string | null | undefined): string {
  const found = lastMarkLine(text ?? '')
  if (text == null || found === undefined) return text ?? ''
  const [above, below] = [text.slice(0, found.index), text.slice(found.index + found[0].length)]
  return below.trim() === '' ? above.trimEnd() : above + below.replace(/^\n/, '')
}

export function markInText(text: unknown): FoundMark | undefined {
  const [, project, key, digest] = (typeof text === 'string' ? lastMarkLine(text) : undefined) ?? []
  if (project === undefined || key === undefined || digest === undefined) return undefined
  return { project, key, digest, token: textStyle.token(project, key) }
}

export const textStyle: MarkStyle = { projectToken: (project) => project, token: (project, key) => `${project} ${key}` }

// 32 characters at most: "wk:", six for the project, up to fifteen for the key, six for what was applied.
const markTag = /^wk:([0-9a-f]{6}):([a-z0-9._-]{1,15}|#[0-9a-f]{10}):([0-9a-f]{6})$/

const shortKey = (key: string): string => (key.length <= 15 ? key : `#${digestOfText(key, 10)}`)

export const isMarkTag = (tag: unknown): boolean => typeof tag === 'string' && markTag.test(tag)

export const tagStyle: MarkStyle = {
  projectToken: (project) => digestOfText(project, 6),
  token: (project, key) => `${digestOfText(project, 6)}:${shortKey(key)}`,
}

export const toMarkTag = ({ project, key, digest }: Mark): string => `wk:${tagStyle.token(project, key)}:${digest}`

export function markInTags(tags: unknown): FoundMark | undefined {
  const tag: unknown = Array.isArray(tags) ? tags.find(isMarkTag) : undefined
  const [, project, key, digest] = (typeof tag === 'string' ? markTag.exec(tag) : null) ?? []
  if (project === undefined || key === undefined || digest === undefined) return undefined
  return { project, digest, token: `${project}:${key}`, key: key.startsWith('#') ? undefined : key }
}
