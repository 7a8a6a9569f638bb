// Webhooks as code: their secrets come from variables of the process, and are in nothing that a run leaves behind.
import { describe, expect, it } from 'vitest'
import { demo, type Emulator, type Webhook } from '../../../src/emulator/index.ts'
import { conditions } from '../../support/conditions.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { actions, errorRules, errors, outcomes, shop } from '../../support/shop-declaration.ts'
import { decided, emptyPlan, type Site, type SiteServer, withSite } from '../../support/site.ts'

const secrets = {
  WEBHOOK_SLACK_URL: 'https://hooks.slack.com/services/T0/B0/slacksecret',
  WEBHOOK_PAGER_URL: 'https://hooks.example.com/pager/urlsecret',
  WEBHOOK_PAGER_TOKEN: 'Bearer headersecret',
  WEBHOOK_PAGER_KEY: 'parametersecret',
  WEBHOOK_INCIDENT_URL: 'https://api.incident.io/v2/alerts/incidentsecret',
  WEBHOOK_INCIDENT_TOKEN: 'Bearer incidentheadersecret',
}

const slack = { name: 'team', service: 'slack', urlFrom: 'WEBHOOK_SLACK_URL', description: 'The team' }
const pager = {
  name: 'pager',
  service: 'generic',
  urlFrom: 'WEBHOOK_PAGER_URL',
  headersFrom: { Authorization: 'WEBHOOK_PAGER_TOKEN' },
  queryParamsFrom: { key: 'WEBHOOK_PAGER_KEY' },
  body: '{"text": "{{title}} {{eventId}}"}',
}
const incident = {
  name: 'incident',
  service: 'incidentio',
  urlFrom: 'WEBHOOK_INCIDENT_URL',
  headersFrom: { Authorization: 'WEBHOOK_INCIDENT_TOKEN' },
  body: '{"id": "{{eventId}}"}',
}

/** Without headers and parameters, whose digests take time on purpose. */
const barePager = { name: 'pager', service: 'generic', urlFrom: 'WEBHOOK_PAGER_URL' }

const webhooks = { slack, pager, incident }
const fileOf = (declared: object) => ({ 'a.json': declared })
const declared = { all: { webhooks }, pager: { webhooks: { pager } } }
const files = fileOf(declared.all)
const pagerFile = fileOf(declared.pager)

function useService(dialect: 'hyperdx' | 'clickhouse-cloud') {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  return {
    emulator,
    site: <T>(use: (one: Site) => Promise<T>, given: Readonly<Record<string, string>> = secrets): Promise<T> =>
      withSite({ ...serverOf(emulator()), secrets: given }, dialect, use),
    stored: (name: string): Webhook => {
      const found = serviceOf(emulator()).webhooks.find((one) => one.name === name)
      if (found === undefined) throw new Error(`there is no webhook ${name}`)
      return found
    },
  }
}

const selfHosted = useService('hyperdx')

// Both products have the same webhooks; only the way to them differs.
it('webhooks are created in a self-hosted server, and then there is nothing to do', async () => {
  const { site } = selfHosted
  await site(async (one) => {
    const simple = fileOf({ webhooks: { slack, bare: barePager } })
    expect(outcomes(await one.apply(simple))).toEqual({ slack: 'created', bare: 'created' })
    expect(await one.plan(simple, { prune: true })).toMatchObject(emptyPlan)
  })
})

