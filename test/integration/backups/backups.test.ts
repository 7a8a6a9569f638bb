import { describe, expect, it } from 'vitest'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { factsIn } from '../../support/report-texts.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const read = (inputs: Readonly<Record<string, string>>) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'get-backup', ...inputs } })

const backups = () => emulator().store.organizations[0]?.services[0]?.backups ?? []

describe('get-backup', () => {
  it('returns the one that was started last without an id, in any order of the list', async () => {
    const newest = backups().toSorted((a, b) => Date.parse(b.startedAt ?? '') - Date.parse(a.startedAt ?? ''))[0]
    backups().reverse()
    const ran = await read({})
    expect(ran.document).toMatchObject({ id: newest?.id, backupStatus: 'done' })
    expect(ran.outputs.id).toBe(newest?.id)
    expect(Number(ran.outputs['backup-age-hours'])).toBeCloseTo((Date.now() - Date.parse(newest?.startedAt ?? '')) / 3_600_000, 1)
  })

  it('finds a backup by its id in upper case', async () => {
    const id = backups()[3]?.id ?? ''
    expect((await read({ id: id.toUpperCase() })).document.id).toBe(id)
  })

  it('reads a time without a zone as UTC in every local time zone', async () => {
    backups().splice(1)
    const [backup] = backups()
    const startedAt = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)
    Object.assign(backup ?? {}, { startedAt, durationInSeconds: 900 })
    const zone = process.env.TZ
    process.env.TZ = 'America/Sao_Paulo'
    try {
      const { outputs, blocks } = await read({})
      expect(Number(outputs['backup-age-hours'])).toBeCloseTo(1, 1)
      expect(blocks[0]?.kind === 'verdict' && toPlainText(blocks[0].line)).toMatch(/^Backup \S+ is done, started 1 h ago$/)
      expect(factsIn(blocks)).toContain('Duration: 15 min')
    } finally {
      process.env.TZ = zone ?? ''
    }
  })

  it('warns about a failed backup, which has no end', async () => {
    const failed = { ...inputsFor(emulator()), 'service-id': 'c0ffee00-0000-4000-8000-0000000000c3' }
    const ran = await read(failed)
    expect([ran.document.status, ran.exitCode]).toEqual(['warn', 0])
    expect(ran.reason).toContain('The backup failed and cannot be restored.')
    const labels = ran.blocks.flatMap((block) => (block.kind === 'facts' ? block.facts.map(({ label }) => label) : []))
    expect(labels).toEqual(['Started', 'Size', 'Duration', 'Id'])
  })

  it('returns an error when the service has no backup', async () => {
    backups().splice(0)
    const ran = await read({})
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'not-found' } })
    expect(ran.reason).toContain('has no backup yet')
  })

  it('returns an error for an unknown id', async () => {
    expect((await read({ id: '00000000-0000-4000-8000-00000000ffff' })).reason).toContain('The backup does not exist')
  })

  it.each(['latest', '../x', '123'])('rejects the id "%s"', async (id) => {
    expect((await read({ id: id })).reason).toMatch(/^id: .* is not accepted; accepted: an id: .*; that of a backup is a UUID/)
  })

  it('accepts a backup of which the API reports only the id', async () => {
    emulator().addFault({ effect: { kind: 'body', text: '{"result":{"id":"00000000-0000-4000-8000-00000000ffff","sizeInBytes":null}}' } })
    const ran = await read({ id: '00000000-0000-4000-8000-00000000ffff' })
    expect(ran.document.status).toBe('pass')
    expect(ran.document.backupSizeBytes).toBeUndefined()
  })
})

describe('list-backups', () => {
  const list = (inputs: Readonly<Record<string, string>> = {}) =>
    invokeText({ inputs: { ...inputsFor(emulator()), operation: 'list-backups', ...inputs } })

  it('lists them newest first, in any order of the answer', async () => {
    const ids = backups().map(({ id }) => id)
    emulator().addFault({ effect: { kind: 'body', text: JSON.stringify({ result: backups().toReversed() }) } })
    const ran = await list()
    expect(ran.document).toMatchObject({ status: 'pass', count: 10, ids })
    expect(ran.outputs.ids).toBe(JSON.stringify(ids))
  })

  it('puts backups without a date last, and keeps unknown fields', async () => {
    emulator().addFault({
      effect: {
        kind: 'body',
        text: JSON.stringify({
          result: [
            { id: 'a', colour: 'red' },
            { id: 'b', finishedAt: '2026-01-01T00:00:00Z' },
          ],
        }),
      },
    })
    expect((await list()).document).toMatchObject({ ids: ['b', 'a'], backups: [{ id: 'b' }, { id: 'a', colour: 'red' }] })
  })

  it('passes with an empty list', async () => {
    backups().splice(0)
    expect((await list()).document).toMatchObject({ status: 'pass', count: 0, ids: [], backups: [] })
  })

  it('returns an error and not an empty list when the request fails', async () => {
    emulator().addFault({ times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 500 } })
    expect((await list()).document).toMatchObject({ status: 'error', error: { kind: 'server', httpStatus: 500 } })
  })
})
