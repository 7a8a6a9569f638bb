// Drift: files and service differ, which side moved, and who must act.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { errors, shop, tile } from '../../support/shop-declaration.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const first = { dashboards: { shop }, alerts: { errors, slow: { ...errors, name: 'Slow', tile: 'B' } } }

async function run(operation: string, content: object, inputs: Readonly<Record<string, string>> = {}) {
  const ran = await invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop/drift', files: 'a.json', ...inputs },
    files: { 'a.json': JSON.stringify(content) },
  })
  return { ...ran, text: renderTerminal(ran.blocks, { color: false }).join('\n') }
}

const haveApplied = useApplied(emulator, () => run('apply', first))

const edit = (name: string, fields: object): void =>
  void Object.assign(serviceOf(emulator()).alerts.find((one) => one.name === name) ?? {}, fields)

const drift = async (content: object, inputs = {}) => {
  const { exitCode, outputs, reason, text } = await run('drift', content, inputs)
  return { exitCode, status: outputs.status, reason, text }
}

describe('drift', () => {
  it('drift is not reported right after apply', async () => {
    await haveApplied()
    expect(await drift(first)).toMatchObject({ exitCode: 0, status: 'pass', reason: '', text: expect.stringContaining('No drift') })
  })

  it('reports a change in the service since the last apply', async () => {
    await haveApplied()
    edit('Errors', { threshold: 9 })
    const found = await drift(first)
    expect(found).toMatchObject({ exitCode: 10, status: 'fail', reason: 'shop/drift has drifted: 1 to update' })
    expect(found.text).toMatch(/alert +errors +Changed in the service. Apply reverts the change, pull with only: drifted keeps it/)
    expect(found.text).toContain('threshold: file: 1, service: 9')
  })

  it('has the commands that revert or keep a change in the service, and only those that work', async () => {
    await haveApplied()
    edit('Errors', { threshold: 9 })
    const { document, blocks } = await run('drift', first, { prune: 'true' })
    const revert = `watchkeeper apply --project shop/drift --organization-id ${demo.organizationId} --service-id ${demo.services.checkout} --files a.json --prune`
    const keep = `watchkeeper pull --project shop/drift --organization-id ${demo.organizationId} --service-id ${demo.services.checkout} --files a.json --only drifted`
    expect(document).toMatchObject({ applyCommand: revert, pullCommand: keep })
    const limited = await run('drift', first, { prune: 'true', 'max-deletes': '10' })
    expect(limited.document.applyCommand).toBe(`${revert} --max-deletes 10`)
    expect(renderMarkdown(blocks)).toContain(
      `- To make the service match the files: \`${revert}\`\n- To keep what changed in the service: \`${keep}\`\n`,
    )
    const inFiles = await run('drift', { ...first, alerts: { ...first.alerts, errors: { ...errors, threshold: 3 } } })
    // Both sides changed.
    expect([inFiles.document.applyCommand, inFiles.document.pullCommand]).toEqual([undefined, undefined])
    const wrong = await run('drift', { ...first, alerts: { errors: { ...errors, tile: 'Z' } } })
    expect([wrong.document.applyCommand, wrong.document.pullCommand]).toEqual([undefined, undefined])
  })

  it('has a command that writes to the service of the run, also in a shell with the variables of another one', async () => {
    await haveApplied()
    edit('Errors', { threshold: 9 })
    const { document } = await run('drift', first)
    const other = structuredClone(serviceOf(emulator(), 'catalog'))
    const directory = mkdtempSync(join(tmpdir(), 'drift-'))
    writeFileSync(join(directory, 'a.json'), JSON.stringify(first))
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${document.applyCommand}`], { encoding: 'utf8' })
    const [, ...args] = words.trimEnd().split('\n')
    const env = {
      WATCHKEEPER_API_URL: emulator().url,
      WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
      WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
      WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
      WATCHKEEPER_SERVICE_ID: demo.services.catalog,
    }
    expect((await runCliInside([...args, '--yes'], { directory, env })).exitCode).toBe(0)
    expect(await drift(first)).toMatchObject({ exitCode: 0 })
    expect(serviceOf(emulator(), 'catalog')).toEqual(other)
  })

  it('has a command with all that decides what apply writes, in one piece however long it is', async () => {
    await haveApplied()
    edit('Errors', { threshold: 9 })
    const globs = Array.from({ length: 9 }, (_, i) => `observability/team-${i}/**/*.{yml,yaml}`)
    const { document, blocks, text } = await run('drift', first, {
      files: ['a.json', ...globs].join('\n'),
      prune: 'forget',
      'max-deletes': '9',
      'allow-empty': 'true',
      repair: 'rewrite,secrets',
    })
    const files = ['a.json', ...globs.map((glob) => `'${glob}'`)].map((glob) => ` --files ${glob}`).join('')
    const command = `watchkeeper apply --project shop/drift --organization-id ${demo.organizationId} --service-id ${demo.services.checkout}${files} --prune forget --max-deletes 9 --allow-empty --repair rewrite --repair secrets`
    expect(document.applyCommand).toBe(command)
    expect(renderMarkdown(blocks)).toContain(`: \`${command}\`\n`)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(command)
  })

  it('reports a change in files that have not been applied yet', async () => {
    await haveApplied()
    const found = await drift({ ...first, alerts: { ...first.alerts, errors: { ...errors, threshold: 9 } } })
    expect(found).toMatchObject({ exitCode: 10, reason: 'shop/drift has drifted: 1 to update' })
    expect(found.text).toMatch(/alert +errors +Changed in the files since the last apply/)
  })

  it('reports a change on both sides, which apply leaves as it is', async () => {
    await haveApplied()
    edit('Errors', { interval: '1h' })
    expect((await drift({ ...first, alerts: { ...first.alerts, errors: { ...errors, threshold: 9 } } })).text).toMatch(
      /alerts\.errors: apply leaves it as it is: changed in both, the files and the service, since the last apply \(threshold, interval\)[\s\S]*errors +Held, for/,
    )
  })

  it('reports an object that was deleted in the service, or never existed', async () => {
    await run('apply', { ...first, alerts: { errors } })
    const found = await drift(first)
    expect(found).toMatchObject({ exitCode: 10, reason: 'shop/drift has drifted: 1 to create' })
    expect(found.text).toMatch(
      /alert +slow +Only in the files\. Apply creates it\. If someone deleted it, pull with only: drifted-or-deleted deletes it in the files, too/,
    )
    // An empty list may be a mistake of the server, so pull removes nothing, and drift does not promise that it does.
    serviceOf(emulator()).alerts = []
    expect((await drift(first)).text.replaceAll(/\s+/g, ' ')).toContain(
      'alert errors, alert slow Only in the files. Apply creates it. If someone deleted it on purpose, remove its declaration: pull does not, because the service has no declared object of its kind',
    )
    const pulled = await run('pull', first, { only: 'drifted-or-deleted' })
    expect(pulled.document).toMatchObject({ complete: false, removed: 0 })
    expect(pulled.reason).toBe('Nothing to pull for shop/drift: a list of the service may be incomplete, 1 warning.')
    expect(pulled.text.replaceAll(/\s+/g, ' ')).toContain(
      'the list of alerts has none of the declared objects, so pull removes no declaration of them; if they were deleted on purpose, remove their declarations',
    )
  })

  it('includes orphans, with and without prune', async () => {
    await haveApplied()
    const without = await drift({ ...first, alerts: { errors } })
    expect(without).toMatchObject({ exitCode: 10, reason: 'shop/drift has drifted: 1 undeclared object' })
    expect(without.text).toMatch(/alert +slow +In no file\. Pull with select: key=KEY adds it, apply with prune deletes it/)
    const pruning = await drift({ ...first, alerts: { errors } }, { prune: 'true' })
    expect(pruning).toMatchObject({ exitCode: 10, reason: 'shop/drift has drifted: 1 to delete' })
    expect(pruning.text).toMatch(/alert +slow +In no file. Apply with prune deletes it/)
  })

  it('includes objects that must be created again', async () => {
    await haveApplied()
    const content = { dashboards: { shop: { ...shop, tiles: [tile('A')] } }, alerts: { errors, slow: { ...errors, name: 'Slow' } } }
    const found = await drift(content)
    expect(found).toMatchObject({ exitCode: 10, reason: 'shop/drift has drifted: 1 to update, 1 to replace' })
    expect(found.text).toMatch(/alert +slow +Changed in the files since the last apply/)
  })

  it('excludes objects that only need a marker, and unmanaged objects', async () => {
    const content = {
      alerts: {
        orders: {
          ...errors,
          name: 'No orders',
          adopt: true,
          dashboard: { name: 'Checkout overview' },
          tile: 'Orders',
          note: null,
          thresholdType: 'below',
          interval: '15m',
          channel: { type: 'webhook', webhook: 'incidents' },
          message: 'No orders for 15 minutes',
        },
      },
    }
    expect(await drift(content)).toMatchObject({ exitCode: 0, text: expect.stringContaining('No drift') })
    edit('No orders', { threshold: 3 })
    const found = await drift(content)
    expect(found).toMatchObject({ exitCode: 10 })
    expect(found.text).toMatch(/alerts\.orders: apply leaves it as it is: the unmanaged alert "No orders"[\s\S]*alert +orders +Held, for/)
  })

  it('reports a name that was lost in the service as drift, and pull is the way out', { tags: 'slow' }, async () => {
    const content = {
      savedSearches: { found: { name: 'Found', sourceId: { source: 'Logs' }, where: 'a' } },
      alerts: {
        orders: { ...errors, name: 'Orders', dashboard: { name: 'Checkout overview' }, tile: 'Orders' },
        traced: { ...errors, name: 'Traced', dashboard: undefined, tile: undefined, savedSearch: { name: 'Errors in checkout' } },
      },
    }
    const renames: readonly [string, string, () => readonly { name?: string | null }[]][] = [
      ['tile', 'Orders', () => serviceOf(emulator()).dashboards.flatMap(({ tiles }) => tiles)],
      ['dashboard', 'Checkout overview', () => serviceOf(emulator()).dashboards],
      ['savedSearch', 'Errors in checkout', () => serviceOf(emulator()).savedSearches],
      ['webhook', 'oncall', () => serviceOf(emulator()).webhooks],
      ['source', 'Logs', () => serviceOf(emulator()).sources],
    ]
    for (const [what, name, all] of renames) {
      emulator().reset()
      expect((await run('apply', content)).exitCode).toBe(0)
      for (const one of all().filter((each) => each.name === name)) one.name = 'Renamed'
      const found = await drift(content)
      expect(found, what).toMatchObject({ exitCode: 10, reason: expect.stringContaining('shop/drift has drifted: ') })
      expect(found.text, what).toContain(
        'Since the last apply, it was renamed or deleted in the service, or another one got the name. After a rename, run pull to write the new name',
      )
      expect(found.text, what).toContain(name)
      expect((await run('plan', content)).exitCode, what).toBe(0)
      const { files } = await run('pull', content, { only: 'drifted' })
      expect(await drift(JSON.parse(files[0]?.content ?? '{}')), what).toMatchObject({ exitCode: 0 })
    }
  })

  it('drift cannot be determined while files are wrong, and two objects with one marker are a difference', async () => {
    await haveApplied()
    const wrong = await drift({ ...first, alerts: { errors: { ...errors, tile: 'Nowhere' } } })
    expect(wrong).toMatchObject({
      exitCode: 2,
      status: 'fail',
      reason: 'The drift check for shop/drift failed: alerts.errors.tile: dashboard shop has no tile named "Nowhere"',
    })
    const store = serviceOf(emulator())
    const original = store.alerts.find(({ name }) => name === 'Errors')
    if (original !== undefined) store.alerts.push({ ...original, id: '65f5e4a35eedc0deffffffff' })
    expect(await drift(first)).toMatchObject({
      exitCode: 10,
      reason: 'shop/drift has drifted: 1 held; held objects need attention',
      text: expect.stringContaining('2 alerts have this ownership marker'),
    })
  })

  it('drift can be a warning', async () => {
    await haveApplied()
    edit('Errors', { threshold: 9 })
    expect(await drift(first, { 'warn-only': 'true' })).toMatchObject({ exitCode: 0, status: 'warn' })
  })

  it('returns an error, and no drift, when the service cannot be read', async () => {
    emulator().addFault({ times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 403 } })
    expect(await drift(first)).toMatchObject({ exitCode: 3, status: 'error' })
  })
})
