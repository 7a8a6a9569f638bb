// What plan, apply and drift say about a result, which is a value.

import { describe, expect, it } from 'vitest'
import { apply } from '../../../src/changes/apply.ts'
import { type BacktestedAlert, backtestBlocks, reviewBlocks, toAlertEstimate } from '../../../src/changes/backtest/backtest-report.ts'
import { backtest } from '../../../src/changes/backtest.ts'
import { drift } from '../../../src/changes/drift.ts'
import { layoutOf } from '../../../src/changes/plan/layouts.ts'
import { judgeDiagnostics } from '../../../src/changes/plan/plan-report.ts'
import { plan } from '../../../src/changes/plan.ts'
import { judgePrice, type PlanPrice, priceBlocks, priceWords } from '../../../src/changes/price/price-report.ts'
import { judgePull, pullBlocks, pullHeadline, pullRequestBlocks, toPullResult } from '../../../src/changes/pull/pull-report.ts'
import { factTable, queryReview } from '../../../src/changes/queries/query-review.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { composeBlocks } from '../../../src/platform/report/blocks.ts'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import type { PulledObject } from '../../../src/sync/pull/draft.ts'
import { tablesIn } from '../../support/report-texts.ts'

type Result = Parameters<typeof apply.report>[0] & Parameters<typeof plan.report>[0]
type PlannedObject = Result['objects'][number]

const error = { rule: 'syntax', severity: 'error', message: 'It is wrong.', location: { file: 'f.yml', line: 1, column: 2 } } as const

const object = (key: string, more: Partial<PlannedObject> = {}): PlannedObject => ({
  kind: 'alert',
  key,
  name: `Alert ${key}`,
  action: 'unchanged',
  notes: [],
  fields: [],
  ...more,
})

/** A result with these objects, and the numbers that belong to them. */
function resultOf(objects: readonly PlannedObject[], more: Partial<Result> = {}): Result {
  const numberOf = (action: PlannedObject['action']): number => objects.filter((one) => one.action === action).length
  return {
    toCreate: numberOf('create'),
    toUpdate: numberOf('update'),
    toReplace: numberOf('replace'),
    toDelete: numberOf('delete'),
    unchanged: numberOf('unchanged') + numberOf('adopt'),
    toAdopt: numberOf('adopt'),
    toHold: numberOf('held'),
    tracked: objects.filter(({ isTracked }) => isTracked).length,
    unmanaged: 0,
    unmanagedKinds: [],
    toMark: numberOf('mark'),
    toRelease: numberOf('release'),
    changed: objects.some(({ action }) => action !== 'unchanged' && action !== 'adopt'),
    needsApply: objects.some(({ action }) => action !== 'unchanged'),
    project: 'shop/main',
    files: ['f.yml'],
    objects: [...objects],
    orphans: [],
    uncheckedCount: 0,
    diagnostics: [],
    applied: true,
    planFile: '',
    isPlanWrong: false,
    ...more,
  }
}

type Operation = typeof plan | typeof apply | typeof drift

const headlineOf = ({ report }: Operation, result: Result): string => toPlainText(report(result).headline)

/** Blocks with nothing in them are left out, as a run does. */
const linesOf = ({ report }: Operation, result: Result): readonly string[] =>
  composeBlocks(report(result).blocks)
    .map((block) => renderTerminal([block], { color: false }).join('\n'))
    .join('\n\n')
    .split('\n')

const textOf = (operation: Operation, result: Result): string => linesOf(operation, result).join('\n')

const cellsOf = (rows: readonly string[]) => rows.map((row) => row.split(/ {2,}/))

it('the headline of a backtest counts the incidents, and says of wrong files that it failed, not that there is nothing to backtest', () => {
  const none = { ...{ alertCount: 0, firing: 0, quiet: 0, noData: 0, notEstimable: 0, notifications: 0, requestCount: 0 }, alerts: [] }
  const noIncident = { ...{ incidentCount: 0, detected: 0, late: 0, missed: 0, untestable: 0 }, incidents: [] }
  const headline = (diagnostics: Result['diagnostics'], more: Partial<typeof noIncident> = {}) =>
    toPlainText(backtest.report({ ...none, ...noIncident, ...more, days: 7, until: '2026-11-28T00:00:00Z', diagnostics }).headline)
  expect(headline([error])).toBe('The backtest failed')
  expect(headline([])).toMatch(/^No alert to backtest: the files change none\. /)
  expect(headline([], { incidentCount: 2, late: 1, missed: 1 })).toBe('2 incidents: 0 detected, 1 late, 1 missed')
  expect(headline([], { incidentCount: 1, untestable: 1 })).toBe('1 incident: 0 detected, 0 late, 0 missed, 1 not testable any more')
})

