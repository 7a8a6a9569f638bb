// Tiles made at random: everything that the API's types allow, and some that they do not.
import fc from 'fast-check'
import type { JsonObject, Tile } from '../../src/emulator/index.ts'
import { flag, made, name, never, novel, some, text } from './random-words.ts'

const numberFormat = made<JsonObject>({
  output: fc.constantFrom('percent', 'number'),
  mantissa: some(fc.nat(4)),
  average: some(fc.boolean()),
})

const selectItem = (isStrange: boolean) =>
  fc.oneof(
    made<JsonObject>({
      aggFn: fc.constant('count'),
      where: some(text),
      whereLanguage: some(fc.constantFrom('lucene', 'sql')),
      alias: some(text),
      novel: isStrange ? novel : never,
    }),
    made<JsonObject>({
      aggFn: fc.constantFrom('avg', 'sum', 'quantile'),
      valueExpression: fc.constant('Duration'),
      level: fc.constant(undefined),
      metricType: some(fc.constant('gauge')),
      numberFormat: some(numberFormat),
    }),
  )

const configFor = (sources: readonly string[], isStrange: boolean): fc.Arbitrary<JsonObject> => {
  const sourceId = fc.constantFrom(...sources)
  return fc.oneof(
    made<JsonObject>({
      displayType: fc.constantFrom('line', 'stacked_bar'),
      sourceId,
      select: fc.array(selectItem(isStrange), { minLength: 1, maxLength: 3 }),
      groupBy: some(text),
      fillNulls: flag,
      showOperandSeries: flag,
      seriesLimit: some(fc.nat(9)),
      numberFormat: some(numberFormat),
      novel: isStrange ? novel : never,
    }),
    made<JsonObject>({
      displayType: fc.constant('number'),
      sourceId,
      select: fc.array(selectItem(isStrange), { minLength: 1, maxLength: 1 }),
      color: some(fc.constantFrom('chart-red', 'chart-blue')),
      colorRules: some(fc.constant([{ operator: 'gt', value: 5, color: 'chart-red', label: 'x' }])),
    }),
    made<JsonObject>({
      displayType: fc.constant('table'),
      sourceId,
      select: fc.array(selectItem(isStrange), { minLength: 1, maxLength: 2 }),
      onClick: some(fc.constantFrom({ type: 'external', urlTemplate: 'https://x' }, { type: 'search', target: { mode: 'id', id: 'a' } })),
      groupByColumnsOnLeft: flag,
    }),
    made<JsonObject>({
      displayType: fc.constant('search'),
      sourceId,
      select: fc.oneof(fc.constant(''), text),
      whereLanguage: fc.constant('sql'),
    }),
    made<JsonObject>({ displayType: fc.constant('markdown'), markdown: some(text) }),
    made<JsonObject>({
      displayType: fc.constantFrom('number', 'line', 'pie'),
      configType: fc.constant('sql'),
      connectionId: fc.constant('65f5e4a35eedc0de00000001'),
      sqlTemplate: text,
    }),
  )
}

/** Which no type of ours accepts, and no server of today. */
const strangeConfig: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { displayType: 'hologram', depth: 3, select: [{ aggFn: 'count' }] },
  { displayType: 'line', sourceId: 'somewhere', select: [{ aggFn: 'entropy', novel: 1 }], novel: true },
  { displayType: 'markdown', markdown: 5 },
)
export const tileFor = (sources: readonly string[], isStrange: boolean) =>
  made<Omit<Tile, 'id'> & { novel?: unknown }>({
    name: fc.oneof({ weight: 5, arbitrary: name }, { weight: 1, arbitrary: fc.constant('') }),
    x: fc.nat(23),
    y: fc.nat(30),
    w: fc.integer({ min: 1, max: 24 }),
    h: fc.integer({ min: 1, max: 9 }),
    config: isStrange
      ? fc.oneof({ weight: 4, arbitrary: configFor(sources, isStrange) }, { weight: 1, arbitrary: strangeConfig })
      : configFor(sources, isStrange),
    novel: isStrange ? novel : never,
  })
