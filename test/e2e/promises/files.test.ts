import { expect, it } from 'vitest'
import { runWithFailure } from '../../support/faults.ts'
import { runAsAction } from '../../support/run-as-action.ts'

it('R7: a file that is made to be slow or large is refused in little memory, with the place', async () => {
  const alias = (i: number): string => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(10)}]\n`
  const bomb = `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, i) => alias(i)).join('')}`
  const { outcome, ran } = await runWithFailure('create', undefined, { preload: {}, files: { 'a.yml': bomb }, inputs: { alert: 'a.yml' } })
  expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '' })
  expect(ran.outputs.get('failure-reason')).toContain('holds more than 50000 values')
  expect(ran.ending?.peakMegabytes).toBeLessThan(300)

  const alerts = Array.from({ length: 60 }, (_, i) => `a${i}: { name: "${'\u0024{{ env.A }}'.repeat(100)}" }`)
  const large = await runAsAction({
    preload: {},
    inputs: { operation: 'validate', profile: 'clickhouse-cloud', files: 'a.yml', env: 'prod' },
    files: { 'a.yml': `alerts: { ${alerts.join(', ')} }`, 'environments/prod.yml': `variables: { A: ${'x'.repeat(40_000)} }` },
  })
  expect(large.exitCode).toBe(1)
  expect(large.stdout).toContain('a.yml:1:6113: alerts.a5.name: the values of expressions make the files larger than 20 MB')
  expect(large.ending?.peakMegabytes).toBeLessThan(300)
})

it('S5: files of the repository that other tools would read change nothing', async () => {
  const evil = 'process.stdout.write("evil")'
  const files = {
    '.env': 'HTTP_PROXY=http://127.0.0.1:9\nWATCHKEEPER_API_URL=https://evil.example\nNODE_OPTIONS=--require ./evil.cjs\n',
    '.npmrc': 'proxy=http://127.0.0.1:9\nhttps-proxy=http://127.0.0.1:9\n',
    'package.json': '{ "type": "commonjs", "proxy": "http://127.0.0.1:9", "main": "evil.cjs" }',
    'evil.cjs': evil,
    'undici.js': evil,
    'node_modules/undici/index.js': evil,
    'node_modules/@actions/core/index.js': evil,
  }
  const { outcome, ran } = await runWithFailure('read', undefined, { preload: {}, files })
  expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET', added: 0, problems: [] })
  expect(ran.stdout).not.toContain('evil')
})
