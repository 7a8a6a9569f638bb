// `npm run pictures` draws the pictures of the documents whose text has changed; with `--all` every picture, such as after a change of a style.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../test/support/browser.ts'
import { digestOfPicture, digestsFile, imagesDirectory, type Picture, pictures, readDigests, textOfPicture, themes } from './texts.ts'

const style = readFileSync(join(import.meta.dirname, 'github.css'), 'utf8')
const mermaid = createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js')

const diffClasses: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '!': 'changed' }

const toDiffLine = (line: string): string => `<span class="${diffClasses[line.charAt(0)] ?? ''}">${line}</span>`

/** A page with Markdown as GitHub shows it. */
function toPage(markdown: string, medium: Picture['medium']): string {
  const html = micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true })
    .replaceAll(/<pre><code class="language-mermaid">(.*?)<\/code><\/pre>/gs, '<div class="mermaid">$1</div>')
    .replaceAll(/(?<=<code class="language-diff">).*?(?=<\/code>)/gs, (lines) => lines.split('\n').map(toDiffLine).join('\n'))
  const body = medium === 'comment' ? `<div class="comment"><header><b>github-actions</b> commented</header><div>${html}</div></div>` : html
  return `<!doctype html><meta charset="utf-8"><style>${style}</style>${body}`
}

async function draw(page: Page, { medium, until }: Picture, text: string, path: string): Promise<void> {
  await page.setContent(medium === 'page' ? text : toPage(text, medium))
  if ((await page.locator('.mermaid').count()) > 0) {
    await page.addScriptTag({ path: mermaid })
    await page.evaluate(
      `mermaid.initialize({ startOnLoad: false, theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'default' }); mermaid.run()`,
    )
  }
  const end = until === undefined ? undefined : await page.getByText(until, { exact: true }).first().boundingBox()
  const { width = 0, height = 0 } = (await page.locator('body').boundingBox()) ?? {}
  await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height: end ? Math.floor(end.y) - 8 : height } })
}

const before = readDigests()
const texts = await Promise.all(
  Object.entries(pictures).map(async ([name, picture]) => ({ name, picture, text: await textOfPicture(picture) })),
)
const changed = texts.filter(({ name, text }) => process.argv.includes('--all') || before[name] !== digestOfPicture(text))
if (changed.length > 0) {
  const browser = await openBrowser()
  for (const { name, picture, text } of changed) {
    for (const theme of themes) {
      const page = await browser.newPage({ viewport: { width: picture.width, height: 800 }, colorScheme: theme, deviceScaleFactor: 1.25 })
      await draw(page, picture, text, join(imagesDirectory, `${name}-${theme}.png`))
      await page.close()
    }
    console.log(`drawn: ${name}`)
  }
  await browser.close()
}
const digests = Object.fromEntries(texts.map(({ name, text }) => [name, digestOfPicture(text)]))
writeFileSync(digestsFile, `${JSON.stringify(digests, null, 2)}\n`)
