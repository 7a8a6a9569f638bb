import { describe, expect, it } from 'vitest'
import { errorMessageOf, requestIdOf, unwrap, unwrapList } from '../../../src/api/wire.ts'

describe('unwrap', () => {
  it.each([
    [
      { status: 200, requestId: 'r', result: { a: 1 } },
      { payload: { a: 1 }, prefix: 'result' },
    ],
    [{ result: null }, { payload: null, prefix: 'result' }],
    [{ data: { a: 1 } }, { payload: { a: 1 }, prefix: 'data' }],
    [{ a: 1 }, { payload: { a: 1 }, prefix: '' }],
    [[1], { payload: [1], prefix: '' }],
    [null, { payload: null, prefix: '' }],
  ])('%j', (json, unwrapped) => {
    expect(unwrap(json)).toEqual(unwrapped)
  })
})

it.each([
  [[1], '', [1]],
  [{ data: [1] }, 'data', [1]],
  [{ status: 200, result: [1] }, 'result', [1]],
  [{ status: 200, result: { data: [1] } }, 'result.data', [1]],
])('finds the list in %j', (json, prefix, payload) => {
  expect(unwrapList(json)).toEqual({ payload, prefix })
})

it.each([
  [{ requestId: 'abc-1' }, undefined, 'abc-1'],
  [{ requestId: 'a b' }, 'header-1', 'header-1'],
  [{}, '::error::x', undefined],
  [undefined, undefined, undefined],
])('takes the request id of %j and header %s', (json, header, id) => {
  expect(requestIdOf(json, header)).toBe(id)
})

it.each([
  [{ status: 400, error: 'BAD_REQUEST: x' }, 'BAD_REQUEST: x'],
  [{ message: 'x' }, 'x'],
  [{ error: { message: 'x' } }, 'x'],
  [{ error: ' ' }, undefined],
  ['x', undefined],
])('finds the words of %j', (json, words) => {
  expect(errorMessageOf(json)).toBe(words)
})
