// Whether apply makes a service as a file declares it, and then has nothing to do.
import type { Site } from './site.ts'

/** What is wrong with plan, apply, plan, apply and drift of one file; empty when all is well. */
export async function convergenceProblems(site: Site, content: object): Promise<readonly unknown[]> {
  const files = { 'a.json': content }
  const planned = await site.plan(files, { prune: true })
  const applied = await site.apply(files, { prune: true })
  const again = await site.plan(files, { prune: true })
  const repeated = await site.apply(files, { prune: true })
  const drift = await site.drift(files)
  return [
    ...planned.diagnostics.filter(({ severity }) => severity === 'error'),
    ...applied.diagnostics.filter(({ severity }) => severity === 'error'),
    ...applied.objects.filter(({ outcome = '' }) => ['failed', 'unknown', 'skipped'].includes(outcome)),
    ...again.objects.filter(({ action }) => action !== 'unchanged'),
    ...repeated.objects.filter(({ outcome }) => outcome !== 'unchanged'),
    ...(again.changed || repeated.changed || drift.changed ? ['not empty'] : []),
  ]
}
