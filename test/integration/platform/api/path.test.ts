import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSegment, path, shortPath, under } from '../../../../src/platform/api/path.ts'
import { forEachEntry } from '../../../support/corpus.ts'

const uuid = '11111111-2222-4333-8444-555555555555'

describe('path', () => {
  it('takes uuids and object ids', () => {
    expect(path`/v1/organizations/${uuid}`).toBe(`/v1/organizations/${uuid}`)
    expect(path`/${'0123456789abcdef01234567'}`).toBe('/0123456789abcdef01234567')
  })

  it('S7: rejects everything that is not an id, before it gets into a path', () =>
    forEachEntry(
      [
        '../',
        '..%2f',
        '%2e%2e',
        '.\n./x',
        '.\t.',
        '.',
        '..',
        'a/b',
        'a\\b',
        'a?b',
        'a#b',
        '//evil/x',
        ';x',
        '',
        `${uuid}\n`,
        `${uuid} `,
        'a'.repeat(129),
        'a%2e',
        'a b',
        'a:b',
        'a@b',
        'é',
        `{${uuid}}`,
        `urn:uuid:${uuid}`,
      ],
      (id) => {
        expect(() => path`/alerts/${id}`).toThrow('is not an id')
      },
    ))

  it('never lets a value add a segment', () => {
    fc.assert(
      fc.property(fc.string(), (id) => {
        try {
          expect(path`/a/${id}/b`.split('/')).toHaveLength(4)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(TypeError)
        }
      }),
    )
  })
})

describe('under', () => {
  it('adds a configured segment', () => {
    expect(under(path`/v1`, 'observability')).toBe('/v1/observability')
  })

  it('rejects a name that is not one path segment', () =>
    forEachEntry(['..', '.', '', 'a/b', 'A', 'a.b', 'a%2fb', '-a', 'a b', 'a'.repeat(64)], (name) => {
      expect(isSegment(name)).toBe(false)
      expect(() => under(path`/v1`, name)).toThrow('is not a path segment')
    }))
})

describe('shortPath', () => {
  it.each([
    [`/v1/organizations/${uuid}/services/${uuid}/observability/alerts`, '…/services/11111111…/observability/alerts'],
    [`/v1/organizations/${uuid}/usageCost?from_date=2026-01-01`, '…/usageCost?from_date=2026-01-01'],
    [`/v1/organizations/${uuid}`, '/v1/organizations/11111111…'],
    ['/v1/organizations', '/v1/organizations'],
  ])('shortens %s for the log', (long, short) => {
    expect(shortPath(long)).toBe(short)
  })
})
