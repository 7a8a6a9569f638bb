// W13: two repositories with one project. The second one stops before its first write.
import { describe, expect, it } from 'vitest'
import { repositoryDigest } from '../../../src/kinds/marker.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const alert = (name: string) =>
  `{ name: ${name}, dashboard: ${name}, tile: T, threshold: 1, interval: 5m, note: n, channel: { type: webhook, webhook: oncall } }`

const fileOf = (name: string): string => `dashboards:
  ${name}: { name: ${name}, tags: [t], tiles: [{ name: T, config: { displayType: number, source: Logs, select: [{ aggFn: count }] } }] }
savedSearches:
  ${name}: { name: ${name}, source: Logs, select: Body }
alerts:
  ${name}: ${alert(name)}
`

interface Run {
  readonly repository?: string
  readonly name?: string
  readonly inputs?: Readonly<Record<string, string>>
  readonly config?: string
}

const run = (operation: string, { repository, name = 'one', inputs = {}, config }: Run) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop', ...inputs },
    env: repository === undefined ? {} : { GITHUB_REPOSITORY: repository },
    files: { 'observability/a.yml': fileOf(name), ...(config !== undefined && { '.watchkeeper.yml': config }) },
  })

const haveApplied = useApplied(emulator, () => run('apply', { repository: 'Shop/Infra' }))

const writes = () => emulator().requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/dashboards/validate')).length

const markersOf = () => {
  const { dashboards, savedSearches, alerts } = serviceOf(emulator())
  return [...dashboards, ...savedSearches]
    .flatMap(({ tags }) => tags ?? [])
    .concat(alerts.map(({ note }) => note ?? ''))
    .join('\n')
}

const shop = repositoryDigest('github.com/shop/infra')

describe('apply with prune from a second repository', () => {
  it('W13: fails before its first write, and names its own repository, the digest of the other one and three objects', async () => {
    await haveApplied()
    const before = [writes(), markersOf()]
    const { document, reason, exitCode } = await run('apply', { repository: 'shop/web', name: 'two', inputs: { prune: 'true' } })
    expect(exitCode).not.toBe(0)
    expect(document).toMatchObject({ status: 'fail', changed: false, isPlanWrong: true })
    expect(reason).toContain('Nothing was written')
    const [diagnostic] = (document.diagnostics as { rule: string; message: string }[]).filter(({ rule }) => rule === 'other-repository')
    expect(diagnostic?.message).toMatch(
      /^another repository \([0-9a-f]{10}\) applied all objects of this project: (?:[a-z ]+ "one" \(\w+\)(?:, )?){3}\. This run is of github\.com\/shop\/web; nothing was written\. /,
    )
    expect(diagnostic?.message).toContain(shop)
    expect([writes(), markersOf()]).toEqual(before)
  })

  it('fails if the objects of the other repository are only those that its files declare, too, of which plan and drift only warn', async () => {
    await haveApplied()
    for (const operation of ['plan', 'drift']) {
      const { document } = await run(operation, { repository: 'shop/web' })
      expect(document, operation).toMatchObject({ status: 'warn', changed: false, toMark: 0 })
      expect(document.diagnostics, operation).toMatchObject([{ rule: 'other-repository', severity: 'warning' }])
    }
    const { document } = await run('apply', { repository: 'shop/web' })
    expect(document).toMatchObject({ status: 'fail', changed: false })
  })
})