describe('the report of a plan', () => {
  it('the report of a plan says in its headline what would be done, or that nothing would', () => {
    const all = (['create', 'update', 'update', 'replace', 'delete', 'adopt', 'unchanged'] as const).map((action, i) =>
      object(`${i}`, { action }),
    )
    expect(headlineOf(plan, resultOf(all))).toBe('Plan for shop/main (1 to create, 2 to update, 1 to replace, 1 to delete)')
    expect(headlineOf(plan, resultOf([object('a', { action: 'create' }), object('b', { action: 'held' })]))).toBe(
      'Plan for shop/main (1 to create, 1 held)',
    )
    expect(headlineOf(plan, resultOf([object('a')]))).toBe('No changes for shop/main: everything matches the files')
    expect(headlineOf(plan, resultOf([object('a', { action: 'mark' })], { changed: false }))).toBe(
      'No changes for shop/main: everything matches the files, and apply updates the markers of 1 object',
    )
    expect(headlineOf(plan, resultOf([object('a', { action: 'adopt' })]))).toBe(
      'No changes for shop/main: everything matches the files, and apply adopts 1 object',
    )
    expect(headlineOf(plan, resultOf([object('a', { action: 'adopt' }), object('b', { action: 'mark' })], { changed: false }))).toBe(
      'No changes for shop/main: everything matches the files, and apply adopts 1 object and updates the markers of 1 object',
    )
    expect(headlineOf(plan, resultOf([], { diagnostics: [error] }))).toBe('The plan for shop/main failed')
  })

  it('counts what the headline does not count, without zeros', () => {
    expect(linesOf(plan, resultOf([object('a'), object('b')]))).toEqual(['Unchanged  2'])
    const rare = resultOf([object('a', { action: 'replace' }), object('b', { action: 'adopt' }), object('c')])
    expect(linesOf(plan, rare).slice(0, 2)).toEqual(['Adopt  1', ''])
    expect(headlineOf(plan, rare)).toContain('1 to replace')
  })

  it('has problems before the changes, and notes after them', () => {
    const warning = { ...error, severity: 'warning', message: 'It is odd.' } as const
    const note = { ...error, severity: 'note', message: 'It is new.' } as const
    const result = resultOf([object('a', { action: 'delete', id: 'x' })], { diagnostics: [note, warning] })
    expect(linesOf(plan, result).join('\n')).toMatch(/It is odd\..*- alert a.*It is new\./s)
  })

  it('says a cause of three objects once, with their names and what is the own of the first', () => {
    const held = (key: string, name: string, id: string, cause = 'differs') => ({
      ...error,
      message: `alerts.${key}: the alert "${name}" (${id}) ${cause}. Set adopt to ${id}, or pull --select key=${key}`,
    })
    const [one, two, three] = [held('a', 'A', 'a'.repeat(24)), held('b', 'B "b"', 'b'.repeat(24)), held('c', 'C', 'c'.repeat(24))]
    const shown = (...diagnostics: Result['diagnostics']) => linesOf(plan, resultOf([], { diagnostics })).map((line) => line.slice(20))
    const own = `the alert "A" (${'a'.repeat(24)}) differs. Set adopt to ${'a'.repeat(24)}, or pull --select key=a,b,c  (syntax)`
    expect(shown(one, two, three)).toEqual([`alerts.a, and 2 more like it (alerts.b, alerts.c): ${own}`])
    expect(shown(one, two)).toHaveLength(2)
    const inEnvironment = ['a', 'b', 'c'].map((key) => ({
      ...error,
      message: `alerts.${key}: differs. Set adopt.alerts.${key} in environments/production.yml to ${key.repeat(24)}@2.${key}.files, or pull --select key=${key}`,
    }))
    const [line = '', ...values] = linesOf(plan, resultOf([], { diagnostics: inEnvironment }))
    expect(line).toContain('alerts.a, and 2 more like it (alerts.b, alerts.c): differs. Set adopt.alerts.a in environments')
    expect(values.slice(-3)).toEqual(['a', 'b', 'c'].map((key) => `alerts.${key}  ${key.repeat(24)}@2.${key}.files`))
    expect(shown(one, two, { ...three, severity: 'warning' })).toHaveLength(3)
    expect(shown(one, two, held('c', 'C', 'c'.repeat(24), 'is not the one'))).toHaveLength(3)
    expect(shown({ ...error, message: 'x' }, { ...error, message: 'x' }, { ...error, message: 'x' })).toHaveLength(3)
  })

  it('counts nothing where files are wrong, because then nothing is known about the service', () => {
    expect(linesOf(plan, resultOf([], { diagnostics: [error] }))).toEqual(['f.yml:1:2  error    It is wrong.  (syntax)'])
  })

  it('shows every change with its place, why it is made and its fields, and no object that stays', () => {
    const result = resultOf([
      object('same', { file: 'f.yml', line: 3 }),
      object('new', {
        action: 'create',
        file: 'f.yml',
        line: 5,
        summary: 'A on D ≥ 5 in 5m → webhook oncall',
        fields: [{ path: 'name', after: 'Errors' }],
      }),
      object('old', { action: 'update', file: 'f.json', id: 'x', origin: 'service', fields: [{ path: 'threshold', before: 1, after: 2 }] }),
      object('mine', { action: 'update', origin: 'files', name: 'mine' }),
      object('again', { action: 'replace', id: 'y', origin: 'files', notes: ['its tile is deleted'] }),
      object('gone', { action: 'delete', kind: 'savedSearch', id: 'z', name: 'Gone' }),
    ])
    expect(linesOf(plan, result)).toEqual([
      '+ alert new "Alert new"  (f.yml:5)',
      '    A on D ≥ 5 in 5m → webhook oncall',
      '',
      '~ alert old "Alert old"  (f.json)',
      '    # changed in the service since the last apply',
      '~     threshold: 1 → 2',
      '',
      '~ alert mine',
      '    # changed in the files since the last apply',
      '~ replace alert again "Alert again"  (y)',
      '    # its tile is deleted',
      '- saved search gone "Gone"  (z)',
      '',
      'All fields of alert new: see the summary of the run',
    ])
    expect(renderMarkdown(composeBlocks(plan.report(result).blocks))).toContain('+     name: Errors')
    const decided = object('old', { action: 'update', origin: 'decided', fields: [{ path: 'threshold', before: 1, after: 2 }] })
    expect(linesOf(plan, resultOf([decided]))).toContain('    # adopt decides for the file')
  })

  it('breaks a long summary into lines of 80 columns, and names the places of changes by their keys', () => {
    const [, entry] = linesOf(plan, resultOf([object('new', { action: 'create', summary: `${'ab '.repeat(25)}abc` })]))
    expect(entry).toBe(`    ${'ab '.repeat(25).trim()}`)
    const { blocks } = plan.report(resultOf([object('old', { action: 'update', file: 'f.yml', line: 3 })]))
    const places = composeBlocks(blocks).flatMap((block) => (block.kind === 'diff' ? (block.places ?? []) : []))
    expect(places.map(toPlainText)).toEqual([expect.stringMatching(/^alert old/)])
  })

  it('draws a layout with the titles of its container, names that are cut to their boxes, and what differs of many tiles', () => {
    const tile = (id: string, [x, y, w, h]: readonly number[], more = {}) => ({ id, name: id, x, y, w, h, ...more })
    const drawn = (before: readonly object[], after: readonly object[], containers: readonly object[] = []) =>
      layoutOf({ stored: { tiles: before }, desired: { tiles: after, containers }, fields: [] } as never)
    const inTab = { containerId: 'c', tabId: 't' }
    const named = drawn(
      [],
      [tile('A long name', [0, 0, 4, 3], inTab), tile('Thin', [4, 0, 1, 0], inTab)],
      [{ id: 'c', title: 'Ops', tabs: [{ id: 't', title: 'Main' }] }],
    )
    expect(named?.lines).toEqual([
      ...['Ops / Main', 'Before', '(no tiles)', 'After'],
      ...['┌─────────┬─┐', '│ + A lo… │ │', '│         ├─┘', '│         │', '└─────────┘'],
      '+ added',
    ])
    expect(named?.grids[0]?.after.map(({ w, h }) => [w, h])).toEqual([
      [4, 3],
      [1, 1],
    ])
    const many = Array.from({ length: 31 }, (_, i) => tile(`${i}`, [0, i, 4, 1]))
    expect(drawn(many, many.slice(0, 2))).toMatchObject({ undrawn: 2, grids: [{ before: { length: 29 }, after: [] }] })
  })

  it('folds the queries that follow the declaration of an SLO, and no others', () => {
    const about = { path: 'tiles["About"].config.markdown', before: '99%', after: '99.5%' }
    const sql = { path: 'tiles["Budget"].config.sqlTemplate', before: 'SELECT 1', after: 'SELECT 2' }
    const made: Partial<PlannedObject> = {
      kind: 'dashboard',
      action: 'update',
      madeFrom: 'slos.shop',
      origin: 'files',
      fields: [about, sql],
    }
    const ofBudget = (more: Partial<PlannedObject>) =>
      linesOf(plan, resultOf([object('shop.slo', { ...made, ...more })])).filter((line) => /Budget|SQL of/.test(line))
    expect(ofBudget({})).toEqual(['SQL of 1 dashboard: see the summary of the run'])
    const inline = ['~     tiles["Budget"].config.sqlTemplate: SELECT 1 → SELECT 2']
    expect(ofBudget({ origin: 'service' })).toEqual(inline)
    expect(ofBudget({ origin: 'both' })).toEqual(inline)
    expect(ofBudget({ madeFrom: undefined })).toEqual(inline)
    expect(ofBudget({ fields: [sql] })).toEqual(inline)
    const folded = renderMarkdown(composeBlocks(plan.report(resultOf([object('shop.slo', made)])).blocks))
    expect(folded.split('<details>')[1]).toContain('tiles["Budget"].config.sqlTemplate: SELECT 1 → SELECT 2')
  })

  it('shows equal changes of instances once, with their number', () => {
    const create = (key: string, summary: string) => {
      const fields = [{ path: 'tags', after: [key, 'prod'].toSorted() }]
      return object(`${key}-errors`, { action: 'create', file: 'f.yml', line: 5, instance: key, name: `Errors of ${key}`, summary, fields })
    }
    const update = (key: string, after: number) =>
      object(`${key}-slow`, { action: 'update', instance: key, fields: [{ path: 'threshold', before: 1, after }] })
    const result = resultOf([
      ...['shop', 'ads', 'pay'].map((key) => create(key, `Errors on ${key} ≥ 5`)),
      create('own', 'Errors on own ≥ 9'),
      ...['shop', 'ads'].map((key) => update(key, 2)),
      update('pay', 3),
    ])
    expect(linesOf(plan, result).slice(0, -2)).toEqual([
      '+ alert shop-errors "Errors of shop"  (f.yml:5)',
      '    Errors on shop ≥ 5',
      '    the same for 2 more instances: ads, pay',
      '+ alert own-errors "Errors of own"  (f.yml:5)',
      '    Errors on own ≥ 9',
      '',
      '~ alert shop-slow "Alert shop-slow"',
      '~     threshold: 1 → 2',
      '    the same for 1 more instance: ads',
      '',
      '~ alert pay-slow "Alert pay-slow"',
      '~     threshold: 1 → 3',
    ])
  })

  it('names the operations that list the unmanaged objects in the details only', () => {
    const result = resultOf([object('a')], { unmanaged: 3, unmanagedKinds: ['savedSearch', 'alert'] })
    expect(renderMarkdown(composeBlocks(plan.report(result).blocks))).toContain(
      'Unmanaged&#44; and not changed&#58; 3 objects</summary>\n\nTo see them, run list-saved-searches, list-alerts with select: unmanaged',
    )
    expect(textOf(plan, result)).not.toContain('nmanaged')
  })

  it('shows a new SLO in place of the objects that it makes, but each object of an SLO that has some already', () => {
    const slo = {
      key: 'pay',
      name: 'Pay',
      summary: '99% in 30d',
      objective: 99,
      window: '30d',
      minEvents: 1,
      noDataAlert: true,
      alerts: [],
    }
    const fields = [{ path: 'name', after: 'P' }]
    const made = { file: 'f.yml', line: 3, madeFrom: 'slos.pay', action: 'create', summary: 'A', fields } as const
    const board = object('pay.slo', { ...made, kind: 'dashboard' })
    const report = (...objects: readonly PlannedObject[]) => linesOf(plan, resultOf(objects, { slos: [slo] }))
    expect(report(board, object('pay.page-1h', made), object('other', { action: 'create', summary: 'B' }))).toEqual([
      '+ alert other "Alert other"',
      '    B',
      '+ SLO pay "Pay"  (f.yml:3)',
      '    99% in 30d. Makes dashboard pay.slo and 1 alert.',
      '',
      'All fields of 3 new objects: see the summary of the run',
    ])
    expect(report({ ...board, action: 'unchanged' }, object('pay.page-1h', made))).toContain(
      '+ alert pay.page-1h "Alert pay.page-1h"  (f.yml:3)',
    )
    // None of its objects is in this plan, as with a selection.
    expect(report(object('other', { action: 'create', summary: 'B' })).join('\n')).not.toContain('SLO')
  })

  it('says that nothing protects the sources that it writes', () => {
    const text = textOf(
      plan,
      resultOf([
        object('logs', { kind: 'source', action: 'create' }),
        object('traces', { kind: 'source', action: 'unchanged' }),
        object('metrics', { kind: 'source', action: 'update' }),
        object('sessions', { kind: 'source', action: 'release' }),
      ]),
    )
    expect(/^Sources have no marker, so nothing protects them .*: (.*)$/m.exec(text)?.[1]).toBe('source logs, source metrics')
  })

  it('shows what belonged to another key or project among the changes, and an unmanaged object only by its name', () => {
    const adopted = (takeover: PlannedObject['takeover']) =>
      textOf(plan, resultOf([object('a', { action: 'adopt', takeover, notes: ['the reason'] })]))
    for (const takeover of ['renamed', 'other-project'] as const) expect(adopted(takeover)).toContain('the reason')
    expect(adopted('unmanaged')).not.toContain('the reason')
  })

  it('names what is taken over and what is in no file, up to five of them, and the others in a table', () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const orphans = keys.map((key) => ({ kind: 'alert' as const, key, id: `id-${key}`, name: '' }))
    const adopted = keys.map((key) => object(key, { action: 'adopt' }))
    const few = textOf(plan, resultOf(adopted.slice(0, 2), { orphans: orphans.slice(0, 1) }))
    expect(few).toContain("2 objects are as declared. apply adopts them by writing this project's marker: alert a, alert b")
    expect(few).toContain("1 object has this project's marker and is not declared in any file. prune deletes such objects: alert a")
    expect(few).not.toContain('Objects')
    const many = textOf(plan, resultOf(adopted, { orphans }))
    expect(many).toContain('alert a, alert b, alert c, alert d, alert e and 2 more')
    expect(many).toContain('Objects to adopt (7): see the summary of the run')
    expect(many).toContain('Undeclared objects (7): see the summary of the run')
  })

  it('the number of held objects is that of the headline, also where one message is about several, or one is only a warning', () => {
    const held = { ...error, rule: 'held' }
    const objects = ['a', 'b', 'c'].map((key) => object(key, { action: 'held' }))
    for (const diagnostics of [[held], [held, held], [held, { ...held, severity: 'warning' as const }]]) {
      const result = resultOf(objects, { diagnostics })
      for (const operation of [plan, drift]) {
        const { reasons = [] } = operation.judge?.(result, {} as never) ?? {}
        expect([headlineOf(operation, result), ...reasons.map(toPlainText)].join().match(/\d+/g)).toEqual(['3'])
      }
    }
    const fields = [{ path: 'threshold', before: 1, after: 2, isSecret: false }]
    const text = textOf(
      plan,
      resultOf([object('a', { action: 'held', notes: ['changed in both'], fields }), object('b', { action: 'held' })]),
    )
    expect(text).toContain('Differences of held objects:')
    expect(text).toContain('threshold: 1 → 2')
    expect(text).not.toMatch(/changed in both|alert b/)
  })

  it('annotates files, and nothing that is about an object of the service', () => {
    const lost = { ...error, rule: 'still-used', location: { file: 'prune' } }
    for (const operation of [plan, apply, drift]) {
      const { annotations = [] } = operation.report(resultOf([], { diagnostics: [error, lost] }))
      expect(annotations.map(({ rule, location }) => [rule, location?.file])).toEqual([
        ['syntax', 'f.yml'],
        ['still-used', undefined],
      ])
    }
  })

  it('the report of a plan says how many dashboards the server was not asked about', () => {
    expect(textOf(plan, resultOf([]))).not.toContain('did not check')
    expect(textOf(plan, resultOf([], { uncheckedCount: 2 }))).toContain('The server did not check 2 changed dashboards')
  })
})

