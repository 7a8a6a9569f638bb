import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../../src/platform/core/diagnostics.ts'
import type { Change, Update } from '../../../../src/sync/decide/change.ts'
import type { Draft, PulledObject } from '../../../../src/sync/pull/draft.ts'
import { type ReadDraft, verifyDraft } from '../../../../src/sync/pull/verify-draft.ts'

const file = 'o/a.yml'

const object = (key: string, more: Partial<PulledObject> = {}): PulledObject => ({
  kind: 'alert',
  key,
  name: key,
  id: `id-${key}`,
  outcome: 'added',
  isEdited: true,
  path: file,
  reason: undefined,
  replacedExpressions: [],
  ...more,
})

const change = (key: string, more: Partial<Update> = {}): Update => ({
  kind: 'alert',
  key,
  name: key,
  action: 'adopt',
  takeover: 'unmanaged',
  id: key,
  stored: { id: key },
  desired: {},
  notes: [],
  fields: [],
  ...more,
})

const diagnostic = (message: string, line: number, more: Partial<Diagnostic> = {}): Diagnostic => ({
  rule: 'schema',
  severity: 'error',
  message,
  location: { file, line, column: 5 },
  ...more,
})

interface Case {
  readonly objects?: readonly PulledObject[]
  readonly changes?: readonly Change[]
  readonly diagnostics?: readonly Diagnostic[]
  readonly planned?: readonly Diagnostic[]
  readonly broken?: ReadDraft['declarations']['broken']
}

/** An object that stays as it is. */
const kept = (key: string, outcome: PulledObject['outcome'], more: Partial<PulledObject> = {}): PulledObject => {
  const { isEdited: _, ...rest } = object(key, { outcome, ...more })
  return rest
}

/** The objects `a`, `b` and `c` begin on lines 10, 20 and 30. */
function verify({ objects = [object('a')], changes = [change('a')], diagnostics = [], planned = [], broken = [] }: Case) {
  const declared = ['a', 'b', 'c'].map((key, i) => ({
    kind: 'alert',
    key,
    value: {},
    spelled: { dashboard: 'b' },
    location: { file, line: (i + 1) * 10, column: 3 },
  }))
  const proof = {
    declarations: { objects: declared, broken },
    diagnostics,
    plan: { changes, diagnostics: planned },
  } as unknown as ReadDraft
  return Object.fromEntries(verifyDraft({ objects, files: [] } as Draft, proof))
}

describe('verifyDraft accepts an object', () => {
  it('accepts an object for which plan has nothing to do', () => {
    const cases: readonly [string, Case][] = [
      ['that would be adopted as it is', {}],
      ['that is as declared', { changes: [change('a', { action: 'unchanged' })] }],
      ['although something is worth a warning', { diagnostics: [diagnostic('odd', 10, { severity: 'warning' })] }],
      ['that is in no file', { objects: [kept('a', 'other-project', { path: undefined })], changes: [] }],
      ['that is not in the service', { objects: [kept('a', 'missing', { id: undefined })], changes: [] }],
      ['that is removed', { objects: [object('a', { id: undefined, outcome: 'removed' })], changes: [] }],
      ['that would only be written as declared', { changes: [change('a', { action: 'update', rewrites: ['tiles'] })] }],
      ['that was left out', { objects: [kept('a', 'left-out')], changes: [change('a', { action: 'update' })] }],
    ]
    for (const [name, given] of cases) {
      expect(verify(given), name).toEqual({})
    }
  })
})

