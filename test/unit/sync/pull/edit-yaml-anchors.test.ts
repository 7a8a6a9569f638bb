import { expect, it } from 'vitest'
import type { Edit } from '../../../../src/sync/pull/edit-yaml.ts'
import { editWith } from '../../../support/edits.ts'

const change = { note: 'changed' }

it('an object with an anchor or alias stays as it is, and its siblings can change', () => {
  const cases: readonly [string, string][] = [
    ['an anchor', 'alerts:\n  a:\n    channel: &c { type: email }\n    note: x\n  b:\n    note: y\n'],
    ['an alias', 'defaults:\n  alerts: { channel: &c { type: email } }\nalerts:\n  a:\n    channel: *c\n    note: x\n  b:\n    note: y\n'],
    ['an anchor deep inside', 'alerts:\n  a:\n    raw: { list: [{ deep: &d 1 }] }\n    note: x\n  b:\n    note: y\n'],
    ['an anchor on the whole object', 'alerts:\n  a: &a\n    note: x\n  b:\n    note: y\n'],
  ]
  for (const [title, text] of cases) {
    const { text: edited, shared } = editWith(text, { 'alerts.a': change, 'alerts.b': change })
    expect(edited, title).toBe(text.replace('note: y', 'note: changed'))
    expect([...shared], title).toEqual(['alerts.a'])
  }
})

it('all objects of a section that is an anchor or alias stay as they are', () => {
  const text = 'dashboards: &all\n  a:\n    name: A\nsavedSearches: *all\n'
  const additions: readonly Edit[] = [
    { kind: 'dashboard', key: 'b', after: { name: 'B' } },
    { kind: 'savedSearch', key: 'b', after: { name: 'B' } },
  ]
  const { text: edited, shared } = editWith(text, { 'dashboards.a': change, 'savedSearches.a': change }, { additions })
  expect(edited).toBe(text)
  expect([...shared].toSorted()).toEqual(['dashboards.a', 'dashboards.b', 'savedSearches.a', 'savedSearches.b'])
})
