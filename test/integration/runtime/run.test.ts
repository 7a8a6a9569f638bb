import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator()

const documentOf = async (operation: string, more: Readonly<Record<string, string>> = {}) =>
  (await invokeText({ inputs: { ...inputsFor(emulator()), operation, ...more } })).document

const [organizationId, serviceId] = [demo.organizationId, demo.services.checkout]

describe('a result says what it is about', () => {
  it('the service and its organization', async () => {
    expect(await documentOf('list-sources')).toMatchObject({ status: 'pass', organizationId, serviceId })
  })

  it('the organization alone, when nothing was asked about a service', async () => {
    const document = await documentOf('usage-cost', { period: 'last-7-days' })
    expect(document).toMatchObject({ organizationId })
    expect(document).not.toHaveProperty('serviceId')
  })

  it('also when it could not be done', async () => {
    expect(await documentOf('list-sources', { 'api-key-secret': 'not-the-secret' })).toMatchObject({
      status: 'error',
      organizationId,
      serviceId,
      error: { kind: 'authentication' },
    })
  })

  it('nothing, when it is about files', async () => {
    const { document } = await invokeText({ inputs: { operation: 'validate', files: '*.yml' }, files: { 'a.yml': 'alerts: {}' } })
    expect(document).not.toHaveProperty('organizationId')
  })
})
