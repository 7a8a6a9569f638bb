import { describe, expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'

const emulator = useEmulator()

const read = (inputs: Readonly<Record<string, string>>) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'get-backup', ...inputs } })

const backups = () => emulator().store.organizations[0]?.services[0]?.backups ?? []

describe('get-backup', () => {
  it('takes the one that was started last, whatever the order of the list', async () => {
    const newest = backups().toSorted((a, b) => Date.parse(b.startedAt ?? '') - Date.parse(a.startedAt ?? ''))[0]
    backups().reverse()
    const ran = await read({ 'backup-id': 'latest' })
    expect(ran.document).toMatchObject({ backupId: newest?.id, backupStatus: 'done' })
    expect(Number(ran.outputs['backup-age-hours'])).toBeCloseTo((Date.now() - Date.parse(newest?.startedAt ?? '')) / 3_600_000, 1)
  })

  it('takes one by its id, in capitals too', async () => {
    const id = backups()[3]?.id ?? ''
    expect((await read({ 'backup-id': id.toUpperCase() })).document.backupId).toBe(id)
  })

  it('is no zero and no success when there is none yet', async () => {
    backups().splice(0)
    const ran = await read({ 'backup-id': 'latest' })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-found' } })
    expect(ran.reason).toContain('has no backup yet')
  })

  it('says when there is no such backup', async () => {
    expect((await read({ 'backup-id': '00000000-0000-4000-8000-00000000ffff' })).reason).toContain('There is no such backup')
  })

  it.each(['last', '../x', '123', 'latest '.repeat(2)])('refuses "%s"', async (id) => {
    expect((await read({ 'backup-id': id })).reason).toMatch(/^backup-id: .* is not accepted; accepted: a uuid, or latest/)
  })

  it('reads a backup of which the API tells next to nothing', async () => {
    emulator().addFault({ effect: { kind: 'body', text: '{"result":{"id":"00000000-0000-4000-8000-00000000ffff","sizeInBytes":null}}' } })
    const ran = await read({ 'backup-id': '00000000-0000-4000-8000-00000000ffff' })
    expect(ran.document.status).toBe('pass')
    expect(ran.outputs['backup-size-bytes']).toBeUndefined()
  })
})
