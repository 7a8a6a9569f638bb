import { describe, expect, it } from 'vitest'
import { errorMessageOf, requestIdOf, unwrap, unwrapList } from '../../../../src/platform/api/wire.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('unwrap', () => {
  it('unwraps an answer with or without an envelope', () =>
    forEachEntry(
      [
        [
          { status: 200, requestId: 'r', result: { a: 1 } },
          { payload: { a: 1 }, prefix: 'result' },
        ],
        [{ result: null }, { payload: null, prefix: 'result' }],
        [{ data: { a: 1 } }, { payload: { a: 1 }, prefix: 'data' }],
        [{ a: 1 }, { payload: { a: 1 }, prefix: '' }],
        [[1], { payload: [1], prefix: '' }],
        [null, { payload: null, prefix: '' }],
      ],
      (json, unwrapped) => {
        expect(unwrap(json)).toEqual(unwrapped)
      },
    ))
})

it('finds the list wherever an answer holds it', () =>
  forEachEntry(
    [
      [[1], '', [1]],
      [{ data: [1] }, 'data', [1]],
      [{ status: 200, result: [1] }, 'result', [1]],
      [{ status: 200, result: { data: [1] } }, 'result.data', [1]],
    ],
    (json, prefix, payload) => {
      expect(unwrapList(json)).toEqual({ payload, prefix })
    },
  ))

it('takes the request id from the answer, then from the header', () =>
  forEachEntry(
    [
      [{ requestId: 'abc-1' }, undefined, 'abc-1'],
      [{ requestId: 'a b' }, 'header-1', 'header-1'],
      [{}, '::error::x', undefined],
      [undefined, undefined, undefined],
    ],
    (json, header, id) => {
      expect(requestIdOf(json, header)).toBe(id)
    },
  ))

it('finds the error message in every known shape of an answer', () =>
  forEachEntry(
    [
      [{ status: 400, error: 'BAD_REQUEST: x' }, 'BAD_REQUEST: x'],
      [{ message: 'x' }, 'x'],
      [{ error: { message: 'x' } }, 'x'],
      [{ error: ' ' }, undefined],
      ['x', undefined],
    ],
    (json, words) => {
      expect(errorMessageOf(json)).toBe(words)
    },
  ))
