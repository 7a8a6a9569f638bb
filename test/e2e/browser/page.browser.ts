import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trusted } from '../../../src/platform/core/line.ts'
import type { Block } from '../../../src/platform/report/blocks.ts'
import { renderPage } from '../../../src/platform/report/page.ts'
import { openBrowser } from '../../support/browser.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

// What only a browser can tell: whether the page draws, sorts and prints, and loads nothing but itself.

const emulator = useEmulator({ rateLimit: 'off' })
const cloud = useEmulator({ dialect: 'clickhouse-cloud' })

const budgets = [
  { name: 'all', limit: 300, forecast: true },
  { name: '<img src=x onerror=alert(1)>', limit: 100_000, scope: { service: 'checkout' } },
  { name: 'small', limit: 9, scope: { metric: 'backup' } },
]

let browser: Browser
let directory: string
let url: string
const open: { readonly page: Page; readonly faults: string[] }[] = []

beforeAll(async () => {
  browser = await openBrowser()
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-browser-'))
  const usage = { operation: 'usage-cost', period: 'last-30-days', compare: 'previous-period', budget: '500' }
  const { files } = await invokeText({
    inputs: { ...inputsFor(emulator()), ...usage, budgets: 'budgets.json', reports: 'html=page.html' },
    files: { 'budgets.json': JSON.stringify(budgets) },
  })
  const path = join(directory, 'page.html')
  await writeFile(path, files[0]?.content ?? '')
  url = pathToFileURL(path).href
})

afterAll(async () => {
  await browser?.close()
  if (directory) await rm(directory, { recursive: true })
})

/** The page, and everything that it must not do. */
async function visit(options: BrowserContextOptions = {}, language?: string, address = url): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage()
  if (language !== undefined)
    await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', { get: () => ${JSON.stringify(language)} })`)
  const faults: string[] = []
  open.push({ page, faults })
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => faults.push(`says ${dialog.message()}`))
  page.on('request', (request) => request.url() !== address && faults.push(`requests ${request.url()}`))
  await page.goto(address)
  return page
}

/** In the page, whose globals this project's types do not know. */
const ask = <T>(page: Page, script: string): Promise<T> => page.evaluate<T>(script)

const shades = (page: Page): Promise<number> =>
  ask(
    page,
    `(() => {
      const { width, height } = document.querySelector('canvas')
      const { data } = document.querySelector('canvas').getContext('2d').getImageData(0, 0, width, height)
      return new Set(new Uint32Array(data.buffer)).size
    })()`,
  )

const column = async (page: Page, table: number, index: number): Promise<readonly string[]> =>
  page.locator(`table.sortable >> nth=${table} >> tbody tr td:nth-child(${index + 1})`).allTextContents()

const amounts = (texts: readonly string[]): readonly number[] => texts.map((text) => Number(text.replace(/[^\d.-]/g, '')))

const isDescending = (values: readonly number[]): boolean => values.every((value, i) => i === 0 || value <= (values[i - 1] ?? 0))

