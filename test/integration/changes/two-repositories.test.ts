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
  readonly env?: Readonly<Record<string, string>>
}

const run = (operation: string, { repository, name = 'one', inputs = {}, env = {} }: Run) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop', ...inputs },
    env: { ...(repository !== undefined && { GITHUB_REPOSITORY: repository }), ...env },
    files: { 'observability/a.yml': fileOf(name) },
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
      /^another repository \([0-9a-f]{10}\) applied objects of this project: (?:[a-z ]+ "one" \(\w+\)(?:, )?){3}\. This run is of github\.com\/shop\/web; nothing was written\. /,
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

it('W13: says what to do by hand where objects are of two other repositories, because adopt-from names only one', async () => {
  await haveApplied()
  const web = repositoryDigest('github.com/shop/web')
  // As after a race of the repositories.
  for (const one of serviceOf(emulator()).dashboards) one.tags = one.tags.map((tag) => tag.replace(`wkr:${shop}`, `wkr:${web}`))
  const { document } = await run('apply', { repository: 'shop/third', inputs: { repair: 'duplicates' } })
  expect(document).toMatchObject({ status: 'fail', changed: false })
  const found = (document.diagnostics as { rule: string; message: string }[]).filter(({ rule }) => rule === 'other-repository')
  expect(found.map(({ message }) => /\(([0-9a-f]{10})\)/.exec(message)?.[1]).toSorted()).toEqual([shop, web].toSorted())
  for (const { message } of found) {
    expect(message).not.toContain('set adopt-from')
    expect(message).toContain(
      'are of 2 other repositories, and adopt-from can name only one. Set another project in each repository but one',
    )
    expect(message).toContain('in the web app, delete what the others applied, or remove its markers')
  }
})

it('adopt-from with the repository as its name or digest takes the objects over once, and then says that it can be removed', async () => {
  await haveApplied()
  const inputs = { 'adopt-from': `repository=${shop}` }
  for (const given of [inputs, { 'adopt-from': 'repository=github.com/Shop/Infra' }]) {
    const planned = await run('plan', { repository: 'shop/web', inputs: given })
    expect(planned.document, JSON.stringify(given)).toMatchObject({ status: 'warn', changed: false, toMark: 3 })
  }
  const { document } = await run('apply', { repository: 'shop/web', inputs })
  expect(document).toMatchObject({ status: 'warn', changed: true })
  expect(document.objects).toMatchObject([{ outcome: 'marked' }, { outcome: 'marked' }, { outcome: 'marked' }])
  expect(markersOf()).not.toContain(shop)
  const again = await run('apply', { repository: 'shop/web', inputs })
  expect(again.document).toMatchObject({ status: 'pass', changed: false, diagnostics: [{ rule: 'adopt-from-done', severity: 'note' }] })
  expect((await run('plan', { repository: 'shop/web' })).document).toMatchObject({ status: 'pass', changed: false, toMark: 0 })
  expect((await run('apply', { repository: 'shop/infra' })).document).toMatchObject({ status: 'fail', changed: false })
})

it('adopt-from rejects the name of a repository without a host, and none beside a project', async () => {
  for (const given of ['repository=shop/infra', 'none\nproject=shop', 'project=a\nproject=b', 'shop/infra']) {
    const { reason } = await run('plan', { repository: 'shop/web', inputs: { 'adopt-from': given } })
    expect(reason, given).toContain('adopt-from: ')
  }
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
