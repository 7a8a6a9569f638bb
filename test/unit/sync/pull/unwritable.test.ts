// Why something of a service cannot stand in a file.
import { describe, expect, it } from 'vitest'
import { explainUnwritable, findExpression, hasExpression } from '../../../../src/sync/pull/render.ts'
import { written } from '../../../support/declarations.ts'

const expression = written('‹env.X›')

describe('a text', () => {
  it.each([
    [expression, true],
    [`before ${expression}`, true],
    ['$' + '{{', true],
    ['$' + '{', false],
    ['{{ x }}', false],
    ['', false],
  ])('%s has an expression: %s', (text, expected) => {
    expect(hasExpression(text)).toBe(expected)
  })
})

describe('what a file would take for an expression', () => {
  it.each<[string, unknown, string | undefined]>([
    ['in a text', expression, expression],
    ['in a list', ['a', [expression]], expression],
    ['deep inside', { a: 1, b: null, c: { d: [{ e: expression }] } }, expression],
    ['first of several', { a: `1 ${expression}`, b: `2 ${expression}` }, `1 ${expression}`],
    ['nowhere', { a: 1, b: null, c: ['$', true], d: undefined }, undefined],
    ['in no key', { [expression]: 1 }, undefined],
  ])('is found %s', (_, value, expected) => {
    expect(findExpression(value)).toBe(expected)
  })
})

describe('an object', () => {
  const dashboard = { name: 'D', tiles: [] }

  it.each<[string, object, string | RegExp | undefined]>([
    ['that is right', dashboard, undefined],
    ['with an expression', { ...dashboard, name: expression }, `"${expression}" would be read as an expression`],
    [
      'with a long expression',
      { ...dashboard, name: expression + 'x'.repeat(99) },
      /^"\$\{\{ env\.X \}\}x{48}… \(51 more characters\)" would be read as an expression$/,
    ],
    ['without a name', { tiles: [] }, /^name: is missing/],
    ['with an empty name', { ...dashboard, name: '' }, /^name: /],
    ['with tiles that are none', { ...dashboard, tiles: 5 }, /^tiles: /],
    ['with a tile that is none', { ...dashboard, tiles: [{ name: 'T' }] }, /^tiles\S*x: /],
  ])('%s', (_, fields, reason) => {
    const found = explainUnwritable(fields as never, 'dashboards')
    if (reason instanceof RegExp) expect(found).toMatch(reason)
    else expect(found).toBe(reason)
    expect((found ?? '').length).toBeLessThan(200)
  })
})
