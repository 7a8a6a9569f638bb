import { defineConfig } from '@rspress/core'
import { repositoryUrl, siteUrl } from './pages.ts'
import { readSite } from './stage.ts'

const { pages, sections } = readSite()

const description = pages.find(({ path }) => path === 'index.md')?.description ?? ''

/** `cost.md` → `/cost`, `decisions/index.md` → `/decisions/` */
const routeOf = (path: string): string => `/${path.replace(/(?:(?<=^|\/)index)?\.md$/, '')}`

const sidebar = sections.map(({ title, items }) => ({
  text: title,
  items: items.map(({ label, page }) => ({ text: label, link: routeOf(page.path) })),
}))

export default defineConfig({
  root: 'content',
  outDir: 'build',
  title: 'Watchkeeper',
  description,
  siteOrigin: new URL(siteUrl).origin,
  base: new URL(siteUrl).pathname,
  lang: 'en',
  icon: new URL('theme/icon.svg', import.meta.url),
  route: { cleanUrls: true },
  // The Markdown of a page is its document, and llms.txt follows the navigation: see stage.ts.
  llms: false,
  search: { codeBlocks: true },
  markdown: { link: { checkDeadLinks: true, checkAnchors: true } },
  // The anchors of a page from the cache are unknown, and links to them would not be checked.
  builderConfig: { performance: { buildCache: false } },
  globalStyles: new URL('theme/site.css', import.meta.url).pathname,
  themeConfig: {
    sidebar: { '/': sidebar },
    socialLinks: [{ icon: 'github', mode: 'link', content: repositoryUrl }],
    lastUpdated: false,
  },
})