describe('webhooks as code', () => {
  const { emulator, site, stored } = useService('clickhouse-cloud')

  // Applied once, because the digests of their secrets take time on purpose.
  const applied = new Map<object, readonly Webhook[]>()
  async function haveApplied(content: object): Promise<void> {
    const known = applied.get(content)
    if (known !== undefined) return void Object.assign(serviceOf(emulator()), { webhooks: structuredClone(known) })
    await site((one) => one.apply(fileOf(content)))
    remember(content)
  }
  const remember = (content: object): void => void applied.set(content, structuredClone(serviceOf(emulator()).webhooks))

  it('S1: creates every service with its secrets, which are in no plan, plan file, result or progress line, and then has nothing to do', () =>
    site(async (one) => {
      const planned = await one.plan(files, { planFile: 'x.plan.json' })
      const applied = await one.apply(files)
      expect(outcomes(applied)).toEqual({ slack: 'created', pager: 'created', incident: 'created' })
      remember(declared.all)
      expect(stored('pager')).toMatchObject({
        url: secrets.WEBHOOK_PAGER_URL,
        headers: { Authorization: secrets.WEBHOOK_PAGER_TOKEN },
        queryParams: { key: secrets.WEBHOOK_PAGER_KEY },
        body: pager.body,
      })
      expect(stored('incident')).toMatchObject({ body: incident.body, headers: { Authorization: secrets.WEBHOOK_INCIDENT_TOKEN } })
      const again = await one.plan(files, { prune: true })
      expect(again).toMatchObject(emptyPlan)
      const pulled = await one.pull({}, undefined, { select: conditions('kind=webhook') })
      const text = JSON.stringify([planned, applied, again, pulled, one.progress, await one.drift(files)])
      for (const secret of ['slacksecret', 'urlsecret', 'headersecret', 'parametersecret', 'incidentsecret', 'hooks.example.com/pager'])
        expect(text).not.toContain(secret)
    }))

  it('finds a change of a field that the API shows', () =>
    site(async (one) => {
      const shown = fileOf({ webhooks: { slack, pager: { ...barePager, body: pager.body } } })
      await one.apply(shown)
      stored('team').url = 'https://hooks.slack.com/services/T0/B0/other'
      stored('pager').body = '{}'
      const drift = await one.drift(shown)
      expect(actions(drift)).toEqual({ slack: 'update', pager: 'update' })
      const fields = drift.objects.flatMap((object) => object.fields.map(({ path, before, after }) => [path, before, after]))
      expect(fields).toEqual([
        ['url', 'another value', 'value of WEBHOOK_SLACK_URL'],
        ['body', '{}', pager.body],
      ])
    }))

  it('finds another secret in a hidden field by its digest, and sends it', { tags: 'slow' }, () =>
    site(
      async (one) => {
        await haveApplied(declared.pager)
        expect(actions(await one.plan(pagerFile))).toEqual({ pager: 'update' })
        await one.apply(pagerFile)
        expect(stored('pager').headers).toEqual({ Authorization: 'Bearer anothersecret' })
        expect(await one.plan(pagerFile)).toMatchObject(emptyPlan)
      },
      { ...secrets, WEBHOOK_PAGER_TOKEN: 'Bearer anothersecret' },
    ),
  )

  it('does not see an edit of a hidden field by hand, and repair: secrets sends ours', () =>
    site(async (one) => {
      await haveApplied(declared.pager)
      stored('pager').headers = { Authorization: 'by hand' }
      expect(await one.plan(pagerFile)).toMatchObject(emptyPlan)
      expect(outcomes(await one.apply(pagerFile, { repair: ['secrets'] }))).toEqual({ pager: 'updated' })
      expect(stored('pager').headers).toEqual({ Authorization: secrets.WEBHOOK_PAGER_TOKEN })
    }))

  it('finds a changed body of incident.io, which the API hides, also without the secrets', () =>
    site(async (one) => {
      await haveApplied(declared.all)
      const changed = fileOf({ webhooks: { ...webhooks, incident: { ...incident, body: '{"new": 1}' } } })
      expect(actions(await one.plan(changed))).toEqual({ slack: 'unchanged', pager: 'unchanged', incident: 'update' })
      await one.apply(changed)
      expect(stored('incident')).toMatchObject({
        url: secrets.WEBHOOK_INCIDENT_URL,
        body: '{"new": 1}',
        headers: { Authorization: secrets.WEBHOOK_INCIDENT_TOKEN },
      })
      await site(async (again) => expect(await again.plan(changed)).toMatchObject(emptyPlan))
    }, {}))

  it('plans without the secrets, says that they are not compared, and creates nothing without them', () =>
    site(async (one) => {
      const planned = await one.plan(files)
      expect([errorRules(planned), planned.toCreate]).toEqual([[], 3])
      expect(planned.diagnostics.map(({ rule, severity }) => `${severity} ${rule}`)).toEqual(Array(3).fill('note secret-not-compared'))
      const count = serviceOf(emulator()).webhooks.length
      const alert = { ...errors, channel: { type: 'webhook', webhook: 'pager' } }
      const applied = await one.apply(fileOf({ webhooks, dashboards: { shop }, alerts: { alert } }))
      const held = Object.fromEntries(Object.keys(webhooks).map((key) => [key, 'held']))
      expect(outcomes(applied)).toEqual({ ...held, shop: 'created', alert: 'held' })
      expect(errorRules(applied)).toEqual(Array(4).fill('held'))
      expect(serviceOf(emulator()).webhooks).toHaveLength(count)
    }, {}))

  it('an update whose answer was lost is looked up at once, although the API hides what was sent', () =>
    site(async (one) => {
      await haveApplied(declared.pager)
      emulator().addFault({ match: { method: 'PUT' }, act: 'after', effect: { kind: 'reset' } })
      const applied = await one.apply(fileOf({ webhooks: { pager: { ...pager, description: 'On call' } } }))
      expect(outcomes(applied)).toEqual({ pager: 'updated' })
      expect(JSON.stringify(one.progress)).not.toContain('unknown')
    }))

  it('keeps the stored secrets in an update without the variables', () =>
    site(async (one) => {
      await haveApplied(declared.pager)
      const renamed = fileOf({ webhooks: { pager: { ...pager, name: 'renamed' } } })
      const applied = await one.apply(renamed)
      expect(outcomes(applied)).toEqual({ pager: 'updated' })
      expect(applied.diagnostics.map(({ message }) => message)).toEqual([
        'webhooks.pager: secret not compared, because WEBHOOK_PAGER_URL, WEBHOOK_PAGER_TOKEN, WEBHOOK_PAGER_KEY are not set',
      ])
      expect(stored('renamed')).toMatchObject({ url: secrets.WEBHOOK_PAGER_URL, headers: { Authorization: secrets.WEBHOOK_PAGER_TOKEN } })
      await site(async (again) => expect(await again.plan(renamed)).toMatchObject(emptyPlan))
    }, {}))

  it('does not send a new URL without the headers, which the server would drop', () =>
    site(
      async (one) => {
        await haveApplied(declared.pager)
        const planned = await one.plan(pagerFile)
        expect(errorRules(planned)).toEqual(['held'])
        expect(planned.diagnostics[0]?.message).toContain('; set WEBHOOK_PAGER_TOKEN, WEBHOOK_PAGER_KEY')
      },
      { WEBHOOK_PAGER_URL: 'https://hooks.example.com/pager/new-address' },
    ))

  it('rejects a secret that is too short to be masked', () =>
    site(async (one) => expect(errorRules(await one.plan(pagerFile))).toEqual(['held']), {
      ...secrets,
      WEBHOOK_PAGER_KEY: 'short',
    }))

  it('a plan rejects a URL that is none, and does not show it', async () => {
    for (const url of ['hooks.example.com/pager/x', 'ftp://hooks.example.com/pager'])
      await site(
        async (one) => {
          const planned = await one.plan(pagerFile)
          expect(planned.diagnostics.map(({ rule, message }) => [rule, message])).toEqual([
            [
              'held',
              expect.stringContaining(
                'webhooks.pager: apply does not create it: the value of WEBHOOK_PAGER_URL is not an http or https address',
              ),
            ],
          ])
          expect(JSON.stringify(planned)).not.toContain(url)
        },
        { ...secrets, WEBHOOK_PAGER_URL: url },
      )
  })

  it('clears a description, a body and headers that a file does not have any more', () =>
    site(async (one) => {
      await one.apply(fileOf({ webhooks: { slack, pager } }))
      const { description: _, ...plain } = slack
      const fewer = fileOf({ webhooks: { pager: barePager, slack: plain } })
      expect(outcomes(await one.apply(fewer))).toEqual({ pager: 'updated', slack: 'updated' })
      const { headers, queryParams, body } = stored('pager')
      expect([Object.keys(headers ?? {}), Object.keys(queryParams ?? {}), body]).toEqual([[], [], undefined])
      expect(stored('team').description).toMatch(/^watchkeeper: /)
      expect(await one.plan(fewer)).toMatchObject(emptyPlan)
    }))

  it('a generic webhook becomes a webhook of Slack, which has none of the hidden fields', () =>
    site(async (one) => {
      await haveApplied(declared.pager)
      const moved = fileOf({ webhooks: { pager: { name: 'pager', service: 'slack', urlFrom: 'WEBHOOK_SLACK_URL' } } })
      expect(outcomes(await one.apply(moved))).toEqual({ pager: 'updated' })
      expect(await one.plan(moved)).toMatchObject(emptyPlan)
    }))

  it('adopts a webhook without its secrets, and one for incident.io only with its body', () =>
    site(async (one) => {
      const [existing] = serviceOf(emulator()).webhooks
      Object.assign(existing ?? {}, { url: secrets.WEBHOOK_SLACK_URL, description: undefined })
      const adopted = fileOf({
        webhooks: { old: { name: existing?.name, adopt: true, service: existing?.service, urlFrom: 'WEBHOOK_NONE' } },
      })
      const url = existing?.url
      expect(outcomes(await one.apply(adopted))).toEqual({ old: 'adopted' })
      expect(stored(existing?.name ?? '')).toMatchObject({ url, description: expect.stringContaining('watchkeeper: ') })
      await one.apply(fileOf({ webhooks: { incident } }))
      stored('incident').description = 'released'
      const { body: _, ...bare } = { ...incident, adopt: true }
      expect(errorRules(await one.plan(await decided(one.plan, fileOf({ webhooks: { incident: bare } }))))).toEqual(['held'])
    }))

  it('forgets a webhook with everything that it has, except where the API hides its body', () =>
    site(async (one) => {
      await haveApplied(declared.all)
      const before = structuredClone([stored('team'), stored('pager')])
      const left = fileOf({ webhooks: { incident } })
      const forgotten = await one.apply(left, { prune: 'forget' })
      expect(outcomes(forgotten)).toEqual({ incident: 'unchanged', slack: 'released', pager: 'released' })
      const [team, duty] = [stored('team'), stored('pager')]
      expect([team.description, duty.description ?? '']).toEqual(['The team', ''])
      expect([team, duty]).toMatchObject(before.map(({ description: _, updatedAt: __, ...rest }) => rest))
      const none = await one.plan({ 'a.yml': 'alerts: {}' }, { prune: 'forget', allowEmpty: true })
      expect(errorRules(none)).toEqual(['held'])
    }))

  it('a webhook is not created beside an unmanaged webhook with its name', () =>
    site(async (one) => {
      const [existing] = serviceOf(emulator()).webhooks
      const planned = await one.plan(fileOf({ webhooks: { pager: { ...pager, name: existing?.name } } }))
      expect(planned.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['held', 'error']])
    }))

  it('S1: does not repeat the stored URL when the server does, in an error or in the debug log', () =>
    site(async (one) => {
      const [existing] = serviceOf(emulator()).webhooks
      const path = '/services/T1/B1/only-the-service-knows'
      Object.assign(existing ?? {}, { service: 'slack', description: undefined, url: `https://hooks.slack.example${path}` })
      const adopted = fileOf({ webhooks: { old: { name: existing?.name, adopt: true, service: 'slack', urlFrom: 'WEBHOOK_NONE' } } })
      const applied = await one.apply(adopted)
      expect(applied.objects[0]).toMatchObject({ outcome: 'failed', message: expect.stringContaining('hooks.slack.example***') })
      expect(JSON.stringify([applied, one.progress, one.session.notes])).not.toContain(path)
    }))

  it('does not repeat the end of a stored URL that shares a part with the key of the run', () =>
    site(async (one) => {
      const [existing] = serviceOf(emulator()).webhooks
      const shared = demo.apiKeySecret.slice(10, 28)
      Object.assign(existing ?? {}, {
        service: 'slack',
        description: undefined,
        url: `https://hooks.slack.example/services/T1/B1/${shared}-s3rv1ce`,
      })
      const adopted = fileOf({ webhooks: { old: { name: existing?.name, adopt: true, service: 'slack', urlFrom: 'WEBHOOK_NONE' } } })
      const applied = await one.apply(adopted)
      expect(applied.objects[0]).toMatchObject({ outcome: 'failed', message: expect.stringContaining('hooks.slack.example***') })
      expect(JSON.stringify([applied, one.progress, one.session.notes])).not.toContain('s3rv1ce')
    }))

  it('a webhook is created before the alerts that use it, and deleted after them', () =>
    site(async (one) => {
      const alert = { ...errors, channel: { type: 'webhook', webhook: 'pager' } }
      const all = fileOf({ webhooks: { pager: barePager }, dashboards: { shop }, alerts: { alert } })
      expect(Object.keys(outcomes(await one.apply(all)))).toEqual(['pager', 'shop', 'alert'])
      expect(serviceOf(emulator()).alerts.at(-1)?.channels).toMatchObject([{ webhookId: stored('pager').id }])
      expect(await one.plan(all)).toMatchObject(emptyPlan)
      const gone = await one.apply(fileOf({ dashboards: { shop } }), { prune: true })
      expect(outcomes(gone)).toEqual({ shop: 'unchanged', alert: 'deleted', pager: 'deleted' })
    }))

  it('W7: a webhook is not deleted while an unmanaged alert uses or mentions it, and the error names the alert', () =>
    site(async (one) => {
      await one.apply(fileOf({ webhooks: { slack, pager: barePager } }))
      const alert = serviceOf(emulator()).alerts[0]
      if (alert === undefined) throw new Error('the shop has no alert')
      const before = structuredClone(alert)
      const others = fileOf({ webhooks: { slack } })
      const { id } = stored('pager')
      for (const use of [
        { channels: [...alert.channels, { type: 'webhook' as const, webhookId: id }] },
        { message: 'See @webhook-pag for help' },
        { message: `@webhook-${id}` },
      ]) {
        Object.assign(alert, structuredClone(before), use)
        const planned = await one.plan(others, { prune: true })
        expect(errorRules(planned), JSON.stringify(use)).toEqual(['held'])
        expect(planned.diagnostics.at(-1)?.message).toContain(`the alert "${alert.name}" (${alert.id})`)
      }
      await one.apply(others, { prune: true })
      expect(stored('pager')).toBeDefined()
    }))

  it('a webhook is not renamed while an alert mentions a name that would not be found any more', () =>
    site(async (one) => {
      await one.apply(fileOf({ webhooks: { pager: barePager } }))
      const alert = serviceOf(emulator()).alerts[0]
      Object.assign(alert ?? {}, { message: 'Call @webhook-pager' })
      const renamed = (name: string) => fileOf({ webhooks: { pager: { ...barePager, name } } })
      expect(errorRules(await one.plan(renamed('duty')))).toEqual(['held'])
      expect(errorRules(await one.plan(renamed('pager-2')))).toEqual([])
    }))

  it('leaves out services of the cloud in pull, by name', () =>
    site(async (one) => {
      const [existing] = serviceOf(emulator()).webhooks
      Object.assign(existing ?? {}, { service: 'pagerduty_api' })
      const pulled = await one.pull({}, undefined, { select: conditions('kind=webhook') })
      expect(pulled.objects.find(({ name }) => name === existing?.name)).toMatchObject({
        outcome: 'not-exportable',
        reason: 'files cannot declare a webhook of the service pagerduty_api',
      })
    }))

  it('a webhook of others does not make a pull a warning where the API hides its body, as long as something is exported', async () => {
    const [existing] = serviceOf(emulator()).webhooks
    Object.assign(existing ?? {}, { service: 'incidentio', body: '{}' })
    const pull = (more: Readonly<Record<string, string>>) =>
      invokeText({
        inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'pull', project: 'shop', select: 'kind=webhook', ...more },
      })
    const all = await pull({})
    expect(all.document).toMatchObject({ status: 'pass', leftOut: 0, notExportable: 2 })
    expect(all.document.objects).toContainEqual(
      expect.objectContaining({
        name: existing?.name,
        outcome: 'not-exportable',
        reason: 'the API hides a part of it; to manage it, write it into a file by hand, with adopt: true and body',
      }),
    )
    const { document } = await pull({ select: `kind=webhook\nname~${existing?.name}` })
    expect(document).toMatchObject({
      status: 'warn',
      filesWritten: 0,
      failureReason: expect.stringContaining('1 object cannot be exported'),
    })
  })

  it('a webhook of this project is left out with a warning where the API hides a part of it, and its key stays taken', () =>
    site(async (one) => {
      await haveApplied(declared.all)
      const pulled = await one.pull({}, undefined, { select: conditions('kind=webhook') })
      const byName = new Map(pulled.objects.map(({ name, outcome, reason }) => [name, [outcome, reason]]))
      expect(byName.get(incident.name)).toEqual([
        'left-out',
        'the API hides a part of it; to manage it, write it into a file by hand, with headersFrom and body',
      ])
      expect(pulled.leftOut).toBeGreaterThan(0)
      expect(pulled.objects.filter(({ key }) => key === 'incident')).toEqual([])
    }))

  it('W12: pull takes over no webhook and no source, unless its kind is named', () =>
    site(async (one) => {
      const pulledKinds = async (...texts: readonly string[]) =>
        new Set((await one.pull({}, undefined, texts.length === 0 ? {} : { select: conditions(...texts) })).objects.map(({ kind }) => kind))
      expect(await pulledKinds()).toEqual(new Set(['dashboard', 'savedSearch', 'alert']))
      expect(await pulledKinds('kind=webhook,source')).toEqual(new Set(['webhook', 'source']))
    }))

  it('a declared webhook is pulled with the variables that the file names', () =>
    site(async (one) => {
      await haveApplied(declared.all)
      stored('pager').body = '{"changed": true}'
      const pulled = await one.pull(files, ['a.json'])
      expect(pulled.objects.map(({ key, outcome }) => [key, outcome])).toContainEqual(['pager', 'updated'])
      const after = JSON.parse(pulled.writtenFiles[0]?.content ?? '{}') as { webhooks: Readonly<Record<string, object>> }
      expect(after.webhooks.pager).toEqual({ ...pager, body: '{"changed": true}', adopt: expect.stringMatching(/@2\./) })
      expect(after.webhooks.incident).toEqual(incident)
    }))
})

const serverOf = ({ url }: Emulator): SiteServer => ({ url })
