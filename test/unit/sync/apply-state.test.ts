// What became of each change, which ids are known by it, and when to go no further.

import { describe, expect, it } from 'vitest'
import { PendingId } from '../../../src/kinds/name-index.ts'
import { ApiError, explainFailure } from '../../../src/platform/api/api-error.ts'
import { WatchkeeperError } from '../../../src/platform/core/errors.ts'
import { createApplyState, createKnownIds, failed, failedRecreation } from '../../../src/sync/apply/apply-state.ts'
import { whyNotDeleted, whyTilesStay } from '../../../src/sync/apply/write.ts'
import {
  type Change,
  type Create,
  type Delete,
  isSuccess,
  isWritten,
  type Outcome,
  outcomeKinds,
  type Update,
} from '../../../src/sync/decide/change.ts'
import { kinds } from '../../support/plans.ts'

const change = (key: string, kind: Change['kind'] = 'dashboard'): Create => ({
  kind,
  key,
  name: key,
  action: 'create',
  location: { file: 'f.yml' },
  summary: '',
  desired: { tiles: ['A', 'B', 'B'].map((name) => ({ name })) },
  notes: [],
  fields: [],
})
const deleted = (kind: Change['kind'], id = 'd1'): Delete => ({
  kind,
  key: 'shop',
  name: 'shop',
  action: 'delete',
  id,
  stored: { id },
  notes: [],
  fields: [],
})

const shop = {
  id: 'd1',
  tiles: [
    { id: 't1', name: 'A' },
    { id: 't2', name: 'B' },
    { id: 't3', name: 'B' },
  ],
}

describe('ids that are waited for', () => {
  it('ids that are waited for are known once the object is there', () => {
    const ids = createKnownIds()
    const body = { name: 'x', dashboardId: new PendingId('dashboard', 'shop'), tileId: new PendingId('dashboard', 'shop', 'A') }
    expect(ids.resolve(body)).toEqual({ waitsFor: body.dashboardId })
    ids.learn(change('shop'), undefined)
    expect(ids.resolve(body)).toEqual({ waitsFor: body.dashboardId })
    ids.learn(change('shop'), shop)
    expect(ids.resolve(body)).toEqual({ body: { name: 'x', dashboardId: 'd1', tileId: 't1' } })
  })

  it('ids that are waited for are those of one kind and key', () => {
    const ids = createKnownIds()
    ids.learn(change('shop', 'savedSearch'), { id: 's1' })
    ids.learn(change('store'), { id: 'd2' })
    expect(ids.resolve({ dashboardId: new PendingId('dashboard', 'shop') })).toHaveProperty('waitsFor')
    expect(ids.resolve({ savedSearchId: new PendingId('savedSearch', 'shop') })).toEqual({ body: { savedSearchId: 's1' } })
  })

  it.each(['B', 'C'])('ids that are waited for are not guessed of tiles: %s is there twice, or not at all', (name) => {
    const ids = createKnownIds()
    ids.learn(change('shop'), shop)
    const tileId = new PendingId('dashboard', 'shop', name)
    expect(ids.resolve({ tileId })).toEqual({ waitsFor: tileId })
  })

  it('ids that are waited for are not those of a tile that a person added, with the name of the tile of an alert', () => {
    const ids = createKnownIds()
    const tiles = [{ name: 'B' }, { id: 't2', name: 'B' }]
    ids.learn({ ...change('shop'), desired: { tiles }, keptTiles: { count: 1, haveOthers: true } }, shop)
    expect(ids.resolve({ tileId: new PendingId('dashboard', 'shop', 'B') })).toEqual({ body: { tileId: 't3' } })
  })
})