describe('the report of apply', () => {
  const applied = (...outcomes: readonly (readonly [PlannedObject['outcome'], string?])[]) =>
    resultOf(
      outcomes.map(([outcome, message], i) =>
        object(`${i}`, { action: outcome === 'unchanged' ? 'unchanged' : 'create', outcome, ...(message !== undefined && { message }) }),
      ),
      { changed: outcomes.some(([outcome]) => outcome === 'created') },
    )

  it.each([
    ['Nothing to do for shop/main: everything matches the files', applied(['unchanged'])],
    ['Applied to shop/main (2 created)', applied(['created'], ['created'], ['unchanged'])],
    [
      'Applied in part to shop/main (1 unknown, 1 failed, 1 skipped, 1 created)',
      applied(['created'], ['failed'], ['unknown'], ['skipped']),
    ],
    ['Not applied to shop/main (1 failed)', applied(['failed'])],
    ['Nothing written to shop/main (1 held)', applied(['held'], ['unchanged'])],
    ['Applied to shop/main (1 created, 1 held)', applied(['held'], ['created'])],
    ['Nothing was written for shop/main', resultOf([], { isPlanWrong: true, diagnostics: [error] })],
  ])('the report of apply says in its headline what was done: %s', (expected, result) => {
    expect(headlineOf(apply, result)).toBe(expected)
  })

  const verdictOf = (result: Result) => {
    const { status, reasons, exit } = apply.judge?.(result, {} as never) ?? {}
    return [status, exit, ...(reasons ?? []).map(toPlainText)]
  }

  it('judges what was not done, and what is wrong although all was written', () => {
    const denied = { kind: 'denied', message: 'the key lacks a permission' } as const
    expect(verdictOf(applied(['created']))).toEqual(['pass', undefined])
    expect(verdictOf(applied(['created'], ['failed', 'No.\nBecause.'], ['failed', 'Neither.']))).toEqual([
      'error',
      'partlyApplied',
      '2 objects failed, the first of them alert 1: No.',
    ])
    expect(verdictOf(applied(['skipped'], ['skipped']))).toEqual(['error', undefined, '2 objects skipped'])
    expect(verdictOf(applied(['failed', 'No.'], ['skipped']))).toEqual(['error', undefined, 'alert 0: No.'])
    expect(verdictOf(applied(['unknown'], ['failed', 'No.']))).toEqual(['error', 'partlyApplied', expect.any(String), 'alert 1: No.'])
    const causeOf = (result: Result): string => toPlainText(apply.judge?.(result, {} as never).cause ?? [])
    expect(causeOf(applied(['unknown'], ['failed', 'No.']))).toBe('alert 1 was not written')
    expect(causeOf(applied(['unknown'], ['skipped']))).toBe('alert 0 may have been written')
    expect(verdictOf(applied(['unknown'], ['created']))).toEqual([
      'error',
      'partlyApplied',
      '1 object may have been written, because the server did not answer. Run apply again',
    ])
    expect(verdictOf({ ...applied(['failed', 'No.']), stopped: denied })).toEqual([
      'error',
      'denied',
      'alert 0: No.',
      'stopped because the key lacks a permission',
    ])
    const canceled = { kind: 'canceled', message: 'it was' } as const
    expect(verdictOf({ ...applied(['created'], ['skipped']), stopped: canceled })).toEqual([
      'error',
      'partlyApplied',
      'stopped because it was',
    ])
    expect(verdictOf({ ...applied(['skipped']), stopped: canceled })).toEqual(['error', 'canceled', 'stopped because it was'])
    expect(verdictOf({ ...applied(['created']), stopped: canceled })).toEqual([
      'error',
      'partlyApplied',
      'stopped before the writes were verified, because it was',
    ])
    expect(verdictOf({ ...applied(['created']), diagnostics: [error] })).toEqual(['error', 'partlyApplied', 'It is wrong.'])
    expect(verdictOf({ ...applied(['unchanged']), diagnostics: [error] })).toEqual(['error', undefined, 'It is wrong.'])
    const held = { ...error, rule: 'held' }
    expect(verdictOf({ ...applied(['held']), diagnostics: [held] })).toEqual(['fail', undefined, 'held objects need attention'])
    expect(verdictOf({ ...applied(['held']), diagnostics: [held, error] })).toEqual(['error', undefined, 'It is wrong.'])
    expect(verdictOf({ ...applied(['created']), diagnostics: [error, error, error] })).toEqual([
      'error',
      'partlyApplied',
      'It is wrong.',
      '2 more',
    ])
    expect(verdictOf({ ...applied(['created']), diagnostics: [{ ...error, severity: 'warning' }] })).toEqual([
      'warn',
      undefined,
      '1 warning',
    ])
    expect(verdictOf(resultOf([], { isPlanWrong: true, diagnostics: [error] }))).toEqual(['fail', 'input', 'It is wrong'])
  })

  it('the verdict on a plan has the first line of a single error, which can be long, and the number of several', () => {
    const reasonsOf = (...diagnostics: (typeof error)[]) => judgeDiagnostics(diagnostics).reasons.map(toPlainText)
    const warning = { ...error, severity: 'warning' } as never
    expect(reasonsOf({ ...error, message: 'alerts.a: No.\nBecause.' as never }, warning)).toEqual(['alerts.a: No'])
    expect(reasonsOf({ ...error, message: 'x'.repeat(400) as never })).toEqual([`${'x'.repeat(300)}… (100 more characters)`])
    expect(reasonsOf(error, error, warning)).toEqual(['2 errors'])
  })

  it('counts what was done, not what was planned', () => {
    const result = resultOf([
      object('a', { action: 'create', outcome: 'created' }),
      object('b', { action: 'create', outcome: 'skipped' }),
      object('c', { action: 'delete', outcome: 'unknown' }),
      object('d', { action: 'update' }),
    ])
    expect(headlineOf(apply, result)).toContain('(1 unknown, 1 skipped, 1 created)')
    expect(linesOf(apply, result).slice(0, 2)).toEqual(['Not done  1', ''])
  })

  it('the key lines of apply have what was not done first, with the first line of its reason', () => {
    const result = applied(['created', 'It is odd.'], ['unchanged'], ['skipped'], ['failed', 'No.\nBecause.'])
    expect(apply.keyLines?.(result, {} as never).map(toPlainText)).toEqual(['Failed: alert 3: No.', 'Skipped: alert 2', 'Created: alert 0'])
  })

  it('counts a tracked object as tracked, as in the plan', () => {
    const result = resultOf([object('a', { outcome: 'unchanged', isTracked: true }), object('b', { outcome: 'unchanged' })])
    expect(linesOf(apply, result).slice(0, 2)).toEqual(['Tracked    1', 'Unchanged  1'])
  })

  it('the report of apply has a row for each object that was not left alone, what went wrong first, with its reason', () => {
    const result = resultOf([
      object('fine', { action: 'create', outcome: 'created', id: 'x', notes: ['takes it over', 'and more'] }),
      object('same', { outcome: 'unchanged' }),
      object('', { name: 'Nameless key', action: 'delete', outcome: 'skipped', message: 'too late' }),
      object('bad', { action: 'create', outcome: 'failed', message: 'The API answered 400.\nPOST /alerts' }),
      object('one', { name: 'Twin', action: 'update', outcome: 'updated', id: 'y' }),
      object('two', { name: 'Twin', action: 'update', outcome: 'unchanged', id: 'z' }),
      object('new', { name: 'Twin', action: 'create', outcome: 'created' }),
    ])
    const rows = linesOf(apply, result)
    expect(rows.slice(0, 2)).toEqual(['Unchanged  2', ''])
    const table = rows.findIndex((row) => row.startsWith('Outcome'))
    expect(cellsOf(rows.slice(table, table + 6))).toEqual([
      ['Outcome', 'Kind', 'Name', 'Remark'],
      ['❌ failed', 'alert', 'Alert bad', 'The API answered 400.'],
      ['⏭️ skipped', 'alert', 'Nameless key', 'too late'],
      ['created', 'alert', 'Alert fine', 'takes it over; and more'],
      ['created', 'alert', 'Twin (new)'],
      ['updated', 'alert', 'Twin (y)'],
    ])
    expect(textOf(apply, result)).toContain('\n\nalert bad\n  The API answered 400.\n  POST /alerts')
    expect(textOf(apply, result)).not.toContain('alert Nameless key\n')
    // Its reader has seen them in the plan. The summary has them, folded.
    expect(textOf(apply, result)).not.toContain('Planned changes')
  })

  it('shows objects that were not written for one cause in one row, and the cause once', () => {
    const cause = (id: string) => `The API answered 400: no.\nAdvice.\nRequest: POST /alerts (request id ${id})`
    const text = textOf(
      apply,
      applied(['failed', cause('x')], ['failed', cause('y')], ['failed', cause('z')], ['failed', 'Other.'], ['created']),
    )
    expect(text.match(/answered 400/g)).toHaveLength(2)
    expect(text).toMatch(/failed +alert +Alert \w+, Alert \w+, Alert \w+ +The API answered 400: no/)
    expect(text).toContain(' and 2 more\n  The API answered 400: no.\n  Advice.\n  Request: POST /alerts (request id x)')
    expect(text).toMatch(/failed +alert +Alert \w+ +Other/)
  })

  it('shows ten failures in full, and says how many more there are', () => {
    const failures = (count: number) =>
      textOf(apply, applied(...Array.from({ length: count }, (_, i) => ['failed', `No ${i}.\nBecause.`] as const)))
    expect(failures(10).match(/^ {2}Because\.$/gm)).toHaveLength(10)
    expect(failures(10)).not.toContain('… and')
    expect(failures(13).match(/^ {2}Because\.$/gm)).toHaveLength(10)
    expect(failures(13)).toContain('… and 3 more')
  })

  it('shows what the server made of what was sent', () => {
    const result = resultOf([
      object('plain', { action: 'create', outcome: 'created' }),
      object('odd', { action: 'create', outcome: 'created', serverChanged: [{ path: 'threshold', before: 1, after: 2 }] }),
    ])
    expect(textOf(apply, result)).toContain(
      'The server changed these values when saving (− sent, + stored):\n\n  alert odd\n~     threshold: 1 → 2',
    )
    expect(textOf(apply, applied(['created']))).not.toContain('The server changed')
  })
})

