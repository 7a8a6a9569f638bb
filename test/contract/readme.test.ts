import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { kits } from '../../src/runtime/cli/init.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

it('names everything that init can write', () => {
  expect(kits.map(({ name }) => name)).toEqual(['cost-gate', 'cost-budgets', 'plan-and-apply', 'drift', 'backups', 'fleet'])
  expect(readme).toContain('a cost gate, budgets by team, alerts and dashboards as code, drift, backups, a fleet')
})