describe('an alert that came onto what goes', () => {
  const stored = { id: 'd1', tiles: [{ id: 't1' }, { id: 't2' }] }
  const update: Update = {
    ...deleted('dashboard'),
    action: 'update',
    stored,
    desired: {},
    removes: { tiles: ['t1'], alerts: ['seen'] },
  }
  const alert = (id: string, fields: object) => ({ id, name: 'Errors', ...fields }) as never
  const list = (...items: readonly never[]) => ({ items, mayBeCut: false })

  it.each([
    ['no alert when it is on another tile', alert('x', { tileId: 't2' }), undefined],
    ['no alert that was already known', alert('seen', { tileId: 't1' }), undefined],
    ['no alert without a tile', alert('x', {}), undefined],
    [
      'an alert that was added',
      alert('x', { tileId: 't1' }),
      'the alert "Errors" (x) was added to a tile that the update deletes, and would be deleted with it',
    ],
    [
      'an alert that was added without a name',
      alert('x', { tileId: 't1', name: null }),
      'the alert x was added to a tile that the update deletes, and would be deleted with it',
    ],
  ])('the tiles of an update stay because of %s', (_, one, expected) => {
    expect(whyTilesStay(update, list(one))).toBe(expected)
  })

  it('the tiles of an update stay because of an alert on a tile that the API does not list, but not those of a patch', () => {
    const hidden = list(alert('x', { dashboardId: 'd1', tileId: 'hidden' }))
    expect(whyTilesStay(update, hidden)).toContain('the alert "Errors" (x) was added to a tile that the update deletes')
    expect(whyTilesStay({ ...update, patchedTileIds: [] }, hidden)).toBeUndefined()
  })

  it.each([
    [
      'on a dashboard',
      deleted('dashboard'),
      alert('x', { dashboardId: 'd1' }),
      'the alert "Errors" (x) is on it and would be deleted with it',
    ],
    [
      'on a saved search',
      deleted('savedSearch', 's1'),
      alert('x', { savedSearchId: 's1' }),
      'the alert "Errors" (x) is on it and would be deleted with it',
    ],
    ['elsewhere', deleted('dashboard'), alert('x', { dashboardId: 'd2', savedSearchId: 's1' }), undefined],
    ['on an alert, which none can', deleted('alert'), alert('x', { dashboardId: 'd1' }), undefined],
  ])('finds %s', (_, change, one, expected) => {
    expect(whyNotDeleted(change, list(one), kinds[change.kind])).toBe(expected)
  })

  it('an alert that came onto what goes may be behind the end of a list that is as long as a page', () => {
    const cut = { items: [], mayBeCut: true }
    const words = 'the list of alerts may be incomplete, because it is as long as a page'
    expect(whyTilesStay(update, cut)).toBe(words)
    expect(whyNotDeleted(deleted('dashboard'), cut, kinds.dashboard)).toBe(words)
    expect(whyNotDeleted(deleted('alert'), cut, kinds.alert)).toBeUndefined()
  })
})

describe('what became of a change', () => {
  it('the outcome of a change is done, and written, or not', () => {
    const kindsWhere = (is: (outcome: Outcome) => boolean) => outcomeKinds.filter((became) => is({ change: change('a'), became }))
    expect(kindsWhere(({ became }) => isSuccess(became))).toEqual([
      'created',
      'updated',
      'replaced',
      'deleted',
      'adopted',
      'marked',
      'released',
      'held',
      'unchanged',
    ])
    expect(kindsWhere(isWritten)).toEqual(['created', 'updated', 'replaced', 'deleted', 'adopted', 'marked', 'released'])
  })

  it('the outcome of a change is failed when the server refused', () => {
    const one = deleted('dashboard', 'x')
    expect(failed(one, new WatchkeeperError('conflict', 'Somebody was faster.'))).toEqual({
      change: one,
      became: 'failed',
      id: 'x',
      message: 'Somebody was faster.',
      errorKind: 'conflict',
    })
  })

  it('an outcome that is a bug is thrown again when it is a bug', () => {
    const mistake = new TypeError('x is not a function')
    expect(() => failed(change('a'), mistake)).toThrow(mistake)
  })
})

