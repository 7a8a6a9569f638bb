import { expect, it } from 'vitest'
import { runCliInside } from '../../support/run-cli-inside.ts'

it('the demo shows nine operations in at most 60 lines, each with its verdict, and two gates that fail', { tags: 'slow' }, async () => {
  const { exitCode, stdout } = await runCliInside(['demo'])
  expect(exitCode).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(60)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.filter((line) => /^ {3}[✔✖] /.test(line))).toHaveLength(9)
  expect(stdout).toContain('   ✖ failed: Budget exceeded: ')
  expect(lines.at(-1)).toBe('For whole reports, run: watchkeeper demo --verbose')
})

it('the demo of a self-hosted server shows alerts and dashboards as code, and whole reports with --verbose', { tags: 'slow' }, async () => {
  const { exitCode, stdout } = await runCliInside(['demo', '--profile', 'hyperdx', '--verbose'])
  expect(exitCode).toBe(0)
  const verdicts = stdout.split('\n').flatMap((line) => /^ {3}([✔✖] .*)/.exec(line)?.[1] ?? [])
  expect(verdicts).toEqual([
    '✔ 9 checks passed',
    expect.stringMatching(/^✔ Backtest of 1 alert over 7 days until /),
    '✔ 1 dashboard: 0 exact, 1 changed',
    '✔ Plan for demo/shop (2 to create)',
    '✔ Applied to demo/shop (2 created)',
    '✔ No changes for demo/shop: everything matches the files',
    '✖ failed: demo/shop has drifted: 1 to update',
    '✔ Applied to demo/shop (1 deleted)',
  ])
  expect(stdout.match(/^requests: GET.* · exit code \d+$/gm)).toHaveLength(7)
  expect(stdout).toContain('where Body:order is left out, so that rows without it count, too')
  expect(stdout).not.toContain('Waiting')
})
