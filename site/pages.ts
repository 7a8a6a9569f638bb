// Turns the documents of the repository into pages of the site. GitHub shows the same documents unchanged.
import { dirname, join, normalize, relative } from 'node:path/posix'
import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

export const repositoryUrl = 'https://github.com/watchkeeper/watchkeeper'
export const siteUrl = 'https://watchkeeper.github.io/watchkeeper/'

export interface Page {
  /** The document in the repository, which the edit link opens. Absent for a page that only lists others. */
  readonly source?: string
  /** Path of the page's Markdown on the site, such as `cost.md`. */
  readonly path: string
  readonly title: string
  /** The first paragraph, as plain text. */
  readonly description: string
  /** The document, with links that lead to pages of the site, and otherwise to GitHub. */
  readonly markdown: string
}

interface KindName {
  readonly title: string
  readonly items: readonly { readonly label: string; readonly page: Page }[]
}

export interface Site {
  readonly pages: readonly Page[]
  readonly sections: readonly KindName[]
}

export interface Repository {
  /** The Markdown of the root, of docs/ and of the decisions, by path. */
  readonly documents: ReadonlyMap<string, string>
  kindOf(path: string): 'file' | 'directory' | undefined
}

const home = 'README.md'
const decisions = 'docs/decisions'

/** The README lists the documents under this heading. The site has that list as its navigation. */
const listHeading = 'Documentation'

/** Throws an `Error` with every link that leads nowhere, and every document that the README does not list. */
export function makeSite(repository: Repository): Site {
  const { documents } = repository
  const readme = documents.get(home) ?? ''
  const listed = listedDocuments(readme)
  const records = [...documents.keys()].filter((path) => dirname(path) === decisions)
  const sources = [home, ...listed.flatMap(({ items }) => items.map(({ source }) => source)), ...records]
  const pagePaths = new Map(sources.filter((source) => documents.has(source)).map((source) => [source, pagePath(source)]))
  const context: Context = { repository, pagePaths: new Map([...pagePaths, [decisions, decisionsPath]]) }
  const made = [...pagePaths].map(([source, path]) => {
    const text = documents.get(source) ?? ''
    return makePage({ source, path, text: source === home ? withoutSection(text, listHeading) : text }, context)
  })
  const missing = [...documents.keys()].filter((path) => path.startsWith('docs/') && !pagePaths.has(path))
  const problems = [
    ...made.flatMap((one) => one.problems),
    ...missing.map((path) => `${path}: ${home} does not list it under "${listHeading}"`),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const overview = listDecisions(made.map(({ page }) => page).filter(({ source = '' }) => records.includes(source)))
  const pages = [...made.map(({ page }) => page), overview]
  const pageOf = (source: string): Page | undefined => pages.find(({ path }) => path === context.pagePaths.get(source))
  const sections = listed.map(({ title, items }) => ({
    title,
    items: items.flatMap(({ label, source }) => {
      const page = pageOf(source)
      return page === undefined ? [] : [{ label, page }]
    }),
  }))
  return { pages, sections }
}

interface Context {
  readonly repository: Repository
  /** The path of each page by its source. */
  readonly pagePaths: ReadonlyMap<string, string>
}

/** `docs/cost.md` → `cost.md`, `SECURITY.md` → `security.md` */
function pagePath(source: string): string {
  if (source === home) return 'index.md'
  return source.startsWith('docs/') ? source.slice('docs/'.length) : source.toLowerCase()
}

const decisionsPath = 'decisions/index.md'

const parse = (text: string): Root => fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })

const childrenOf = (node: Nodes): readonly Nodes[] => ('children' in node ? node.children : [])

const nodesIn = (node: Nodes): readonly Nodes[] => [node, ...childrenOf(node).flatMap(nodesIn)]

const textOf = (node: Nodes): string => ('value' in node && node.type !== 'html' ? node.value : childrenOf(node).map(textOf).join(''))

const firstText = (tree: Nodes, type: Nodes['type']): string => {
  const found = nodesIn(tree).find((node) => node.type === type)
  return found === undefined ? '' : textOf(found).replaceAll(/\s+/g, ' ').trim()
}

interface ListedSection {
  readonly title: string
  readonly items: readonly { readonly label: string; readonly source: string }[]
}