describe('the report of drift', () => {
  it('shows the value of the service and the value of the file', () => {
    const fields = [
      { path: 'threshold', before: 9, after: 1.5 },
      { path: 'note', after: 'Call' },
      { path: 'message', before: 'x'.repeat(90), after: 'short' },
    ]
    const rows = linesOf(drift, resultOf([object('slow', { action: 'update', fields })]))
    expect(rows).toEqual(
      expect.arrayContaining([
        '~     threshold: file: 1.5, service: 9',
        '~     note: file: Call, service: not set',
        '~     message: + file, − service',
        `-       ${'x'.repeat(70)}`,
        `-         ${'x'.repeat(20)}`,
        '+       short',
      ]),
    )
  })

  it('the report of drift has a row for each next step, without objects that stay or only lack the marker', () => {
    const result = resultOf(
      [
        object('same', { id: 'a1', file: 'f.yml' }),
        object('mine', { action: 'adopt' }),
        object('new', { action: 'create' }),
        object('theirs', { action: 'update', origin: 'service' }),
        object('ours', { action: 'update', origin: 'files' }),
        object('too', { action: 'update', origin: 'files' }),
        object('first', { action: 'update' }),
        object('lone', { kind: 'savedSearch', action: 'create' }),
        object('', { kind: 'savedSearch', id: 's1', name: 'Gone', action: 'delete' }),
      ],
      { orphans: [{ kind: 'savedSearch', key: 'left', id: 'x', name: 'Left' }] },
    )
    const rows = linesOf(drift, result)
    const start = rows.findIndex((row) => row.startsWith('Objects'))
    expect(cellsOf(rows.slice(start + 1, rows.indexOf('', start)))).toEqual([
      [
        'alert new',
        'Only in the files. Apply creates it. If someone deleted it, pull with only: drifted-or-deleted deletes it in the files, too',
      ],
      ['alert theirs', 'Changed in the service. Apply reverts the change, pull with only: drifted keeps it'],
      ['alert ours, alert too', 'Changed in the files since the last apply. Review the plan, then apply'],
      ['alert first', 'Never applied, or changed since. Review the plan, then apply'],
      ['saved search lone', expect.stringMatching(/: pull does not, because the service has no declared object of its kind$/)],
      ['saved search Gone', 'In no file. Apply with prune deletes it'],
      ['saved search left', 'In no file. Pull with select: key=KEY adds it, apply with prune deletes it'],
    ])
  })

  it('the key lines of drift have the reason of a held object, which the report has above its table', () => {
    const result = resultOf([object('a', { action: 'held', notes: ['changed in both', 'also this'] })])
    expect(linesOf(drift, result)).toContainEqual(expect.stringMatching(/^alert a +Held, for the reason above$/))
    expect(drift.keyLines?.(result, {} as never).map(toPlainText)).toEqual(['alert a: Held: changed in both; also this'])
  })
})

