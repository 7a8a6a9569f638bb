import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forEachEntry } from '../../support/corpus.ts'
import { fileWith } from '../../support/declarations.ts'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { unexpectedHtml } from '../../support/output-oracle.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'
import { commandsOf, type RanAction } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-validate-'))
})
afterAll(() => rm(directory, { recursive: true }))

const inputs = { operation: 'validate', profile: 'clickhouse-cloud' }

/** Alerts of which each has the same thing wrong, from the second line on. */
const alerts = (count: number, changes: object): string => {
  const alert = { ...fileWith().alerts.a, dashboard: { name: 'x' }, ...changes }
  return ['alerts:', ...Array.from({ length: count }, (_, i) => `  a${i}: ${JSON.stringify({ ...alert, name: `A${i}` })}`), ''].join('\n')
}

interface Annotation {
  readonly kind: string
  readonly properties: Readonly<Record<string, string>>
  readonly message: string
}

const decode = (text: string): string =>
  text.replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')

const annotationsOf = ({ stdout }: RanAction): readonly Annotation[] =>
  [...stdout.matchAll(/^::(error|warning|notice)(?: (.*?))?::(.*)$/gm)].map(([, kind = '', properties = '', message = '']) => ({
    kind,
    properties: Object.fromEntries(
      properties.split(',').map((pair) => [pair.slice(0, pair.indexOf('=')), decode(pair.slice(pair.indexOf('=') + 1))]),
    ),
    message: decode(message),
  }))

const count = (annotations: readonly Annotation[], wanted: string): number => annotations.filter(({ kind }) => kind === wanted).length

describe('validate as an action, without credentials', () => {
  it('puts each diagnostic beside its line, sets outputs and summary, and fails the step', async () => {
    const ran = await runAsAction({ inputs, files: { 'observability/a.yml': alerts(1, { interval: '5min' }) } })
    expect(ran.exitCode).toBe(1)
    const [diagnostic, step] = annotationsOf(ran)
    expect(diagnostic).toMatchObject({
      kind: 'error',
      properties: { file: 'observability/a.yml', line: '2', col: expect.stringMatching(/^\d+$/) },
    })
    expect(diagnostic?.message).toContain('alerts.a0.interval: "5min" is not accepted; accepted: 1m, 5m')
    expect(step).toEqual({ kind: 'error', properties: { title: 'Watchkeeper validate' }, message: '1 object in 1 file: 1 error' })
    expect(Object.fromEntries(ran.outputs)).toMatchObject({
      status: 'fail',
      'failure-reason': '1 object in 1 file: 1 error',
    })
    expect(ran.result).toMatchObject({ valid: false, objectCount: 1, errorCount: 1, warningCount: 0 })
    expect(ran.summary).toMatch(/^### ❌ 1 object in 1 file: 1 error\n/)
    expect(ran.summary).toContain('observability/a.yml:2:')
    expect(ran.result).toMatchObject({ diagnostics: [{ rule: 'schema', location: { file: 'observability/a.yml', line: 2 } }] })
  })

  it('shows as many annotations as a step may have, and the number of the others', async () => {
    const files = {
      'observability/errors.yml': alerts(15, { interval: '5min' }),
      'observability/warnings.yml': alerts(14, { interval: '5m' })
        .replaceAll(/ {2}a/g, '  w')
        .replaceAll(/"A\d+"/g, '"A"'),
      'observability/notes.yml': alerts(13, { note: undefined })
        .replaceAll(/ {2}a/g, '  n')
        .replaceAll(/"A(\d+)"/g, '"N$1"'),
    }
    const ran = await runAsAction({ inputs, files })
    const annotations = annotationsOf(ran)
    expect(['error', 'warning', 'notice'].map((kind) => count(annotations, kind))).toEqual([10, 9, 9])
    expect(annotations.at(-1)?.message).toBe('42 objects in 3 files: 15 errors')
    expect(ran.stdout).toContain('6 more annotations with the severity error are in the summary.')
    expect(ran.stdout).toContain('4 more annotations with the severity warning are in the summary.')
    expect(ran.stdout).toContain('4 more annotations with the severity note are in the summary.')
    expect(ran.result).toMatchObject({ warningCount: 13 })
    expect((ran.result as { diagnostics: object[] }).diagnostics).toHaveLength(41)
  })

  it('warns, and stays green, where there are only warnings', async () => {
    const ran = await runAsAction({ inputs, files: { 'observability/a.yml': alerts(30, {}).replaceAll(/"A\d+"/g, '"A"') } })
    expect([ran.exitCode, ran.outputs.get('status'), count(annotationsOf(ran), 'warning')]).toEqual([0, 'warn', 10])
  })

  it('sends no request, also with credentials, and writes no annotations for valid files', async () => {
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), ...inputs },
      files: { 'observability/a.json': JSON.stringify(fileWith()) },
      secrets,
    })
    expect([ran.exitCode, ran.outputs.get('status'), annotationsOf(ran)]).toEqual([0, 'pass', []])
    expect(emulator().requests).toHaveLength(0)
  })

  it('treats a hostile file name as text', () =>
    forEachEntry(
      [
        'observability/::error file=x::y.yml',
        'observability/a%0A::error::x.yml',
        'observability/a\n::error::x.yml',
        'observability/##[error]x.yml',
        'observability/a,line=1,b:c.yml',
        'observability/<img src=x onerror=1>.yml',
        'observability/[x](javascript:1).yml',
        'observability/| a | `b`.yml',
        `observability/${'ä'.repeat(120)}.yml`,
      ],
      async (file) => {
        const wrong = alerts(1, { '::error::x\n##[error]<b>': 1, interval: '\u001b]8;;https://x\u0007' })
        const ran = await runAsAction({ inputs, files: { [file]: wrong } })
        expect(ran.exitCode).toBe(1)
        expect(commandsOf(ran)).toEqual(['error', 'error', 'error'])
        expect(annotationsOf(ran)[0]?.properties.file).toBe(file)
        expect(unexpectedHtml(ran.summary)).toEqual([])
        expect(ran.result).toMatchObject({ files: [file] })
      },
    ))

  it('refuses a link that leads outside or to itself instead of passing over it', async () => {
    const outside = join(directory, 'outside.yml')
    await writeFile(outside, 'alerts: {}')
    for (const [name, reason] of [
      ['a.yml', 'is outside of the workspace'],
      ['loop.yml', 'does not exist or cannot be read'],
    ] as const) {
      const workspace = await mkdtemp(join(directory, 'workspace-'))
      await symlink(name === 'a.yml' ? outside : join(workspace, name), join(workspace, name))
      const ran = await runAsAction({ inputs: { ...inputs, files: '*.yml' }, env: { GITHUB_WORKSPACE: workspace } })
      expect(ran.exitCode, name).toBe(1)
      expect(ran.outputs.get('failure-reason')).toBe(`files: "${name}" ${reason}`)
    }
  })

  it('writes SARIF that code scanning accepts, also when it fails', async () => {
    const sarif = join(directory, 'diagnostics.sarif')
    const files = { 'observability/a b.yml': alerts(2, { interval: '5min', note: undefined }), 'observability/empty.yml': '' }
    const ran = await runAsAction({ inputs: { ...inputs, reports: `sarif=${sarif}` }, files })
    expect(ran.exitCode).toBe(1)
    const log = JSON.parse(await readFile(sarif, 'utf8'))
    expect(log).toMatchObject({
      version: '2.1.0',
      $schema: expect.stringContaining('sarif-2.1.0'),
      runs: [{ tool: { driver: { name: 'watchkeeper' } } }],
    })
    const ids = log.runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)
    expect(log.runs[0].results).toHaveLength(3)
    for (const { ruleId, ruleIndex, level, message, locations } of log.runs[0].results) {
      expect(ids[ruleIndex]).toBe(ruleId)
      expect(['error', 'warning', 'note']).toContain(level)
      expect(message.text).not.toBe('')
      const { artifactLocation, region } = locations[0].physicalLocation
      expect(artifactLocation.uri).toMatch(/^observability\/(?:a%20b|empty)\.yml$/)
      expect(region.startLine).toBeGreaterThanOrEqual(1)
    }
  })
})

