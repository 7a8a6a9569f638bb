import { describeStored, type Kind, storedLabelOf } from '../../../kinds/kind.ts'
import { addressOf } from '../../../kinds/kind-names.ts'
import { repositoryDigest } from '../../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../../platform/core/diagnostics.ts'
import { pluralOf } from '../../../platform/core/text.ts'
import type { MarkedObject } from '../../plan/stored-objects.ts'
import type { Change, Update } from '../change.ts'
import { planDelete, planRelease } from '../compare.ts'
import type { Guard, Step } from '../facts.ts'
import { holdStep } from '../hold.ts'
import { moverFrom, repairByHand, type Twin, whyNotCompared } from '../twins.ts'

export const endOrphans: Guard = ({ steps, ofKinds, assumed: { prune } }, { repository }) => {
  if (!prune) return {}
  const own = repository?.name === undefined ? undefined : repositoryDigest(repository.name)
  const end = (kind: Kind, one: MarkedObject): Change =>
    prune === 'forget' ? planRelease(kind, one, 'no file declares it') : planDelete(kind, one)
  const ended = ofKinds.flatMap(({ kind, orphans }) =>
    orphans
      .filter(({ marker }) => marker?.repository === undefined || marker.repository === own)
      .map((one) => ({ kind, change: end(kind, one) })),
  )
  const holds = ofKinds.flatMap(({ kind, orphans }) => (prune === 'forget' ? [] : holdTwins(kind, orphans)))
  return { steps: [...steps, ...ended], holds }
}

function holdTwins(kind: Kind, orphans: readonly MarkedObject[]) {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike) => {
    if (alike.length < 2) return []
    const ids = alike.map(({ stored }) => describeStored(stored)).join(', ')
    const why = {
      reason: `${alike.length} ${pluralOf(kind.label)} have the same marker: ${ids}`,
      remedies: ['to keep a copy, delete its marker'],
    }
    return alike.map((one) => holdStep({ change: planDelete(kind, one) }, why))
  })
}

export const repairRules = {
  'kept-duplicate': {
    severity: 'warning',
    description: 'A repair of duplicates keeps one, because the API does not show all of it. A person decides about it in the web app.',
  },
} as const satisfies Rules

export const repairTwins: Guard = ({ steps, ofKinds }, { kinds, storedObjects }) => {
  const all = ofKinds.flatMap(({ kind, twins }) => twins.map((twin) => ({ kind, twin })))
  const planned = new Set([...steps.map(({ change }) => change.id), ...all.map(({ twin }) => twin.stored.id)])
  const move = moverFrom(all.map(({ twin }) => twin))
  const released = all.flatMap(({ kind, twin: { stored, kept, action, reason } }): readonly Step[] => {
    if (action !== 'release') return []
    const found = { stored: move(stored), marker: undefined }
    return [{ kind, change: { ...planRelease(kind, found, `a duplicate of ${kept.id} ${reason}`), stored } }]
  })
  const moved = storedObjects.alert.flatMap((alert): readonly Step[] => {
    const after = move(alert)
    if (after === alert || planned.has(alert.id)) return []
    const change: Update<'alert'> = {
      kind: 'alert',
      key: '',
      name: storedLabelOf(alert),
      action: 'update',
      id: alert.id,
      stored: alert,
      notes: ['moves from a duplicate that is deleted'],
      fields: [{ path: 'savedSearch', before: alert.savedSearchId, after: after.savedSearchId }],
      desired: kinds.alert.toBody(after),
    }
    return [{ kind: kinds.alert, change }]
  })
  const deleted = all.flatMap(({ kind, twin }): readonly Step[] => {
    const notes = [`a duplicate of ${twin.kept.id}, ${twin.reason}`]
    return twin.action === 'delete' ? [{ kind, change: { ...planDelete(kind, twin), keeps: twin.kept.id, notes } }] : []
  })
  return {
    steps: [...steps, ...released, ...moved, ...deleted.toReversed()],
    diagnostics: all.flatMap(({ kind, twin }) => reportKept(kind, twin)),
  }
}

function reportKept(kind: Kind, { declared, kept, stored, action }: Twin): readonly Diagnostic[] {
  const why = whyNotCompared(kind)
  if (why === undefined) return []
  const what = action === 'release' ? `only removes the marker of its duplicate ${stored.id}` : `leaves its duplicate ${stored.id} as it is`
  const message = `${addressOf(declared)}: this run manages the ${kind.label} ${kept.id}, and ${what}, because ${why}. ${repairByHand(kind, action === 'release')}`
  return [diagnosticOf(repairRules, 'kept-duplicate', declared.location, message)]
}