describe('the price of a plan', () => {
  const price = (high: number, more: Partial<PlanPrice> = {}): PlanPrice => ({
    ...{ unit: 'CHC', service: 'Shop', knownDays: 1, isAtMost: false, alerts: [], total: { low: 0, expected: high / 2, high } },
    ...more,
  })
  const words = (high: number): string => toPlainText(priceWords(price(high)))

  it('has no decimals from ten on, one from one on, and an upper end that is rounded up', () => {
    expect([20.2, 10, 2, 1.96, 0.991].map(words)).toEqual([
      ...[' · about +10 CHC a month (0.00 to 21)', ' · about +5.0 CHC a month (0.00 to 10)', ' · about +1.0 CHC a month (0.00 to 2.0)'],
      ...[' · about +0.98 CHC a month (0.00 to 2.0)', ' · about +0.50 CHC a month (0.00 to 1.0)'],
    ])
    expect(words(0)).toBe('')
  })

  it('says of each alert what it adds, with what a longer interval adds', () => {
    const sharesOf = (share: number, alternative?: NonNullable<PlanPrice['alerts'][number]['alternative']>) => {
      const alerts = [{ key: 'a', name: 'A', action: 'create' as const, interval: '5m', share, alternative }]
      return tablesIn(composeBlocks(priceBlocks(price(20, { alerts }))))[1]?.[2]
    }
    const nothing = 'nothing, because the service is awake at these times anyway'
    expect(sharesOf(84)).toBe('about +84')
    expect(sharesOf(84, { interval: '30m', share: 0 })).toBe(`about +84. At 30 min: ${nothing}`)
    expect([sharesOf(0), sharesOf(-0.5)]).toEqual([nothing, 'saves up to 0.50'])
  })

  it('is above its limit by its upper end, and passes without an estimate only where the input accepts that', () => {
    const verdict = (result: PlanPrice, gate: Parameters<typeof judgePrice>[1]) => {
      const { status, reasons } = judgePrice(result, gate)
      return [status, ...reasons.map(toPlainText)]
    }
    expect(verdict(price(20), { maxMonthlyIncrease: 20 })).toEqual(['pass'])
    expect(verdict(price(20.5), { maxMonthlyIncrease: 20 })).toEqual(['fail', 'the changed alerts add up to 21 CHC a month, above 20'])
    expect(verdict(price(20.5), {})).toEqual(['pass'])
    const unknown = price(0, { total: undefined, message: 'it is odd' })
    const why = (advice: string): string => `max-monthly-increase could not be checked without an estimate for Shop${advice}: it is odd`
    expect(verdict(unknown, { maxMonthlyIncrease: 20 })).toEqual(['fail', why(' (on-missing: warn accepts this)')])
    expect(verdict(unknown, { maxMonthlyIncrease: 20, onMissing: 'warn' })).toEqual(['warn', why('')])
    expect(verdict(unknown, { maxMonthlyIncrease: 20, onMissing: 'ignore' })).toEqual(['pass'])
  })
})

