import { describeStored, type KindFile, type KindIdentity, type KindWire } from '../../../kinds/kind.ts'
import { repositoryDigest } from '../../../kinds/marker.ts'
import { pluralOf } from '../../../platform/core/text.ts'
import type { MarkedObject } from '../../plan/stored-objects.ts'
import { type Change, slotOf } from '../change.ts'
import { planDelete, planRelease } from '../compare.ts'
import { holdOrphan } from '../hold.ts'
import type { Guard } from '../step.ts'

export const endOrphans: Guard = ({ steps, ofKinds, assumed: { prune } }, { repository }) => {
  if (!prune) return {}
  const own = repository?.name === undefined ? undefined : repositoryDigest(repository.name)
  const end = (kind: KindIdentity & KindWire & KindFile, one: MarkedObject): Change =>
    prune === 'forget' ? planRelease(kind, one, 'no file declares it') : planDelete(kind, one)
  const ended = ofKinds.flatMap(({ kind, orphans }) =>
    orphans
      .filter(({ marker }) => marker?.repository === undefined || marker.repository === own)
      .map((one) => ({ kind, change: end(kind, one) })),
  )
  const holds = ofKinds.flatMap(({ kind, orphans }) => (prune === 'forget' ? [] : holdTwins(kind, orphans)))
  return { steps: [...steps, ...ended], holds: new Map(holds) }
}

function holdTwins(kind: KindIdentity & KindWire & KindFile, orphans: readonly MarkedObject[]) {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike) => {
    if (alike.length < 2) return []
    const ids = alike.map(({ stored }) => describeStored(stored)).join(', ')
    const why = {
      reason: `${alike.length} ${pluralOf(kind.label)} have the same marker: ${ids}`,
      remedies: ['to keep a copy, delete its marker'],
    }
    return alike.map((one) => {
      const change = planDelete(kind, one)
      return [slotOf(change), holdOrphan(change, why)] as const
    })
  })
}