it('W13: holds the objects of another repository, applies the others, and prunes only what this repository wrote', async () => {
  await haveApplied()
  const web = repositoryDigest('github.com/shop/web')
  // As after a race of the repositories.
  for (const one of serviceOf(emulator()).dashboards) one.tags = one.tags.map((tag) => tag.replace(`wkr:${shop}`, `wkr:${web}`))
  const before = markersOf()
  for (const name of ['one', 'two']) {
    const { document } = await run('plan', { repository: 'shop/infra', name, inputs: { prune: 'true' } })
    const deleted = (document.objects as { kind: string; action: string }[]).filter(({ action }) => action === 'delete')
    expect(deleted.map(({ kind }) => kind).toSorted(), name).toEqual(name === 'one' ? [] : ['alert', 'savedSearch'])
  }
  const { document } = await run('apply', { repository: 'shop/infra' })
  const [held, ...others] = (document.diagnostics as { rule: string; severity: string; message: string }[]).filter(
    ({ rule }) => rule === 'held',
  )
  expect([held?.severity, others]).toEqual(['warning', []])
  expect(held?.message).toMatch(
    new RegExp(
      `^dashboards.one: apply leaves it as it is: another repository \\(${web}\\) applied it\\. .*add previous-repository: ${web}, or its previous address`,
    ),
  )
  expect(markersOf()).toBe(before)
})

it('previous-repository with the address or the digest takes the objects over', async () => {
  await haveApplied()
  const config = `previous-repository: "${shop}"`
  for (const given of [config, 'previous-repository: github.com/Shop/Infra']) {
    const planned = await run('plan', { repository: 'shop/web', config: given })
    expect(planned.document, given).toMatchObject({ changed: false, toMark: 3 })
  }
  const { document } = await run('apply', { repository: 'shop/web', config })
  expect(document).toMatchObject({ changed: true })
  expect(document.objects).toMatchObject([{ outcome: 'marked' }, { outcome: 'marked' }, { outcome: 'marked' }])
  expect(markersOf()).not.toContain(shop)
  for (const given of [config, undefined])
    expect((await run('plan', { repository: 'shop/web', ...(given && { config: given }) })).document).toMatchObject({
      status: 'pass',
      changed: false,
      toMark: 0,
    })
  expect((await run('apply', { repository: 'shop/infra' })).document).toMatchObject({ status: 'fail', changed: false })
})

it('adopt-from is an error that says what to do, and previous-repository rejects a repository without a host', async () => {
  const { reason } = await run('plan', { repository: 'shop/web', inputs: { 'adopt-from': 'none' } })
  expect(reason).toContain('set previous-project or previous-repository in .watchkeeper.yml')
  const wrong = await run('plan', { repository: 'shop/web', config: 'previous-repository: shop/infra' })
  expect(wrong.reason).toContain('.watchkeeper.yml:1:22: previous-repository: "shop/infra" is not accepted')
})

it('W13: the first apply with a known repository adds it to all declared objects, and changes nothing else', async () => {
  await run('apply', {})
  expect(markersOf()).not.toContain('wkr:')
  const { dashboards } = structuredClone(serviceOf(emulator()))
  const { document } = await run('apply', { repository: 'shop/infra' })
  expect(document).toMatchObject({ status: 'warn', toMark: 3, toUpdate: 0 })
  expect(markersOf().split(`wkr:${shop}`)).toHaveLength(4)
  const [before, after] = [dashboards, serviceOf(emulator()).dashboards].map((all) => all.find(({ name }) => name === 'one'))
  expect(new Set(after?.tags)).toEqual(new Set([...(before?.tags ?? []), `wkr:${shop}`]))
  expect(after?.tiles).toEqual(before?.tiles)
  const sent = writes()
  expect((await run('apply', { repository: 'shop/infra' })).document).toMatchObject({ changed: false, toMark: 0 })
  expect(writes()).toBe(sent)
})

it('apply without a repository keeps the stored one and warns, also where an object changes', async () => {
  await haveApplied()
  const [changed] = serviceOf(emulator()).alerts.filter(({ name }) => name === 'one')
  Object.assign(changed ?? {}, { threshold: 99 })
  const { document } = await run('apply', {})
  expect(document).toMatchObject({ status: 'warn', toUpdate: 1 })
  expect(document.diagnostics).toMatchObject([{ rule: 'unknown-repository', severity: 'warning' }])
  expect(markersOf().split(`wkr:${shop}`)).toHaveLength(4)
  expect((await run('plan', {})).document).toMatchObject({ status: 'pass', diagnostics: [] })
})
