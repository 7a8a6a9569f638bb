import { describe, expect, it } from 'vitest'
import { adoptedIds, baseOf, isAsBase, toAdoptedId, wasAsDeclared, withAdoptedId, withDeclaredDigest } from '../../../src/kinds/base.ts'
import type { StoredObject } from '../../../src/kinds/kind.ts'
import type { KindName } from '../../../src/kinds/kind-names.ts'
import { kinds, remoteStateWith } from '../../support/plans.ts'

const answered = (kind: KindName, object: StoredObject): StoredObject => {
  const [stored] = remoteStateWith({ [kind]: [object] })[kind]
  if (stored === undefined) throw new Error('the list has the object')
  return stored
}

const storedDigestOf = (kind: KindName, object: StoredObject): string => {
  const body = kinds[kind].toBody(answered(kind, object))
  return baseOf(kinds[kind], body, body)
}

const alert = {
  id: '65f5e4a35eedc0de00000022',
  name: 'Declined payments',
  source: 'tile',
  dashboardId: '65f5e4a35eedc0de00000014',
  tileId: '65f5e4a35eedc0de00000015',
  threshold: 50,
  thresholdType: 'above',
  interval: '15m',
  channel: { type: 'webhook', webhookId: '65f5e4a35eedc0de00000002' },
  message: 'Many payments are declined',
  note: 'Call Kim',
  state: 'OK',
}

const search = {
  id: 'q1',
  name: 'Errors',
  sourceId: 's1',
  where: 'level:error',
  whereLanguage: 'lucene',
  orderBy: '',
  filters: [],
  tags: ['team'],
}

const dashboard = {
  id: 'd1',
  name: 'Payments',
  tags: ['team'],
  tiles: [
    {
      id: 't1',
      name: 'Declined',
      x: 0,
      y: 0,
      w: 12,
      h: 6,
      config: {
        displayType: 'line',
        sourceId: 's1',
        fillNulls: true,
        asRatio: false,
        select: [{ aggFn: 'count', valueExpression: '', where: 'event:declined', whereLanguage: 'lucene' }],
      },
    },
    { id: 't2', name: 'Note', x: 12, y: 0, w: 12, h: 6, config: { displayType: 'markdown', markdown: 'Hi' } },
  ],
  filters: [{ id: 'f1', type: 'QUERY_EXPRESSION', name: 'Service', expression: 'ServiceName', sourceId: 's1' }],
}

const webhook = { id: 'w1', name: 'oncall', service: 'slack', url: 'https://hooks.slack.example/services/T1/B1/secret-of-the-hook' }

describe('the digest of a stored object', () => {
  // Markers and files of users have these digests. Where one changes, `baseFormat` goes up.
  it('is the same in every version that writes this format', () => {
    expect({
      alert: storedDigestOf('alert', alert),
      search: storedDigestOf('savedSearch', search),
      dashboard: storedDigestOf('dashboard', dashboard),
      webhook: storedDigestOf('webhook', webhook),
    }).toMatchInlineSnapshot(`
      {
        "alert": "2.0edc452f7b",
        "dashboard": "2.a20258453d",
        "search": "2.181f57a0e0",
        "webhook": "2.0c86343d1a",
      }
    `)
  })

  it('does not depend on markers, defaults, the state, or the order of tags and tiles', () => {
    const marked = {
      ...alert,
      note: 'Call Kim\n\nwatchkeeper: shop/web declined 0a1b2c',
      state: 'ALERT',
      groupBy: null,
      scheduleOffsetMinutes: 0,
    }
    expect(storedDigestOf('alert', marked)).toBe(storedDigestOf('alert', alert))
    const { whereLanguage: _, orderBy: __, filters: ___, ...plain } = search
    expect(storedDigestOf('savedSearch', { ...plain, tags: ['wk:0a1b2c:errors:abcdef', 'team'] })).toBe(
      storedDigestOf('savedSearch', search),
    )
    expect(storedDigestOf('dashboard', { ...dashboard, tiles: dashboard.tiles.toReversed() })).toBe(storedDigestOf('dashboard', dashboard))
  })

  it('changes with every value that a person can change', () => {
    const changes: readonly (readonly [KindName, StoredObject, object])[] = [
      ['alert', alert, { threshold: 51 }],
      ['alert', alert, { note: null }],
      ['alert', alert, { tileId: '65f5e4a35eedc0de00000016' }],
      ['savedSearch', search, { where: 'level:warn' }],
      ['dashboard', dashboard, { name: 'Other' }],
      ['dashboard', dashboard, { tags: [] }],
      ['dashboard', dashboard, { tiles: dashboard.tiles.slice(1) }],
      ['webhook', webhook, { service: 'generic' }],
    ]
    for (const [kind, object, change] of changes)
      expect(storedDigestOf(kind, { ...object, ...change } as StoredObject), JSON.stringify(change)).not.toBe(storedDigestOf(kind, object))
  })

  it('has nothing of a secret', () => {
    expect(storedDigestOf('webhook', { ...webhook, url: 'https://hooks.slack.example/services/T1/B1/another-secret' })).toBe(
      storedDigestOf('webhook', webhook),
    )
  })
})