describe('the state', () => {
  const open = () => {
    const stop = new AbortController()
    const reported: (readonly string[])[] = []
    const state = createApplyState(stop.signal, async (outcomes) => void reported.push(outcomes.map(({ became }) => became)))
    return { state, stop, reported }
  }

  it('skips a change for a reason, with the id of what was there', async () => {
    const { state } = open()
    const one = deleted('dashboard', 'x')
    await state.skip(one, 'too late')
    expect(state.outcomeOf(one)).toEqual({ change: one, became: 'skipped', id: 'x', message: 'too late' })
  })

  it('reports each outcome with all earlier ones', async () => {
    const { state, reported } = open()
    await state.record({ change: change('a'), became: 'unchanged' })
    await state.record({ change: change('b'), became: 'created' })
    await state.skip(change('c'), 'too late')
    await state.record({ change: change('d'), became: 'failed' })
    expect(reported).toEqual([
      ['unchanged', 'created'],
      ['unchanged', 'created', 'skipped', 'failed'],
    ])
  })

  it('keeps the last outcome of each change, in the order of the first', async () => {
    const { state, reported } = open()
    const [a, b] = [change('a'), change('b')]
    await state.record({ change: a, became: 'unknown' })
    await state.record({ change: b, became: 'created' })
    state.amend({ change: a, became: 'created' })
    expect(state.all().map(({ became }) => became)).toEqual(['created', 'created'])
    expect(state.outcomeOf(a)).toEqual({ change: a, became: 'created' })
    expect(state.outcomeOf(change('c'))).toBeUndefined()
    expect(reported).toHaveLength(2)
  })

  it('learns ids from what was done, and from nothing else', async () => {
    const { state } = open()
    const waits = { dashboardId: new PendingId('dashboard', 'a') }
    await state.record({ change: change('a'), became: 'failed', stored: { id: 'd1' } })
    expect(state.resolve(waits)).toHaveProperty('waitsFor')
    state.amend({ change: change('a'), became: 'created', stored: { id: 'd1' } })
    expect(state.resolve(waits)).toEqual({ body: { dashboardId: 'd1' } })
  })

  it('lets one object of a kind be written at a time, until one of them is written and again after a failure', async () => {
    const { state } = open()
    const oneAtATime = () => (['dashboard', 'alert'] as const).filter(state.writesOneAtATime)
    expect(oneAtATime()).toEqual(['dashboard', 'alert'])
    await state.record({ change: change('a'), became: 'created' })
    await state.skip(change('b'), 'too late')
    expect(oneAtATime()).toEqual(['alert'])
    await state.record({ change: change('c'), became: 'failed' })
    await state.record({ change: change('d', 'alert'), became: 'created' })
    expect(oneAtATime()).toEqual(['dashboard'])
  })

  it('halts other writes before it reports the outcome that stops the run, and not before', async () => {
    const halted: boolean[] = []
    const state = createApplyState(new AbortController().signal, async () => void halted.push(state.stopSignal.aborted))
    await state.record({ change: change('a'), became: 'created' })
    await state.record({ change: change('b'), became: 'failed', errorKind: 'permission' })
    expect(halted).toEqual([false, true])
  })

  it('the state continues after a failure, and ends when it is stopped', async () => {
    const { state, stop } = open()
    await state.record({ change: change('a'), became: 'failed', message: 'no' })
    expect(state.stopped()).toBeUndefined()
    stop.abort()
    expect(state.stopped()?.message).toMatch(/cancel/i)
  })
})

describe('an answer that never came', () => {
  const facts = {
    method: 'POST',
    path: '/dashboards',
    origin: 'https://h',
    host: 'h',
    isSelfHosted: false,
    keyName: 'the key k',
    permission: 'write',
    noun: 'dashboard',
    isCreate: true,
    timeoutMs: 1000,
  } as const
  const errorOf = (writeOutcome: 'unknown' | 'not-applied') => {
    const failure = { cause: 'connection', writeOutcome, headers: {}, detail: 'the connection was reset' } as const
    const decision = { retry: false, because: 'final' } as const
    const end = { failure, sent: 1, label: 'attempt 1 of 5', isOutcomeUnknown: writeOutcome === 'unknown', decision }
    return new ApiError(explainFailure(facts, end, 0))
  }

  it('leaves open what became of the change, and says to run again instead of to look by hand', () => {
    const error = errorOf('unknown')
    const { became, errorKind, message = '' } = failed(change('a'), error)
    expect({ became, errorKind }).toEqual({ became: 'unknown', errorKind: 'may-exist' })
    const [what, advice] = message.split('\n')
    expect(what).toBe(error.message.split('\n')[0])
    expect(advice).toBe(
      'The server may have written it. Run apply again: it looks for the ownership marker first and creates nothing twice.',
    )
    expect(error.message).toContain(error.advice)
    expect(message).not.toContain(error.advice)
  })

  it('a lost answer to a create after a delete leaves open whether the object is there again', () => {
    const one = { ...deleted('dashboard', 'x'), action: 'replace', desired: {} } as const
    expect(failedRecreation(one, new Error('gone', { cause: errorOf('unknown') }))).toEqual(failed(one, errorOf('unknown')))
    expect(failedRecreation(one, new Error('gone', { cause: errorOf('not-applied') }))).toMatchObject({
      became: 'failed',
      wasDeleted: true,
      message: `It was deleted and could not be created again. The next apply creates it. ${errorOf('not-applied').message}`,
    })
  })

  it('a lost answer is a failure like any other when nothing was sent', () => {
    const error = errorOf('not-applied')
    expect(failed(change('a'), error)).toMatchObject({ became: 'failed', message: error.message })
  })
})
