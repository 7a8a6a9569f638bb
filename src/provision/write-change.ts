// Owns writing one change. With apply.ts this is the only place that calls a method which writes.
import type { WriteApi } from '../api/client.ts'
import type { WriteCollection } from '../api/collection.ts'
import type { Service } from '../api/service.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import { isSame } from '../kernel/same.ts'
import type { Change } from './change.ts'
import { compareBodies, composeUpdate } from './compose.ts'
import type { Section } from './declarations-schema.ts'
import type { Actual, Body, Kind } from './kinds/kind.ts'
import type { Kinds } from './kinds/kinds.ts'
import { doneKinds, type Outcome } from './outcome.ts'

export interface Writing {
  readonly api: WriteApi
  readonly service: Service
  readonly kinds: Kinds
}

export const collectionOf = (api: WriteApi, section: Section): WriteCollection<Actual, Body> =>
  api[section] as unknown as WriteCollection<Actual, Body>

/** `desired` has no open references any more. Throws a WatchkeeperError when it could not be done. */
export async function writeChange(change: Change, desired: Body, writing: Writing): Promise<Outcome> {
  const actual = await write(change, desired, writing)
  return { change, kind: doneKinds[change.action], id: actual?.id ?? change.id, actual }
}

async function write(change: Change, desired: Body, { api, service, kinds }: Writing): Promise<Actual | undefined> {
  const collection = collectionOf(api, change.section)
  const id = change.id ?? ''
  switch (change.action) {
    case 'create':
      return collection.create(service, desired)
    case 'replace':
      // First away, then anew: an end in between leaves nothing twice, and the next run creates what is missing.
      await collection.remove(service, id)
      return collection.create(service, desired)
    case 'update':
    case 'adopt': {
      const fresh = await readUnchanged(change, collection.get(service, id), kinds[change.section])
      return collection.update(service, id, composeUpdate(kinds[change.section], desired, fresh))
    }
    case 'delete':
      return remove(change, collection, { api, service, kinds })
    case 'unchanged':
      return change.actual
  }
}

/** What somebody else changed after it was looked at is not overwritten. */
async function readUnchanged(change: Change, reading: Promise<Actual>, kind: Kind): Promise<Actual> {
  const fresh = await reading
  const { desired = {}, actual } = change
  if (actual === undefined) return fresh
  const isAsPlanned = isSame(compareBodies(kind, desired, fresh).before, compareBodies(kind, desired, actual).before)
  const [then, now] = [actual, fresh].map((one) => kind.markIn(kind.bodyOf(one))?.token)
  if (isAsPlanned && then === now) return fresh
  throw new WatchkeeperError(
    'conflict',
    `The ${kind.noun} ${fresh.id} was changed by somebody else meanwhile and is left alone: plan again.`,
  )
}

async function remove(change: Change, collection: WriteCollection<Actual, Body>, { service, kinds }: Writing): Promise<undefined> {
  const kind = kinds[change.section]
  const { actual, id = '' } = change
  try {
    const fresh = await collection.get(service, id)
    const isAsPlanned = actual !== undefined && isSame(kind.comparable(kind.bodyOf(fresh)), kind.comparable(kind.bodyOf(actual)))
    const [then, now] = [actual, fresh].map((one) => one && kind.markIn(kind.bodyOf(one))?.token)
    if (!isAsPlanned || then !== now)
      throw new WatchkeeperError(
        'conflict',
        `The ${kind.noun} ${id} was changed by somebody else meanwhile and is not deleted: plan again.`,
      )
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind === 'not-found') return
    throw thrown
  }
  await collection.remove(service, id)
}
