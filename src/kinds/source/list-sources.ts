import { textOrDash } from '../../platform/core/line.ts'
import { defineList } from '../list-operation.ts'
import { sourceCollection, sourceKinds, sourceSchema } from './source-wire.ts'

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
