// What the message about an object that is left as it is advises: each way works where it is given.
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { conditions } from '../../support/conditions.ts'
import { written } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { actions, errorsIn, watching } from '../../support/shop-declaration.ts'
import { afterPull, decided, project, type Site, type SiteFiles, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const errors = { name: 'Checkout errors', dashboard: { name: 'Checkout overview' }, tile: 'Error rate', ...watching }

const theirs = () => serviceOf(emulator()).alerts.filter(({ name }) => name === 'Checkout errors')

const target = `--organization-id ${demo.organizationId} --service-id ${demo.services.checkout}`

const adviceOn = async ({ plan }: Site, files: SiteFiles): Promise<string> => {
  const [message] = errorsIn(await plan(files)).map((one) => one.message)
  return message?.replace(/^.*?\. (?=To )/, '') ?? ''
}

describe('the advice on an object that is left as it is', () => {
  it('the command to pull has the project and the files', () =>
    site(async (one) => {
      const files = { "o/it's.json": { alerts: { errors } } }
      const command = `watchkeeper pull --project ${project} ${target} --files '**' --only declared --select kind=alert --select key=errors`
      expect(await adviceOn(one, files)).toContain(`to take those of the service, run ${command}`)
      const pulled = await one.pull(files, ['**'], { only: 'declared', select: conditions('kind=alert', 'key=errors') })
      expect(actions(await one.plan(afterPull(files, pulled)))).toEqual({ errors: 'adopt' })
    }))

  it('the command to pull takes no other object with the same key', () =>
    site(async (one) => {
      const dashboard = { name: 'Checkout overview', tiles: [] }
      const files = { 'o.json': { dashboards: { errors: dashboard }, alerts: { errors: { ...errors, threshold: 9 } } } }
      const messages = errorsIn(await one.plan(files)).map(({ message }) => message)
      const selects = messages.map((message) => [...message.matchAll(/--select (\S+=\w+)/g)].map(([, condition = '']) => condition))
      expect(selects).toEqual([
        ['kind=dashboard', 'key=errors'],
        ['kind=alert', 'key=errors'],
      ])
      for (const [i, select] of selects.entries()) {
        const { objects } = await one.pull(files, ['**'], { only: 'declared', select: conditions(...select) })
        const updated = objects.filter(({ outcome }) => outcome === 'updated')
        expect(updated.map(({ kind }) => kind)).toEqual([['dashboard'], ['alert']][i])
      }
    }))

  it('a pull that cannot edit a declaration advises no apply, which would leave the object as it is', () =>
    site(async (one) => {
      const file = (body: string) => `alerts:\n  errors: ${body}\n`
      const anchored = { 'a.yml': file(JSON.stringify(errors).replace('"Checkout errors"', '&n "Checkout errors"')) }
      const reason = 'the file uses an anchor or alias here, and pull does not edit it; change the file'
      const reasonOf = ({ objects }: Awaited<ReturnType<Site['pull']>>) => objects.find(({ key }) => key === 'errors')?.reason
      expect(actions(await one.plan(anchored))).toEqual({ errors: 'held' })
      expect(reasonOf(await one.pull(anchored, ['**'], { only: 'declared' }))).toBe(reason)
      const [{ id } = { id: '' }] = theirs()
      const [, entry] = /set adopt to (\S+);/.exec(await adviceOn(one, anchored)) ?? []
      expect(entry).toContain(`${id}@`)
      const adopting = { 'a.yml': String(anchored['a.yml']).replace('{', `{"adopt":"${entry}",`) }
      expect(actions(await one.plan(adopting))).toEqual({ errors: 'update' })
      expect(reasonOf(await one.pull(adopting, ['**'], { only: 'declared' }))).toBe(`${reason}, or run apply`)
    }))

  it('a pull of drift says of an object without a marker that either side can have changed, with the command to pull', () =>
    site(async (one) => {
      const files = { 'a.yml': 'dashboards: { board: { name: Board, tags: [shop], tiles: [] } }\n' }
      await one.apply(files)
      const board = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Board')
      Object.assign(board ?? {}, { tags: ['theirs'] })
      const drifted = await one.pull(files, ['**'], { only: 'drifted' })
      expect(drifted).toMatchObject({ changed: false, leftOut: 1 })
      const command = `watchkeeper pull --project ${project} ${target} --files '**' --only declared --select kind=dashboard --select key=board`
      expect(drifted.objects.find(({ key }) => key === 'board')).toMatchObject({
        outcome: 'left-out',
        reason: expect.stringMatching(/^it is not clear which side changed: the unmanaged dashboard .* differs \(tags/),
      })
      expect(drifted.objects.find(({ key }) => key === 'board')?.reason).toContain(`to take those of the service, run ${command}`)
      const pulled = await one.pull(files, ['**'], { only: 'declared', select: conditions('kind=dashboard', 'key=board') })
      expect(pulled.writtenFiles[0]?.content).toContain('theirs')
    }))

  it('the command to pull has the environment', async () => {
    const { 'service-id': _, ...inputs } = inputsFor(emulator(), 'clickhouse-cloud')
    const ran = await invokeText({
      inputs: { ...inputs, operation: 'plan', env: 'staging', project, files: 'o.json' },
      files: { 'o.json': JSON.stringify({ alerts: { errors } }), 'environments/staging.yml': `service-id: ${demo.services.checkout}\n` },
    })
    expect(JSON.stringify(ran.document.diagnostics)).toContain(
      `run watchkeeper pull --project ${project} ${target} --env staging --files o.json --only declared --select kind=alert --select key=errors`,
    )
  })

  it('the ids of other services stay in adopt', () =>
    site(async (one) => {
      const [{ id } = { id: '' }] = theirs()
      const adopting = (adopt: unknown): SiteFiles => ({ 'a.json': { alerts: { errors: { ...errors, adopt } } } })
      expect(await adviceOn(one, adopting('other'))).toMatch(
        new RegExp(`^To keep the values of the file, add ${id}@2\\.[0-9a-f]{10}\\.files to adopt; to take those of the service, `),
      )
      expect(await adviceOn(one, adopting(['other', `${id}@2.0123456789.abcdef`]))).toMatch(
        new RegExp(`^To keep the values of the file, set its entry in adopt to ${id}@`),
      )
      const [, entry] = /adopt to (\S+);/.exec(await adviceOn(one, adopting(['other', id]))) ?? []
      expect(actions(await one.plan(adopting(['other', entry])))).toEqual({ errors: 'update' })
    }))

  it('a file with instances is changed by hand', () =>
    site(async (one) => {
      const [{ id } = { id: '' }] = theirs()
      const file = (adopt: string): SiteFiles => ({
        'a.json': written(
          JSON.stringify({
            instances: { shop: { limit: 1, ...(adopt !== '' && { adopt }) } },
            alerts: { '‹instance.key›': { ...errors, threshold: '‹instance.limit›', ...(adopt !== '' && { adopt: '‹instance.adopt›' }) } },
          }),
        ),
      })
      const advice = await adviceOn(one, file(''))
      const [, entry = ''] = / to (\S+\.files)/.exec(advice) ?? []
      expect(entry).toContain(`${id}@`)
      expect(advice).toBe(
        `To keep the values of the file, set adopt for the instance shop (a value of the instance, or in adopt of an environment) to ${entry}; to take those of the service, change the file, because pull does not edit a file with instances; if it is another object, give the one in the file another name (instance shop)`,
      )
      expect(actions(await one.plan(file(entry)))).toEqual({ shop: 'update' })
    }))

  it('objects that an SLO makes cannot be adopted', () =>
    site(async (one) => {
      const channel = { channel: { type: 'webhook', webhook: 'oncall' } }
      const slo = {
        name: 'Checkout',
        source: 'Traces',
        total: '1 = 1',
        good: "StatusCode != 'Error'",
        objective: 99.9,
        window: '7d',
        alerts: { page: channel },
      }
      const files = { 'a.json': { slos: { slo } } }
      const made = (await one.plan(files)).objects
      const alert = made.find(({ kind }) => kind === 'alert')
      const [first] = theirs()
      const { alerts, dashboards } = serviceOf(emulator())
      for (const id of ['e'.repeat(24), 'f'.repeat(24)]) alerts.push({ ...structuredClone(first), id, name: alert?.name } as never)
      expect(await adviceOn(one, files)).toBe(
        `To replace them, run watchkeeper delete-alert ${'e'.repeat(24)} ${target} and watchkeeper delete-alert ${'f'.repeat(24)} ${target}`,
      )
      const dashboard = made.find(({ kind }) => kind === 'dashboard')
      dashboards.push({ ...structuredClone(dashboards[0]), id: 'd'.repeat(24), name: dashboard?.name } as never)
      expect(await adviceOn(one, files)).toBe(
        `To replace it, run watchkeeper delete-dashboard ${'d'.repeat(24)} ${target}, which also deletes the alerts on it`,
      )
    }))

  it('the dashboard with the queries of alerts is declared', () =>
    site(async (one) => {
      const file = (where: string, others: object = {}): SiteFiles => ({
        'a.json': { ...others, alerts: { a: { ...watching, query: { source: 'Logs', select: [{ aggFn: 'count', where }] } } } },
      })
      await one.apply(file('x'))
      const board = serviceOf(emulator()).dashboards.find(({ name }) => name === `Alerts: ${project}`)
      Object.assign(board ?? {}, { tags: ['alerts'] })
      expect(await adviceOn(one, file('y'))).toBe(
        `To manage it in a file, declare dashboards.project-alerts with name: "Alerts: ${project}", tags: [alerts] and adopt: ${board?.id}`,
      )
      const fields = { name: `Alerts: ${project}`, tags: ['alerts'], adopt: board?.id }
      const declaring = await decided(one.plan, file('y', { dashboards: { 'project-alerts': fields } }))
      expect(errorsIn(await one.apply(declaring))).toEqual([])
      expect(actions(await one.plan(declaring))).toEqual({ 'project-alerts': 'unchanged', a: 'unchanged' })
    }))
})
