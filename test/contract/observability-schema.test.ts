import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { majorTag } from '../../scripts/action-references.ts'
import { renderSchemas } from '../../scripts/reference/json-schema.ts'
import { forEachEntry } from '../support/corpus.ts'
import { fileWith, readValue, written } from '../support/declarations.ts'

const root = new URL('../..', import.meta.url).pathname
const examples = ['observability', 'slos'].flatMap((folder) => readdirSync(`${root}/examples/${folder}`).map((name) => `${folder}/${name}`))
const text = (await renderSchemas())['observability.schema.json'] ?? ''

interface Node {
  readonly description?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Node[]
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Node>>
}

const schema = JSON.parse(text) as Node & { readonly $defs: Readonly<Record<string, Node>> }
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
const validate = ajv.compile(schema)

/** All that is there of a field, wherever it was put. */
const formsOf = (node: Node): readonly Node[] => [
  node,
  ...(node.anyOf ?? []).flatMap(formsOf),
  ...(node.$ref === undefined ? [] : formsOf(schema.$defs[node.$ref.replace('#/$defs/', '')] ?? {})),
]

const published = `https://raw.githubusercontent.com/watchkeeper/watchkeeper/${majorTag}/schemas`

describe.each(examples)('examples/%s', (name) => {
  const path = `${root}/examples/${name}`
  const example = readFileSync(path, 'utf8')

  it('the example is valid for the schema', () => {
    expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true)
  })

  it('names the schema in its first line, by an address that holds wherever it is copied to', () => {
    expect(example.split('\n')[0]).toBe(`# yaml-language-server: $schema=${published}/observability.schema.json`)
  })
})

describe('the schema of files', () => {
  it('the schema of files is small enough to be loaded with every file', () => {
    expect(text.length).toBeLessThan(150_000)
  })

  it('describes what an editor shows beside a field', () => {
    const fields = Object.entries(schema.$defs.alert?.properties ?? {}).filter(([name]) => !['adopt', 'id'].includes(name))
    for (const [name, field] of fields) expect(formsOf(field).find(({ description }) => description)?.description, name).toMatch(/\.$/)
    expect(fields.length).toBeGreaterThan(15)
  })

  it('completes words, also those that are used in several places', () => {
    const words = (def: string, field: string) => formsOf(schema.$defs[def]?.properties?.[field] ?? {}).flatMap((form) => form.enum ?? [])
    expect(words('alert', 'interval')).toContain('5m')
    expect(words('alert', 'thresholdType')).toContain('not_between')
    expect(words('select', 'aggFn')).toContain('count_distinct')
    expect(words('numberFormat', 'numericUnit')).toContain('bytes_iec')
  })

  const slo = { name: 'A', source: 'Traces', total: '1 = 1', good: 'a = 1', objective: 99.9, window: '30d' }
  const variable = written('‹env.X›')

  it('accepts every valid file', () =>
    forEachEntry(
      [
        ['a file without anything wrong', fileWith()],
        ['its own name', { $schema: './observability.schema.json' }],
        ['a number', fileWith({ alert: { threshold: variable } })],
        ['a number or null', fileWith({ alert: { thresholdMax: variable } })],
        ['a choice', fileWith({ alert: { interval: variable } })],
        ['a boolean', fileWith({ alert: { adopt: variable } })],
        ['a time', fileWith({ alert: { scheduleStartAt: variable } })],
        ['a place on the grid', fileWith({ tile: { x: variable } })],
        ['a text', fileWith({ alert: { name: variable } })],
        ['a part of a short text', fileWith({ dashboard: { tags: [`a-${written('‹env.A_NAME_OF_MORE_THAN_32_CHARACTERS›')}`] } })],
        ['an object that takes the rest from the defaults', { alerts: { a: {} } }],
        ['an SLO whose objective is an expression', { slos: { a: { ...slo, objective: variable } } }],
      ],
      (_, value) => {
        expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
      },
    ))

  it('rejects every invalid file', () =>
    forEachEntry(
      [
        ['an unknown section', { alert: {} }],
        ['an SLO with an objective of 100', { slos: { a: { ...slo, objective: 100 } } }],
        ['an SLO with an unknown window', { slos: { a: { ...slo, window: '90d' } } }],
        ['an unknown field', fileWith({ alert: { treshold: 1 } })],
        ['an unknown field of a chart', fileWith({ tile: { config: { displayType: 'markdown', text: 'x' } } })],
        ['a word that is none', fileWith({ alert: { interval: '5min' } })],
        ['a word of a chart that is none', fileWith({ tile: { config: { displayType: 'lines', sourceId: 's' } } })],
        ['an expression that is none', fileWith({ alert: { threshold: written('‹secrets.X›') } })],
        ['a text around an expression where a number belongs', fileWith({ alert: { threshold: `1${variable}` } })],
        ['a text instead of a number', fileWith({ alert: { threshold: '5' } })],
        ['a tile beyond the grid', fileWith({ tile: { x: 24 } })],
        ['a key that is none', { alerts: { 'A b': {} } }],
        ['a key that is an expression', { alerts: { [variable]: {} } }],
      ],
      (_, value) => {
        expect(validate(value)).toBe(false)
      },
    ))

  it('agrees with validate on every file', () =>
    forEachEntry(
      [
        fileWith(),
        fileWith({ alert: { treshold: 1 } }),
        fileWith({ alert: { interval: '5min' } }),
        fileWith({ tile: { x: 24 } }),
        fileWith({ tile: { config: { displayType: 'lines' } } }),
        { alert: {} },
        { alerts: { 'A b': {} } },
      ],
      (value) => {
        expect(validate(value)).toBe(readValue(value).diagnostics.length === 0)
      },
    ))
})
