// Numbers, days and words as people write them: a text is what it plainly says, or it is refused. Nothing is coerced.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { isDay } from '../../../src/core/dates.ts'
import { decode } from '../../../src/runtime/decode.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator()

const corpus = <T>(name: string): readonly T[] =>
  JSON.parse(readFileSync(new URL(`../../corpus/${name}.json`, import.meta.url), 'utf8')) as T[]

const numbers = corpus<{ value: string; why: string; isAmount: boolean; isInteger: boolean }>('numbers')
const dates = corpus<{ value: string; isDay: boolean }>('dates')

/** Whether the input is among those that are complained about. */
async function isRefused(input: string, value: string, more: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const ran = await invokeText({
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'today', 'on-missing': 'ignore', ...more, [input]: value },
  })
  const complaints = ran.reason.split('\n').filter((line) => line.replace(/^- /, '').startsWith(`${input}: `))
  return ran.document.error?.kind === 'input' && complaints.length === 1
}

describe('a budget', () => {
  it.each(numbers.filter(({ value }) => value.trim() !== ''))('of $value ($why) is one: $isAmount', async ({ value, isAmount }) => {
    expect(await isRefused('budget', value)).toBe(!isAmount)
  })
})

describe('a whole number', () => {
  it.each(numbers.filter(({ value }) => value.trim() !== ''))('of $value ($why) is one: $isInteger', async ({ value, isInteger }) => {
    expect(await isRefused('timeout-seconds', value)).toBe(!isInteger || value === '0')
  })
})

describe('a day', () => {
  it.each(dates)('$value is one: $isDay', ({ value, isDay: expected }) => {
    expect(isDay(value)).toBe(expected)
  })

  it.each(dates.filter(({ isDay: is }) => !is))('$value is refused by the input', async ({ value }) => {
    expect(await isRefused('from-date', value, { period: '', 'to-date': '2026-01-31' })).toBe(true)
  })

  it('is what a calendar without any library says', () => {
    const part = (most: number, width: number) => fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(width, '0'))
    fc.assert(
      fc.property(part(9999, 4), part(13, 2), part(32, 2), (year, month, date) => {
        const text = `${year}-${month}-${date}`
        const instant = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)))
        expect(isDay(text)).toBe(Number(year) >= 2000 && instant.toISOString().startsWith(text))
      }),
    )
  })
})

describe('decode', () => {
  const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[-+.eE0-9x_,]{1,20}$/), fc.double().map(String))

  it('takes for a number what JSON takes for one, and gives no other', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const value = decode(z.number(), text)
        expect(typeof value === 'number' ? Number.isFinite(value) : value).toBe(typeof value === 'number' ? true : text)
        if (typeof value === 'number') expect(JSON.parse(text)).toBe(value)
      }),
    )
  })

  it('takes six words for true and false, and gives no other', () => {
    const words = fc.constantFrom(
      'true',
      'True',
      'TRUE',
      'false',
      'False',
      'FALSE',
      'yes',
      'no',
      'on',
      'off',
      '0',
      '1',
      'tRUE',
      'y',
      ' true',
    )
    fc.assert(
      fc.property(fc.oneof(anyText, words), (text) => {
        const value = decode(z.boolean(), text)
        expect(value).toBe(/^(?:true|True|TRUE)$/.test(text) ? true : /^(?:false|False|FALSE)$/.test(text) ? false : text)
      }),
    )
  })

  it('takes every line that holds something for an item', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (items) => {
        const value = decode(z.array(z.string()), items.join('\n')) as readonly string[]
        expect(value).toEqual(
          items
            .flatMap((item) => item.split('\n'))
            .map((item) => item.trim())
            .filter((item) => item !== ''),
        )
      }),
    )
  })

  it('leaves text as it is', () => {
    fc.assert(fc.property(anyText, (text) => void expect(decode(z.string().optional(), text)).toBe(text)))
  })
})