describe('the report of pull', () => {
  const pulledOf = (outcome: PulledObject['outcome'], key = outcome as string): PulledObject => ({ kind: 'alert', key, name: 'A', outcome })
  const warning = { ...error, severity: 'warning' } as const
  const file = { path: 'f.yml', before: 'a: 1\n', after: 'a: 2\n' }
  type Given = Partial<Parameters<typeof toPullResult>[0]['draft'] & Pick<Parameters<typeof toPullResult>[0], 'diagnostics'>>
  const resultWith = ({ diagnostics = [], ...draft }: Given, environment?: string) =>
    toPullResult({ project: 'shop/main', draft: { files: [], objects: [], ...draft }, diagnostics }, environment)
  const verdictOf = (given: Given): string => {
    const { status, reasons, sentence = [] } = judgePull(resultWith(given))
    return [status, ...reasons.map(toPlainText), toPlainText(sentence)].filter(Boolean).join(': ')
  }

  it('judges what is left out, and what no file can have only where the files have nothing', () => {
    const hidden = pulledOf('not-exportable')
    expect(verdictOf({ objects: [hidden, hidden] })).toBe(
      'warn: Nothing to pull for shop/main: no file changes, 2 objects cannot be exported.',
    )
    for (const outcome of ['added', 'updated', 'unchanged'] as const)
      expect(verdictOf({ objects: [hidden, hidden, pulledOf(outcome)] }), outcome).toBe('pass')
    expect(verdictOf({ objects: [pulledOf('left-out')], diagnostics: [warning, { ...error, severity: 'note' }] })).toBe(
      'warn: Nothing to pull for shop/main: no file changes, 1 object left out, 1 warning.',
    )
    expect(verdictOf({ diagnostics: [error, warning] })).toBe('fail: 1 error')
  })

  it('the report of pull says in its headline what was written, or why nothing was', () => {
    const headline = (given: Given, environment?: string): string => toPlainText(pullHeadline(resultWith(given, environment)))
    const objects = [pulledOf('added'), pulledOf('added', 'b'), pulledOf('removed'), pulledOf('not-exportable'), pulledOf('missing')]
    expect(headline({ files: [file], objects }, 'staging')).toBe(
      'Pulled into 1 file for shop/main, environment staging: 2 added, 1 removed, 1 object cannot be exported',
    )
    expect(headline({ files: [file], objects: [pulledOf('updated')] })).toBe('Pulled into 1 file for shop/main: 1 updated')
    expect(headline({ diagnostics: [error] }, 'staging')).toBe('Nothing was pulled for shop/main, environment staging')
    expect(headline({ diagnostics: [warning] })).toBe('Nothing to pull for shop/main: the service has no objects of these kinds')
    expect(headline({ unmet: 'name A' })).toBe('Nothing to pull for shop/main: no object has name A')
  })

  it('counts all objects, and lists those that somebody may have to do something about', () => {
    const outcomes = ['unchanged', 'added', 'other-project', 'missing', 'left-out', 'not-exportable', 'changed-in-files'] as const
    const objects = outcomes.map((outcome) => ({ ...pulledOf(outcome), ...(outcome === 'left-out' && { id: 'x1', reason: 'it is odd' }) }))
    const result = resultWith({ objects, diagnostics: [{ ...warning, rule: 'incomplete-pull' }] })
    expect(result).toMatchObject({ complete: false, changed: false })
    expect(resultWith({ files: [file], diagnostics: [warning] })).toMatchObject({ complete: true, changed: true })
    const [counts = '', , listed = ''] = composeBlocks([pullBlocks(result)]).map((block) =>
      renderTerminal([block], { color: false }).join('\n'),
    )
    expect(cellsOf(counts.split('\n')).map((cells) => cells.join(' '))).toEqual([
      ...['Added 1', 'Unchanged 1', 'Missing 1', 'Of other projects 1', 'Cannot be exported 1', 'Left out 1'],
    ])
    expect(cellsOf(listed.split('\n')).map(([outcome, , , , , remark]) => `${outcome}, ${remark}`)).toEqual([
      ...['Outcome, Remark', 'left out, x1: it is odd', 'cannot be exported, –', 'added, –', 'changed in the files, –', 'missing, –'],
    ])
  })

  it('the text of a pull request of a pull has what was updated and removed, what stays out of it, and what to do', () => {
    const fields = [{ path: 'threshold', before: 2, after: 1 }]
    const objects: readonly PulledObject[] = [
      { ...pulledOf('removed', 'b'), path: 'f.yml' },
      { ...pulledOf('updated', 'a'), fields },
      { ...pulledOf('left-out', 'c'), reason: 'it is odd' },
      ...[pulledOf('unchanged', 'd'), pulledOf('missing', 'e')],
    ]
    const lines = (some: readonly PulledObject[]) =>
      renderTerminal(pullRequestBlocks(resultWith({ objects: some }, 'staging')), { color: false, width: 400 })
        .filter((line) => line !== '')
        .slice(1, -1)
    const toDo = [
      'What to do:',
      expect.stringMatching(/^- To keep the changes, merge/),
      expect.stringMatching(/^- To revert them, run apply/),
    ]
    expect(lines(objects)).toEqual([
      ...['~ alert a (A)', '~     threshold: file: 1, service: 2', '- alert b (A)'],
      'The service does not have these objects. They were deleted there, or were never applied:',
      ...['- alert b in f.yml', 'Not part of this pull request:', '- alert c: it is odd', ...toDo],
    ])
    expect(lines(objects.slice(1, 2))).toEqual(['~ alert a (A)', '~     threshold: file: 1, service: 2', ...toDo])
  })

  it('shows 300 lines of a new file, and of another its changes with three lines around each', () => {
    const text = (count: number): string => Array.from({ length: count }, (_, i) => `a${i}: 1\n`).join('')
    const pulled = (before: string | undefined, after: string) => resultWith({ files: [{ path: 'f.yml', before, after }] })
    const lastShown = (count: number): string | undefined =>
      renderMarkdown(composeBlocks([pullBlocks(pulled(undefined, text(count)))]))
        .split('\n')
        .findLast((line) => /^[+ ] /.test(line))
    expect([lastShown(300), lastShown(302)]).toEqual(['+ a299: 1', '  … 2 more lines'])
    const [changed] = pulled(text(20), text(20).replace('a4: 1', 'a4: 2').replace('a19: 1\n', 'a19: 3')).writtenFiles
    expect(changed?.lines?.map(({ sign, text: line }) => `${sign}${line}`)).toEqual([
      ...[' a1: 1', ' a2: 1', ' a3: 1', '-a4: 1', '+a4: 2', ' a5: 1', ' a6: 1', ' a7: 1', ' …'],
      ...[' a16: 1', ' a17: 1', ' a18: 1', '-a19: 1', '+a19: 3'],
    ])
  })
})

