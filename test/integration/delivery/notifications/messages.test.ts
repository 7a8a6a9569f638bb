// What people read in a chat, from the operation to the receiver.
import { describe, expect, it } from 'vitest'
import { demo } from '../../../../src/emulator/index.ts'
import { addDays } from '../../../../src/platform/core/dates.ts'
import { done, fillBackups } from '../../../support/backups.ts'
import { fillUsage, inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { useGitHub } from '../../../support/github-server.ts'
import { runGitHubStep } from '../../../support/notify.ts'
import { useReceiver } from '../../../support/receiver.ts'
import { errors, shop } from '../../../support/shop-declaration.ts'

const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
const github = useGitHub()
const receiver = useReceiver()

type Inputs = Readonly<Record<string, string>>

const step = (inputs: Inputs, content: object = {}) => runGitHubStep(github(), { inputs, files: { 'a.json': JSON.stringify(content) } })

/** The lines of the message about a run that keeps an issue, with any day and time. */
async function linesOf(inputs: Inputs, content?: object): Promise<readonly string[]> {
  const before = receiver().messages.length
  await step({ issue: 'on-failure', ...inputs, 'notify-url': receiver().url }, content)
  const [message] = receiver().messages.slice(before)
  const text = String(message?.json.text)
  return text.replace(/(?:\d+ – )?\d+ [A-Z][a-z]{2}(?: \d{4})?(?: \d\d:\d\d UTC)?/g, 'DAY').split('\n')
}

const page = 'https://github.example/acme/shop'

/** The last lines: repository, workflow and pages, and the target with the time. */
const ending = (target: string): readonly string[] => [
  `\`acme/shop\` · \`cost gate\` · <${page}/actions/runs/4711/attempts/1|View the run> · <${page}/issues/100|View the issue>`,
  target,
]

const organization = `Organization \`${demo.organizationId}\` · `
const service = `service \`${demo.services.checkout}\` · `

describe('a message about a failed check names what failed, the objects, the run and the issue', () => {
  it('a message about the cost has the total, the forecast and the three services that cost most', async () => {
    const services = ['checkout', 'catalog', 'search', 'old'].map((name, i) => ({
      name,
      microOn: () => ({ compute: (5 - i) * 1_000_000 }),
      locked: true,
    }))
    const today = fillUsage(cloud(), 60, services)
    const period = `${addDays(today, -19)}..${addDays(today, 10)}`
    expect(await linesOf({ ...inputsFor(cloud()), operation: 'usage-cost', period, budget: '100' })).toEqual([
      '❌ *Cost gate:* Budget exceeded: 280.00 of 100.00 CHC (280%).',
      expect.stringMatching(/^• Forecast by DAY: 420\.00 CHC \(80% range .* CHC\)$/),
      '• Costs most: `checkout` 100.00 CHC (36%), `catalog` 80.00 CHC (29%), `search` 60.00 CHC (21%)',
      ...ending(`${organization}DAY`),
    ])
  })

  const content = { dashboards: { shop }, alerts: { errors } }
  const changed = { ...content, savedSearches: { mine: { name: 'Mine', source: 'Logs', where: 'x' } } }
  const files = () => ({ ...inputsFor(cloud()), project: 'acme/shop', files: 'a.json' })
  const applyAndEdit = async () => {
    await step({ ...files(), operation: 'apply' }, content)
    Object.assign(serviceOf(cloud()).alerts.find(({ name }) => name === 'Errors') ?? {}, { threshold: 9 })
  }

  it('a message about drift has the objects, and what apply would do', async () => {
    await applyAndEdit()
    expect(await linesOf({ ...files(), operation: 'drift' }, changed)).toEqual([
      '❌ *Drift:* `acme/shop` has drifted in service `checkout`: 1 to create, 1 to update',
      '• saved search `mine`: Only in the files. Apply creates it. If someone deleted it on purpose, remove its declaration: pull does not, because the service has no declared object of its kind',
      '• alert `errors`: Changed in the service. Apply reverts the change, pull with only: drifted keeps it',
      ...ending(`${organization}${service}DAY`),
    ])
  })

  it('a message about an apply has the objects with their outcomes, failures first', async () => {
    await applyAndEdit()
    const body = '{"error":"BAD_REQUEST: no such thing"}'
    cloud().addFault({ match: { method: 'PUT' }, effect: { kind: 'status', status: 400, body } })
    const why = 'alert `errors`: The API answered 400: `BAD_REQUEST`: no such thing'
    expect(await linesOf({ ...files(), operation: 'apply' }, changed)).toEqual([
      `🛑 *Apply:* did not complete. Applied in part to \`acme/shop\`, service \`checkout\` (1 failed, 1 created): ${why}`,
      `• Failed: ${why}`,
      '• Created: saved search `mine`',
      ...ending(`${organization}${service}DAY`),
    ])
  })

  it('a message about wrong files has the errors with their places', async () => {
    expect(
      await linesOf({ ...files(), operation: 'plan' }, { savedSearches: { mine: { name: 'Mine', source: 'Logs', were: 'x' } } }),
    ).toEqual([
      expect.stringMatching(/^❌ \*Plan:\* The plan for `acme\/shop`, service `checkout` failed: .*were/),
      expect.stringMatching(/^• `a\.json:1(?::\d+)?`: .*were/),
      ...ending(`${organization}${service}DAY`),
    ])
  })

  it('a message, its JSON and the issue name project and environment, and the message a service that has none', async () => {
    const environment = { 'environments/staging.yml': 'variables: { A: b }' }
    const wrong = { 'a.json': '{ "savedSearches": { "mine": { "were": "x" } } }' }
    const inputs = { ...files(), operation: 'plan', issue: 'on-failure', 'notify-url': receiver().url, 'notify-format': 'json' }
    await runGitHubStep(github(), { inputs: { ...inputs, env: 'staging' }, files: { ...environment, ...wrong } })
    expect(receiver().messages.at(-1)?.json).toMatchObject({ project: 'acme/shop', environment: 'staging' })
    expect(github().store.issues).toMatchObject([
      {
        title: expect.stringMatching(/^Cost gate, environment staging: /),
        body: expect.stringMatching(/, project `acme\/shop`, environment `staging`\.\n$/),
      },
    ])
    await runGitHubStep(github(), { inputs: { ...inputs, 'comment-label': 'other' }, files: wrong })
    expect(receiver().messages.at(-1)?.json).toMatchObject({
      message: expect.stringMatching(/^The plan for acme\/shop, service checkout failed: /),
    })
    // A key without the permission to read services plans all the same.
    cloud().addFault({ match: { path: '/services' }, effect: { kind: 'status', status: 403 } })
    await runGitHubStep(github(), { inputs, files: wrong })
    expect(receiver().messages.at(-1)?.json.message).toMatch(/^The plan for acme\/shop failed: /)
  })

  it('a message about backups has the services without a fresh one, with their ages', async () => {
    fillBackups(cloud(), 'checkout', [done(50)])
    fillBackups(cloud(), 'catalog', [])
    fillBackups(cloud(), 'search', [done(3)])
    const services = Object.values(demo.services).join(',')
    expect(await linesOf({ ...inputsFor(cloud()), operation: 'check-backups', services })).toEqual([
      '❌ *Backups:* 2 of 3 services have no fresh backup: `catalog`, `checkout`.',
      '• Service `catalog`: no backup.',
      '• Service `checkout`: the last successful backup is 2 d 2 h old, limit 1 d 2 h.',
      ...ending(`${organization}3 services · DAY`),
    ])
    expect(await linesOf({ ...inputsFor(cloud()), operation: 'check-backups' })).toEqual([
      '❌ *Backups:* Service `checkout`: the last successful backup is 2 d 2 h old, limit 1 d 2 h.',
      ...ending(`${organization}service \`checkout\` · DAY`),
    ])
  })

  it('a message about SLOs has those that fail, with what is left and the burn rates', async () => {
    const slo = (service: string) => {
      const [total, good] = [`ServiceName = '${service}'`, "StatusCode != 'Error'"]
      return { name: service, source: 'Traces', total, good, objective: 99.9, window: '7d' }
    }
    const slos = { payment: slo('payment'), checkout: slo('checkout') }
    const check = { ...inputsFor(selfHosted(), 'hyperdx'), operation: 'check-slos', files: 'a.json', 'min-budget-left': '10' }
    expect(await linesOf(check, { slos })).toEqual([
      expect.stringMatching(/^❌ \*SLOs:\* 2 SLOs until DAY: `payment` has -\S+% of its error budget left, below 10%$/),
      expect.stringMatching(
        /^• `payment`: 99\.\d+% good, objective 99\.9% in 7d; budget left -\S+%; burn rate \S+ \(1h\), \S+ \(6h\), \S+ \(3d\); runs out: spent$/,
      ),
      ...ending(`Server \`${selfHosted().url}/api/v2\` · DAY`),
    ])
  })
})
