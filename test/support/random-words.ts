// Words and fields made at random: what people call things, and what wants care of whoever writes it down.
import fc from 'fast-check'
import { hasExpression } from '../../src/sync/pull/render.ts'

/** Names that want something of whoever writes them down. */
export const awkwardNames = [
  'Errors',
  'Errors ',
  'errors',
  'Überlast',
  '障害',
  'a: b',
  '# not a comment',
  '- item',
  'yes',
  '404',
  '1e3',
  'null',
  'it\'s "quoted"',
  '{ a: 1 }',
  '[x](y)',
  '*alias',
  '&anchor',
  '!tag',
  '%directive',
  '::error::x',
  'two\nlines',
  'tab\there',
  'bell\u0007',
  '\u202egnp.exe',
  'con',
  '../../etc/passwd',
  'a'.repeat(200),
  '---',
  '<<',
] as const

export const name = fc.constantFrom(...awkwardNames)

export const text = fc.oneof(
  name,
  fc.constantFrom(
    'level:error',
    "ServiceName:'x' AND y",
    'count() DESC',
    'Look\n\n1. first\n2. second\n',
    ' leading',
    'trailing \nline',
    '\n\nx\n\n',
  ),
  // What no file can say has tests of its own: a pull leaves such an object out.
  fc.string({ maxLength: 30 }).filter((one) => !hasExpression(one)),
)

export const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

/** Without what is undefined, as JSON has it. */
export const made = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields).map((value) => Object.fromEntries(Object.entries(value as object).filter(([, item]) => item !== undefined)) as T)

/** What this tool has never heard of, now and then. */
export const novel = fc.option(fc.constantFrom<unknown>('x', 1, true, { deep: [1, { a: null }] }), { nil: undefined, freq: 6 })

export const never = fc.constant(undefined)

export const flag = some(fc.boolean())
