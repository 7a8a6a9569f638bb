// Owns writing one change. With apply.ts this is the only place that calls a method which writes.
import type { WriteApi } from '../api/client.ts'
import type { WriteCollection } from '../api/collection.ts'
import type { Service } from '../api/service.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import { isSame } from '../kernel/same.ts'
import type { Change } from './change.ts'
import { comparable, compareBodies, composeUpdate } from './compose.ts'
import type { Section } from './declarations-schema.ts'
import { guestOnTiles } from './guests.ts'
import type { Actual, Body, Kind } from './kinds/kind.ts'
import type { Kinds } from './kinds/kinds.ts'
import { doneKinds, type Outcome } from './outcome.ts'

export interface Writing {
  readonly api: WriteApi
  readonly service: Service
  readonly kinds: Kinds
}

export const collectionOf = (api: WriteApi, section: Section): WriteCollection<Actual, Body> =>
  api[section] as WriteCollection<Actual, Body>

/** An object was deleted to be created again, and the create failed. */
export class NotRecreatedError extends Error {
  override readonly name = 'NotRecreatedError'

  constructor(cause: unknown) {
    super('the object was deleted, and could not be created again', { cause })
  }
}

/** `desired` has no open references any more. Throws a WatchkeeperError when it could not be done. */
export async function writeChange(change: Change, desired: Body, writing: Writing): Promise<Outcome> {
  const actual = await write(change, desired, writing)
  return { change, kind: doneKinds[change.action], id: actual?.id ?? change.id, actual }
}

async function write(change: Change, desired: Body, writing: Writing): Promise<Actual | undefined> {
  const { api, service, kinds } = writing
  const collection = collectionOf(api, change.section)
  switch (change.action) {
    case 'create':
      return collection.create(service, desired)
    case 'replace':
      // First away, then anew: an end in between leaves nothing twice, and the next run creates what is missing.
      await remove(change, collection, writing)
      return collection.create(service, desired).catch((thrown: unknown) => {
        throw new NotRecreatedError(thrown)
      })
    case 'update':
    case 'adopt': {
      const fresh = await readUnchanged(change, collection, writing)
      await demandNoGuest(change, writing)
      return collection.update(service, fresh, composeUpdate(kinds[change.section], desired, fresh))
    }
    case 'delete':
      return remove(change, collection, writing)
    case 'unchanged':
      return change.actual
  }
}

/** What somebody else changed after it was looked at is not overwritten, and not deleted. */
export async function readUnchanged(
  change: Change,
  collection: WriteCollection<Actual, Body>,
  { service, kinds }: Writing,
): Promise<Actual> {
  const kind = kinds[change.section]
  const fresh = await collection.get(service, change.id ?? '')
  const { actual } = change
  if (actual === undefined) return fresh
  const [then, now] = [actual, fresh].map((one) => kind.markIn(kind.bodyOf(one))?.token)
  if (then === now && isSame(partInQuestion(change, fresh, kind), partInQuestion(change, actual, kind))) return fresh
  throw meanwhile(`The ${kind.noun} ${fresh.id} was changed by somebody else meanwhile and is left alone`)
}

/** Of an update what files have a say in; of a delete all of it. */
const partInQuestion = ({ desired }: Change, actual: Actual, kind: Kind): Body =>
  desired === undefined ? comparable(kind, kind.bodyOf(actual)) : compareBodies(kind, desired, actual).before

const meanwhile = (what: string): WatchkeeperError => new WatchkeeperError('conflict', `${what}: plan again.`)

async function demandNoGuest(change: Change, { api, service }: Writing): Promise<void> {
  if (change.takes === undefined) return
  const guest = guestOnTiles(change, await api.alerts.list(service))
  if (guest !== undefined) throw meanwhile(`The dashboard ${change.id} is left alone: ${guest}`)
}

async function remove(change: Change, collection: WriteCollection<Actual, Body>, writing: Writing): Promise<undefined> {
  try {
    await readUnchanged(change, collection, writing)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind === 'not-found') return
    throw thrown
  }
  await collection.remove(writing.service, change.id ?? '')
}
