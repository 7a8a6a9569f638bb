import { sourceCollection, sourceKinds, sourceSchema } from '../kinds/source/source-wire.ts'
import { textOrDash } from '../platform/core/line.ts'
import { defineList } from './list-operation.ts'

export const listSources = defineList({
  kind: 'source',
  list: sourceCollection.list,
  schema: sourceSchema,
  fields: ['type'],
  choices: { type: sourceKinds },
  toSelectable: ({ kind }) => ({ type: kind }),
  example: { select: ['type=log'] },
  columns: { Type: ({ kind }) => textOrDash(kind) },
})
