import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { isDay } from '../../../src/platform/core/dates.ts'
import { InputError } from '../../../src/platform/core/errors.ts'
import { toCamel } from '../../../src/platform/core/names.ts'
import { readInput } from '../../../src/runtime/read-input.ts'
import { decode } from '../../../src/runtime/settings.ts'
import { workspaceFiles } from '../../../src/runtime/workspace.ts'
import { anyCodePoint, forEachEntry } from '../../support/corpus.ts'
import { inputsFor } from '../../support/emulator.ts'

const readCorpus = <T extends { readonly value: string }>(name: string): readonly (T & { readonly id: string })[] => {
  const entries = JSON.parse(readFileSync(new URL(`../../corpus/${name}.json`, import.meta.url), 'utf8')) as T[]
  return entries.map((entry) => ({ ...entry, id: JSON.stringify(entry.value) }))
}

// An empty text means not given.
const numbers = readCorpus<{ value: string; isAmount: boolean; isInteger: boolean }>('numbers').filter(({ value }) => value.trim() !== '')
const dates = readCorpus<{ value: string; isDay: boolean }>('dates')

/** Whether the one problem is the input. */
async function isRejected(input: string, value: string): Promise<boolean> {
  const given = { ...inputsFor({ url: 'https://api.example' }), period: 'today', [input]: value.trim() }
  const inputs = Object.fromEntries(Object.entries(given).map(([name, text]) => [toCamel(name), text]))
  const request = { operation: 'usage-cost', inputs, areText: true, env: {}, readConfigFile: async () => undefined }
  try {
    await readInput(request, workspaceFiles('/', {}))
    return false
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown
    return thrown.message.startsWith(`${input}: `) && !thrown.message.includes('\n')
  }
}

it('accepts an amount only in plain decimals', () =>
  forEachEntry(numbers, async ({ value, isAmount }) => {
    expect(await isRejected('budget', value)).toBe(!isAmount)
  }))

it('accepts only integers for a whole number', () =>
  forEachEntry(numbers, async ({ value, isInteger }) => {
    expect(await isRejected('timeout-seconds', value)).toBe(!isInteger || value === '0')
  }))

describe('a day', () => {
  it('a day is a date of the calendar', () =>
    forEachEntry(dates, ({ value, isDay: expected }) => {
      expect(isDay(value)).toBe(expected)
    }))

  it('rejects every other input', () =>
    forEachEntry(
      dates.filter((date) => !date.isDay),
      async ({ value }) => {
        expect(await isRejected('period', `${value}..2026-01-31`)).toBe(true)
      },
    ))

  it('a day is what a calendar without any library says', () => {
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
  const anyText = fc.oneof(
    fc.string(),
    fc.string({ unit: anyCodePoint }),
    fc.stringMatching(/^[-+.eE0-9x_,]{1,20}$/),
    fc.double().map(String),
  )

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
