import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalText,
  digestOf,
  isMarkerTag,
  keepTextMarkers,
  readTagMarker,
  readTextMarker,
  repositoryDigest,
  tagMarkers,
  tagStyle,
  textStyle,
  toMarkerTags,
  withoutTextMarker,
  withQueryTile,
  withTextMarker,
} from '../../../src/kinds/marker.ts'
import { cpuRatio, tenfold } from '../../support/clocks.ts'
import { anyCodePoint, forEachEntry, hostile } from '../../support/corpus.ts'

const mark = { project: 'shop/observability', key: 'checkout-errors', digest: '0a1b2c' }
const line = 'watchkeeper: shop/observability checkout-errors 0a1b2c'

const found = (text: string) => {
  const mine = readTextMarker(text)
  return mine && [mine.project, mine.key, mine.digest]
}

describe('a mark in a text', () => {
  it.each([
    ['is the whole of an empty one', '', line],
    ['is the last line of one that says something', 'Look', `Look\n\n${line}`],
    ['takes the place of an older one', `Look\n\nwatchkeeper: shop/observability checkout-errors ffffff`, `Look\n\n${line}`],
    ['takes the place of a line that somebody copied from elsewhere', 'Look\n\nwatchkeeper: other/project key ffffff\n', `Look\n\n${line}`],
  ])('%s', (_what, text, marked) => {
    expect(withTextMarker(text, mark)).toBe(marked)
  })

  it.each([
    ['at the end', `Look\n\n${line}`],
    ['alone', line],
    ['before white space', `Look\n\n${line}  \n\n`],
    ['with line ends of Windows', `Look\r\n\r\n${line}\r\n`],
    ['indented', `Look\n  ${line}`],
    ['before what somebody wrote below it', `Look\n\n${line}\nAsk Kim first.`],
    ['between what somebody wrote around it', `Look\n${line}\nAsk Kim first.\n`],
    ['behind other words on its line', `see ${line}`],
    ['right behind a word', `see${line}`],
    ['before other words on its line', `${line} and more`],
    ['right before a word', `${line}see`],
    ['quoted', `> ${line}`],
    ['in a list', `- ${line}`],
    ['as code', `\`${line}\``],
    ['on a line of its own above a line that mentions another', `Look\n\n${line}\nreplaces watchkeeper: shop/observability old 0a1b2d`],
  ])('a mark in a text is found %s', (_where, text) => {
    expect(found(text)).toEqual(['shop/observability', 'checkout-errors', '0a1b2c'])
  })

  it.each([
    ['cut', line.slice(0, -1)],
    ['without a digest', 'watchkeeper: shop/observability checkout-errors'],
    ['with a digest in capitals', line.replace('0a1b2c', '0A1B2C')],
    ['of another tool', line.replace('watchkeeper', 'keeper')],
    ['with two spaces', line.replace(' ', '  ')],
  ])('a mark in a text is none %s', (_what, text) => {
    expect(readTextMarker(text)).toBeUndefined()
    expect(withoutTextMarker(text)).toBe(text)
  })

  it('a mark in a text takes nothing but its own line along when it is taken out', () => {
    expect(withoutTextMarker(`One\n\n${line}\nTwo\n`)).toBe('One\n\nTwo\n')
    expect(withoutTextMarker(`One\n\n${line}`)).toBe('One')
    expect(withoutTextMarker(line)).toBe('')
    expect(withoutTextMarker(`One\n\n\n${line}`)).toBe('One\n')
    expect(withoutTextMarker(`One\r\n\r\n${line}\r\n`)).toBe('One')
  })

  it.each([
    ['behind other words', `One\n\nTwo ${line}`, 'One\n\nTwo'],
    ['behind other words, above others', `One\nTwo ${line}\nThree`, 'One\nTwo\nThree'],
    ['before other words', `One\n\n${line} Two`, 'One\n\nTwo'],
    ['between other words', `One\n\nTwo ${line} three\nFour`, 'One\n\nTwo three\nFour'],
    ['between letters', `One${line}Two`, 'OneTwo'],
    ['in a list', `- One\n- ${line}`, '- One\n-'],
    ['with line ends of Windows', `One\r\nTwo ${line}\r\n`, 'One\r\nTwo'],
  ])('leaves the text of its line when it is taken out: %s', (_where, text, rest) => {
    expect(withoutTextMarker(text)).toBe(rest)
    expect(withTextMarker(text, mark)).toBe(`${rest}\n\n${line}`)
    expect(keepTextMarkers('New', text)).toBe(`New\n\n${line}`)
  })

  it('a mark in a text is the last one where there are several: the others are text', () => {
    const other = 'watchkeeper: other/project key ffffff'
    expect(found(`${other}\n\nText\n\n${line}`)).toEqual(['shop/observability', 'checkout-errors', '0a1b2c'])
    expect(withoutTextMarker(`${other}\n\nText\n\n${line}`)).toBe(`${other}\n\nText`)
  })

  it.each([undefined, null, 5, {}, []])('a mark in a text is none in %j', (value) => {
    expect(readTextMarker(value)).toBeUndefined()
  })

  it('keeps the base of its mark with a new text, and drops the line of an earlier version', () => {
    const old = 'watchkeeper-snapshot: 1 0123456789abcdef0123'
    expect(withoutTextMarker(`Look\n\n${line}\n${old}`)).toBe('Look')
    expect(keepTextMarkers('New', `Look\n\n${line} wkb:2.0123456789`)).toBe(`New\n\n${line} wkb:2.0123456789`)
    expect(readTextMarker(`${line} wkb:2.0123456789`)?.base).toBe('2.0123456789')
    expect(readTextMarker(`${line} wkb:2.nonsense`)?.base).toBeUndefined()
  })

  it('a mark in a text comes back from any text, and leaves the text as it was', () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCodePoint, maxLength: 200 }),
      fc.constantFrom(...hostile.map(({ value }) => value.slice(0, 500))),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const marked = withTextMarker(text, mark)
        expect(found(marked)).toEqual(['shop/observability', 'checkout-errors', '0a1b2c'])
        expect(withoutTextMarker(marked)).toBe(withoutTextMarker(text))
      }),
    )
  })

  it('fits into a note of the API with the longest text, project and key that files may have', () => {
    const longest = { project: `p${'x'.repeat(99)}`, key: 'k'.repeat(63), digest: '0a1b2c' }
    const marked = withTextMarker('x'.repeat(3900), longest)
    expect(marked.length).toBeLessThanOrEqual(4096)
    expect(found(marked)).toEqual([longest.project, longest.key, '0a1b2c'])
  })

  it('a marker in a text is found in time that grows with the text, whatever it is made of', { tags: 'slow' }, () =>
    forEachEntry(
      ['\n', ' ', '\n     watchkeeper:', 'watchkeeper:', 'watchkeeper: a/b', 'watchkeeper: a/b c 000000 ', 'watchkeeper: a/b c 000000\n'],
      async (part) => {
        const [long, short] = [part.repeat(5000), part.repeat(500)]
        expect(
          await cpuRatio(
            () => readTextMarker(long),
            () => readTextMarker(short),
          ),
        ).toBeLessThanOrEqual(tenfold)
      },
    ),
  )
})

