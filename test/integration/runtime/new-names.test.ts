import { expect, it } from 'vitest'
import { invokeText } from '../../support/invoke.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

it.each([
  ['list-alerts', 'project', '; use select: project=NAME'],
  ['check-slos', 'project', '\n'],
  ['list-alerts', 'name', '; use select: name=NAME'],
  ['list-alerts', 'tag', '; use select: tag=TAG'],
  ['pull', 'kind', '; use select: kind=KIND'],
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
  ['pull', 'remove-declarations', '; use only: drifted-or-deleted'],
  // Only inputs that the operation has are advised.
  ['plan', 'filter', '; did you mean "files"?'],
  ['plan', 'tag', '\n'],
])('%s advises another input than %s', async (operation, word, advice) => {
  const { reason } = await invokeText({ inputs: { operation, profile: 'clickhouse-cloud', [word]: 'x' } })
  expect(`${reason}\n`).toContain(`${word}: unknown input of ${operation}${advice}`)
})

it.each([
  ['backtest', 'recordings', 'backtest tests the incidents of the files on the data of the service'],
  ['backtest', 'record-group-names', 'nothing is recorded any more'],
  ['silence-alerts', 'max-alerts', 'select decides which alerts are silenced'],
  ['check-backups', 'min-size-ratio', 'set minSizeRatio in a policy of the file in checks'],
  ['check-backups', 'require-restore-days', 'set requireRestoreDays in a policy of the file in checks'],
  ['check-backups', 'results', 'set results in a policy of the file in checks'],
  ['verify-restore', 'max-restore-minutes', 'set maxRestoreMinutes below tables in the file in checks'],
])('%s says what to do instead of %s, which was dropped', async (operation, word, advice) => {
  const { document, reason } = await invokeText({ inputs: { operation, profile: 'clickhouse-cloud', [word]: '1' } })
  expect([document.status, `${reason}\n`]).toEqual(['error', expect.stringContaining(`${word}: is not an input any more: ${advice}`)])
  const sentence = `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`
  expect((await runCliInside([operation, `--${word}`, '1'])).stderr).toBe(`Unknown option --${word}. ${sentence}\n`)
})

it.each(['severities', 'always-on', 'repair', 'allow-empty'])('the action says that %s is a variable now', async (name) => {
  const operation = name === 'repair' || name === 'allow-empty' ? 'plan' : 'audit-costs'
  const variable = `WATCHKEEPER_${name.replace('-', '_').toUpperCase()}`
  const { reason } = await invokeText({ inputs: { operation, profile: 'clickhouse-cloud', [name]: 'true' }, isAction: true })
  expect(reason).toContain(`${name}: is not an input of the action, but a variable; set ${variable} in env`)
})

it('replay is backtest now', async () => {
  const { reason } = await invokeText({ inputs: { operation: 'replay', profile: 'clickhouse-cloud' } })
  expect(reason).toBe('operation: unknown operation "replay"; use backtest')
  expect((await runCliInside(['replay'])).stderr).toBe('Unknown command replay. Use backtest.\n')
})

it('the command line advises another option for a word from another tool', async () => {
  expect((await runCliInside(['list-alerts', '--name', 'x'])).stderr).toBe('Unknown option --name. Use --select name=NAME.\n')
  expect((await runCliInside(['plan', '--environment', 'x'])).stderr).toBe('Unknown option --environment. Use --env.\n')
})
