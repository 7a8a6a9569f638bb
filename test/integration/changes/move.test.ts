// The recipe for a move between services, step by step, with the alert task of the server after each step.
import { expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { runAlertTask } from '../../../src/emulator/product/alerts.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const fileWith = (where: string): string => `savedSearches:
  all: { name: All lines, source: Logs, select: Body, where: '${where}', whereLanguage: sql, tags: [t] }
alerts:
  lines: { name: Lines, savedSearch: all, threshold: 0, interval: 5m, note: n, channel: { type: webhook, webhook: oncall } }
`

const environments = {
  'environments/old.yml': `service-id: ${demo.services.checkout}\n`,
  'environments/new.yml': `service-id: ${demo.services.search}\n`,
}

const run = (operation: string, inputs: Readonly<Record<string, string>>, where = '') => {
  const { 'service-id': _, ...common } = inputsFor(emulator(), 'clickhouse-cloud')
  return invokeText({
    inputs: { ...common, operation, project: 'shop', ...inputs },
    files: { 'observability/a.yml': fileWith(where), ...environments },
  })
}

const removeOld = { env: 'old', files: 'moved/**/*.yml', prune: 'true', 'allow-empty': 'true', 'max-deletes': '10' }

const check = (where = '') => run('drift', { env: 'new' }, where)

/** How many times the alert notifies of one window, over all services. */
function evaluate(nowMs: number): number {
  return [serviceOf(emulator()), serviceOf(emulator(), 'search')].reduce((count, service) => {
    for (const alert of service.alerts) alert.state = 'OK'
    runAlertTask(service, nowMs)
    return count + service.alerts.filter(({ name, state }) => name === 'Lines' && state === 'ALERT').length
  }, 0)
}

const windowMs = 300_000
const nowMs = Math.floor(Date.now() / windowMs) * windowMs

it('W11: every window of a move has a notification, and at most one has two', async () => {
  expect((await run('apply', { env: 'old' })).document).toMatchObject({ status: 'pass', toCreate: 2 })
  const notified = [evaluate(nowMs)]
  expect((await run('apply', { env: 'new' })).document).toMatchObject({ status: 'pass', toCreate: 2 })
  notified.push(evaluate(nowMs + windowMs))
  expect((await check()).document).toMatchObject({ status: 'pass', changed: false })
  expect((await run('plan', removeOld)).document).toMatchObject({ toDelete: 2 })
  expect((await run('apply', removeOld)).document).toMatchObject({ status: 'pass', changed: true })
  notified.push(evaluate(nowMs + 2 * windowMs))
  expect(notified).toEqual([1, 2, 1])
  expect(serviceOf(emulator()).alerts.some(({ name }) => name === 'Lines')).toBe(false)
  expect((await check()).document).toMatchObject({ status: 'pass', changed: false })
})

it('W11: an alert that the new service cannot evaluate fails the check, and the old one still notifies', async () => {
  const wrong = 'NoSuchColumn = 1'
  await run('apply', { env: 'old' })
  expect((await run('apply', { env: 'new' }, wrong)).document).toMatchObject({ status: 'pass' })
  expect(evaluate(nowMs)).toBe(1)
  const { document } = await check(wrong)
  expect(document).toMatchObject({ status: 'fail' })
  expect(document.diagnostics).toContainEqual(expect.objectContaining({ rule: 'failed-evaluation', severity: 'error' }))
})
