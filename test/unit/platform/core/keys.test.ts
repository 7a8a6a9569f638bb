import { expect, it } from 'vitest'
import { createKeyIndex } from '../../../../src/platform/core/keys.ts'

it('an index finds the first of several items with the same key, as a plan has its deletes last', () => {
  const items = [
    { keys: ['a', 'b'], action: 'replace' },
    { keys: ['b', 'c'], action: 'delete' },
  ]
  const find = createKeyIndex<(typeof items)[number]>(({ keys }) => keys)
  expect(['a', 'b', 'c', 'd'].map((key) => find(items, key)?.action)).toEqual(['replace', 'replace', 'delete', undefined])
})