it('a backtest has what each alert would have done, and conditions that it suggests', () => {
  const now = { verdict: 'quiet', windows: 576, coverage: { windowsWithData: 576, share: 1 } } as const
  const times = { notifiedAt: ['2026-11-10T10:05:00Z'], longestEpisodeMinutes: 90, sparkline: '▁█', fact: 'last window 2' }
  const suggestion = { threshold: 40, windows: 3, notificationsOnBusiestDay: 4 }
  const next = { ...now, ...times, verdict: 'fires', notifications: 19, episodes: 1, breachingWindows: 19, suggestion } as const
  const blocks = composeBlocks(backtestBlocks([{ key: 'errors', name: 'Errors', changed: true, now, next }]))
  expect(tablesIn(blocks)).toEqual([
    ['Alert', 'Now', 'After the plan', 'Breaching windows', 'Longest', 'Data', 'Notifies at', 'Windows (█ breaches)', 'Values'],
    ['errors', 'quiet', 'fires 19', '19 of 576', '1 h 30 min', '100%', '10 Nov 2026 10:05 UTC', '▁█', 'last window 2'],
    ['Alert', 'Threshold', 'Windows in a row', 'Notifications on the busiest day'],
    ['errors', '40', '3', '4'],
  ])
})

it('a backtest says which share of the windows has data when it is below 90%', () => {
  const shown = (share: number): string => {
    const next = { verdict: 'quiet', windows: 10, coverage: { windowsWithData: 9, share } } as const
    return renderTerminal(composeBlocks(reviewBlocks([{ key: 'a', name: 'A', changed: true, next }], 7)), {
      color: false,
      width: 200,
    }).join(' ')
  }
  expect(shown(0.9)).toContain('– → quiet')
  expect(shown(0.9)).not.toContain('of the time')
  expect(shown(0.8999)).toContain('quiet (data in 89.9% of the time)')
})

