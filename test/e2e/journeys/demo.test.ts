import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/run-process.ts'

const root = new URL('../../..', import.meta.url).pathname

describe.each([
  ["the action's bundle", ['--bundle', 'dist/index.js']],
  ['the command line', []],
])('the demo of %s', (_, args) => {
  it('shows nine operations in at most 60 lines, each with its verdict', async () => {
    const ran = await runCli(['demo', ...args], {}, { directory: root })
    expect(ran.exitCode).toBe(0)
    const lines = ran.stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(60)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.filter((line) => /^ {3}[✔✖] /.test(line))).toHaveLength(9)
    expect(ran.stdout).toContain('   ✖ failed: Budget exceeded: ')
    expect(lines.at(-1)).toMatch(/^For logs, outputs and job summaries, run: .* --verbose$/)
  })

  it('shows the eight operations and two gates that fail, without credentials', async () => {
    const ran = await runCli(['demo', '--verbose', ...args], {}, { directory: root })
    expect(ran.exitCode).toBe(0)
    for (const operation of [
      'list-dashboards',
      'list-sources',
      'usage-cost',
      'get-backup',
      'create-alert',
      'plan',
      'apply',
      'check-backups',
    ])
      expect(ran.stdout).toContain(operation)
    expect(ran.stdout).toContain('Budget exceeded: ')
    expect(ran.stdout).toMatch(/2 of 3 services have no fresh backup: \S+ \(last backup failed\), \S+ \(2 d \d+ h old, limit 1 d 2 h\)\./)
    expect(ran.stdout).toContain('job summary (Markdown):\n   ### ✅ 3 dashboards')
    expect(ran.stdout.trimEnd()).toMatch(/All operations ended as expected, including the gates that fail\.\nNo data left this machine\.$/)
    // Escapes of workflow commands and of HTML.
    expect(ran.stdout).not.toMatch(/%25|%0A|&#\d+;|^ *::/m)
    expect(ran.stdout).toContain('Plan for demo/shop (2 to create)')
    expect(ran.stdout).toContain('Applied to demo/shop (2 created)')
    expect(ran.stdout.match(/requests: GET · exit code 0/g)).toHaveLength(4)
    expect(ran.stdout.match(/requests: POST · exit code 0/g)).toHaveLength(1)
  })

  it('shows alerts and dashboards as code on a self-hosted server', async () => {
    const ran = await runCli(['demo', '--profile', 'hyperdx', ...args], {}, { directory: root })
    expect(ran.exitCode).toBe(0)
    const verdicts = ran.stdout.split('\n').flatMap((line) => /^ {3}([✔✖] .*)/.exec(line)?.[1] ?? [])
    expect(verdicts).toEqual([
      '✔ 7 checks passed',
      expect.stringMatching(/^✔ Backtest of 1 alert over 7 days until /),
      '✔ Plan for demo/shop (2 to create)',
      '✔ Applied to demo/shop (2 created)',
      '✔ No changes: everything matches the files',
      '✖ failed: demo/shop has drifted: 1 to update',
      '✔ Applied to demo/shop (1 deleted)',
    ])
    expect(ran.stdout.split('\n').filter((line) => line.length > 80 && !line.endsWith(' --verbose'))).toEqual([])
    expect(ran.stdout).toContain(' --profile hyperdx --verbose\n')
  })
})
