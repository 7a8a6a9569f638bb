import { describe, expect, it } from 'vitest'
import {
  describeConditions,
  describeUnmet,
  isSelected,
  parseCondition,
  type Selectable,
  selectDeclared,
  selectInput,
  valuesOf,
} from '../../../../src/platform/operation/select.ts'
import { conditions } from '../../../support/conditions.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('a condition', () => {
  it('has a field and a value, which is the rest of the line', () =>
    forEachEntry(
      [
        ['name=Checkout errors, "all" = 5', { field: 'name', values: ['Checkout errors, "all" = 5'] }],
        ['name~a=b', { field: 'name', values: ['a=b'], isPart: true }],
        ['tag=team=shop, eu', { field: 'tag', values: ['team=shop, eu'] }],
        ['key=slow', { field: 'key', values: ['slow'] }],
        ['managed', { field: 'managed', values: [] }],
        ['unmanaged', { field: 'unmanaged', values: [] }],
      ] as const,
      (text, condition) => expect(parseCondition(text), text).toEqual(condition),
    ))

  it('takes alternatives only for kind, state and key', () =>
    forEachEntry(
      [
        ['kind=alert, dashboard', ['alert', 'dashboard']],
        ['state=ALERT,OK', ['ALERT', 'OK']],
        ['key=slow,fast', ['slow', 'fast']],
        ['project=a,b', ['a,b']],
      ] as const,
      (text, values) => expect(parseCondition(text)?.values, text).toEqual(values),
    ))

  it('is none with an unknown field, an empty value, or a negation', () =>
    forEachEntry(
      [
        '',
        'name',
        'name=',
        'name= ',
        'names=x',
        'Name=x',
        '=x',
        'tag~x',
        'key=a,',
        'key=,',
        'managed=true',
        '!managed',
        'name!=x',
        'name=a\nb',
      ],
      (text) => expect(parseCondition(text), text).toBeUndefined(),
    ))

  it('is written in messages as it was given', () => {
    const texts = ['name~check out', 'key=a,b', 'unmanaged']
    expect(describeConditions(conditions(...texts))).toBe(texts.join(', '))
  })
})

describe('an object is selected', () => {
  const item: Selectable = {
    name: 'Checkout errors',
    key: 'errors',
    kind: 'alert',
    tags: ['shop', 'eu'],
    state: 'ALERT',
    isManaged: true,
    isOwnedBy: (project) => project === 'shop/infra',
    type: 'log',
  }

  it('where a condition holds', () =>
    forEachEntry(
      [
        ...['name=Checkout errors', 'name~CHECKOUT', 'key=errors', 'key=slow,errors', 'kind=dashboard,alert', 'tag=eu', 'state=ALERT'],
        ...['project=shop/infra', 'managed', 'type=log'],
      ],
      (text) => expect(isSelected(conditions(text), item), text).toBe(true),
    ))

  it('not where a condition does not hold', () =>
    forEachEntry(
      [
        ...['name=checkout errors', 'name~chekcout', 'key=error', 'kind=dashboard', 'tag=e', 'state=OK', 'project=shop'],
        ...['unmanaged', 'type=trace'],
      ],
      (text) => expect(isSelected(conditions(text), item), text).toBe(false),
    ))

  it('only where all conditions hold', () => {
    expect(isSelected(conditions('tag=shop', 'tag=eu'), item)).toBe(true)
    expect(isSelected(conditions('tag=shop', 'tag=us'), item)).toBe(false)
    expect(isSelected(undefined, item)).toBe(true)
  })

  it('never by a field that it does not have', () =>
    forEachEntry(['name=x', 'name~x', 'key=x', 'tag=x', 'state=x', 'project=x', 'type=x', 'managed', 'unmanaged'], (text) =>
      expect(isSelected(conditions(text), {}), text).toBe(false),
    ))
})

it('the values of several conditions on one field are those that all of them accept', () => {
  expect(valuesOf(conditions('key=a,b', 'name=x', 'key=b,c'), 'key')).toEqual(['b'])
  expect(valuesOf(conditions('name=x'), 'key')).toBeUndefined()
})

it('where nothing is selected, the first condition that no item meets is named, with a near value', () => {
  const items = [{ name: 'Checkout', key: 'pay', tags: ['team=shop'] }, { name: null }, { state: 'OK' }]
  const unmetOf = (...texts: readonly string[]) => describeUnmet(items, conditions(...texts))
  expect(unmetOf('name=Checkout', 'tag=team=shpo')).toBe('tag=team=shpo; did you mean "team=shop"?')
  expect(unmetOf('key=pya', 'tag=none')).toBe('key=pya; did you mean "pay"?')
  expect(unmetOf('name~chekcout')).toBe('name~chekcout; did you mean "Checkout"?')
  expect(unmetOf('state=KO')).toBe('state=KO')
  expect(unmetOf('name=Checkout', 'state=OK')).toBe('name=Checkout, state=OK')
})

it('the items of files are selected, and no match is an error unless there are no items', () => {
  expect(selectDeclared([{ key: 'a' }, { key: 'b' }], conditions('key=b'), 'alert')).toEqual([{ key: 'b' }])
  expect(() => selectDeclared([{ key: 'a', name: 'x' }], conditions('name=y'), 'alert')).toThrow(
    'matches no alert in these files: none has name=y',
  )
  expect(selectDeclared([], conditions('name=y'), 'alert')).toEqual([])
})

it('an operation accepts only the fields that it knows, and only the values that a field can have', () => {
  const input = selectInput(['name', 'state'], { choices: { state: ['OK', 'ALERT'] } })
  expect(input.safeParse(['name~x', 'state=OK,ALERT']).success).toBe(true)
  for (const text of ['tag=x', 'state=ok', 'state=OK,NO']) expect(input.safeParse([text]).success, text).toBe(false)
})
