import { describe, expect, it } from 'vitest'
import type { Effect } from '../../../../src/emulator/index.ts'
import { alertCollection } from '../../../../src/kinds/alert/alert.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { ids, methodsOf, useEmulator } from '../../../support/emulator.ts'
import { runWithFailure, type TestAction } from '../../../support/faults.ts'
import { apiErrorOf, service, type TestSession, withSession } from '../../../support/session.ts'

const emulator = useEmulator({ rateLimit: 'off' })

describe('R8: an error says what happened, what to do, and which request it was', () => {
  const status = (code: number, more: object = {}): Effect => ({ kind: 'status', status: code, ...more })
  const injected = (code: number): string => `The API answered ${code}: INJECTED_FAULT: status ${code} on request`
  const where = (method: string, noun: string): string =>
    `Request: ${method} /v1/organizations/c0ffee00-0000-4000-8000-000000000001/services/c0ffee00-0000-4000-8000-0000000000c1/clickstack/${noun} at 127.0.0.1:PORT`

  it('explains every kind of failure', () =>
    forEachEntry<[TestAction, Effect, string]>(
      [
        [
          'read',
          status(401),
          `${injected(401)}\nThe API rejects the key demo…0001. Check api-key-id and api-key-secret, and that the key is enabled and not expired.\n${where('GET', 'sources')} (request id ID)`,
        ],
        [
          'read',
          status(403),
          `${injected(403)}\nThe key demo…0001 lacks a permission (needed: control-plane:service:manage-clickstack-api). Extend its role, or use another key.\n${where('GET', 'sources')} (request id ID)`,
        ],
        [
          'read',
          status(403, { body: '{"status":403,"error":"FORBIDDEN: not available in your package, please upgrade","requestId":"ID"}' }),
          `The API answered 403: FORBIDDEN: not available in your package, please upgrade\nThe package of the organization lacks this.\n${where('GET', 'sources')} (request id ID)`,
        ],
        [
          'update',
          status(404),
          `${injected(404)}\nThe alert does not exist, or the key demo…0001 has no access to it.\n${where('PUT', `alerts/${ids.alert}`)} (request id ID)`,
        ],
        [
          'read',
          status(404, { body: '<html>Cannot GET</html>' }),
          `The API answered 404: an HTML page, Cannot GET\nThis URL does not serve the API. Check api-url and observability-path (or profile).\n${where('GET', 'sources')}`,
        ],
        [
          'read',
          status(500),
          `${injected(500)}\nThe server failed. Run this again later. If it continues, contact support with the request id.\n${where('GET', 'sources')} (request id ID, 2 attempts)`,
        ],
        [
          'update',
          status(503),
          `${injected(503)}\nThe server may still have applied it: check the alert, or run this again.\n${where('PUT', `alerts/${ids.alert}`)} (request id ID, 2 attempts)`,
        ],
        [
          'create',
          status(502),
          `${injected(502)}\nThe server may still have created the alert, so the request was not sent again. Check whether it exists before you run this again.\n${where('POST', 'alerts')} (request id ID)\nCurrently, no alert matches it.`,
        ],
        [
          'read',
          { kind: 'reset' },
          `No answer: the connection was closed before an answer (ECONNRESET)\nCheck api-url (127.0.0.1:PORT) and the network connection.\n${where('GET', 'sources')} (2 attempts)`,
        ],
        [
          'read',
          { kind: 'html' },
          `The API answered 200, but the answer is not JSON: an HTML page, Welcome to the guest network Please sign in Accept the terms \nCheck whether a proxy or a login page answers instead of the API.\n${where('GET', 'sources')} (2 attempts)`,
        ],
        [
          'read',
          { kind: 'body', text: '[{"id":7}]' },
          `The API answered 200, but the answer has an unexpected form: the answer[0].id is not of type string\n${where('GET', 'sources')}`,
        ],
      ],
      async (action, effect, message) => {
        const { outcome, ran, testApi } = await runWithFailure(action, { effect }, { times: 2, inputs: { 'max-attempts': '2' } })
        expect(outcome).toMatchObject({ exitCode: message.includes('The server may still') ? 4 : 1, problems: [] })
        const reason = ran.outputs
          .get('failure-reason')
          ?.replaceAll(new URL(testApi.url).host, '127.0.0.1:PORT')
          .replace(/request id [0-9a-f-]{36}/, 'request id ID')
        expect(reason).toBe(message)
        expect(ran.stdout).toContain(`::error title=Watchkeeper ${ran.result?.operation}::`)
      },
    ))
})

it('S4: no redirect is followed, whatever was sent, and the error names its origin only', async () => {
  const actions: Readonly<Record<string, (session: TestSession) => Promise<unknown>>> = {
    GET: ({ api }) => alertCollection.list(api, service),
    POST: ({ api }) => alertCollection.create(api, service, { name: 'x' }),
    DELETE: ({ api }) => alertCollection.remove(api, service, ids.alert),
  }
  const { url } = emulator()
  const targets: readonly (readonly [string | undefined, string])[] = [
    ['https://127.0.0.1:1/x?a=b', 'a redirect to https://127.0.0.1:1'],
    ['//127.0.0.1:1/x', 'a redirect to http://127.0.0.1:1'],
    ['/elsewhere?a=b', `a redirect to ${url}`],
    ['http://[', 'a redirect without a usable target'],
    [undefined, 'a redirect without a usable target'],
  ]
  for (const [i, [location, reason]] of targets.entries())
    for (const [method, act] of Object.entries(actions)) {
      emulator().reset()
      const status = [301, 302, 303, 307, 308][i] ?? 302
      const effect: Effect = { kind: 'status', status, ...(location !== undefined && { headers: { location } }) }
      const error = await apiErrorOf(withSession(emulator(), act, { faults: [{ effect }] }))
      expect(error.message.split('\n')[0]).toBe(`The API answered ${status}: ${reason}`)
      expect(methodsOf(emulator())).toEqual([method])
    }
})

it('S7: an id from the API that is not safe in a path is shown, and no request is sent to it', async () => {
  const [alert] = emulator().store.organizations[0]?.services[0]?.alerts ?? []
  for (const id of ['..', 'a:b']) {
    emulator().reset()
    emulator().addFault({ effect: { kind: 'body', text: JSON.stringify([{ ...alert, id, name: 'Meet' }]) } })
    const document = {
      ...{ name: 'Meet', dashboard: alert?.dashboardId, tile: alert?.tileId, threshold: 1, interval: '1h' },
      channel: { type: 'webhook', webhookId: ids.webhook },
    }
    const { outcome, ran } = await runWithFailure('read', undefined, {
      inputs: { operation: 'create-alert', 'if-exists': 'update', alert: JSON.stringify(document) },
      url: emulator().url,
    })
    expect(outcome.conclusion).toBe('bad-answer')
    expect(ran.outputs.get('failure-reason')).toContain(`The API returned "${id}" as the id of this alert. It is not safe in a URL path`)
    expect(methodsOf(emulator())).toEqual(['GET'])
  }
})