describe('a mark in tags', () => {
  it.each(['a', 'checkout', 'fifteen-letters', 'a-key-of-sixteen', 'k'.repeat(63), 'a.b_c-d'])(
    'a mark in tags of the key %s fits into 32 characters',
    (key) => {
      const [tag = ''] = toMarkerTags({ ...mark, key })
      expect(tag.length).toBeLessThanOrEqual(32)
      expect(isMarkerTag(tag)).toBe(true)
      expect(readTagMarker(['shop', tag])).toMatchObject({ token: tagStyle.token(mark.project, key), digest: '0a1b2c' })
    },
  )

  it('tells its key where it is short enough to stand there', () => {
    expect(readTagMarker(toMarkerTags({ ...mark, key: 'fifteen-letters' }))?.key).toBe('fifteen-letters')
    expect(readTagMarker(toMarkerTags({ ...mark, key: 'a-key-of-sixteen' }))?.key).toBeUndefined()
  })

  it('a mark in tags is another for another key or project, however alike they are', () => {
    const keys = ['a-key-that-is-long-1', 'a-key-that-is-long-2', 'a-key-that-is-l', 'a-key-that-is-lo']
    const tokens = ['one/repo', 'two/repo'].flatMap((project) => keys.map((key) => tagStyle.token(project, key)))
    expect(new Set(tokens).size).toBe(8)
  })

  it.each([
    'wk:',
    'wk:0a1b2c:checkout',
    'wk:0a1b2c:checkout:0a1b2',
    'WK:0a1b2c:checkout:0a1b2c',
    'xwk:0a1b2c:checkout:0a1b2c',
    'wk:0a1b2c:Checkout:0a1b2c',
    'wk:0a1b2c:checkout:0a1b2c ',
    5,
    null,
  ])('a mark in tags is none in %j', (tag) => {
    expect(isMarkerTag(tag)).toBe(false)
    expect(readTagMarker([tag])).toBeUndefined()
  })
})

it('two styles never mistake one project for another', () => {
  expect(textStyle.token('a/b', 'c')).not.toBe(textStyle.token('a', 'b/c'))
  expect(textStyle.projectToken('a/b')).toBe('a/b')
})

