// What the user or the role that runs SQL may do beyond reading: Watchkeeper sends a SELECT only, and other holders of the key need not.
import { connectionCollection } from '../../kinds/source/source-wire.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import { whyNoRows } from '../../platform/api/sql-query.ts'
import { listAtMost } from '../../platform/core/text.ts'

interface GrantsCheck {
  readonly name: string
  readonly outcome: 'ok' | 'skipped'
  readonly detail: string
}

/** One check for ClickHouse Cloud, and one for each connection of a self-hosted server. Never failed: a key needs none of this for its job. */
export async function checkSqlGrants(
  { api, clock }: { readonly api: ReadApi; readonly clock: { now(): number } },
  service: Target,
): Promise<readonly GrantsCheck[]> {
  const check = async (name: string, connectionId: string): Promise<GrantsCheck> => {
    try {
      const endMs = clock.now()
      const answer = await api.runSql(service, { sql: 'SHOW GRANTS FINAL', isOwn: true, connectionId, startMs: endMs - 1000, endMs })
      if (answer.kind !== 'rows') return { name, outcome: 'skipped', detail: whyNoRows(answer) }
      return { name, outcome: 'ok', detail: describeGrants(answer.rows.flatMap((row) => Object.values(row).map(String))) }
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      return { name, outcome: 'skipped', detail: thrown.message.split('\n')[0] ?? '' }
    }
  }
  if (!api.profile.isSelfHosted) return [await check('SQL', '')]
  const { items } = await connectionCollection.list(api, service)
  const checks: GrantsCheck[] = []
  for (const { name, id } of items) checks.push(await check(items.length === 1 ? 'SQL' : `SQL of ${name}`, String(id)))
  return checks
}

/** Privileges of `GRANT SELECT(a, b), SHOW TABLES ON *.* TO user`, without those that read the database. A revoke only takes some away. */
function describeGrants(grants: readonly string[]) {
  const granted = grants.flatMap(
    (grant) =>
      /^GRANT (.*?) ON /
        .exec(grant)?.[1]
        ?.replaceAll(/\([^()]*\)/g, '')
        .split(/, */) ?? [],
  )
  if (granted.length === 0) return 'the server does not state what its role may do'
  const others = [...new Set(granted)].filter((one) => !/^(?:SELECT|SHOW\b.*|dictGet|USAGE|CHECK)$/.test(one)).sort()
  if (others.length === 0) return 'its role can only read'
  return `its role can do more than read: ${listAtMost(others, 12, (count) => `and ${count} more`).join(', ')}`
}
