import { describe, expect, it } from 'vitest'
import { ids, inputsFor, methodsOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

describe.each(['clickhouse-cloud'] as const)('update-alert on the %s dialect', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: { limit: 1000, windowMs: 1000 } })
  const update = (inputs: Readonly<Record<string, string>>) =>
    invokeText({ inputs: { ...inputsFor(emulator(), dialect), operation: 'update-alert', id: ids.alert, ...inputs } })
  const alert = () => emulator().store.organizations[0]?.services[0]?.alerts.find(({ id }) => id === ids.alert)

  it('changes what was given and keeps the rest', async () => {
    const before = structuredClone(alert())
    const ran = await update({ alert: '{ threshold: 0.5 }' })
    expect(ran.document).toMatchObject({ status: 'pass', changed: true, id: ids.alert })
    expect(alert()).toEqual({ ...before, threshold: 0.5, updatedAt: alert()?.updatedAt })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT'])
  })

  it('sends nothing when the alert already has all values', async () => {
    const ran = await update({
      alert: JSON.stringify({ threshold: alert()?.threshold, channel: { type: 'webhook', webhookId: ids.webhook } }),
    })
    expect(ran.document).toMatchObject({ changed: false })
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it('does not overwrite existing values with defaults', async () => {
    const found = alert()
    if (found) found.thresholdType = 'below'
    await update({ alert: '{ threshold: 3 }' })
    expect(alert()).toMatchObject({ threshold: 3, thresholdType: 'below' })
  })

  it('changes the webhook', async () => {
    const other = emulator().store.organizations[0]?.services[0]?.webhooks[1]?.id ?? ''
    const ran = await update({ alert: `{ channel: { type: webhook, webhook: ${other} } }` })
    expect(ran.document.status).toBe('pass')
    expect(alert()?.channels).toEqual([expect.objectContaining({ type: 'webhook', webhookId: other })])
  })

  it('clears a field with null', async () => {
    await update({ alert: 'message: null' })
    expect(alert()?.message).toBeNull()
  })

  it('update-alert needs a field to change', async () => {
    expect((await update({})).reason).toContain('alert: is missing')
  })

  it('takes the declaration of get-alert, and changes nothing', async () => {
    const { document } = await invokeText({ inputs: { ...inputsFor(emulator(), dialect), operation: 'get-alert', id: ids.alert } })
    const again = await update({ alert: JSON.stringify(document.declaration) })
    expect(again.document).toMatchObject({ status: 'pass', changed: false })
  })

  it('reports that the alert does not exist', async () => {
    const ran = await update({ id: '0'.repeat(24), alert: '{ threshold: 1 }' })
    expect(ran.reason).toContain('The alert does not exist')
    expect(methodsOf(emulator())).toEqual(['GET'])
  })
})
