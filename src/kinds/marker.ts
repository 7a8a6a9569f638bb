// The ownership marker inside an object. It holds project and key, and the base: digests of the declaration that was last applied, and of the
// object as it was stored then. There is no state file: deleting the marker releases the object.
import { oncePer } from '../platform/core/concurrency.ts'
import { digestOfText } from '../platform/core/digest.ts'

interface MarkerFields {
  readonly project: string
  readonly key: string | undefined
  /** Digest of the declaration that was last applied. It shows whether the files or the service changed since. */
  readonly digest: string
  /** Digest of the repository that applied it last (see `repositoryDigest`). Undefined where no repository is known. */
  readonly repository?: string | undefined
  /** Whether the object existed before this tool managed it. */
  readonly isAdopted?: boolean
  /** The id of the tile that was made for the query of an alert, or `-` until it is known (see `withQueryTile`). */
  readonly queryTile?: string | undefined
}

export interface OwnershipMarker extends MarkerFields {
  readonly key: string
}

/** A marker as it is stored. A style may hash project and key, which is undefined then, so markers are compared by their tokens. */
export interface StoredMarker extends MarkerFields {
  /** Project and key, as the style writes them. */
  readonly token: string
  /** The name of the project, where the marker does not hold a hash of it. */
  readonly projectName?: string
  /** The stored half of the base, with the number of its format (see `baseOf`). Undefined in markers of earlier versions. */
  readonly base?: string | undefined
}

export interface MarkerStyle {
  projectToken(project: string): string
  token(project: string, key: string): string
}

export function ownershipTest(project: string, style: MarkerStyle): (marker: StoredMarker | undefined) => boolean {
  const token = style.projectToken(project)
  return (marker) => marker?.project === token
}

export const keyGrammar = /^[a-z0-9][a-z0-9._-]{0,62}$/

export const keyForm = 'lower-case letters, digits, dots, dashes and underscores; at most 63; the first is a letter or digit'

export const projectGrammar = /^[A-Za-z0-9][\w./-]{0,99}$/

export const projectForm = 'letters, digits, dots, dashes, underscores and slashes, at most 100'

/** JSON with its keys in order, so that equal values have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Object && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

/** A digest that fits into a marker: 6 hex digits of SHA-256. */
export const digestOf = (value: unknown): string => digestOfText(canonicalText(value), 6)

/** A digest of 40 hex digits, for plan files. */
export const longDigestOf = (value: unknown): string => digestOfText(canonicalText(value), 40)

/** The digest of a repository in markers. Hosts and names of repositories do not differ in case only. */
export const repositoryDigest = (name: string): string => digestOfText(name.toLowerCase(), 10)

export const repositoryDigestGrammar = /^[0-9a-f]{10}$/

// Anywhere in the text, because people write above, below and beside a marker. Optional parts follow the three fixed ones, each with a
// name: a marker of a later version is still found, whatever parts it has.
const markerText = /watchkeeper: ([\w./-]{1,100}) ([a-z0-9][a-z0-9._-]{0,62}) ([0-9a-f]{6})((?: wk[a-z]:[\w./+=-]{1,200})*)/g

/** The repository, in a part of a text's marker or in a tag. Another letter marks an adopted object. */
const originGrammar = /^wk([ra]):([0-9a-f]{10}|-)$/

const originOf = ({ repository = '-', isAdopted = false }: OwnershipMarker) =>
  repository === '-' && !isAdopted ? [] : [`wk${isAdopted ? 'a' : 'r'}:${repository}`]

/** The stored half of the base, in a part of a text's marker or in a tag. */
const baseGrammar = /^wkb:(\d{1,2}\.[0-9a-f]{10})$/

function readParts(parts: readonly string[]) {
  const find = (grammar: RegExp) => parts.map((part) => grammar.exec(part)).find((found) => found !== null) ?? []
  const [, letter, repository] = find(originGrammar)
  const [, base] = find(baseGrammar)
  return { repository: repository === '-' ? undefined : repository, isAdopted: letter === 'a', ...(base !== undefined && { base }) }
}

const onOwnLine = oncePer(({ source }: RegExp) => new RegExp(`(?<=(?:^|\\n)[^\\S\\n]*)${source}(?=[ \\t\\r]*(?:$|\\n))`, 'g'))

