// Owns reading the lists of some kinds again.
import type { ReadApi } from '../api/client.ts'
import type { List } from '../api/collection.ts'
import type { Service } from '../api/service.ts'
import type { Section } from './declarations-schema.ts'
import type { Actual } from './kinds/kind.ts'

export type Lists = Readonly<Partial<Record<Section, List<Actual>>>>

export async function readLists(api: ReadApi, service: Service, sections: ReadonlySet<Section>): Promise<Lists> {
  const read = [...sections].map(async (section) => [section, await api[section].list(service)] as const)
  return Object.fromEntries(await Promise.all(read))
}