describe('the ids in adopt', () => {
  const entryOf = (object: StoredObject): string => toAdoptedId(kinds.alert, answered('alert', object), alert, '0a1b2c')
  const entry = entryOf(alert)
  const isStored = (text: string, object: StoredObject): boolean | undefined => {
    const current = { kind: kinds.alert, stored: answered('alert', object), declared: alert, common: () => new Set<string>() }
    return isAsBase(adoptedIds(text)[0]?.base, current, true)
  }

  it('say whether the stored object is still what it was, and what its declaration was', () => {
    expect(adoptedIds(entry)).toMatchObject([{ id: alert.id, declared: '0a1b2c' }])
    expect(isStored(entry, alert)).toBe(true)
    expect(isStored(entry, { ...alert, threshold: 51 })).toBe(false)
  })

  it('count until the next write of the object, because they cover its marker', () => {
    const marked = { ...alert, note: `${alert.note}\n\nwatchkeeper: shop/web declined 0a1b2c wkb:2.0123456789` }
    expect(isStored(entryOf(marked), marked)).toBe(true)
    expect(isStored(entryOf(marked), { ...marked, note: marked.note.replace('0a1b2c', '0a1b2d') })).toBe(false)
    expect(isStored(entry, marked)).toBe(false)
  })

  it('are the same in every version that writes this format, whatever marker the object has', () => {
    const marked = (base: string) => ({ ...alert, note: `${alert.note}\n\nwatchkeeper: shop/web declined 0a1b2c${base}` })
    expect([alert, marked(''), marked(' wkb:2.0123456789')].map(entryOf)).toMatchInlineSnapshot(`
      [
        "65f5e4a35eedc0de00000022@2.a7b41cb39b.0a1b2c",
        "65f5e4a35eedc0de00000022@2.b3681dabf0.0a1b2c",
        "65f5e4a35eedc0de00000022@2.40b68fef41.0a1b2c",
      ]
    `)
  })

  it('say whether a declaration is still what the object was, whatever became of the object since, unless it was written', () => {
    const wasDeclared = (file: StoredObject, object: StoredObject) => {
      const [stored, declared] = [answered('alert', object), kinds.alert.toBody(answered('alert', file))]
      return wasAsDeclared(adoptedIds(entry)[0]?.base, { kind: kinds.alert, stored, declared, common: () => new Set() }, declared)
    }
    expect(wasDeclared(alert, alert)).toBe(true)
    expect(wasDeclared(alert, { ...alert, threshold: 51 })).toBe(true)
    expect(wasDeclared({ ...alert, threshold: 51 }, alert)).toBe(false)
    expect(wasDeclared(alert, { ...alert, note: `${alert.note}\n\nwatchkeeper: shop/web declined 0a1b2c` })).toBe(false)
  })

  it('of a format that this version does not know say nothing', () => {
    expect(isStored(entry.replace('@2.', '@1.'), alert)).toBeUndefined()
  })

  it('are none for true, false and nothing, and have no digests where a person wrote them', () => {
    for (const value of [true, false, undefined]) expect(adoptedIds(value)).toEqual([])
    expect(adoptedIds(['a1', 'b2'])).toEqual([{ id: 'a1' }, { id: 'b2' }])
  })

  it('keep those of other services when one is written', () => {
    const cases: readonly [unknown, unknown][] = [
      [undefined, 'b2@1.y.z'],
      [true, 'b2@1.y.z'],
      ['b2', 'b2@1.y.z'],
      ['a1@1.y.z', ['a1@1.y.z', 'b2@1.y.z']],
      [
        ['a1', 'b2@1.o.p'],
        ['a1', 'b2@1.y.z'],
      ],
      [['b2'], ['b2@1.y.z']],
    ]
    for (const [before, after] of cases) expect(withAdoptedId(before, 'b2@1.y.z')).toEqual(after)
  })
  it('get the digest of a changed declaration where they have the one before, and are of this object', () => {
    const replaced = (value: unknown): unknown => withDeclaredDigest(value, 'a1', '0a1b2c', '3d4e5f')
    expect(replaced('a1@2.0123456789.0a1b2c')).toBe('a1@2.0123456789.3d4e5f')
    const others = ['a11@2.0123456789.0a1b2c', 'a1@2.0123456789.aaaaaa', 'a1']
    expect(replaced([...others, 'a1@2.0123456789.0a1b2c'])).toEqual([...others, 'a1@2.0123456789.3d4e5f'])
    expect(replaced(true)).toBe(true)
  })
})
