// What a reviewer sees of a changed dashboard, and of an object that both sides changed.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { randomFrom } from '../../support/random.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const note = (name: string, [x, y, w, h]: readonly [number, number, number, number], markdown = `About ${name}`) => ({
  name,
  x,
  y,
  w,
  h,
  config: { displayType: 'markdown', markdown },
})

const tiles = [note('Errors', [0, 0, 12, 6]), note('Requests', [12, 0, 12, 6]), note('Latency', [0, 6, 24, 6])]

const board = (list: readonly object[]) => ({ dashboards: { shop: { name: 'Shop', tiles: list } } })

const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

async function run(operation: string, content: object, inputs: Readonly<Record<string, string>> = {}) {
  const ran = await invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop/review', files: 'a.json', ...inputs },
    files: { 'a.json': JSON.stringify(content) },
  })
  return { ...ran, text: renderMarkdown(ran.blocks) }
}

const haveApplied = useApplied(emulator, () => run('apply', board(tiles)))

const layoutIn = (text: string): string => /```text\n([^`]*)\n```/.exec(text)?.[1] ?? ''

describe('the layout of a changed dashboard', () => {
  it('the layout of a changed dashboard is drawn before and after, with the tiles that are added, changed, moved and removed', async () => {
    await haveApplied()
    const changed = [note('Errors', [0, 0, 12, 6], 'other'), note('Latency', [0, 6, 12, 6]), note('Saturation', [12, 6, 12, 6])]
    const { text } = await run('plan', board(changed))
    expect(text).toContain('Layout of dashboard `shop`')
    expect(layoutIn(text)).toBe(
      [
        'Before',
        '┌─────────────────────────────┬────────────────────────────┐',
        '│ ~ Errors                    │ - Requests                 │',
        '├─────────────────────────────┴────────────────────────────┤',
        '│ > Latency                                                │',
        '└──────────────────────────────────────────────────────────┘',
        'After',
        '┌─────────────────────────────┐',
        '│ ~ Errors                    │',
        '├─────────────────────────────┼────────────────────────────┐',
        '│ > Latency                   │ + Saturation               │',
        '└─────────────────────────────┴────────────────────────────┘',
        '+ added   ~ changed   > moved   - removed',
      ].join('\n'),
    )
  })

  it('the layout of a changed dashboard is drawn once when no tile moves', async () => {
    await haveApplied()
    const { text } = await run('plan', board([note('Errors', [0, 0, 12, 6], 'other'), ...tiles.slice(1)]))
    expect(layoutIn(text)).not.toContain('Before')
    expect(layoutIn(text)).toContain('~ Errors')
  })

  it('no layout is drawn when only the name of the dashboard changes, and for a dashboard without a change', async () => {
    await haveApplied()
    expect((await run('plan', board(tiles))).text).not.toContain('Layout of')
    expect((await run('plan', { dashboards: { shop: { name: 'Store', tiles } } })).text).not.toContain('Layout of')
  })

  it('the layout of a changed dashboard shows only tiles that differ beyond 30 tiles', async () => {
    const many = Array.from({ length: 31 }, (_, i) => note(`Tile ${i}`, [(i % 4) * 6, Math.floor(i / 4) * 4, 6, 4]))
    await run('apply', board(many))
    const changed = many.map((one, i) => (i === 7 ? { ...one, config: { displayType: 'markdown', markdown: 'other' } } : one))
    const drawn = layoutIn((await run('plan', board(changed))).text)
    expect(drawn).toContain('~ Tile 7')
    expect(drawn).not.toContain('Tile 8')
    expect(drawn).toContain('Not drawn: 30 tiles that stay as they are')
  })

  it('the layout of a changed dashboard has no line of more than 60 columns, whatever the names are', async () => {
    await haveApplied()
    const hostile = ['```\n# x', '中文'.repeat(40), 'a'.repeat(300), '@octocat <b>']
    const { text } = await run('plan', board(hostile.map((name, i) => note(name, [(i % 3) * 8, Math.floor(i / 3) * 3, 8, 3]))))
    const [, drawn = ''] = /^````*text\n(Before\n.*?)\n````*$/ms.exec(text) ?? []
    const lines = drawn.split('\n')
    expect(lines.length).toBeGreaterThan(5)
    expect(lines.filter((line) => [...line].length > 60)).toEqual([])
  })

  it('the layout of a changed dashboard shows every script, and keeps the lines of its boxes straight', { tags: 'slow' }, async () => {
    await haveApplied()
    // Graphemes with the columns that a font of fixed width gives them.
    const columns: Readonly<Record<string, number>> = {
      ...Object.fromEntries([...'日決エラ가Ａ，'].map((one) => [one, 2])),
      ...Object.fromEntries(['👍🏽', '❤️', '🇯🇵', '🔥'].map((one) => [one, 2])),
      ...Object.fromEntries(['a', 'é', 'e\u0301', 'ш', 'ﾊ', '—'].map((one) => [one, 1])),
    }
    const alphabet = Object.keys(columns)
    const random = randomFrom(61)
    const nameOf = (length: number) => Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
    const longest = alphabet.toSorted((a, b) => b.length - a.length)
    const widthOf = (line: string): number => {
      if (line === '') return 0
      const one = longest.find((grapheme) => line.startsWith(grapheme)) ?? line.slice(0, 1)
      return (columns[one] ?? 1) + widthOf(line.slice(one.length))
    }
    for (let round = 0; round < 20; round++) {
      const names = Array.from({ length: 6 }, (_, i) => `${nameOf(Math.floor(random() * 30))}${i}`)
      const { text } = await run('plan', board(names.map((name, i) => note(name, [(i % 3) * 8, Math.floor(i / 3) * 3, 8, 3]))))
      const after = layoutIn(text).split('After\n')[1]?.split('\n').slice(0, -1) ?? []
      expect(after.length).toBeGreaterThan(4)
      expect([...new Set(after.map(widthOf))], after.join('\n')).toEqual([60])
      expect(layoutIn(text)).not.toContain('?')
    }
  })

  it('the layout of a changed dashboard is an SVG in the page of the plan', async () => {
    const [first, ...others] = [note('Errors <b>', [0, 0, 12, 6]), ...tiles.slice(1)]
    await run('apply', board([first ?? {}, ...others]))
    const changed = note('Errors <b>', [0, 0, 12, 6], 'other')
    const { files } = await run('plan', board([changed, ...others]), { reports: 'html=plan.html' })
    const page = files.find(({ input }) => input === 'reports')?.content ?? ''
    expect(page).toContain('<figcaption>Before</figcaption><svg viewBox="0 0 480')
    expect(page).toContain('class="tile changed"')
    expect(page).not.toContain('Errors <b>')
  })
})