describe('validate on the command line, without credentials', () => {
  const runIn = async (text: string, ...args: readonly string[]) => {
    const workspace = await mkdtemp(join(directory, 'cli-'))
    await writeFile(join(workspace, 'a.yml'), text)
    return runCliInside(['validate', '--files', 'a.yml', '--profile', 'clickhouse-cloud', ...args], { directory: workspace })
  }

  /** Without the last line, which has the time. */
  const withoutTime = (text: string): string => text.replace(/\n\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC\n$/, '')

  it('prints a diagnostic a line, as compilers do, and exits as for wrong input', async () => {
    const ran = await runIn('alerts:\n  a: { name: A, threshold: x, interval: 5m, dashboard: { id: x }, tile: { id: y } }\nalert: 1\n')
    expect(ran.exitCode).toBe(2)
    expect(withoutTime(`${ran.stdout}${ran.stderr}`)).toBe(
      [
        '✖ failed: 1 object in 1 file: 2 errors',
        '',
        'a.yml:2:28  error    alerts.a.threshold: "x" is not accepted; accepted: a number  (schema)',
        'a.yml:3:1   error    "alert" is an unknown field; did you mean "alerts"?  (schema)',
        '',
      ].join('\n'),
    )
  })

  it('prints the result alone as JSON, with the same exit code', async () => {
    const ran = await runIn('- a', '--json')
    expect(ran.exitCode).toBe(2)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      operation: 'validate',
      status: 'fail',
      diagnostics: [{ location: { file: 'a.yml', line: 1, column: 1 } }],
    })
  })

  it('exits with 0 under warn-only, and for valid files', async () => {
    expect((await runIn('- a', '--warn-only')).exitCode).toBe(0)
    const ran = await runIn(JSON.stringify(fileWith()))
    expect([ran.exitCode, withoutTime(ran.stdout), ran.stderr]).toEqual([0, '✔ 2 objects in 1 file\n', ''])
  })

  it('takes a flag for each glob, and exits with 2 where no file matches', async () => {
    const workspace = await mkdtemp(join(directory, 'globs-'))
    for (const name of ['a', 'b', 'c']) await writeFile(join(workspace, `${name}.yml`), 'alerts: {}')
    const ran = await runCliInside(['validate', '--files', 'a.yml', '--files', 'b.yml', '--json'], { directory: workspace })
    expect(JSON.parse(ran.stdout)).toMatchObject({ files: ['a.yml', 'b.yml'] })
    const none = await runCliInside(['validate', '--files', 'none/*.yml'], { directory })
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining('files: no file matches none/*.yml')])
  })
})
