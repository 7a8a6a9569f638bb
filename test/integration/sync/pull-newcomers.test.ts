// Which objects of a service come into the files, under which key, and which do not and why.
import { describe, expect, it } from 'vitest'
import { digestOfText } from '../../../src/core/digest.ts'
import type { Alert, Dashboard } from '../../../src/emulator/index.ts'
import { useEmulator } from '../../support/emulator.ts'
import { afterPull, emptyPlan, project, type SiteFiles, storeOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const id = (letter: string): string => letter.repeat(24)

/** A service with these and nothing else. */
function put(dashboards: readonly Partial<Dashboard>[], alerts: readonly Partial<Alert>[] = []): void {
  const store = storeOf(emulator())
  const [dashboard] = store.dashboards
  const [alert] = store.alerts
  if (dashboard === undefined || alert === undefined) throw new Error('the shop has changed')
  store.dashboards = dashboards.map((one, i) => ({ ...dashboard, id: id(String(i)), ...one }))
  store.alerts = alerts.map((one, i) => ({ ...alert, id: id('abcdef'[i] ?? ''), ...one }))
  store.savedSearches = []
}

async function pull(files: SiteFiles = {}) {
  return withSite(emulator(), 'clickhouse-cloud', async (site) => {
    const pulled = await site.pull(files)
    const after = afterPull(files, pulled)
    return {
      pulled,
      after,
      text: Object.values(after).join('\n'),
      plan: Object.keys(after).length === 0 ? undefined : await site.plan(after),
    }
  })
}

const mark = (key: string, of = project): string =>
  `wk:${digestOfText(of, 6)}:${key.length <= 15 ? key : `#${digestOfText(key, 10)}`}:abcdef`

describe('an object without a mark', () => {
  it('is taken over by its name, where no other has it', async () => {
    put([{ name: 'One' }, { name: 'Other' }])
    const { text, plan } = await pull()
    expect(text.match(/adopt: true/g)).toHaveLength(2)
    expect(plan).toMatchObject({ ...emptyPlan, toAdopt: 2 })
  })

  it('is taken over by its id, where another has the name', async () => {
    put([{ name: 'Same' }, { name: 'Same' }, { name: 'Other' }])
    const { pulled, text, plan } = await pull()
    expect(pulled.objects.map(({ key }) => key)).toEqual(['other', 'same', 'same-2'])
    expect(text).toContain(`  same:\n    name: Same\n    id: '${id('0')}'\n`)
    expect(text).toContain(`  same-2:\n    name: Same\n    id: '${id('1')}'\n`)
    expect(plan).toMatchObject({ ...emptyPlan, toAdopt: 3 })
  })

  it('is left alone where a declaration of its name does not take it over', async () => {
    put([{ name: 'Mine', tiles: [] }])
    const files = { 'observability/a.yml': 'dashboards:\n  a:\n    name: Mine\n    tiles: []\n' }
    const { pulled } = await pull(files)
    expect(pulled).toMatchObject({ changed: false, added: 0, missing: 1, leftOut: 1 })
    expect(pulled.objects.find(({ outcome: what }) => what === 'left-out')?.reason).toBe(
      'dashboards.a has this name and does not adopt it: add adopt: true there, or rename one of the two',
    )
  })
})

describe('an object with a mark', () => {
  it.each([
    ['short', 'Any name'],
    ['checkout-overview', 'Checkout overview'],
  ])('of this project comes back under its key %s', async (key, name) => {
    put([{ name, tags: ['shop', mark(key)] }])
    const { pulled, text, plan } = await pull()
    expect(pulled).toMatchObject({ added: 1, leftOut: 0, objects: [{ key }] })
    expect(text).not.toMatch(/adopt|wk:| id:/)
    expect(plan).toMatchObject({ ...emptyPlan, unchanged: 1, toAdopt: 0, orphans: [] })
  })

  it('comes back with its alerts, whose marks hold whole keys', async () => {
    const tile = storeOf(emulator()).dashboards[0]?.tiles[0]?.id ?? ''
    put(
      [{ name: 'D', tags: [mark('d')] }],
      [{ dashboardId: id('0'), tileId: tile, note: `Call\n\nwatchkeeper: ${project} a-rather-long-key-of-an-alert abcdef` }],
    )
    const { pulled, text, plan } = await pull()
    expect(pulled.objects.map(({ key }) => key)).toEqual(['d', 'a-rather-long-key-of-an-alert'])
    expect(text).toContain('note: Call\n')
    expect(plan).toMatchObject({ ...emptyPlan, unchanged: 2, toAdopt: 0 })
  })

  it.each([
    ['a key that nobody can guess', [{ name: 'Renamed', tags: [mark('a-key-longer-than-a-tag')] }], /only a hash of its key/],
    [
      'the mark of another object',
      [
        { name: 'A', tags: [mark('a')] },
        { name: 'B', tags: [mark('a')] },
      ],
      /the same ownership marker as another object/,
    ],
  ])('is left out with %s', async (_, dashboards, reason) => {
    put(dashboards)
    const { pulled } = await pull()
    expect(pulled.objects).toEqual(
      dashboards.map(() => expect.objectContaining({ outcome: 'left-out', reason: expect.stringMatching(reason) })),
    )
  })

  it('of another project is left out, and no reason to worry', async () => {
    put([{ name: 'Theirs', tags: [mark('a', 'other/project')] }, { name: 'Ours' }])
    const { pulled } = await pull()
    expect(pulled).toMatchObject({ added: 1, leftOut: 0 })
    expect(pulled.objects.find(({ outcome: what }) => what === 'other-project')).toMatchObject({
      name: 'Theirs',
      reason: 'has the ownership marker of another project',
    })
  })

  it('that stands twice in the service keeps everything from being written, where a file declares it', async () => {
    put([{ name: 'A', tags: [mark('a')] }, { name: 'B', tags: [mark('a')] }, { name: 'C' }])
    const { pulled } = await pull({ 'observability/a.yml': 'dashboards:\n  a:\n    name: A\n    tiles: []\n' })
    expect(pulled).toMatchObject({ changed: false, added: 0, diagnostics: [{ rule: 'duplicate-marker', severity: 'error' }] })
  })
})

describe('references', () => {
  it('are ids where a name says too little', async () => {
    const store = storeOf(emulator())
    const tiles = store.dashboards[0]?.tiles ?? []
    for (const tile of tiles) tile.name = 'Same'
    const webhook = store.webhooks[0]?.id ?? ''
    store.webhooks = store.webhooks.map((one) => ({ ...one, name: 'hook' }))
    store.sources = store.sources.map((one) => ({ ...one, name: 'Source' }))
    const [first] = store.alerts
    put([{ tiles, tags: [mark('d', 'other/project')] }, { name: 'Also' }], [{ ...first, dashboardId: id('0'), tileId: tiles[0]?.id ?? '' }])
    const { text, plan } = await pull()
    expect(text).toContain(`dashboard: { name: Checkout overview }\n    tile: { id: ${tiles[0]?.id} }`)
    expect(text).toContain(`channel: { type: webhook, webhookId: ${webhook} }`)
    expect(text).not.toContain('source: Source')
    expect(plan).toMatchObject({ toUpdate: 0, toCreate: 0 })
  })

  it('are ids where another has the name', async () => {
    const store = storeOf(emulator())
    const [first] = store.alerts
    const tile = store.dashboards[0]?.tiles[0]
    const theirs = { name: 'D', tags: [mark('d', 'other/project')] }
    put([theirs, theirs], [{ ...first, dashboardId: id('0'), tileId: tile?.id ?? '' }])
    expect((await pull()).text).toContain(`dashboard: { id: '${id('0')}' }\n    tile: ${tile?.name}`)
  })
})

describe('what no file can say', () => {
  const tile = (): { dashboardId: string; tileId: string } => ({
    dashboardId: id('0'),
    tileId: storeOf(emulator()).dashboards[0]?.tiles[0]?.id ?? '',
  })

  it.each<[string, Partial<Alert>, RegExp]>([
    ['a name', { name: null }, /^name: is missing/],
    ['anybody to tell', { channels: [] }, /notifies nobody/],
    ['anything to watch', { dashboardId: null, tileId: null }, /watches nothing/],
    ['the other end of its range', { thresholdType: 'between' }, /between needs thresholdMax/],
    ['room for a mark', { note: 'x'.repeat(4000) }, /^note: .*at most 3800 characters/],
  ])('is an alert without %s', async (_, alert, reason) => {
    put([{}], [{ ...tile(), ...alert }])
    const { pulled, plan } = await pull()
    expect(pulled).toMatchObject({ added: 1, leftOut: 1, diagnostics: [] })
    expect(pulled.objects.find(({ outcome: what }) => what === 'left-out')?.reason).toMatch(reason)
    expect(plan).toMatchObject(emptyPlan)
  })

  it('is an alert on a tile that can carry none', async () => {
    const markdown = storeOf(emulator()).dashboards[0]?.tiles.find(({ config }) => config.displayType === 'markdown')
    put([{}], [{ dashboardId: id('0'), tileId: markdown?.id ?? '' }])
    expect((await pull()).pulled.objects.at(-1)?.reason).toMatch(/a tile of type markdown carries no alerts/)
  })

  it('is a text that a file would take for an expression; what hangs on it is known by its name', async () => {
    const expression = ['$', '{{ env.HOME }}'].join('')
    put([{ name: 'Outside', tags: [expression] }], [tile()])
    const { pulled, text } = await pull()
    expect(pulled.objects.find(({ outcome: what }) => what === 'left-out')?.reason).toBe(`"${expression}" would be read as an expression`)
    expect(text).toContain('dashboard: { name: Outside }')
  })
})

it('has nothing to write for an empty service, and says so', async () => {
  put([])
  const { pulled } = await pull()
  expect(pulled).toMatchObject({ changed: false, objects: [], diagnostics: [] })
})