/** The list under the heading. Each of its items is a section: a title in bold, and a link for each document. */
function listedDocuments(readme: string): readonly ListedSection[] {
  const { children } = parse(readme)
  const start = children.findIndex((node) => node.type === 'heading' && textOf(node) === listHeading)
  const list = children.slice(start + 1).find((node) => node.type === 'list')
  if (start === -1 || list === undefined) throw new Error(`${home} has no list under "${listHeading}"`)
  return childrenOf(list).map((item) => ({
    title: firstText(item, 'strong').replace(/:$/, ''),
    items: nodesIn(item).flatMap((node) =>
      node.type === 'link' ? [{ label: capitalize(textOf(node)), source: normalize(node.url) }] : [],
    ),
  }))
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** The text without this heading and everything up to the next heading of its depth. */
function withoutSection(text: string, title: string): string {
  const headings = parse(text).children.flatMap((node) => (node.type === 'heading' ? [node] : []))
  const at = headings.findIndex((heading) => textOf(heading) === title)
  const [heading, ...rest] = at === -1 ? [] : headings.slice(at)
  const next = rest.find(({ depth }) => depth <= (heading?.depth ?? 0))
  const [start, end] = [heading?.position?.start.offset ?? text.length, next?.position?.start.offset ?? text.length]
  return `${text.slice(0, start).trimEnd()}\n${end < text.length ? `\n${text.slice(end)}` : ''}`
}

interface Document {
  readonly source: string
  readonly path: string
  readonly text: string
}

function makePage({ source, path, text }: Document, context: Context): { readonly page: Page; readonly problems: readonly string[] } {
  const tree = parse(text)
  const problems: string[] = []
  const resolveUrl = (url: string): string => {
    const target = siteTarget(url, { source, path }, context)
    if (target === undefined) problems.push(`${source}: ${url} leads to no file of the repository`)
    return target ?? url
  }
  const edits = nodesIn(tree).flatMap((node) => {
    const edited = withUrls(node, text, resolveUrl)
    return edited === undefined ? [] : [edited]
  })
  const markdown = applyEdits(text, edits)
  return { page: { source, path, title: firstText(tree, 'heading'), description: firstText(tree, 'paragraph'), markdown }, problems }
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The source of a link, an image or HTML, with its addresses replaced. Code keeps everything, because it has none of these nodes. */
function withUrls(node: Nodes, text: string, resolveUrl: (url: string) => string): Edit | undefined {
  const [start, end] = [node.position?.start.offset ?? 0, node.position?.end.offset ?? 0]
  const written = text.slice(start, end)
  if (node.type === 'html') {
    const replaced = written.replaceAll(/\b(src|srcset|href)="([^"]+)"/g, (_, name: string, url: string) => `${name}="${resolveUrl(url)}"`)
    return { start, end, text: replaced }
  }
  if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return undefined
  // The text of a link may hold an image, whose own edit must stay. Only the address after it is replaced.
  const at = written.lastIndexOf(node.url)
  return at === -1 ? undefined : { start: start + at, end: start + at + node.url.length, text: resolveUrl(node.url) }
}

const applyEdits = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((edited, { start, end, text: replacement }) => edited.slice(0, start) + replacement + edited.slice(end), text)

/** Where a link of a document leads on the site. Undefined if there is no such file. */
function siteTarget(url: string, { source, path }: Omit<Document, 'text'>, { repository, pagePaths }: Context): string | undefined {
  if (/^(?:[a-z][a-z+.-]*:|#)/i.test(url)) return url
  const [, file = '', fragment = ''] = /^([^#]*)(.*)$/.exec(url) ?? []
  const target = join(dirname(source), file).replace(/\/$/, '')
  const page = pagePaths.get(target)
  if (page !== undefined) return `${relative(dirname(path), page)}${fragment}`
  if (isImage(target) && repository.kindOf(target) === 'file') return relative(dirname(path), target.slice('docs/'.length))
  const kind = repository.kindOf(target)
  return kind && `${repositoryUrl}/${kind === 'file' ? 'blob' : 'tree'}/main/${target}${fragment}`
}

const isImage = (path: string): boolean => path.startsWith('docs/images/')

/** On GitHub, the folder itself is the list. */
function listDecisions(records: readonly Page[]): Page {
  const items = records.map(({ title, path }) => `- [${title}](${relative(dirname(decisionsPath), path)})`)
  const description = 'Why the project is built as it is: each decision with its context, its consequences and rejected alternatives.'
  const title = 'Decisions'
  return { path: decisionsPath, title, description, markdown: `# ${title}\n\n${description}\n\n${items.join('\n')}\n` }
}

/** A page for the generator: its Markdown, and what the theme needs to know about it. */
export function renderStaged({ source, title, description, markdown }: Page): string {
  const facts = { title, description, ...(source !== undefined && { editUrl: `${repositoryUrl}/edit/main/${source}` }) }
  // JSON is YAML.
  return `---\n${JSON.stringify(facts)}\n---\n\n${markdown}`
}

/** The file llms.txt: a map of the site for readers of Markdown. See llmstxt.org. */
export function renderLlmsTxt({ pages, sections }: Site): string {
  const front = pages.find(({ path }) => path === 'index.md')
  const lines = sections.map(({ title, items }) => {
    const links = items.map(({ label, page: { path, description } }) => `- [${label}](${siteUrl}${path}): ${description}`)
    return `## ${title}\n\n${links.join('\n')}\n`
  })
  return `# ${front?.title}\n\n> ${front?.description}\n\n${lines.join('\n')}`
}