it('a plan links to changed dashboards, and to what changed alerts watch, where the address of the web app is known', async () => {
  await haveApplied()
  const changed = board([note('Errors', [0, 0, 12, 6], 'other'), ...tiles.slice(1)])
  const id = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')?.id
  const { text, files } = await run('plan', changed, { 'ui-url': 'https://ui.example/(a)', reports: 'html=plan.html' })
  expect(text).toContain(`In the web app: dashboard [\`shop\`](https://ui.example/%28a%29/dashboards/${id})`)
  expect(files.find(({ input }) => input === 'reports')?.content).toContain(`/dashboards/${id}`.replaceAll('/', '&#47;'))
  expect((await run('plan', changed)).text).not.toContain('In the web app')
})

/** A web app of the product passes what comes below `path` on to its API. */
async function startWebApp(path: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request
    const chunks = await request.toArray()
    const answer = await fetch(selfHosted().url + url.replace(path, ''), {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  // A server that listens on a port has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the links of a plan for a self-hosted server', () => {
  const haveApplied = useApplied(selfHosted, () => runThere({}, 'apply', tiles))

  const runThere = (inputs: Readonly<Record<string, string>>, operation: string, list: readonly object[]) =>
    invokeText({
      inputs: { ...inputsFor(selfHosted(), 'hyperdx'), ...inputs, operation, project: 'shop/review', files: 'a.json' },
      files: { 'a.json': JSON.stringify(board(list)) },
    })

  const linkIn = async (inputs: Readonly<Record<string, string>>): Promise<string | undefined> => {
    await haveApplied()
    const { blocks } = await runThere(inputs, 'plan', [note('Errors', [0, 0, 12, 6], 'other'), ...tiles.slice(1)])
    return /In the web app: dashboard \[`shop`\]\((.*)\/dashboards\/[0-9a-f]{24}\)/.exec(renderMarkdown(blocks))?.[1]
  }

  it('link to the web app when api-url is its address', async () => {
    for (const path of ['/api', '/clickstack/api']) {
      const webApp = await startWebApp(path)
      const page = `${webApp}${path.replace(/\/api$/, '')}`
      expect(await linkIn({ 'api-url': `${webApp}${path}` })).toBe(page)
      if (path === '/api') expect(await linkIn({ 'api-url': `${webApp}${path}/api/v2/` })).toBe(page)
    }
  })

  it('are left out when api-url is the address of the API server, unless ui-url is set', async () => {
    expect(await linkIn({ 'api-url': `${selfHosted().url}/api/v2` })).toBeUndefined()
    expect(await linkIn({ 'ui-url': 'https://hyperdx.example/' })).toBe('https://hyperdx.example')
    const webApp = await startWebApp('/api')
    expect(await linkIn({ 'api-url': `${webApp}/api`, 'ui-url': 'https://hyperdx.example' })).toBe('https://hyperdx.example')
  })
})
