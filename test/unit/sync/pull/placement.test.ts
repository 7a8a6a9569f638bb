// Which file a new object is written into.
import { describe, expect, it } from 'vitest'
import { createPlacement } from '../../../../src/sync/pull/select.ts'

describe('a new object', () => {
  const dashboard = { section: 'dashboards', key: 'checkout' } as const
  const place = (globs: readonly string[], paths: readonly string[] = []) => createPlacement({ globs, paths })

  it.each([
    ['observability/**/*.{yml,yaml,json}', 'observability/checkout.yml'],
    ['observability/*.yaml', 'observability/checkout.yaml'],
    ['./observability//**/*.json', 'observability/checkout.json'],
    ['*.yml', 'checkout.yml'],
    ['**', 'checkout.yml'],
    ['deep/er/**/*', 'deep/er/checkout.yml'],
    ['all.yml', 'all.yml'],
    ['./some/all.json', 'some/all.json'],
    ['a/**', 'a/checkout.yml'],
    ['a/**/**/*.yml', 'a/checkout.yml'],
    ['a/*', 'a/checkout.yml'],
    ['a/*.{json}', 'a/checkout.json'],
    ['a/*.{yaml,yml}', 'a/checkout.yaml'],
    ['././a/./b//*.yml', 'a/b/checkout.yml'],
    ['/var/a/*.yml', '/var/a/checkout.yml'],
    ['a//b.yml', 'a/b.yml'],
    ['a./b.yml', 'a./b.yml'],
  ])('goes by %s into %s', (glob, path) => {
    expect(place([glob, 'other/*.yml'])(dashboard)).toBe(path)
  })

  it('goes with its like, and an alert with its dashboard', () => {
    const find = place(['o/*.yml'])
    expect(find({ section: 'alerts', key: 'a', dashboard: 'checkout' })).toBe('o/checkout.yml')
    expect(find({ section: 'alerts', key: 'a' })).toBe('o/alerts.yml')
    expect(find({ section: 'alerts', key: 'a', dashboard: 'v1.2' })).toBe('o/v1-2.yml')
    expect(find({ section: 'dashboards', key: 'v1.2', dashboard: 'other' })).toBe('o/v1-2.yml')
    expect(find({ section: 'savedSearches', key: 's' })).toBe('o/saved-searches.yml')
  })

  it('goes into the file that some systems take for the same', () => {
    expect(place(['o/*.yml'], ['o/Checkout.yml'])(dashboard)).toBe('o/Checkout.yml')
  })

  it('has no place where there is no glob at all', () => {
    expect(() => place([])).toThrow('no place for new files')
    expect(() => place([''])).toThrow('no place for new files')
  })

  it.each([
    'teams/*/observability/*.yml',
    'o/[ab]*.yml',
    'o/checkout-*.yml',
    'o/*.txt',
    'o/',
    '!o/*.yml',
    'o/?.yml',
    'o/*.{txt,yml}',
    'a*/*.yml',
    'o/*.yml/x',
    'o/*x',
    'o/**/a',
    'o/*.y*',
  ])('has no place by %s, and the error says what would be one', (glob) => {
    expect(() => place([glob])).toThrow('begin with a glob such as observability/**/*.yml')
  })
})
