// Under which keys new objects stand, and how their files are called.
import { describe, expect, it } from 'vitest'
import { keyGrammar } from '../../../../src/resources/marker.ts'
import { claimKey, toFileName, toSlug } from '../../../../src/sync/pull/select.ts'
import { hostile } from '../../../support/corpus.ts'

describe('a key', () => {
  it.each([
    ['Checkout errors', 'checkout-errors'],
    ['  p99 > 1.5 s  ', 'p99-1-5-s'],
    ['Überlast (süd)', 'uberlast-sud'],
    ['İstanbul', 'istanbul'],
    ['１２ ﬁles', '12-files'],
    ['障害 in EU', 'in-eu'],
    ['障害', ''],
    ['../../etc/passwd', 'etc-passwd'],
    ['--dashes--', 'dashes'],
    [`${'a'.repeat(54)} b`, 'a'.repeat(54)],
    [`${'a'.repeat(54)}bc`, `${'a'.repeat(54)}b`],
    [`${'☠'.repeat(499)}ab`, 'a'],
    [`${'long '.repeat(30)}end`, 'long-long-long-long-long-long-long-long-long-long-long'],
  ])('of %s is %s', (name, slug) => {
    expect(toSlug(name)).toBe(slug)
  })

  it('is never taken twice, and always a key, whatever the name', () => {
    const taken = new Set<string>()
    const values = hostile.map(({ value }) => value)
    const keys = [...values, ...values].map((name, i) => claimKey({ name, id: `id-${i}-☠`, noun: 'saved search' }, taken))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.filter((key) => !keyGrammar.test(key))).toEqual([])
  })

  it('gets a number where it is taken', () => {
    const taken = new Set(['errors', 'errors-3'])
    const take = (): string => claimKey({ name: 'Errors', id: 'x', noun: 'alert' }, taken)
    expect([take(), take(), take()]).toEqual(['errors-2', 'errors-4', 'errors-5'])
    expect([...taken]).toEqual(['errors', 'errors-3', 'errors-2', 'errors-4', 'errors-5'])
  })

  it('says what the object is where its name says nothing', () => {
    expect(claimKey({ name: '障害', id: '65f5e4a35eedc0de0000001f', noun: 'alert' }, new Set())).toBe('alert-00001f')
  })

  it.each([
    ['checkout', 'checkout'],
    ['v1.2', 'v1-2'],
    ['con', 'con-'],
    ['prn', 'prn-'],
    ['aux', 'aux-'],
    ['nul', 'nul-'],
    ['com1', 'com1-'],
    ['lpt9', 'lpt9-'],
    ['com', 'com'],
    ['com10', 'com10'],
    ['icon', 'icon'],
    ['a..b.c', 'a-b-c'],
    ['console', 'console'],
  ])('%s is called %s as a file', (key, name) => {
    expect(toFileName(key)).toBe(name)
  })
})