describe('a digest', () => {
  it('a digest is the same however the keys are ordered, at any depth', () => {
    const [one, other] = [
      { b: [{ d: 1, c: 2 }], a: null },
      { a: null, b: [{ c: 2, d: 1 }] },
    ]
    expect(canonicalText(one)).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
    expect(digestOf(one)).toBe(digestOf(other))
  })

  it('a digest is another one for another value', () => {
    const values = [
      {},
      { a: 1 },
      { a: '1' },
      { a: [1] },
      { a: { 0: 1 } },
      { a: [1, 2] },
      { a: [2, 1] },
      { b: 1 },
      { a: JSON.rawJSON('1e400') },
    ]
    expect(new Set(values.map(digestOf)).size).toBe(values.length)
    expect(canonicalText({ a: JSON.rawJSON('1e400') })).toBe('{"a":1e400}')
  })
})

it.each([undefined, null, 5, {}, [], ['wk:nope'], [5], 'wk:0a1b2c:key:0a1b2c'])('finds no mark in %j', (value) => {
  expect(readTagMarker(value)).toBeUndefined()
  expect(readTextMarker(value)).toBeUndefined()
})

it.each([undefined, null, 5, 'x'])('finds no mark in the tag %j', (value) => {
  expect(isMarkerTag(value)).toBe(false)
})

describe('the repository in a marker', () => {
  const repository = repositoryDigest('github.com/Shop/Infra')
  const withRepository = { ...mark, repository }

  it('the repository in a marker does not depend on upper and lower case, and has 10 hex digits', () => {
    expect(repository).toMatch(/^[0-9a-f]{10}$/)
    expect(repositoryDigest('GitHub.com/shop/infra')).toBe(repository)
    expect(repositoryDigest('github.com/shop/infra2')).not.toBe(repository)
  })

  it('the repository in a marker is read back from a text, and does not stay in the text without the marker', () => {
    const text = withTextMarker('Look at the logs.', withRepository)
    expect(text).toBe(`Look at the logs.\n\nwatchkeeper: ${mark.project} ${mark.key} ${mark.digest} wkr:${repository}`)
    expect(readTextMarker(text)).toMatchObject(withRepository)
    expect(withoutTextMarker(text)).toBe('Look at the logs.')
    expect(withTextMarker(text, mark)).toBe(`Look at the logs.\n\nwatchkeeper: ${mark.project} ${mark.key} ${mark.digest}`)
  })

  it('the repository in a marker is a tag of its own, which is not a tag of the object', () => {
    const { tags } = tagMarkers.withMarker({ tags: ['shop'] }, withRepository)
    expect(tags).toEqual(['shop', expect.stringMatching(/^wk:/), `wkr:${repository}`])
    expect(tagMarkers.readMarker({ tags })).toMatchObject({ digest: mark.digest, repository })
    expect(tagMarkers.withMarker({ tags }, mark).tags).toHaveLength(2)
    expect(tagMarkers.readMarker({ tags: [tags].flat().slice(0, 2) })?.repository).toBeUndefined()
  })

  it('a marker says whether the object was adopted, with and without a repository', () => {
    for (const isAdopted of [true, false])
      for (const given of [undefined, repository]) {
        const marker = { ...mark, repository: given, isAdopted }
        expect(readTextMarker(withTextMarker('Note', marker))).toMatchObject({ repository: given, isAdopted })
        const { tags } = tagMarkers.withMarker({ tags: ['shop'] }, marker)
        expect(tagMarkers.readMarker({ tags })).toMatchObject({ repository: given, isAdopted })
        expect(tagMarkers.withoutMarker({ tags }).tags).toEqual(['shop'])
      }
  })

  it('a marker in a text has the tile of a query once its id is known', () => {
    const waiting = withTextMarker('Note', { ...withRepository, queryTile: '-' })
    expect(readTextMarker(waiting)).toMatchObject({ ...withRepository, queryTile: undefined })
    const known = withQueryTile(waiting, '66f0c0ffee')
    expect(readTextMarker(known)).toMatchObject({ ...withRepository, queryTile: '66f0c0ffee' })
    expect(withQueryTile(known, 'another')).toBe(known)
    expect(withoutTextMarker(known)).toBe('Note')
  })

  it('the id of a tile goes into the marker, and not into a line of the text that looks like one', () => {
    const words = 'Look\nwatchkeeper: foo wkq:-\nwatchkeeper: a b wkq:-'
    const known = withQueryTile(withTextMarker(words, { ...mark, queryTile: '-' }), 'tile$&')
    expect(known).toBe(`${words}\n\n${line} wkq:tile$&`)
    expect(withQueryTile(words, 'tile')).toBe(words)
  })

  it('the repository in a marker may have parts beside it that this version does not know', () => {
    const text = `watchkeeper: ${mark.project} ${mark.key} ${mark.digest} wkx:ab/c=.1 wkr:${repository}`
    expect(readTextMarker(text)).toMatchObject(withRepository)
    expect(withoutTextMarker(text)).toBe('')
  })
})
