import * as z from 'zod/v3'
import type { JsonObject } from '../store.ts'
import { aggregateFunction, metricType, numberFormat, queryLanguage } from './chart-vocabulary.ts'
import { objectId } from './request.ts'

// The form that tiles had before `config`. It is accepted still, and converted when it is stored.

const measure = {
  sourceId: objectId,
  aggFn: aggregateFunction,
  level: z.number().min(0).max(1).optional(),
  field: z.string().optional(),
  alias: z.string().optional(),
  where: z.string(),
  whereLanguage: queryLanguage,
}

const measureFormat = {
  numberFormat: numberFormat.optional(),
  metricDataType: metricType.optional(),
  metricName: z.string().optional(),
}

const groupBy = z.array(z.string()).max(10)

const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('time'),
    ...measure,
    groupBy,
    ...measureFormat,
    displayType: z.union([z.literal('stacked_bar'), z.literal('line')]).optional(),
  }),
  z.object({
    type: z.literal('table'),
    ...measure,
    groupBy,
    sortOrder: z.union([z.literal('desc'), z.literal('asc')]).optional(),
    ...measureFormat,
  }),
  z.object({
    type: z.literal('search'),
    sourceId: objectId,
    fields: z.array(z.string()),
    where: z.string(),
    whereLanguage: queryLanguage,
  }),
  z.object({ type: z.literal('number'), ...measure, ...measureFormat }),
  z.object({ type: z.literal('markdown'), content: z.string().max(100_000) }),
])

export const series = item
  .array()
  .min(1)
  .superRefine((items, context) => {
    if (items.some(({ type }) => type !== items[0]?.type))
      context.addIssue({ code: 'custom', message: 'All series must have the same type' })
  })

type Series = z.output<typeof series>
type SeriesItem = Series[number]
type Measure = Extract<SeriesItem, { readonly aggFn: string }>

/** The config that the product stores for the old form. */
export function toConfig(items: Series, asRatio: boolean | undefined): JsonObject {
  const [first] = items
  if (first === undefined) throw new Error('the schema lets no tile without series pass')
  const measures = items.filter((one): one is Measure => 'aggFn' in one)
  const formats = measures.flatMap((one) => one.numberFormat ?? [])
  const format = formats[0] === undefined ? {} : { numberFormat: formats[0] }
  switch (first.type) {
    case 'time':
      return {
        displayType: first.displayType === 'stacked_bar' ? 'stacked_bar' : 'line',
        sourceId: first.sourceId,
        select: measures.map(toSelectItem),
        ...toGroupBy(first.groupBy),
        ...(asRatio && { asRatio }),
        ...format,
      }
    case 'table':
      return {
        displayType: 'table',
        sourceId: first.sourceId,
        select: measures.map(toSelectItem),
        ...toGroupBy(first.groupBy),
        ...(asRatio && { asRatio }),
        ...format,
      }
    case 'number':
      return {
        displayType: 'number',
        sourceId: first.sourceId,
        select: [toSelectItem(first)],
        ...(first.numberFormat && { numberFormat: first.numberFormat }),
      }
    case 'search':
      return {
        displayType: 'search',
        sourceId: first.sourceId,
        select: first.fields.join(', '),
        where: first.where,
        whereLanguage: first.whereLanguage ?? 'lucene',
      }
    case 'markdown':
      return { displayType: 'markdown', markdown: first.content }
  }
}

const toGroupBy = (columns: readonly string[]): JsonObject => (columns.join(',') === '' ? {} : { groupBy: columns.join(',') })

const toSelectItem = ({ aggFn, level, field, alias, where, whereLanguage, metricDataType, metricName }: Measure): JsonObject => ({
  ...(alias && { alias }),
  aggFn,
  ...(level && { level }),
  ...(metricName && { metricName }),
  ...(metricDataType && { metricType: metricDataType }),
  valueExpression: field ?? '',
  where,
  whereLanguage: whereLanguage ?? 'lucene',
})
