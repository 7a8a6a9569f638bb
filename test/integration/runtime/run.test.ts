import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { writeEssentialFiles } from '../../../src/runtime/publish.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const documentOf = async (operation: string, more: Readonly<Record<string, string>> = {}) =>
  (await invokeText({ inputs: { ...inputsFor(emulator()), operation, ...more } })).document

const [organizationId, serviceId] = [demo.organizationId, demo.services.checkout]

describe('a result says what it is about', () => {
  it('a result contains the service and its organization', async () => {
    expect(await documentOf('list-sources')).toMatchObject({ status: 'pass', organizationId, serviceId })
  })

  it('a result contains only the organization when the operation is not about a service', async () => {
    const document = await documentOf('usage-cost', { period: 'last-7-days' })
    expect(document).toMatchObject({ organizationId })
    expect(document).not.toHaveProperty('serviceId')
  })

  it('a result contains its service also when the run did not complete', async () => {
    expect(await documentOf('list-sources', { 'api-key-secret': 'not-the-secret' })).toMatchObject({
      status: 'error',
      organizationId,
      serviceId,
      error: { kind: 'authentication' },
    })
  })

  it('a result contains its service and the last request also when its files could not be written', async () => {
    const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' } })
    const file = { input: 'files', path: 'missing/a.yml', content: '', isEssential: true } as const
    const { document } = await writeEssentialFiles(
      { ...ran, document: { ...ran.document, requestId: 'last' }, files: [file] },
      '/dev/null',
      new Set(),
    )
    expect(document).toMatchObject({ status: 'error', organizationId, serviceId, requestId: 'last' })
  })

  it('a result contains no service for an operation on files', async () => {
    const { document } = await invokeText({ inputs: { operation: 'validate', files: '*.yml' }, files: { 'a.yml': 'alerts: {}' } })
    expect(document).not.toHaveProperty('organizationId')
  })
})

describe('the last line of a report', () => {
  const lastLine = async (inputs: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}) => {
    const { blocks } = await invokeText({ inputs, files, clock: createVirtualClock(Date.parse('2026-11-22T10:48:59Z')) })
    const last = blocks.at(-1)
    return last?.kind === 'footer' ? toPlainText(last.line) : undefined
  }

  it('names organization, service and time of the run', async () => {
    const inputs = { ...inputsFor(emulator()), operation: 'list-sources' }
    expect(await lastLine(inputs)).toBe(`Organization ${organizationId} · service ${serviceId} · 22 Nov 2026 10:48 UTC`)
  })

  it('names no service for an operation on the organization', async () => {
    const inputs = { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-7-days' }
    expect(await lastLine(inputs)).toBe(`Organization ${organizationId} · 22 Nov 2026 10:48 UTC`)
  })

  it('names the service that doctor used', async () => {
    const inputs = { ...inputsFor(emulator()), operation: 'doctor' }
    expect(await lastLine(inputs)).toBe(`Organization ${organizationId} · service ${serviceId} · 22 Nov 2026 10:48 UTC`)
  })

  it('names organization, service and time after an error', async () => {
    const inputs = { ...inputsFor(emulator()), operation: 'list-sources', 'api-key-secret': 'not-the-secret' }
    expect(await lastLine(inputs)).toBe(`Organization ${organizationId} · service ${serviceId} · 22 Nov 2026 10:48 UTC`)
  })

  it('the last line of a report has only the time for an operation on files and for a wrong input', async () => {
    expect(await lastLine({ operation: 'validate', files: '*.yml' }, { 'a.yml': 'alerts: {}' })).toBe('22 Nov 2026 10:48 UTC')
    expect(await lastLine({ operation: 'list-sources' })).toBe('22 Nov 2026 10:48 UTC')
  })
})
