// Owns the operation that creates one alert: by default one POST and no other request.
import * as z from 'zod'
import type { AlertFields } from '../api/alert-body.ts'
import type { Alert, AlertBody } from '../api/alerts.ts'
import { ApiError } from '../api/api-error.ts'
import type { WriteApi } from '../api/client.ts'
import type { Service } from '../api/service.ts'
import { InputError, WatchkeeperError } from '../kernel/errors.ts'
import { quote } from '../kernel/text.ts'
import { say } from '../report/line.ts'
import { type AlertWriter, changeAlert, toAlertRequest } from './alert-change.ts'
import { alertInput, checkAlertInput, checkNewAlert, readAlertInput, toNewAlert } from './alert-input.ts'
import { alertDetails, alertFacts, alertOutput, nameOf, outputsOf } from './alert-report.ts'
import { choice } from './fields.ts'
import { defineOperation } from './operation.ts'

const ifExists = choice(
  ['create', 'skip', 'update', 'fail'],
  'What to do when there is an alert of the same name, dashboard and tile: `create` does not look and creates one; the others look first.',
)

export const createAlert = defineOperation({
  summary: 'Creates one alert. The request is not sent again once it may have worked.',
  effect: 'write',
  scope: 'service',
  input: alertInput.extend({ ifExists: ifExists.default('create') }),
  output: alertOutput,
  details: alertDetails.extend({
    outcome: z.enum(['created', 'updated', 'unchanged', 'skipped']).describe('What was done.'),
  }),
  example: {
    dashboardId: '65f5e4a35eedc0de0000000c',
    tileId: '65f5e4a35eedc0de0000000e',
    threshold: 5,
    interval: '1h',
    webhookId: '65f5e4a35eedc0de00000009',
    name: 'Checkout errors',
    message: 'More than 5 errors in an hour',
  },
  check: (given) => [...checkAlertInput(given), ...checkNewAlert(given)],
  async run({ api, service, profile, files }, input) {
    const body = toNewAlert(await readAlertInput(input, profile, files.read))
    if (input.ifExists !== 'create') {
      const [existing, second] = await findAlike(api, service, body)
      if (existing !== undefined) return meetExisting({ writer: { api, service, profile }, body, existing, second, wish: input.ifExists })
    }
    return { ...outputsOf(await createOnce(api, service, body), true), outcome: 'created' as const }
  },
  report: ({ alert, outcome }) => ({
    headline:
      outcome === 'skipped'
        ? say`Alert ${nameOf(alert)} exists already and was left as it is`
        : say`Alert ${nameOf(alert)} ${verbs[outcome]}`,
    blocks: [alertFacts(alert)],
  }),
})

const verbs = { created: say`created`, updated: say`updated`, unchanged: say`is as it should be` } as const

interface Meeting {
  readonly writer: AlertWriter
  readonly body: AlertFields
  readonly existing: Alert
  readonly second: Alert | undefined
  readonly wish: 'skip' | 'update' | 'fail'
}

async function meetExisting({ writer, body, existing, second, wish }: Meeting) {
  if (wish === 'skip') return { ...outputsOf(existing, false), outcome: 'skipped' as const }
  if (wish === 'fail') throw new WatchkeeperError('conflict', `There is such an alert already: ${existing.id}. Nothing was created.`)
  if (second !== undefined) {
    throw new WatchkeeperError(
      'conflict',
      `Several alerts have this name, dashboard and tile (${existing.id}, ${second.id}): nobody can tell which one to update. Change one of them with update-alert and its alert-id, or delete one.`,
    )
  }
  const { alert, changed } = await changeAlert(writer, existing, body)
  return { ...outputsOf(alert, changed), outcome: changed ? ('updated' as const) : ('unchanged' as const) }
}

/** Throws when the list may not be whole: an alert that was not seen would be created a second time. */
async function findAlike(api: WriteApi, service: Service, body: AlertFields): Promise<readonly Alert[]> {
  if (!body.name) throw new InputError([{ name: 'name', message: 'is missing: if-exists looks for the name' }])
  const { items, mayBeCut } = await api.alerts.list(service)
  const alike = items.filter((alert) => isAlike(alert, body))
  if (alike.length === 0 && mayBeCut)
    throw new WatchkeeperError('conflict', 'The list of alerts may not be complete, so nobody can tell whether this one exists.')
  return alike
}

const isAlike = (alert: Alert, body: AlertFields): boolean =>
  (['name', 'dashboardId', 'tileId', 'savedSearchId'] as const).every((field) => (alert[field] ?? '') === (body[field] ?? ''))

// The alert bears no marker by which it could be found again for certain, so a lost answer ends in a question to the user.
async function createOnce(api: WriteApi, service: Service, body: AlertBody & AlertFields): Promise<Alert> {
  try {
    return await api.alerts.create(service, toAlertRequest(body))
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.kind !== 'may-exist') throw thrown
    throw new WatchkeeperError('may-exist', `${thrown.message}\n${await describeAlike(api, service, body)}`, { cause: thrown })
  }
}

async function describeAlike(api: WriteApi, service: Service, body: AlertFields): Promise<string> {
  try {
    const { items } = await api.alerts.list(service)
    const alike = items.filter((alert) => isAlike(alert, body)).map(({ id }) => quote(id))
    return alike.length === 0 ? 'Right now no alert matches it.' : `Right now these alerts match it: ${alike.slice(0, 10).join(', ')}.`
  } catch {
    return 'Whether an alert matches it could not be read either.'
  }
}
