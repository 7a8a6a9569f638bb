import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  elementOf,
  fieldOf,
  formOf,
  isInForm,
  isText,
  knownKeys,
  nearestOption,
  ownValue,
  schemaAt,
  valueAt,
} from '../../../../src/platform/documents/schema.ts'

const line = z.strictObject({ type: z.literal('line'), width: z.number() })
const pie = z.strictObject({ type: z.literal('pie'), slices: z.array(z.strictObject({ label: z.string() })) })
const rawLine = z.strictObject({ type: z.literal('line'), config: z.literal('sql'), text: z.string() })
const plain = z.strictObject({ type: z.literal('plain').optional(), text: z.string() })

describe('the form of a value', () => {
  const chart = z.union([line, z.union([pie, rawLine])])

  it.each([
    ['the one whose fixed word it has', { type: 'pie' }, pie],
    ['the one that it shares most fixed words with', { type: 'line', config: 'sql' }, rawLine],
    ['the first of those that fit as well', { type: 'line' }, line],
    ['none, with a word that none has', { type: 'bar' }, undefined],
    ['none, without a word', {}, undefined],
    ['none, where it is no map', 'line', undefined],
  ])('the form of a value is %s', (_, value, expected) => {
    expect(formOf(chart, value)).toBe(expected)
  })

  it('the form of a value may leave out an optional literal, but not contradict it', () => {
    expect(formOf(plain, {})).toBe(plain)
    expect(formOf(plain, { type: 'plain' })).toBe(plain)
    expect(formOf(plain, { type: 'line' })).toBeUndefined()
  })

  it('the form of a value is found inside wrappers', () => {
    expect(formOf(line.nullable().optional(), { type: 'line' })).toBe(line)
    expect(formOf(line.default({ type: 'line', width: 1 }), { type: 'line' })).toBe(line)
    expect(formOf(z.string(), { type: 'line' })).toBeUndefined()
    expect(formOf(undefined, { type: 'line' })).toBeUndefined()
  })

  it('knows its own fields, and none that every object inherits', () => {
    expect(isInForm(line, 'width')).toBe(true)
    expect(['toString', 'height'].map((key) => isInForm(line, key))).toEqual([false, false])
    expect(fieldOf(line, 'width')).toBe(line.shape.width)
    expect(fieldOf(line, 'toString')).toBeUndefined()
  })

  it('the form of a value of an item comes from its list', () => {
    expect(elementOf(z.array(line).nullable().optional())).toBe(line)
    expect(elementOf(line)).toBeUndefined()
    expect(elementOf(undefined)).toBeUndefined()
  })
})

describe('the schema of a value inside', () => {
  const file = z.strictObject({
    charts: z.record(z.string(), z.union([line, pie])),
    title: z.string().meta({ accepts: 'a title' }).optional(),
    width: z.number().optional(),
  })
  const value = { charts: { a: { type: 'pie', slices: [{ label: 'x' }] }, b: { type: 'line', width: 1 } }, title: 't' }

  it.each([
    ['a field of the form that the value has', ['charts', 'b', 'width'], line.shape.width],
    ['a field of an item', ['charts', 'a', 'slices', 0, 'label'], pie.shape.slices.element.shape.label],
    ['what an item is', ['charts', 'a', 'slices', 5], pie.shape.slices.element],
    ['nothing for a name that is no place in a list', ['charts', 'a', 'slices', 'x'], undefined],
    ['nothing for a field of another form', ['charts', 'b', 'slices'], undefined],
    ['nothing for a field that there is not', ['charts', 'a', 'toString'], undefined],
    ['nothing inside of a plain value', ['width', 'x'], undefined],
    ['the field without what wraps it', ['width'], z.core.$ZodNumber],
  ])('the schema of a value inside is %s', (_, path, expected) => {
    const found = schemaAt(file, path, value)
    if (expected === z.core.$ZodNumber) expect(found).toBeInstanceOf(z.ZodNumber)
    else expect(found).toBe(expected)
  })

  it('keeps its description of what it accepts', () => {
    expect(schemaAt(file, ['title'], value)).toBe(file.shape.title)
    expect(schemaAt(file, [], value)).toBe(file)
  })

  it('the schema of a value inside is found by the value along the path', () => {
    expect(valueAt(value, ['charts', 'a', 'slices', 0, 'label'])).toBe('x')
    expect(valueAt(value, [])).toBe(value)
    expect(valueAt(value, ['charts', 'toString'])).toBeUndefined()
    expect(ownValue(undefined, 'a')).toBeUndefined()
    expect(ownValue(null, 'a')).toBeUndefined()
    expect(ownValue('text', 'length')).toBeUndefined()
  })
})

describe('the nearest form', () => {
  const union = z.union([line, pie, z.string()])

  it.each([
    ['has the fields that were written', { slices: [] }, pie],
    ['has the fixed word that was written, whatever else there is', { type: 'line', slices: [] }, line],
    ['is the one with fewer fields that it does not know', { width: 1, height: 1, depth: 1, type: 'line' }, line],
    ['is the first where nothing tells', {}, line],
  ])('%s', (_, value, expected) => {
    expect(nearestOption(union, value)).toBe(expected)
  })

  it('the nearest form is found in nested unions', () => {
    const inner = z.union([line, pie])
    expect(nearestOption(z.union([plain, inner]), { type: 'pie', slices: [] })).toBe(inner)
  })

  it.each([['a text'], [5], [null], [undefined], [[]]])('the nearest form is none for %j', (value) => {
    expect(nearestOption(union, value)).toBeUndefined()
  })

  it('the nearest form is none where no form is a map', () => {
    expect(nearestOption(z.union([z.string(), z.number()]), {})).toBeUndefined()
  })
})

describe('a field', () => {
  it.each([
    ['a map', line, ['type', 'width']],
    ['one of several maps', z.union([line, rawLine]), ['type', 'width', 'type', 'config', 'text']],
    ['a map of chosen keys', z.partialRecord(z.enum(['a', 'b']), z.string()), ['a', 'b']],
    ['a map of any keys', z.record(z.string(), z.string()), []],
    ['a text', z.string(), []],
    ['an unknown field', undefined, []],
  ])('a field has the keys of %s', (_, field, expected) => {
    expect(knownKeys(field)).toEqual(expected)
  })

  it.each([
    ['a text', z.string(), true],
    ['a word', z.enum(['a']), true],
    ['a text or nothing', z.string().nullable().optional(), true],
    ['a text or a map', z.union([z.string(), line]), true],
    ['a text or a number', z.union([z.string(), z.number()]), false],
    ['a map or a list', z.union([line, z.array(z.string())]), false],
    ['a number', z.number(), false],
    ['an unknown field', undefined, false],
  ])('says whether %s accepts texts and no numbers', (_, field, expected) => {
    expect(isText(field)).toBe(expected)
  })
})
