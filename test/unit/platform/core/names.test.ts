import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { didYouMean, nearestDurations, nearestName, toCamel, toEnvironmentName, toKebab } from '../../../../src/platform/core/names.ts'

it('converts between kebab-case and camelCase', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,8}(-[a-z]{1,8}){0,4}$/), (kebab) => {
      expect(toKebab(toCamel(kebab))).toBe(kebab)
    }),
  )
})

it('begins a name in kebab-case without a dash', () => {
  expect(toKebab('ApiKey')).toBe('api-key')
})

it('names the variable of an input', () => {
  expect(toEnvironmentName('api-key-id')).toBe('WATCHKEEPER_API_KEY_ID')
})

describe('nearestName', () => {
  const known = ['budget', 'warn-budget', 'period', 'from-date', 'to-date', 'on-missing']

  it.each([
    ['bugdet', 'budget'],
    ['Budget', 'budget'],
    ['budgets', 'budget'],
    ['from_date', 'from-date'],
    ['fromdate', 'from-date'],
    ['warnbudget', 'warn-budget'],
    ['on-mising', 'on-missing'],
  ])('understands %s as %s', (given, meant) => {
    expect(nearestName(given, known)).toBe(meant)
  })

  it('understands a name with a typo for every three letters, and no other', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abcdefghijklm'), minLength: 6, maxLength: 24 })
    // Each edits a part of its own: one letter more, less, other, or two that are swapped. No name has x.
    const edits: readonly ((part: string) => string)[] = [
      (part) => `${part}x`,
      (part) => part.slice(1),
      (part) => `x${part.slice(1)}`,
      ([a = '', b = '', ...rest]) => [b, a, ...rest].join(''),
    ]
    const edit = (name: string, chosen: readonly number[]): string =>
      name
        .match(/.{1,3}/g)
        ?.map((part, i) => (part.length === 3 ? edits[chosen[i] ?? 0]?.(part) : part))
        .join('') ?? ''
    fc.assert(
      fc.property(letters, fc.array(fc.nat(3), { minLength: 8, maxLength: 8 }), (name, chosen) => {
        const given = edit(name, chosen)
        if (Math.floor(given.length / 3) < Math.floor(name.length / 3)) return
        expect(nearestName(given, [name])).toBe(name)
      }),
    )
    expect([nearestName('drum', ['drab']), nearestName('drum', ['drab', 'dram'])]).toEqual([undefined, 'dram'])
    expect([nearestName('abcxyz', ['abcdef']), nearestName('abcdyz', ['abcdef'])]).toEqual([undefined, 'abcdef'])
  })

  it.each(['xyz', 'colour', '', 'x'.repeat(1_000_000)])('does not guess at "%.20s"', (given) => {
    expect(nearestName(given, known)).toBeUndefined()
  })

  it.each([
    ['10m', '"5m" or "15m"'],
    ['7m', '"5m" or "15m"'],
    ['5min', '"5m"'],
    ['60 minutes', '"1h"'],
    ['2H', '"1h" or "1d"'],
    ['10s', '"1m"'],
    ['2d', '"1d"'],
    ['0.5h', '"15m" or "1h"'],
  ])('suggests the neighbors of the duration %s', (given, names) => {
    expect(nearestDurations(given, ['1m', '15m', '5m', '1h', '1d'])).toBe(`; did you mean ${names}?`)
  })

  it('suggests no duration for other words, or among other names', () => {
    expect(nearestDurations('often', ['1m', '5m'])).toBeUndefined()
    expect(nearestDurations('5m', ['1m', 'never'])).toBeUndefined()
    expect(nearestDurations('5m', [])).toBeUndefined()
  })

  it('phrases the suggestion as a question', () => {
    expect(didYouMean('bugdet', known)).toBe('; did you mean "budget"?')
    expect(didYouMean('colour', known)).toBe('')
    expect(didYouMean('warn', known)).toBe('; did you mean "warn-budget"?')
    expect(didYouMean('on', [...known, 'on-error'])).toBe('')
    const others = Array.from({ length: 199 }, (_, i) => `${i}`)
    expect(didYouMean('bugdet', [...others, 'budget'])).not.toBe('')
    expect(didYouMean('bugdet', [...others, 'other', 'budget'])).toBe('')
  })
})
