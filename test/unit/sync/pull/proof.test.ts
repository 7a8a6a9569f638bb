// The proof of a pull: what would remain to be done for an object although its file was written, and why.
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../../src/core/diagnostics.ts'
import type { Change } from '../../../../src/sync/change.ts'
import type { Draft, PulledObject } from '../../../../src/sync/pull/draft.ts'
import { type ReadDraft, verifyDraft } from '../../../../src/sync/pull/draft.ts'

const file = 'o/a.yml'

const object = (key: string, more: Partial<PulledObject> = {}): PulledObject => ({
  section: 'alerts',
  key,
  name: key,
  id: `id-${key}`,
  outcome: 'added',
  path: file,
  reason: undefined,
  replacedExpressions: [],
  ...more,
})

const change = (key: string, more: Partial<Change> = {}): Change => ({
  section: 'alerts',
  key,
  name: key,
  action: 'adopt',
  isAdopted: true,
  notes: [],
  fields: [],
  ...more,
})

const finding = (message: string, line: number, more: Partial<Diagnostic> = {}): Diagnostic => ({
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

/** The objects `a`, `b` and `c` begin on lines 10, 20 and 30. */
function inexact({ objects = [object('a')], changes = [change('a')], diagnostics = [], planned = [], broken = [] }: Case) {
  const declared = ['a', 'b', 'c'].map((key, i) => ({ section: 'alerts', key, location: { file, line: (i + 1) * 10, column: 3 } }))
  const proof = {
    declarations: { objects: declared, broken },
    diagnostics,
    plan: { changes, diagnostics: planned },
  } as unknown as ReadDraft
  return Object.fromEntries(verifyDraft({ objects, files: [] } as Draft, proof))
}

describe('an object is proven', () => {
  it.each<[string, Case]>([
    ['that would be adopted as it is', {}],
    ['that is as declared', { changes: [change('a', { action: 'unchanged' })] }],
    ['although something is worth a warning', { diagnostics: [finding('odd', 10, { severity: 'warning' })] }],
    ['although something is wrong with another one', { diagnostics: [finding('wrong', 20)] }],
    ['although something is wrong before it', { diagnostics: [finding('wrong', 9)] }],
    ['although something is wrong in another file', { diagnostics: [finding('wrong', 10, { location: { file: 'o/b.yml', line: 12 } })] }],
    [
      'that was as declared, whatever was wrong with it',
      { objects: [object('a', { outcome: 'unchanged' })], diagnostics: [finding('wrong', 10)] },
    ],
    ['that is in no file', { objects: [object('a', { path: undefined, outcome: 'other-project' })], changes: [] }],
    ['that is not in the service', { objects: [object('a', { id: undefined, outcome: 'missing' })], changes: [] }],
    ['that was left out', { objects: [object('a', { outcome: 'left-out' })], changes: [change('a', { action: 'update' })] }],
  ])('%s', (_, given) => {
    expect(inexact(given)).toEqual({})
  })
})

describe('an object is not proven', () => {
  const fields = [{ path: 'threshold', before: 1, after: 2 }, { path: 'note' }]

  it.each<[string, Case, string]>([
    [
      'that would be changed',
      { changes: [change('a', { action: 'update', fields })] },
      'a file cannot declare exactly what the service has: plan would update it (threshold, note)',
    ],
    [
      'that would be replaced',
      { changes: [change('a', { action: 'replace', notes: ['one', 'two'] })] },
      'a file cannot declare exactly what the service has: plan would replace it (one; two)',
    ],
    [
      'that would be created',
      { changes: [change('a', { action: 'create' })] },
      'a file cannot declare exactly what the service has: plan would create it',
    ],
    [
      'that would be changed, although it was only looked at',
      { objects: [object('a', { outcome: 'unchanged' })], changes: [change('a', { action: 'update' })] },
      'a file cannot declare exactly what the service has: plan would update it',
    ],
    ['in which something is wrong', { diagnostics: [finding('wrong', 12)] }, 'wrong'],
    ['in whose key something is wrong', { diagnostics: [finding('wrong', 10, { location: { file, line: 10, column: 3 } })] }, 'wrong'],
    ['about which the plan complains', { planned: [finding('unknown', 15)] }, 'unknown'],
    ['with the first of its complaints', { diagnostics: [finding('first', 11), finding('second', 12)] }, 'first'],
    [
      'with what is wrong in its file rather than in the plan',
      { diagnostics: [finding('file', 12)], planned: [finding('plan', 11)] },
      'file',
    ],
    ['that was changed and is wrong now', { objects: [object('a', { outcome: 'updated' })], diagnostics: [finding('wrong', 12)] }, 'wrong'],
    ['that is wrong and so in no plan', { changes: [], diagnostics: [finding('wrong', 12)] }, 'wrong'],
    [
      'that is in no plan, because its file cannot be read',
      { changes: [], diagnostics: [finding('no YAML', 1)], objects: [object('z')] },
      'no YAML',
    ],
    ['that is in no plan for no reason', { changes: [] }, 'would not be found in the file'],
    [
      'that is in no plan for no reason, while another file is wrong',
      { changes: [], diagnostics: [finding('wrong', 1, { location: { file: 'o/b.yml' } })] },
      'would not be found in the file',
    ],
  ])('%s', (_, given, reason) => {
    const [{ key } = { key: '' }] = given.objects ?? [object('a')]
    expect(inexact(given)).toEqual({ [`alerts id-${key}`]: reason })
  })

  it('alone, while its neighbours are', () => {
    const keys = ['c', 'a', 'b']
    const all = { objects: keys.map((key) => object(key)), changes: keys.map((key) => change(key)) }
    expect(inexact({ ...all, diagnostics: [finding('wrong', 25), finding('other', 35)] })).toEqual({
      'alerts id-b': 'wrong',
      'alerts id-c': 'other',
    })
  })

  it('where it stands on one line with others', () => {
    const location = (column: number) => ({ file, line: 40, column })
    const broken = [
      { section: 'alerts', key: 'y', location: location(20) },
      { section: 'alerts', key: 'x', location: location(10) },
    ] as const
    const all = { objects: ['x', 'y'].map((key) => object(key)), changes: ['x', 'y'].map((key) => change(key)), broken }
    for (const [column, key] of [
      [15, 'x'],
      [25, 'y'],
    ] as const)
      expect(inexact({ ...all, diagnostics: [finding('wrong', 40, { location: location(column) })] })).toEqual({
        [`alerts id-${key}`]: 'wrong',
      })
  })

  it('of one kind, while that of the same key of another kind is', () => {
    const objects = [object('a'), object('a', { section: 'dashboards' })]
    const changes = [change('a', { action: 'update' }), change('a', { section: 'dashboards' })]
    expect(Object.keys(inexact({ objects, changes }))).toEqual(['alerts id-a'])
  })
})