describe('verifyDraft rejects an object', () => {
  const fields = [{ path: 'threshold', before: 1, after: 2 }, { path: 'note' }]

  it('rejects an object that plan would change or that has an error', () => {
    const cases: readonly [string, Case, string][] = [
      [
        'that would be changed',
        { changes: [change('a', { action: 'update', fields })] },
        'a file cannot declare this object exactly: plan would update it (threshold, note)',
      ],
      [
        'that would be changed beside what is written as declared',
        { changes: [change('a', { action: 'update', rewrites: ['tiles'], fields })] },
        'a file cannot declare this object exactly: plan would update it (threshold, note)',
      ],
      [
        'that would be replaced',
        { changes: [change('a', { action: 'replace', notes: ['one', 'two'] })] },
        'a file cannot declare this object exactly: plan would replace it (one; two)',
      ],
      [
        'that would be created',
        { changes: [{ ...change('a'), id: undefined, stored: undefined, action: 'create', location: { file: 'f.yml' }, summary: '' }] },
        'a file cannot declare this object exactly: plan would create it',
      ],
      [
        'that would be changed, although it was only looked at',
        { objects: [kept('a', 'unchanged', { differed: true })], changes: [change('a', { action: 'update' })] },
        'a file cannot declare this object exactly: plan would update it',
      ],
      ['in which something is wrong', { diagnostics: [diagnostic('wrong', 12)] }, 'wrong'],
      ['in whose key something is wrong', { diagnostics: [diagnostic('wrong', 10, { location: { file, line: 10, column: 3 } })] }, 'wrong'],
      ['about which the plan complains', { planned: [diagnostic('unknown', 15)] }, 'unknown'],
      ['with the first of its complaints', { diagnostics: [diagnostic('first', 11), diagnostic('second', 12)] }, 'first'],
      [
        'with what is wrong in its file rather than in the plan',
        { diagnostics: [diagnostic('file', 12)], planned: [diagnostic('plan', 11)] },
        'file',
      ],
      [
        'that was changed and is wrong now',
        { objects: [object('a', { outcome: 'updated' })], diagnostics: [diagnostic('wrong', 12)] },
        'wrong',
      ],
      ['that is wrong and so in no plan', { changes: [], diagnostics: [diagnostic('wrong', 12)] }, 'wrong'],
      [
        'that is in no plan, because its file cannot be read',
        { changes: [], diagnostics: [diagnostic('no YAML', 1)], objects: [object('z')] },
        'the files would have an error: no YAML',
      ],
      ['that is in no plan for no reason', { changes: [] }, 'could not be found in the file again'],
    ]
    for (const [name, given, reason] of cases) {
      const [{ key } = { key: '' }] = given.objects ?? [object('a')]
      expect(verify(given), name).toEqual({ [`alert id-${key}`]: reason })
    }
  })

  it('rejects one object and accepts its neighbors', () => {
    const keys = ['c', 'a', 'b']
    const all = { objects: keys.map((key) => object(key)), changes: keys.map((key) => change(key)) }
    expect(verify({ ...all, diagnostics: [diagnostic('wrong', 25), diagnostic('other', 35)] })).toEqual({
      'alert id-b': 'wrong',
      'alert id-c': 'other',
    })
  })

  it('rejects the edits because of which something is wrong with what stays', () => {
    const dashboard = (key: string) => object(key, { kind: 'dashboard' })
    const changes = ['a', 'b', 'c'].flatMap((key) => [change(key), change(key, { kind: 'dashboard' })])
    const other = { location: { file: 'o/b.yml', line: 1 } }
    const error = 'the files would have an error: wrong'
    const gone = '; the service does not have this alert, so remove its declaration'
    const heldAt = (reason: string) =>
      ({
        ...change('a'),
        id: undefined,
        stored: undefined,
        action: 'held',
        isError: true,
        reason,
        remedies: [],
        at: { file, line: 12 },
      }) as const
    const cases: readonly [string, Case, Record<string, string>][] = [
      [
        'what it refers to',
        { objects: [dashboard('b'), dashboard('c'), kept('a', 'unchanged')], diagnostics: [diagnostic('wrong', 12)] },
        { 'dashboard id-b': error },
      ],
      [
        'what it refers to, and says why it cannot be edited itself',
        { objects: [dashboard('b'), kept('a', 'left-out', { reason: 'it is odd' })], diagnostics: [diagnostic('wrong', 12)] },
        { 'dashboard id-b': `${error}; its declaration stays, because it is odd` },
      ],
      [
        'what it refers to, and says that it does not exist',
        {
          objects: [dashboard('b'), kept('a', 'missing', { id: undefined })],
          changes: [
            ...changes.slice(1),
            { ...change('a'), id: undefined, stored: undefined, action: 'create', location: { file }, summary: '' },
          ],
          diagnostics: [diagnostic('wrong', 12)],
        },
        { 'dashboard id-b': `${error}${gone}` },
      ],
      [
        'what it refers to, and that is removed',
        { objects: [{ ...dashboard('b'), id: undefined, outcome: 'removed' }], diagnostics: [diagnostic('wrong', 12)] },
        { 'dashboard without an id: b': error },
      ],
      [
        'what is in its file',
        { objects: [object('b'), object('c', { path: 'o/b.yml' })], diagnostics: [diagnostic('wrong', 12)] },
        { 'alert id-b': error },
      ],
      [
        'everything',
        { objects: [object('b'), object('c')], diagnostics: [diagnostic('wrong', 1, other)] },
        { 'alert id-b': error, 'alert id-c': error },
      ],
      [
        'what it refers to, and that has no such tile any more',
        {
          objects: [dashboard('b'), kept('a', 'missing', { id: undefined })],
          changes: [...changes.slice(1), heldAt('tile: is not there')],
        },
        { 'dashboard id-b': `the files would have an error: alerts.a.tile: is not there${gone}` },
      ],
      [
        'nothing, where it is held for something else than its tile',
        { objects: [dashboard('b'), kept('a', 'missing', { id: undefined })], changes: [...changes.slice(1), heldAt('note: is odd')] },
        {},
      ],
      [
        'nothing, where what it refers to is not edited',
        {
          objects: [dashboard('c'), kept('a', 'missing', { id: undefined })],
          changes: [...changes.slice(1), heldAt('tile: is not there')],
        },
        {},
      ],
      ['nothing, where nothing is edited', { objects: [kept('a', 'unchanged')], diagnostics: [diagnostic('wrong', 12)] }, {}],
      [
        'what it refers to, where it would differ',
        {
          objects: [dashboard('b'), object('c'), kept('a', 'unchanged')],
          changes: [...changes.slice(1), change('a', { action: 'update', fields })],
        },
        {
          'dashboard id-b':
            'with its new values, alerts.a would differ: a file cannot declare this object exactly: plan would update it (threshold, note)',
        },
      ],
    ]
    for (const [name, given, expected] of cases) expect(verify({ changes, ...given }), name).toEqual(expected)
  })

  it('rejects an object that shares a line with others', () => {
    const location = (column: number) => ({ file, line: 40, column })
    const broken = [
      { kind: 'alert', key: 'y', location: location(20) },
      { kind: 'alert', key: 'x', location: location(10) },
    ] as const
    const all = { objects: ['x', 'y'].map((key) => object(key)), changes: ['x', 'y'].map((key) => change(key)), broken }
    for (const [column, key] of [
      [15, 'x'],
      [25, 'y'],
    ] as const)
      expect(verify({ ...all, diagnostics: [diagnostic('wrong', 40, { location: location(column) })] })).toEqual({
        [`alert id-${key}`]: 'wrong',
      })
  })

  it('rejects one object and accepts the one with the same key in another section', () => {
    const objects = [object('a'), object('a', { kind: 'dashboard' })]
    const changes = [change('a', { action: 'update' }), change('a', { kind: 'dashboard' })]
    expect(Object.keys(verify({ objects, changes }))).toEqual(['alert id-a'])
  })
})
