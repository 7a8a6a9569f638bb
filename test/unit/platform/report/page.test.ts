import { createHash } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { type Element, Window } from 'happy-dom'
import { afterAll, describe, expect, it } from 'vitest'
import { type Line, say, strong, trusted, untrusted } from '../../../../src/platform/core/line.ts'
import { clip, printable } from '../../../../src/platform/core/text.ts'
import type { Block } from '../../../../src/platform/report/blocks.ts'
import { renderPage } from '../../../../src/platform/report/page.ts'
import { pageScript } from '../../../../src/platform/report/page-assets.ts'
import { forEachEntry, hostile } from '../../../support/corpus.ts'
import { inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const window = new Window({ settings: { disableJavaScriptEvaluation: true, disableCSSFileLoading: true } as object })
afterAll(() => window.happyDOM.close())

const parseAnew = (html: string) => new window.DOMParser().parseFromString(html, 'text/html')

let last: { readonly html: string; readonly page: ReturnType<typeof parseAnew> } | undefined

/** One page is asked about many times in a row, and parsing it takes the longest. */
function parse(html: string) {
  if (last?.html !== html) last = { html, page: parseAnew(html) }
  return last.page
}

const all = (html: string): readonly Element[] => [...parse(html).querySelectorAll('*')]

const textsOf = (html: string, selector: string): readonly string[] =>
  [...parse(html).querySelectorAll(selector)].map(({ textContent }) => textContent)

const ourTags = 'html head meta title style body main footer script h1 h2 span p ul li dl div dt dd table thead tbody tr th td'.split(' ')
const knownTags = new Set([...ourTags, 'details', 'summary', 'pre', 'code', 'em', 'strong', 'br'])

/** What could load, send or run something, or is not an element of ours. */
const dangers = (html: string): readonly string[] =>
  all(html).flatMap((element) => {
    const names = element.getAttributeNames()
    const bad = names.filter((name) => /^on|^(?:src|srcset|href|action|formaction|data|poster|ping|background|style)$/.test(name))
    const tag = element.tagName.toLowerCase()
    return [...(knownTags.has(tag) ? [] : [tag]), ...bad.map((name) => `${tag} ${name}`)]
  })

const everywhere = (text: string): readonly Block[] => [
  { kind: 'verdict', status: 'fail', line: say`Alert ${text}` },
  { kind: 'paragraph', line: [untrusted(text)] },
  { kind: 'list', items: [[untrusted(text)]] },
  { kind: 'facts', facts: [{ label: text, value: [untrusted(text)] }] },
  { kind: 'table', title: text, columns: [{ title: text }], rows: [[[untrusted(text)]]] },
  {
    kind: 'chart',
    title: text,
    unit: text,
    points: [
      { label: text, value: 1 },
      { label: 'b', value: 2 },
    ],
  },
  { kind: 'details', title: text, blocks: [{ kind: 'preformatted', text }] },
  { kind: 'footer', line: [untrusted(text)] },
]

describe('untrusted text', () => {
  it('untrusted text is shown as text only, in every place', { tags: 'slow' }, () =>
    forEachEntry(
      hostile.filter(({ id }) => !id.startsWith('size-')),
      ({ value }) => {
        const html = renderPage(value, everywhere(value))
        const text = printable(value)
        expect(dangers(html)).toEqual([])
        for (const selector of ['h1 :last-child', 'main p:not(.hint, .about)', 'p.about', 'li', 'dd', 'td']) {
          expect(textsOf(html, selector)).toEqual([text === '' ? 'empty' : printable(clip(value, 200))])
        }
        for (const selector of ['dt', 'th', 'summary']) expect(textsOf(html, selector)).toEqual([text])
        expect(textsOf(html, 'h2')).toEqual([text, text])
        expect(textsOf(html, 'title')).toEqual([`${text} · Watchkeeper`])
        expect(parse(html).querySelector('.chart')?.getAttribute('aria-label')).toBe(text)
        expect(textsOf(html, 'pre')).toEqual([value.split('\n').map(printable).join('\n')])
        const [chart] = JSON.parse(parse(html).querySelector('#charts')?.textContent ?? '')
        expect(chart).toMatchObject({ labels: [text, 'b'], unit: text, totals: [1, 2] })
      },
    ),
  )

  it('has the lines of a text of our own', () =>
    expect(renderPage('a', [{ kind: 'paragraph', line: [trusted('a\nb')] }])).toContain('<p>a<br>b</p>'))

  it('stays short with long text', () =>
    forEachEntry(
      hostile.filter(({ value }) => value.length > 200),
      ({ value }) => {
        const html = renderPage('x', [{ kind: 'table', columns: [{ title: 'a' }], rows: [[[untrusted(value)]]] }])
        expect(textsOf(html, 'td')).toEqual([printable(clip(value, 200))])
      },
    ))

  it('cannot end the data of the charts', () => {
    const unit = '</script><script>alert(1)</script><!--<script>\u2028'
    const html = renderPage('x', [{ kind: 'chart', title: 't', unit, points: [{ label: ']]>', value: 1 }] }])
    expect(parse(html).querySelectorAll('script')).toHaveLength(2)
    expect(JSON.parse(textsOf(html, '#charts')[0] ?? '')[0].unit).toBe(printable(unit))
    expect(html).not.toContain('alert(1)<')
  })
})

describe('a table', () => {
  const keyOf = (text: string, line: Line = [trusted(text)]) =>
    parse(renderPage('x', [{ kind: 'table', columns: [{ title: 'a' }], rows: [[line]] }]))
      .querySelector('td')
      ?.getAttribute('data-sort')

  it.each<[string, string | null]>([
    ['1,234.5', '1234.5'],
    ['-0.25', '-0.25'],
    ['+12.00', '+12.00'],
    ['12.3%', '12.3'],
    ['<0.01', '0.01'],
    ['1,012.3%', '1012.3'],
    ['1.2 million', '1.2e6'],
    ['██████░░░░\u00a061.2%', '61.2'],
    ['21\u00a0Nov\u00a02026', String(Date.parse('2026-11-21T00:00:00Z'))],
    ['23\u00a0Oct\u00a0–\u00a021\u00a0Nov\u00a02026', String(Date.parse('2026-11-21T00:00:00Z'))],
    ['2026-11-21', null],
    ['–', null],
    ['not yet', null],
    ['12 of 13', null],
  ])('sorts %s by %s', (text, key) => {
    expect(keyOf(text)).toBe(key)
  })

  it('sorts untrusted text as text, even when it looks like a number', () => {
    expect(keyOf('', [untrusted('1,2')])).toBeNull()
    expect(keyOf('', [untrusted('1,2'), trusted('3')])).toBeNull()
  })
})

describe('a block', () => {
  const mainOf = (...blocks: readonly Block[]): string => parse(renderPage('x', blocks)).querySelector('main')?.innerHTML.trim() ?? ''

  it('a block is joined without anything between its parts', () => {
    const fact = (label: string) => ({ label, value: say`${1}%` })
    expect(mainOf({ kind: 'facts', facts: [fact('a'), fact('b')] })).toBe(
      '<dl class="facts"><div><dt>a</dt><dd>1%</dd></div><div><dt>b</dt><dd>1%</dd></div></dl>',
    )
    expect(mainOf({ kind: 'list', items: [say`a${'b'}c`, [strong('d')]] })).toBe(
      '<ul><li>a<code>b</code>c</li><li><strong>d</strong></li></ul>',
    )
    expect(mainOf({ kind: 'paragraph', line: [untrusted('')] })).toBe('<p><em>empty</em></p>')
  })

  it('a block is a diff whose tags say what is added and what is removed', () => {
    const lines = [
      { sign: '+', text: 'a' },
      { sign: '-', text: 'b' },
      { sign: '~', text: 'c' },
      { sign: ' ', text: '<d>' },
    ] as const
    expect(mainOf({ kind: 'diff', lines })).toBe('<pre><ins>+ a</ins>\n<del>- b</del>\n<mark>~ c</mark>\n<span>  &lt;d&gt;</span></pre>')
  })

  it('a block is a table whose numbers stand on the right, and whose short trusted cells are not broken', () => {
    const columns = [{ title: 'a' }, { title: 'b', align: 'right' }] as const
    const row = (line: Line): readonly Line[] => [line, [trusted('1')]]
    const cells = [[trusted('1 – 2 Mar 2026')], [trusted('x'.repeat(33))], [trusted('a'), untrusted('b')], [untrusted('b')], []]
    const html = mainOf({ kind: 'table', columns, rows: cells.map(row) })
    expect(html.startsWith('<div class="scroll" tabindex="0"><table class="sortable"><thead><tr><th scope="col">a</th>')).toBe(true)
    expect(html).toContain('<th scope="col" class="right">b</th>')
    expect([...html.matchAll(/<tr><td([^>]*)>.*?<\/td><td([^>]*)>/g)].map(([, left, right]) => [left, right])).toEqual([
      [' class="short" data-sort="1772409600000"', ' class="right" data-sort="1"'],
      ...Array(4).fill(['', ' class="right" data-sort="1"']),
    ])
  })
})

it('colors rows that failed or warn', () => {
  const rows = ['a', 'b', 'c'].map((text) => [[trusted(text)]])
  const html = renderPage('x', [{ kind: 'table', columns: [{ title: 'n' }], rows, statuses: ['fail', 'warn', 'pass'] }])
  expect([...parse(html).querySelectorAll('tbody tr')].map((row) => row.getAttribute('class'))).toEqual(['fail', 'warn', null])
})

describe('a chart', () => {
  const points = [
    { label: '1 Mar', value: 3, finalValue: 3, isSpike: true },
    { label: '2 Mar', value: 2, finalValue: 1 },
  ]
  const chart = { kind: 'chart', title: 'CHC per day', unit: 'CHC', points } as const
  const dataOf = (html: string): unknown => JSON.parse(textsOf(html, '#charts')[0] ?? '')[0]

  it('continues with the forecast after the known days', () => {
    const forecast = [
      { label: '2 Mar', value: 4 },
      { label: '3 Mar', value: 5 },
    ]
    const html = renderPage('x', [{ ...chart, forecast, limits: [{ label: 'Budget 9.00 CHC', value: 9 }] }])
    expect(dataOf(html)).toEqual({
      labels: ['1 Mar', '2 Mar', '3 Mar'],
      unit: 'CHC',
      valueName: 'used',
      totals: [3, 2, null],
      finals: [3, 1, null],
      forecast: [null, 4, 5],
      spikes: [0],
      limits: [{ label: 'Budget 9.00 CHC', value: 9 }],
    })
    expect(textsOf(html, 'h2')).toEqual(['CHC per day', 'CHC, running total'])
    expect(textsOf(html, '.legend')).toEqual(['Final Provisional Forecast Spike', 'Used Forecast Budget 9.00 CHC'])
  })

  it('a chart has a legend of what it shows, and no running total without a limit or a forecast', () => {
    const html = renderPage('x', [{ ...chart, points: points.map(({ label, value }) => ({ label, value })) }])
    expect(textsOf(html, 'h2')).toEqual(['CHC per day'])
    expect(textsOf(html, '.legend')).toEqual(['Used'])
  })

  it('draws no limit far above the values, and says so in the legend', () => {
    const points = [{ label: '1 Mar', value: 30 }]
    const limits = [
      { label: 'Budget', value: 91 },
      { label: 'Warning level', value: 90 },
    ]
    const html = renderPage('x', [{ ...chart, points, forecast: [], limits }])
    expect(dataOf(html)).toMatchObject({ limits: [{ value: null }, { value: 90 }] })
    expect(textsOf(html, '.legend')).toEqual(['Used', 'Used Warning level Budget, above the chart'])
  })

  it('names its values in the legend and under the pointer', () => {
    const html = renderPage('x', [{ ...chart, valueName: 'Awake', points: [{ label: '1 Mar', value: 3 }] }])
    expect(textsOf(html, '.legend')).toEqual(['Awake'])
    expect(dataOf(html)).toMatchObject({ valueName: 'awake' })
  })
})

// test/e2e/browser draws whole pages, where there is a browser.
it.each(['en-US@posix', '', undefined])('the script of a page runs where the language of the browser is %j', (language) => {
  const ignore = () => undefined
  const document = {
    getElementById: () => ({ textContent: '[]' }),
    documentElement: {},
    querySelectorAll: () => [],
    addEventListener: ignore,
  }
  const browser = {
    document,
    navigator: { language },
    devicePixelRatio: 1,
    addEventListener: ignore,
    dispatchEvent: ignore,
    CustomEvent: Object,
    matchMedia: () => ({ addEventListener: ignore, addListener: ignore }),
  }
  const read = () => runInNewContext(`${pageScript}; typeof uPlot`, { ...browser, window: browser })
  expect(read()).toBe('function')
})

describe('a layout of a dashboard', () => {
  const numbersOf = (element: Element, ...names: readonly string[]) => names.map((name) => Number(element.getAttribute(name)))

  it('a layout is drawn to scale, on 24 columns and as high as its tiles, or one row without tiles', () => {
    const tiles = [
      { name: 'Errors', x: 0, y: 0, w: 12, h: 1, marks: ['added'] },
      { name: 'Latency', x: 12, y: 0, w: 12, h: 3, marks: ['changed', 'moved'] },
      { name: 'Rate', x: 6, y: 3, w: 6, h: 4, marks: [] },
    ] as const
    const grids = [tiles, tiles.slice(0, 1), []].map((after) => ({ title: '', before: [], after }))
    const page = parse(renderPage('x', [{ kind: 'layout', layout: { grids, undrawn: 2, lines: [] } }]))
    const drawn = [...page.querySelectorAll('figure > svg')].map((svg) => {
      const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '').split(' ').map(Number)
      const boxes = [...svg.children].map((box) => {
        const [x = 0, y = 0, w = 0, h = 0] = numbersOf(box, 'x', 'y', 'width', 'height')
        return [x / (width / 24), y / 14, w / (width / 24), h / 14]
      })
      return { rows: height / 14, boxes }
    })
    const boxOf = ({ x, y, w, h }: (typeof tiles)[number]) => [x, y, w, h]
    const empty = { rows: 1, boxes: [] }
    expect(drawn).toEqual([empty, { rows: 7, boxes: tiles.map(boxOf) }, empty, { rows: 1, boxes: [boxOf(tiles[0])] }, empty, empty])
    expect([...page.querySelectorAll('figure title')].slice(0, 3).map(({ textContent }) => textContent)).toEqual([
      'Errors (added)',
      'Latency (changed, moved)',
      'Rate',
    ])
    expect(textsOf(page.documentElement.outerHTML, 'p.hint')).toContain('Not drawn: 2 tiles that stay as they are')
  })
})