describe.each<[string, BrowserContextOptions]>([
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }],
])('the page, %s', (name, options) => {
  let page: Page
  beforeAll(async () => {
    page = await visit(options)
    if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true })
  })

  it('the page is not wider than its window', async () => {
    expect(await ask(page, 'document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  })

  it('the page draws its chart', async () => {
    expect(await shades(page)).toBeGreaterThan(5)
    const [chart, place] = await Promise.all([page.locator('canvas').first().boundingBox(), page.locator('.chart').first().boundingBox()])
    expect(Math.round(chart?.width ?? 0)).toBe(Math.round(place?.width ?? -1))
  })

  it('the page has the colors of its theme', async () => {
    const ground = await ask(page, 'getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(name === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)')
  })
})

describe.each<[string, BrowserContextOptions & { readonly language?: string }]>([
  ['no language tag', { locale: 'en-US@posix' }],
  ['empty', { language: '' }],
  ['German', { locale: 'de-DE' }],
])('where the language of the browser is %s', (_, { language, ...options }) => {
  it('the page is drawn and sorted with English numbers', async () => {
    const page = await visit(options, language)
    expect(await shades(page)).toBeGreaterThan(5)
    const readout = page.locator('.readout').first()
    await page.locator('.u-over').first().hover()
    await expect.poll(() => readout.innerText()).toMatch(/^\d{1,2} [A-Z][a-z]{2}: used \d+\.\d\d CHC/)
    await page.getByRole('columnheader').filter({ hasText: 'Limit' }).first().click()
    await expect.poll(async () => isDescending(amounts(await column(page, 0, 2)))).toBe(true)
  })
})

describe('the page', () => {
  it('shows the day and its amount under the pointer', async () => {
    const page = await visit()
    const readout = page.locator('.readout').first()
    const help = await readout.innerText()
    await page.locator('.u-over').first().hover()
    const [, day = ''] = /^(\d{1,2} [A-Z][a-z]{2}): used \d+\.\d\d CHC/.exec(await readout.innerText()) ?? []
    const days = await column(page, -1, 0)
    expect(days.some((text) => text.replaceAll('\u00a0', ' ').startsWith(`${day} `))).toBe(true)
    await page.locator('h1').hover()
    expect(await readout.innerText()).toBe(help)
  })

  it('names the awake hours of an audit under the pointer', async () => {
    const { files } = await invokeText({
      inputs: { ...inputsFor(cloud(), 'clickhouse-cloud'), 'service-id': '', operation: 'audit-costs', reports: 'html=page.html' },
    })
    const path = join(directory, 'audit.html')
    await writeFile(path, files[0]?.content ?? '')
    const page = await visit({}, undefined, pathToFileURL(path).href)
    await page.locator('.u-over').first().hover()
    await expect.poll(() => page.locator('.readout').first().innerText()).toMatch(/: awake \d+\.\d\d h$/)
  })

  it('draws the running total below the days', async () => {
    const page = await visit()
    expect(await page.locator('h2').allInnerTexts()).toContain('CHC, running total')
    expect(await page.locator('.chart canvas').count()).toBe(2)
    expect(await page.locator('.legend').allInnerTexts()).toEqual([
      expect.stringMatching(/^Final\s+Provisional\s+Spike$/),
      expect.stringMatching(/^Used\s+Budget 500\.00 CHC\s+Budget 300\.00 CHC$/),
    ])
  })

  it('shows in a narrow window that a table has more columns, until its end', async () => {
    const page = await visit({ viewport: { width: 390, height: 844 } })
    const [hint, box] = [page.locator('.more').first(), page.locator('.scroll').first()]
    await expect.poll(() => hint.isVisible()).toBe(true)
    await box.evaluate((element) => element.scrollTo(element.scrollWidth, 0))
    await expect.poll(() => hint.isVisible()).toBe(false)
  })

  it('shows no such hint in a wide window', async () => {
    const page = await visit({ viewport: { width: 1280, height: 900 } })
    expect(await page.locator('.more:visible').count()).toBe(0)
  })

  it('shows budgets that failed first, in color', async () => {
    const page = await visit()
    const rows = page.locator('table >> nth=0 >> tbody tr')
    expect(await rows.evaluateAll((all) => all.map(({ className }) => className))).toEqual(['fail', 'fail', ''])
  })

  it('sorts numbers as numbers, the other way round at the second click', async () => {
    const page = await visit()
    await page.locator('summary').last().click()
    const [before, head] = [amounts(await column(page, -1, 2)), page.getByRole('columnheader').filter({ hasText: 'Used (CHC)' }).last()]
    expect(isDescending(before)).toBe(false)
    await head.click()
    await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending')
    await expect.poll(async () => isDescending(amounts(await column(page, -1, 2)))).toBe(true)
    await head.click()
    await expect.poll(async () => isDescending(amounts(await column(page, -1, 2)).toReversed())).toBe(true)
    expect(await head.getAttribute('aria-sort')).toBe('ascending')
    expect(amounts(await column(page, -1, 2)).toSorted()).toEqual(before.toSorted())
  })

  it.each([
    ['Limit', 2],
    ['Share', 3],
  ])('sorts the budgets by %s', async (title, index) => {
    const page = await visit()
    await page.getByRole('columnheader').filter({ hasText: title }).first().click()
    await expect.poll(async () => isDescending(amounts(await column(page, 0, index)))).toBe(true)
  })

  it('sorts by keyboard', async () => {
    const page = await visit()
    await page.locator('summary').last().click()
    const head = page.locator('table.sortable >> nth=-1 >> th').first()
    await head.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending')
    const days = await column(page, -1, 0)
    const dates = days.map((text) => Date.parse(`${text} UTC`))
    expect(dates).toEqual(dates.toSorted((a, b) => b - a))
  })

  it('shows foreign text as it is', async () => {
    const page = await visit()
    expect((await column(page, 0, 0)).join()).toContain('<img src=x onerror=alert(1)>')
    expect(await page.locator('img').count()).toBe(0)
  })

  it('fits a window that becomes narrow', async () => {
    const page = await visit()
    await page.setViewportSize({ width: 400, height: 800 })
    await expect.poll(() => ask(page, 'document.documentElement.scrollWidth')).toBe(400)
    await expect.poll(async () => (await page.locator('canvas').first().boundingBox())?.width).toBeLessThan(400)
  })

  it('labels of a chart do not overlap', async () => {
    const path = join(directory, 'labels.html')
    const overlaps: string[] = []
    for (const [count, month] of [
      [12, 'Nov 2026'],
      [10, 'Nov 2026'],
      [40, 'Nov 2026'],
      [40, 'Nov'],
    ] as const) {
      const points = Array.from({ length: count }, (_, i) => ({ label: `${i + 10} ${month}`, value: 1 }))
      await writeFile(path, renderPage('Labels', [{ kind: 'chart', title: 'Chart', unit: 'CHC', points }]))
      const page = await (await browser.newContext({ viewport: { width: 900, height: 800 } })).newPage()
      await page.addInitScript(`{
        window.drawn = []
        const { fillText } = CanvasRenderingContext2D.prototype
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          window.drawn.push([text, x, this.measureText(text).width])
          return fillText.call(this, text, x, y)
        }
      }`)
      await page.goto(pathToFileURL(path).href)
      await expect.poll(() => ask<number>(page, 'window.drawn.length')).toBeGreaterThan(1)
      const drawn = (await ask<[string, number, number][]>(page, 'window.drawn')).filter(([text]) => text.endsWith(month))
      const centers = [...new Set(drawn.map(([, x]) => x))].sort((a, b) => a - b)
      const width = drawn[0]?.[2] ?? 0
      expect([centers.length > 1, width > 0]).toEqual([true, true])
      if (centers.some((x, i) => i > 0 && x - (centers[i - 1] ?? 0) < width + 4)) overlaps.push(`${count} × ${month}`)
    }
    expect(overlaps).toEqual([])
  })

  it('prints dark on white, also from a dark screen', async () => {
    const page = await visit({ colorScheme: 'dark' })
    await ask(page, `void addEventListener('beforeprint', () => { window.printed = getComputedStyle(document.body).backgroundColor })`)
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
    expect(pdf.startsWith('%PDF-')).toBe(true)
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(0)
    expect(await ask(page, 'window.printed')).toBe('rgb(255, 255, 255)')
    expect(await ask(page, 'getComputedStyle(document.body).backgroundColor')).toBe('rgb(13, 17, 23)')
  })

  it('leaves no heading at the end of a printed page without what it is about', async () => {
    const words = (text: string) => [trusted(text)]
    const table: Block = { kind: 'table', title: 'Table', columns: [{ title: 'A' }], rows: [[words('a')], [words('b')], [words('c')]] }
    const chart: Block = {
      kind: 'chart',
      title: 'Chart',
      unit: 'CHC',
      points: [1, 2, 3].map((value) => ({ label: `${value} Nov`, value })),
    }
    const path = join(directory, 'long.html')
    const low: string[] = []
    // In points: the heading, and the head of the table with a row, or the legend and the chart, which is printed at two thirds.
    for (const [block, needed] of [
      [table, 13 + 17 + 17],
      [chart, (13 + 15 + 225) / 1.5],
    ] as const) {
      await writeFile(path, renderPage('Long', [block]))
      const page = await visit({}, undefined, pathToFileURL(path).href)
      await ask(page, `void document.querySelector('main').prepend(document.createElement('div'))`)
      // The heading moves to the end of the page, and beyond.
      for (let height = 700; height < 1400; height += 8) {
        await ask(page, `void (document.querySelector('main').firstChild.style.height = '${height}px')`)
        const pdf = (await page.pdf({ format: 'A4', outline: true, tagged: true })).toString('latin1')
        const tops = Array.from(pdf.matchAll(/\/Dest \[\d+ 0 R \/XYZ [\d.]+ ([\d.]+)/g), ([, top]) => Number(top))
        expect(tops).not.toEqual([])
        const margin = 42.5
        low.push(...tops.filter((top) => top < margin + needed).map((top) => `${block.kind} at ${height}: ${top}`))
      }
    }
    expect(low).toEqual([])
  })

  it('the page is readable without its script', async () => {
    const page = await visit({ javaScriptEnabled: false })
    expect(await page.locator('h1').innerText()).toMatch(/Budget all exceeded/)
    expect((await column(page, -1, 0)).length).toBeGreaterThan(20)
  })
})

// After all others: whatever they opened.
it('does nothing that it must not, wherever it is opened', () => {
  expect(open.length).toBeGreaterThan(8)
  expect(open.flatMap(({ faults }) => faults)).toEqual([])
})