/** The last one on a line of its own, or else the last one. Others are ordinary text. */
function findMarker(text: string, pattern: RegExp) {
  if (text.search(pattern) < 0) return undefined
  const match = [...text.matchAll(onOwnLine(pattern))].at(-1) ?? [...text.matchAll(pattern)].at(-1)
  return match && { match, above: text.slice(0, match.index), below: text.slice(match.index + match[0].length) }
}

/** The text without its marker of this form. Text above, below and beside it stays. */
function withoutForm(text: string, form: RegExp) {
  const found = findMarker(text, form)
  if (found === undefined) return text
  const { above, below } = found
  const beside = above.slice(above.lastIndexOf('\n') + 1)
  const before = above.slice(0, above.length - beside.length) + beside.trimEnd()
  const after = below.replace(/^[ \t\r]+/, '')
  // Only the line ends that a marker gets before it: a text can end in line ends of its own.
  if (after.trim() === '') return before.replace(/(?:\r\n){1,2}$|\n{1,2}$/, '')
  if (beside.trim() === '') return before + after.replace(/^\n/, '')
  const hadBlank = before !== above || after !== below
  return before + (hadBlank && !after.startsWith('\n') ? ' ' : '') + after
}

/** The text with the marker as its last line. A value that is not a text counts as an empty one. */
export function withTextMarker(text: unknown, marker: OwnershipMarker): string {
  const { project, key, digest, queryTile } = marker
  const tile = queryTile === undefined ? [] : [`wkq:${queryTile}`]
  return withLine(text, [`watchkeeper: ${project} ${key} ${digest}`, ...originOf(marker), ...tile].join(' '))
}

