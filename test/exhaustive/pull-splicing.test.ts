import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { isMapping } from '../../src/core/keys.ts'
import { type Edit, editFile } from '../../src/sync/pull/edit-yaml.ts'
import { parsed } from '../support/edits.ts'

type Fields = Readonly<Record<string, unknown>>

const scalar = fc.oneof(
  fc.constantFrom<unknown>(1, 2.5, true, 'a', '404', 'x: y', '# no', 'one\ntwo', ' lead', 'yes', '- x', '{', "it's"),
  fc.string({ maxLength: 6 }),
)
const field = fc.constantFrom('name', 'x', 'y', 'config', 'tags', 'tiles', 'raw')
const { any } = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.dictionary(field, tie('any'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(tie('any'), { maxLength: 4 }),
  ),
}))
const object = fc.dictionary(field, any, { minKeys: 1, maxKeys: 5, noNullPrototype: true })

/** Items and fields that go, come, change places and change. */
function mutate(value: unknown, other: unknown, next: () => number): unknown {
  const choice = next()
  if (choice < 4) return value
  const kept = <T>(all: readonly T[]): T[] => all.filter(() => next() > 1)
  if (Array.isArray(value) && choice < 8) {
    const items = [...kept(value).map((item: unknown) => mutate(item, other, next)), ...(next() > 5 ? [other] : [])]
    return next() > 6 ? items.toReversed() : items
  }
  if (isMapping(value) && choice < 9) {
    const fields = kept(Object.entries(value)).map(([name, item]) => [name, mutate(item, other, next)] as const)
    return Object.fromEntries([...fields, ...(next() > 5 ? [['extra', other] as const] : [])])
  }
  return other
}

const style = fc.record({
  indent: fc.constantFrom(2, 3, 4),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom('any' as const, 'flow' as const),
  defaultStringType: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const),
})

it('F2: splices any change of some objects into a file, and keeps every byte of the others', () => {
  const keys = ['a', 'b', 'c', 'd'] as const
  const objects = fc.record({ a: object, b: object, c: object, d: object })
  fc.assert(
    fc.property(objects, any, style, fc.array(fc.nat(9), { minLength: 30 }), (before, other, how, choices) => {
      let at = 0
      const next = (): number => choices[at++ % choices.length] ?? 0
      const texts = keys.map((key) => {
        const text = stringify({ [key]: before[key] }, { ...how, lineWidth: 0, defaultKeyType: 'PLAIN', aliasDuplicateObjects: false })
        const lines = (how.collectionStyle === 'flow' ? text.trim().slice(1, -1).trim() : text.trimEnd()).split('\n')
        return `  # about ${key}\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}`
      })
      const text = `alerts:\n${texts.join('\n\n')}\n# the end\n`
      const changed = keys.map((key) => {
        const after = next() < 3 ? undefined : mutate(before[key], other, next)
        return isMapping(after) && Object.keys(after).length > 0 ? { key, before: before[key], after } : { key, before: before[key] }
      })
      const edits = changed.filter(() => next() > 3)
      const edited = editFile({ path: 'a.yml', text, defaults: {}, edits: edits.map((one): Edit => ({ kind: 'alert', ...one })) }).text
      const others = keys.filter((key) => !edits.some((one) => one.key === key))
      const left: Fields = {
        ...Object.fromEntries(others.map((key) => [key, before[key]])),
        ...Object.fromEntries(edits.flatMap(({ key, after }) => (after === undefined ? [] : [[key, after]]))),
      }
      expect(parsed(edited)).toEqual(Object.keys(left).length === 0 ? {} : { alerts: left })
      for (const key of others) expect(edited).toContain(texts[keys.indexOf(key)])
    }),
    { numRuns: 300 },
  )
})