describe('the page of a month', () => {
  const emulator = useEmulator({ rateLimit: 'off' })
  const run = async () => {
    const inputs = {
      ...inputsFor(emulator()),
      operation: 'usage-cost',
      period: 'last-30-days',
      compare: 'previous-period',
      reports: 'html=x.html',
    }
    return (await invokeText({ inputs })).files[0]?.content ?? ''
  }

  it('loads nothing and allows only its own script', async () => {
    const html = await run()
    expect(dangers(html)).toEqual([])
    const page = parse(html)
    const scripts = [...page.querySelectorAll('script')]
    expect(scripts.map((script) => script.getAttributeNames())).toEqual([['type', 'id'], []])
    const hash = createHash('sha256')
      .update(scripts[1]?.textContent ?? '')
      .digest('base64')
    const policy = page.querySelector('meta[http-equiv="Content-Security-Policy"]')?.getAttribute('content')
    expect(policy).toBe(`default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'`)
    expect(page.querySelector('style')?.textContent).not.toMatch(/url\(|@import|expression/i)
  })

  it('the page of a month is smaller than 120 kB', async () => {
    expect(Buffer.byteLength(await run())).toBeLessThan(120_000)
  })

  it('the page of a month ends with organization and time of the run', async () => {
    const html = await run()
    expect(textsOf(html, 'p.about')).toEqual([
      expect.stringMatching(/^Organization c0ffee00-0000-4000-8000-000000000001 · \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC$/),
    ])
  })

  it('the page of a month starts with the verdict', async () => {
    const page = parse(await run())
    expect(page.documentElement.getAttribute('lang')).toBe('en')
    expect(page.querySelector('head')?.firstElementChild?.getAttribute('charset')).toBe('utf-8')
    expect(page.querySelectorAll('h1')).toHaveLength(1)
    expect(page.querySelector('main')?.firstElementChild?.tagName).toBe('H1')
    expect(page.querySelectorAll('tbody tr').length).toBeGreaterThan(30)
  })
})
