import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeExpressions, interpolate } from '../../../../src/platform/documents/expressions.ts'
import { written } from '../../../support/declarations.ts'

const variables: ReadonlyMap<string, string> = new Map([
  ['STAGE', 'test'],
  ['LIMIT', '5'],
  ['HALF', '0.5'],
  ['LONG', '123456789.123456789'],
  ['CODE', '007'],
  ['ON', 'true'],
  ['EMPTY', ''],
  ['DATABASE', 'postgres://shop:pa55@db.example.com/shop'],
  ['NESTED', written('‹env.STAGE›')],
])

const fill = (value: unknown, isText = false) =>
  interpolate(value, { variable: (name) => variables.get(name), isText: () => isText, room: { characters: 1000 } })

describe('an expression', () => {
  it.each([
    ['‹env.STAGE›', 'test'],
    ['a ‹env.STAGE› b ‹env.LIMIT›', 'a test b 5'],
    ['‹env.STAGE›‹env.STAGE›', 'testtest'],
    ['‹  env.STAGE\n›', 'test'],
    ['‹env.EMPTY›', ''],
    ['{{ env.STAGE }} $ { }', '{{ env.STAGE }} $ { }'],
  ])('an expression is replaced: %j', (text, filled) => {
    expect(fill({ a: [written(text)] })).toEqual({ value: { a: [filled] }, errors: [] })
  })

  it.each([
    ['‹env.LIMIT›', 5],
    ['‹env.HALF›', 0.5],
    ['‹env.ON›', true],
    ['‹env.LONG›', '123456789.123456789'],
    ['‹env.CODE›', '007'],
    ['5‹env.LIMIT›', '55'],
    ['‹env.LIMIT›‹env.LIMIT›', '55'],
    [' ‹env.LIMIT›', ' 5'],
  ])('an expression may become a number or a boolean where it is the whole text: %j', (text, filled) => {
    expect(fill(written(text)).value).toBe(filled)
  })

  it('R7: an expression is an error when its value is longer than 48 KiB', () => {
    const insert = (length: number) =>
      interpolate(written('‹env.A›'), { variable: () => 'x'.repeat(length), room: { characters: 1e6 } }).errors.map(
        ({ message }) => message,
      )
    expect([insert(48 * 1024), insert(48 * 1024 + 1)]).toEqual([[], [written('‹env.A› is longer than 48 KiB')]])
  })

  it('an expression stays a text in a text field', () => {
    expect(fill(written('‹env.LIMIT›'), true).value).toBe('5')
  })

  it('an expression that is a quoted start of an expression is that text', () => {
    const start = `$${'{{'}`
    const literal = written(`‹'${start}'›`)
    expect(fill({ a: `${literal} ServiceName }}` })).toEqual({ value: { a: `${start} ServiceName }}` }, errors: [] })
    expect(fill(`${literal}${literal}`).value).toBe(`${start}${start}`)
    expect(fill(written(`‹env.STAGE›${literal}‹env.STAGE›`)).value).toBe(`test${start}test`)
  })

  it('an expression in any text is read back as it was after it was escaped', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('$', '{', '}', "'", ' ', 'env.STAGE', written('‹'), written("‹'$"), written('›')), { maxLength: 12 }),
        (parts) => {
          const text = parts.join('')
          expect(fill({ a: escapeExpressions(text) }, true)).toEqual({ value: { a: text }, errors: [] })
        },
      ),
    )
  })

  it('an expression is an error where the values of all expressions are longer than the files may be', () => {
    const inRoom = (characters: number) =>
      interpolate([written('‹env.STAGE›'), written('‹env.STAGE›')], { variable: (name) => variables.get(name), room: { characters } })
    expect(inRoom(8)).toEqual({ value: ['test', 'test'], errors: [] })
    expect(inRoom(7).errors).toMatchObject([
      { path: [1], message: expect.stringMatching(/^the values of expressions make the files larger/) },
    ])
  })

  it('an expression is replaced once: expressions in the value of a variable are not', () => {
    expect(fill(written('‹env.NESTED›'))).toEqual({ value: written('‹env.STAGE›'), errors: [] })
  })

  it.each([
    ['‹env.MISSING›', '‹env.MISSING› is not set; set WATCHKEEPER_VAR_MISSING'],
    ['‹env.WATCHKEEPER_VAR_STAGE›', '‹env.WATCHKEEPER_VAR_STAGE› has the prefix of the variable; write ‹env.STAGE›'],
    ['a ‹env.DATABASE› b', '‹env.DATABASE› looks like a URL with a user or password, which is never inserted into a file'],
    [
      '‹secrets.X›',
      '‹secrets.X› is not supported; files contain no secrets. A webhook names a variable of the process, such as urlFrom: WEBHOOK_ONCALL_URL',
    ],
    ['‹›', '‹› is not supported; use ‹env.NAME›'],
    ['x ‹env.STAGE', '‹env.STAGE is not closed'],
    ["‹env['STAGE']›", "‹env['STAGE']› is not supported; use ‹env.NAME›"],
    ['‹env.A || env.B›', '‹env.A || env.B› is not supported; use ‹env.NAME›'],
  ])('an expression is an error with its path when it cannot be replaced: %s', (text, message) => {
    expect(fill({ a: [written(text)] })).toEqual({
      value: { a: [written(text)] },
      errors: [{ path: ['a', 0], message: written(message) }],
    })
  })

  it('asks for the name of a variable, and for no value of it, where a field such as urlFrom has an expression without a value', () => {
    const { errors } = fill({ urlFrom: written('‹env.SLACK_URL›'), headersFrom: { A: written('‹env.TOKEN›') } })
    const advice = 'A webhook names a variable of the process, such as urlFrom: WEBHOOK_ONCALL_URL'
    expect(errors).toEqual([
      { path: ['urlFrom'], message: written(`‹env.SLACK_URL› is not set. ${advice}`) },
      { path: ['headersFrom', 'A'], message: written(`‹env.TOKEN› may hold a credential, which is never inserted into a file. ${advice}`) },
    ])
    expect(fill({ urlFrom: written('‹env.STAGE›') }).errors).toEqual([])
  })

  it.each([
    'WATCHKEEPER_API_KEY_SECRET',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'INPUT_API_KEY_SECRET',
    'ACTIONS_RUNTIME_TOKEN',
    'ACTIONS_ID_TOKEN_REQUEST_URL',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_ACCESS_KEY_ID',
    'DB_PASSWORD',
    'NPM_TOKEN',
    'https_proxy',
    'SLACK_API_KEY',
    'MY_PAT',
    'clientSecret',
    'DATABASE_URL',
  ])('S9: never reads a variable that may hold a credential: %s', (name) => {
    const asked: string[] = []
    const variable = (one: string): string => {
      asked.push(one)
      return 'the-secret'
    }
    const { errors } = interpolate(written(`‹env.${name}›`), { variable, room: { characters: 1000 } })
    expect(errors.map(({ message }) => message)).toEqual([
      written(`‹env.${name}› may hold a credential, which is never inserted into a file`),
    ])
    expect(asked).toEqual([])
  })
})

it('does not change a value without an expression', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!JSON.stringify(value).includes(written('‹').trim()))
      expect(fill(value)).toEqual({ value, errors: [] })
    }),
  )
})

it('replaces expressions in values, never in keys', () => {
  const key = written('‹env.STAGE›')
  expect(fill({ [key]: 1 }).value).toEqual({ [key]: 1 })
})
