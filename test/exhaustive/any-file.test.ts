import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lint } from '../../src/declarations/lint.ts'
import { isOf } from '../../src/kinds/kinds.ts'
import { checkReferences } from '../../src/kinds/references.ts'
import { cpuMsOf } from '../support/clocks.ts'
import { forEachEntry, hostile, hostileYaml, maxMs } from '../support/corpus.ts'
import { allAbilities, fileWith, readText, readValue, written } from '../support/declarations.ts'

describe('any file of declarations', () => {
  /** The number of diagnostics, and those without a usable location or message. */
  const check = (value: unknown) => {
    const read = readValue(value, { X: '1' })
    const all = [...read.diagnostics, ...checkReferences(read, allAbilities), ...lint(read, {})]
    const odd = all.filter(({ location, rule, message }) => {
      const hasPlace = location.file === 'f.yml' && Number(location.line) >= 1 && Number(location.column) >= 1
      return !hasPlace || rule === '' || !/^(?!.*(?:\[object|undefined|NaN)).+$/s.test(message)
    })
    return { count: read.diagnostics.length + read.objects.length, odd }
  }

  /** What a message must not contain, unless the file itself contains it. */
  const words = /object|undefined|NaN/

  it('yields diagnostics or objects, and never an exception', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!words.test(JSON.stringify(value)) && JSON.stringify(value) !== '{}')
        const { count, odd } = check(value)
        expect(odd).toEqual([])
        expect(count).toBeGreaterThan(0)
      }),
      { numRuns: 100 },
    )
  })

  it('any file of declarations may have keys that every object inherits', () => {
    for (const name of ['toString', 'valueOf', 'toJSON', '__proto__', 'constructor'])
      for (const value of [{ [name]: [] }, { alerts: { a: { [name]: [], interval: { [name]: [] }, dashboard: { [name]: [] } } } }])
        expect(check(JSON.parse(JSON.stringify(value))).count).toBeGreaterThan(0)
    expect(check([{ toString: [] }]).odd).toEqual([])
  })

  it('any file of declarations may be any text', () => {
    const part = fc.constantFrom(
      'alerts',
      ': ',
      '\n',
      '  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '&a',
      '*a',
      '"',
      "'",
      '|',
      '>',
      '#',
      '!',
      '%',
      '?',
      'x',
      '1',
      written('‹env.X›'),
      '<<',
      '---',
      '\t',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        readText(parts.join(''), { X: '1' })
      }),
      { numRuns: 100 },
    )
  })

  it('any file of declarations may have objects with any fields', () => {
    const names = [
      'name',
      'tiles',
      'dashboard',
      'tile',
      'savedSearch',
      'threshold',
      'channel',
      'channels',
      'config',
      'raw',
      'sourceId',
      '__proto__',
    ]
    const section = fc.constantFrom('dashboard', 'savedSearch', 'alert')
    const object = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6, noNullPrototype: true })
    const objects = fc.dictionary(fc.constantFrom('a', 'b', 'alerts'), object, { minKeys: 1, noNullPrototype: true })
    fc.assert(
      fc.property(section, objects, object, (name, declared, defaults) => {
        fc.pre(!words.test(JSON.stringify([declared, defaults])))
        expect(check({ [name]: declared })).toMatchObject({ count: expect.any(Number), odd: [] })
        expect(check({ [name]: declared, defaults: { [name]: defaults } }).odd).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('any file of declarations may hold every hostile text of the corpus', () =>
    forEachEntry(
      // Larger texts take their time in the parser, which has a test of its own.
      hostileYaml.filter(({ text }) => text.length < 100_000),
      ({ text }) => expect(cpuMsOf(() => readText(text))).toBeLessThan(maxMs),
    ))

  it('keeps a hostile name unchanged', () =>
    forEachEntry(
      hostile.filter(({ value }) => value.length < 1024),
      ({ value }) => {
        const name = value.toWellFormed()
        const { objects, diagnostics } = readValue(fileWith({ alert: { message: `x${name}` }, tile: { name: `x${name}` } }))
        if (name.includes(written('‹').trim())) expect(diagnostics.map(({ rule }) => rule)).toContain('variable')
        else expect(objects.find(isOf('alert'))?.value.message).toBe(`x${name}`)
      },
    ))
})
