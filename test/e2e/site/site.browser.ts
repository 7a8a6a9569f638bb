import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { siteUrl } from '../../../site/pages.ts'
import { openBrowser } from '../../support/browser.ts'

// The built site as a reader sees it, served as GitHub Pages does: under the name of the repository, pages without `.html`.

const build = new URL('../../../site/build', import.meta.url).pathname
const base = new URL(siteUrl).pathname

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

let server: Server
let browser: Browser
let origin: string
const open: { readonly page: Page; readonly faults: string[] }[] = []

async function findFile(path: string): Promise<string | undefined> {
  const candidates = path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`]
  for (const candidate of candidates) if ((await stat(candidate).catch(() => undefined))?.isFile()) return candidate
  return undefined
}

beforeAll(async () => {
  if (!existsSync(join(build, 'index.html'))) throw new Error('site/build is missing: run npm run build --prefix site')
  server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const wanted = pathname.startsWith(base) ? join(build, normalize(decodeURIComponent(pathname.slice(base.length - 1)))) : undefined
    const file = wanted && (await findFile(wanted))
    response.writeHead(file ? 200 : 404, { 'content-type': types[extname(file ?? '.html')] ?? 'application/octet-stream' })
    response.end(await readFile(file ?? join(build, '404.html')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  server?.close()
})

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }

async function visit(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage()
  const faults: string[] = []
  open.push({ page, faults })
  page.on('console', (message) => message.type() === 'error' && faults.push(`${path}: ${message.text()}`))
  page.on('pageerror', (error) => faults.push(`${path}: ${error}`))
  page.on('request', (request) => request.url().startsWith(origin) || faults.push(`${path} requests ${request.url()}`))
  await page.goto(`${origin}${base}${path}`)
  return page
}

const ask = <T>(page: Page, script: string): Promise<T> => page.evaluate<T>(script)

/** How far the elements that match reach beyond the screen, where no box of their own scrolls. */
const overflow = `(() => {
  const scrolls = (element) => element !== null && (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
  return [...document.querySelectorAll('main *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement))
    .map((element) => element.outerHTML.slice(0, 120))
})()`

describe.each(['', 'operations', 'files', 'workflows'])('page "%s" on a phone', (path) => {
  it.each(['light', 'dark'] as const)('fits the screen, and only tables and code scroll sideways, in %s mode', async (colorScheme) => {
    const page = await visit(path, { ...phone, colorScheme })
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: join(process.env.SCREENSHOTS, `site-${path || 'home'}-${colorScheme}.png`), fullPage: true })
    expect(await ask(page, 'document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    expect(await ask(page, overflow)).toEqual([])
    const [red = 0] = (await ask<string>(page, 'getComputedStyle(document.body).backgroundColor')).match(/\d+/g)?.map(Number) ?? []
    expect(red > 128).toBe(colorScheme === 'light')
  })
})

describe('a page', () => {
  it('shows expressions of workflows and files unchanged', async () => {
    const page = await visit('files')
    expect(await page.locator('main').innerText()).toContain(`$\{{ env.STAGE }}`)
  })

  it('shows its own Markdown at its address with .md, which llms.txt lists', async () => {
    const page = await visit('')
    const map = await (await page.request.get(`${origin}${base}llms.txt`)).text()
    const addresses = [...map.matchAll(/\]\((\S+)\)/g)].map(([, url = '']) => url)
    expect(addresses.length).toBeGreaterThan(25)
    for (const address of addresses) {
      const answer = await page.request.get(address.replace(new URL(siteUrl).origin, origin))
      expect([answer.status(), await answer.text()], address).toEqual([200, expect.stringMatching(/^# /m)])
    }
  })
})

// After all others: whatever they opened.
it('loads nothing from elsewhere, and reports no error', () => {
  expect(open.length).toBe(10)
  expect(open.flatMap(({ faults }) => faults)).toEqual([])
})
