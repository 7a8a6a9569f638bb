import { expect, it } from 'vitest'
import { invokeText } from '../../support/invoke.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

it.each([
  ['list-alerts', 'project', '; use select: project=NAME'],
  ['list-alerts', 'name', '; use select: name=NAME'],
  ['list-alerts', 'tag', '; use select: tag=TAG'],
  ['list-alerts', 'kind', '; use select: kind=KIND'],
  ['list-alerts', 'state', '; use select: state=STATE'],
  ['usage-cost', 'filter', '; use select: tag=Key=Value'],
  ['plan', 'select', '; use files: plan and apply are about all objects of the files, because references and prune need all of them'],
  ['usage-cost', 'from-date', '; use period: 2026-01-01..2026-01-31'],
  ['usage-cost', 'to-date', '; use period: 2026-01-01..2026-01-31'],
  ['usage-cost', 'days', '; use period: last-7-days'],
  ['plan', 'environment', '; use env'],
  ['silence-alerts', 'duration', '; use for'],
  ['usage-cost', 'limit', '; use budget'],
  ['plan', 'report', '; use reports: html=FILE'],
  ['plan', 'output', '; use reports: html=FILE'],
  ['backtest', 'only', '; use select'],
  ['pull', 'prune', '; use only: drifted-or-deleted'],
  ['check-backups', 'files', '; use results'],
  // Only inputs that the operation has are advised.
  ['plan', 'filter', '; did you mean "files"?'],
  ['plan', 'tag', '\n'],
])('%s advises another input than %s', async (operation, word, advice) => {
  const { reason } = await invokeText({ inputs: { operation, profile: 'clickhouse-cloud', [word]: 'x' } })
  expect(`${reason}\n`).toContain(`${word}: unknown input of ${operation}${advice}`)
})

it('the command line advises another option for a word from another tool', async () => {
  expect((await runCliInside(['list-alerts', '--name', 'x'])).stderr).toBe('Unknown option --name. Use --select name=NAME.\n')
  expect((await runCliInside(['plan', '--environment', 'x'])).stderr).toBe('Unknown option --environment. Use --env.\n')
})
