// Expressions that give way to what they no longer stand for are told, and those that stay are not.
import { describe, expect, it } from 'vitest'
import { written } from '../../../support/declarations.ts'
import { editWith, type Fields } from '../../../support/edits.ts'

const [one, two] = [written('‹env.ONE›'), written('‹env.TWO›')]

const text = `alerts:
  a:
    name: ${one} and more
    raw: { x: "${one}", deep: { y: [a, "${two}"] } }
    note: plain
    tags: ["${one}", b]
  b:
    note: &n ${two}
  c:
    note: *n
`

const lostBy = (turns: Readonly<Record<string, Fields>>): Fields => Object.fromEntries(editWith(text, turns).replacedExpressions)

describe('an expression is lost', () => {
  it.each<[string, Fields, readonly string[]]>([
    ['that changes', { name: 'A' }, [`${one} and more`]],
    ['that goes', { name: undefined }, [`${one} and more`]],
    ['inside a map that goes', { raw: undefined }, [one, two]],
    ['inside a map that becomes something else', { raw: 'x' }, [one, two]],
    ['deep inside what changes', { raw: { x: one, deep: { y: ['a', 'b'] } } }, [two]],
    ['in a list', { tags: ['b'] }, [one]],
    ['in several places', { name: 'A', tags: ['b'] }, [`${one} and more`, one]],
  ])('%s', (_, change, expected) => {
    expect(lostBy({ 'alerts.a': change })).toEqual({ 'alerts.a': expected })
  })

  it.each<[string, Readonly<Record<string, Fields>>]>([
    ['beside what changes', { 'alerts.a': { note: 'other' } }],
    ['beside what changes in the same map', { 'alerts.a': { raw: { x: one, deep: { y: ['a', two] }, more: 1 } } }],
    ['that others refer to, and one no longer does', { 'alerts.c': { note: 'other' } }],
  ])('never: one %s', (_, turns) => {
    expect(lostBy(turns)).toEqual({})
  })

  it('of each object by itself', () => {
    expect(lostBy({ 'alerts.a': { name: 'A' }, 'alerts.b': { note: 'B' } })).toEqual({ 'alerts.a': [`${one} and more`], 'alerts.b': [two] })
  })
})
