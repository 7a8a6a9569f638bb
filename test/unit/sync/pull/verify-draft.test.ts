import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../../src/core/diagnostics.ts'
import type { Change, Update } from '../../../../src/sync/plan/change.ts'
import type { Draft, PulledObject } from '../../../../src/sync/pull/draft.ts'
import { type ReadDraft, verifyDraft } from '../../../../src/sync/pull/verify-draft.ts'

const file = 'o/a.yml'

const object = (key: string, more: Partial<PulledObject> = {}): PulledObject => ({
  kind: 'alert',
  key,
  name: key,
  id: `id-${key}`,
  outcome: 'added',
  overridden: [],
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

/** The objects `a`, `b` and `c` begin on lines 10, 20 and 30. */
function verify({ objects = [object('a')], changes = [change('a')], diagnostics = [], planned = [], broken = [] }: Case) {
  const declared = ['a', 'b', 'c'].map((key, i) => ({ kind: 'alert', key, value: {}, location: { file, line: (i + 1) * 10, column: 3 } }))
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
      ['although something is wrong with another one', { diagnostics: [diagnostic('wrong', 20)] }],
      ['although something is wrong before it', { diagnostics: [diagnostic('wrong', 9)] }],
      [
        'although something is wrong in another file',
        { diagnostics: [diagnostic('wrong', 10, { location: { file: 'o/b.yml', line: 12 } })] },
      ],
      [
        'that was as declared, whatever was wrong with it',
        { objects: [object('a', { outcome: 'unchanged' })], diagnostics: [diagnostic('wrong', 10)] },
      ],
      ['that is in no file', { objects: [object('a', { path: undefined, outcome: 'other-project' })], changes: [] }],
      ['that is not in the service', { objects: [object('a', { id: undefined, outcome: 'missing' })], changes: [] }],
      ['that was left out', { objects: [object('a', { outcome: 'left-out' })], changes: [change('a', { action: 'update' })] }],
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
        { objects: [object('a', { outcome: 'unchanged' })], changes: [change('a', { action: 'update' })] },
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
        'no YAML',
      ],
      ['that is in no plan for no reason', { changes: [] }, 'could not be found in the file again'],
      [
        'that is in no plan for no reason, while another file is wrong',
        { changes: [], diagnostics: [diagnostic('wrong', 1, { location: { file: 'o/b.yml' } })] },
        'could not be found in the file again',
      ],
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
