import { describeStored, type KindFile, type KindIdentity, type KindWire } from '../../../kinds/kind.ts'
import { sections } from '../../../kinds/kind-names.ts'
import { type Diagnostic, diagnosticOf } from '../../../platform/core/diagnostics.ts'
import { pluralOf } from '../../../platform/core/text.ts'
import type { MarkedObject } from '../../plan/stored-objects.ts'
import type { Change } from '../change.ts'
import { planDelete, planRelease } from '../compare.ts'
import type { Guard } from '../step.ts'
import { twinRules } from '../twins.ts'

/** Deletes the objects of the project that no file declares, or removes their markers. */
export const endOrphans: Guard = ({ steps, ofKinds, assumed: { prune } }) => {
  if (!prune) return {}
  const end = (kind: KindIdentity & KindWire & KindFile, one: MarkedObject): Change =>
    prune === 'forget' ? planRelease(kind, one, 'no file declares it') : planDelete(kind, one)
  return {
    steps: [...steps, ...ofKinds.flatMap(({ kind, orphans }) => orphans.map((one) => ({ kind, change: end(kind, one) })))],
    diagnostics: prune === true ? ofKinds.flatMap(({ kind, orphans }) => refuseTwins(orphans, kind)) : [],
  }
}

/** An error for orphans with the same marker, because it is unknown which of them is the copy. */
function refuseTwins(orphans: readonly MarkedObject[], { name, label }: KindIdentity): readonly Diagnostic[] {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike): readonly Diagnostic[] => {
    if (alike.length < 2) return []
    const ids = alike.map(({ stored }) => describeStored(stored)).join(', ')
    const message = `${alike.length} ${pluralOf(label)} have the same marker: ${ids}; to keep a copy, delete its marker`
    return [diagnosticOf(twinRules, 'duplicate-marker', { file: sections[name] }, message)]
  })
}
