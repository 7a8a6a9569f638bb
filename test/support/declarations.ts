// Short ways to read declarations in tests: as text where places matter, as a value where they do not.

import { type Diagnostic, formatLocation } from '../../src/platform/core/diagnostics.ts'
import { createReader, type Declarations, type SourceFile } from '../../src/sync/declarations/declarations.ts'

type Variables = Readonly<Record<string, string>>

export function readDeclarations(files: readonly SourceFile[], ...options: Parameters<typeof createReader>): Declarations {
  const { readFile, combine } = createReader(...options)
  return combine(files.map(readFile))
}

export const readText = (text: string, variables: Variables = {}): Declarations =>
  readDeclarations([{ path: 'f.yml', text }], (name) => variables[name])

export const readValue = (value: unknown, variables: Variables = {}): Declarations => readText(JSON.stringify(value), variables)

/** `f.yml:1:2 rule: message`. */
export const lines = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.map(({ location, rule, message }) => `${formatLocation(location)} ${rule}: ${message}`)

export const messages = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.map(({ rule, message }) => `${rule}: ${message}`)

type Fields = Readonly<Record<string, unknown>>

/** A file with one dashboard `d` of one tile `T`, and an alert `a` on it; nothing of it is worth a word. */
export const fileWith = ({ alert = {}, tile = {}, dashboard = {}, more = {} }: Readonly<Record<string, Fields>> = {}) => ({
  dashboards: {
    d: {
      name: 'D',
      tags: ['t'],
      tiles: [{ name: 'T', x: 0, y: 0, w: 1, h: 1, config: { displayType: 'line', sourceId: 's', select: [{ aggFn: 'count' }] }, ...tile }],
      ...dashboard,
    },
  },
  alerts: {
    a: {
      name: 'A',
      dashboard: 'd',
      tile: 'T',
      threshold: 1,
      interval: '5m',
      note: 'n',
      channel: { type: 'webhook', webhook: 'w' },
      ...alert,
    },
  },
  ...more,
})

/** Environment variables that are passed to files. */
export const passed = (variables: Variables): Variables =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [`WATCHKEEPER_VAR_${name}`, value]))

/** `‹env.X›` as it is written in a file: with a dollar and braces, which would be a template string's here. */
export const written = (text: string): string => text.replaceAll('‹', '$' + '{{ ').replaceAll('›', ' }}')