function withLine(text: unknown, line: string) {
  const own = withoutTextMarker(text)
  return own === '' ? line : `${own}\n\n${line}`
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

export const withoutTextMarker = (text: unknown): string => [snapshotText, secretsText, markerText].reduce(withoutForm, textOf(text))

/** Undefined without a marker, and for a value that is not a text. */
export function readTextMarker(text: unknown): StoredMarker | undefined {
  const [, project, key, digest, parts = ''] = findMarker(textOf(text), markerText)?.match ?? []
  if (project === undefined || key === undefined || digest === undefined) return undefined
  const [, queryTile] = / wkq:([\w-]{2,})/.exec(parts) ?? []
  return { project, projectName: project, key, digest, token: textStyle.token(project, key), ...readParts(parts.split(' ')), queryTile }
}

function changeMarker(text: string, change: (marker: string) => string) {
  const found = findMarker(text, markerText)
  return found === undefined ? text : `${found.above}${change(found.match[0])}${found.below}`
}

/** The text with the id of the tile in a marker that was written before the id was known. */
export const withQueryTile = (text: string, tileId: string): string =>
  changeMarker(text, (marker) => marker.replace(/(?<= wkq:)-$/, () => tileId))

/** The new text of an object, with the marker of its old one. */
export function keepTextMarkers(text: string, marked: unknown): string {
  const line = findMarker(textOf(marked), markerText)?.match[0]
  return line === undefined ? text : withLine(text, line)
}

/** Markers in a text contain project and key in plain form. */
export const textStyle: MarkerStyle = { projectToken: (project) => project, token: (project, key) => `${project} ${key}` }

/** A line that earlier versions wrote below the marker. */
const snapshotText = /watchkeeper-snapshot: (\d{1,3}) ([0-9a-f]{20})/g

/** Digests of values that the service never answers, by the name of the field. */
interface SecretsMarker {
  readonly salt: string
  readonly digests: Readonly<Record<string, string>>
}

const secretsText = /watchkeeper-secrets: 1 ([0-9a-f]{16})((?: [A-Za-z]{1,40}:[0-9a-f]{10}){1,10})/g

export function readTextSecrets(text: unknown): SecretsMarker | undefined {
  const [, salt, fields] = findMarker(textOf(text), secretsText)?.match ?? []
  if (salt === undefined || fields === undefined) return undefined
  const digests = fields.matchAll(/(\w+):(\w+)/g).map(([, field = '', digest = '']) => [field, digest] as const)
  return { salt, digests: Object.fromEntries(digests) }
}

/** Adds the digests of hidden values below the other markers, or removes them where there are none. */
export function withTextSecrets(text: string, { salt, digests }: SecretsMarker): string {
  const fields = Object.entries(digests).map(([field, digest]) => ` ${field}:${digest}`)
  const others = withoutForm(text, secretsText)
  return fields.length === 0 ? others : `${others}\nwatchkeeper-secrets: 1 ${salt}${fields.join('')}`
}

/** A marker has more tags besides the first, which is full, and earlier versions had another one. */
export const isMarkerTag = (tag: unknown): boolean =>
  isOwnershipTag(tag) ||
  (typeof tag === 'string' && (originGrammar.test(tag) || baseGrammar.test(tag) || /^wks\d{1,3}:[0-9a-f]{20}$/.test(tag)))

const listTags = (tags: unknown) => (Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [])

export const withoutMarkerTags = (tags: unknown): readonly string[] => [...new Set(listTags(tags).filter((tag) => !isMarkerTag(tag)))]

// 32 characters at most: "wk:", six for the project, up to fifteen for the key, six for the digest.
const ownershipTag = /^wk:([0-9a-f]{6}):([a-z0-9._-]{1,15}|#[0-9a-f]{10}):([0-9a-f]{6})$/

const isOwnershipTag = (tag: unknown) => typeof tag === 'string' && ownershipTag.test(tag)

/** Markers in tags contain a hash of the project, and of a key of more than 15 characters. */
export const tagStyle: MarkerStyle = {
  projectToken: (project) => digestOfText(project, 6),
  token: (project, key) => `${digestOfText(project, 6)}:${key.length <= 15 ? key : `#${digestOfText(key, 10)}`}`,
}

export const toMarkerTags = (marker: OwnershipMarker): readonly string[] => [
  `wk:${tagStyle.token(marker.project, marker.key)}:${marker.digest}`,
  ...originOf(marker),
]

export function readTagMarker(tags: unknown): StoredMarker | undefined {
  const tag: unknown = Array.isArray(tags) ? tags.find(isOwnershipTag) : undefined
  const [, project, key, digest] = (typeof tag === 'string' ? ownershipTag.exec(tag) : null) ?? []
  if (project === undefined || key === undefined || digest === undefined) return undefined
  return { project, digest, token: `${project}:${key}`, key: key.startsWith('#') ? undefined : key, ...readParts(listTags(tags)) }
}

type MarkedBody = Readonly<Record<string, unknown>>

interface MarkerForm {
  readonly style: MarkerStyle
  read(value: unknown): StoredMarker | undefined
  write(value: unknown, marker: OwnershipMarker): unknown
  remove(value: unknown): unknown
  rebase(value: unknown, base: string): unknown
}

const markersIn = (field: string, { style, read, write, remove, rebase }: MarkerForm) =>
  ({
    ownership: 'marker',
    markedField: field,
    tokenOf: (body: MarkedBody) => read(body[field])?.token,
    markerStyle: style,
    readMarker: (body: MarkedBody) => read(body[field]),
    withMarker: (body: MarkedBody, marker: OwnershipMarker) => ({ ...body, [field]: write(body[field], marker) }),
    withoutMarker: (body: MarkedBody) => ({ ...body, [field]: remove(body[field]) }),
    withBase: (body: MarkedBody, base: string) => ({ ...body, [field]: rebase(body[field], base) }),
  }) as const

export const tagMarkers = markersIn('tags', {
  style: tagStyle,
  read: readTagMarker,
  write: (tags, marker) => [...withoutMarkerTags(tags), ...toMarkerTags(marker)],
  remove: withoutMarkerTags,
  rebase: (tags, base) => [...listTags(tags).filter((tag) => !baseGrammar.test(tag)), `wkb:${base}`],
})

export const textMarkers = (field: string) =>
  markersIn(field, {
    style: textStyle,
    read: readTextMarker,
    write: withTextMarker,
    remove: withoutTextMarker,
    rebase: (text, base) => changeMarker(textOf(text), (marker) => `${marker.replace(/ wkb:\S+/, '')} wkb:${base}`),
  })

/** The marker of an alert is in its note, or in its message where the server has no notes. */
export const alertMarkers = {
  ...textMarkers('note'),
  readMarker: ({ note, message }: MarkedBody) => readTextMarker(note) ?? readTextMarker(message),
} as const

/** The markers of a kind whose API has no field for one. */
export const noMarkers = {
  ownership: 'identity',
  markerStyle: { projectToken: () => '', token: () => '' },
  readMarker: () => undefined,
  withMarker: (body: MarkedBody) => body,
  withoutMarker: (body: MarkedBody) => body,
  withBase: (body: MarkedBody) => body,
} as const