describe('the coverage of a backtest', () => {
  const [first, last] = ['2026-11-15T17:00:00Z', '2026-11-16T00:00:00Z']
  const coverage = (share: number) => ({ windowsWithData: 9, share, first, last })
  const counts = { windows: 10, breachingWindows: 0, notificationsOnBusiestDay: 1 }
  const alertOf = (next: BacktestedAlert['next']): BacktestedAlert => ({ key: 'a', name: 'A', changed: true, next })

  it('is in the table with the first and the last data where it is below 90%', () => {
    const shown = (next: Omit<NonNullable<BacktestedAlert['next']>, 'verdict'>): string =>
      tablesIn(composeBlocks(backtestBlocks([alertOf({ verdict: 'quiet', ...next })])))[1]?.[5] ?? ''
    expect(shown({ ...counts, coverage: coverage(0.9) })).toBe('90%')
    expect(shown({ ...counts, coverage: coverage(0.8999) })).toBe('89.9% (15 Nov 2026 17:00 to 16 Nov 2026 00:00 UTC)')
    expect(shown({ ...counts, windows: 0, coverage: coverage(0) })).toBe('')
    expect([shown(counts), shown({})]).toEqual(['unknown', ''])
  })

  it('is enough for a gate from 90% on, and fails beside an incident, whose reason comes first', () => {
    const verdict = (share: number, maxNotifications: number, incidents: readonly unknown[] = []) => {
      const alerts = [alertOf({ verdict: 'quiet', ...counts, coverage: coverage(share) })]
      const { status, reasons = [] } =
        backtest.judge?.({ alerts, incidents, diagnostics: [] } as never, { maxNotifications } as never) ?? {}
      return [status, ...reasons.map(toPlainText)]
    }
    const sparse = 'max-notifications was checked for alert a with data in only 89.9% of its windows, below 90%'
    const noisy = 'alert a sends 1 notification on one day, above 0'
    expect(verdict(0.9, 1)).toEqual(['pass'])
    expect(verdict(0.8999, 1)).toEqual(['fail', sparse])
    expect(verdict(0.8999, 0)).toEqual(['fail', noisy, sparse])
    const missed = [{ key: 'outage', alerts: [{ alert: 'a', outcome: 'missed' }] }]
    expect(verdict(0.9, 1, missed)).toEqual(['fail', 'incident outage: alert a does not notify'])
    expect(verdict(0.9, 0, missed)).toEqual(['fail', 'incident outage: alert a does not notify', noisy])
  })
})

it('an estimate has the findings on its values, if there are any, and the times of its first 100 notifications', () => {
  const summary = { windows: 101, breachingWindows: 101, episodes: 101, notifications: 101, notificationsOnBusiestDay: 101 }
  const times = { notifiedAtMs: Array.from({ length: 101 }, (_, i) => i * 1000), longestEpisodeMs: 90_000, shareOfTime: 1 / 3 }
  const estimate = { verdict: 'fires', summary: { ...summary, ...times }, windows: [], values: new Map(), coverage: undefined } as const
  const finding = { severity: 'warning', message: 'No row matches.' } as const
  const { notifiedAt, ...others } = toAlertEstimate(estimate as never, { fact: 'last window 2', findings: [] })
  expect(notifiedAt?.map((at) => Date.parse(at))).toEqual(times.notifiedAtMs.slice(0, 100))
  expect(others).toEqual({
    ...{ verdict: 'fires', ...summary, longestEpisodeMinutes: 1.5, shareOfTime: 0.333333, sparkline: '', fact: 'last window 2' },
  })
  expect(toAlertEstimate(estimate as never, { fact: '', findings: [finding] })).toHaveProperty('findings', [finding])
})

it('values of alerts have the key of each, or the name of one without a key', () => {
  const facts = ['a', ''].map((key) => ({ key, name: 'Slow', fact: 'last window 2' }))
  expect(tablesIn(composeBlocks([factTable('Values', facts)]))).toEqual([
    ['Alert', 'Values'],
    ['a', 'last window 2'],
    ['Slow', 'last window 2'],
  ])
  expect(factTable('Values', [])).toBeUndefined()
  expect(tablesIn(composeBlocks([factTable('Values', facts.slice(0, 1))]))).toHaveLength(2)
})

it('the headline of a plan counts the checked alerts where some are not', () => {
  const headline = (checkedCount: number): string =>
    toPlainText(queryReview.headline({ checkedAlerts: { alertCount: 2, checkedCount, facts: [] } }))
  expect([0, 1, 2].map(headline)).toEqual([' · 0 of 2 alerts checked', ' · 1 of 2 alerts checked', ''])
})
