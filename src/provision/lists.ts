// Owns reading the lists of some kinds again, by the marks in them.
import type { ReadApi } from '../api/client.ts'
import type { Service } from '../api/service.ts'
import { byMark, type MarkedList } from './after-list.ts'
import type { Section } from './declarations-schema.ts'
import type { Kinds } from './kinds/kinds.ts'

export type Lists = Readonly<Partial<Record<Section, MarkedList>>>

interface Reading {
  readonly api: ReadApi
  readonly service: Service
  readonly kinds: Kinds
}

export async function readLists(sections: ReadonlySet<Section>, { api, service, kinds }: Reading): Promise<Lists> {
  const read = [...sections].map(async (section) => [section, byMark(await api[section].list(service), kinds[section])] as const)
  return Object.fromEntries(await Promise.all(read))
}
