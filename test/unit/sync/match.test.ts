// Which declared object is which actual one, where that is not clear, and what stops a plan although each change is right.
import { describe, expect, it } from 'vitest'
import type { StoredObjects } from '../../../src/sync/plan/stored-objects.ts'
import { afterApply, messagesOf, planOf, problemsIn, remoteStateWith, steps } from '../../support/plans.ts'
import { errors, shop, slow } from '../../support/shop-declaration.ts'

const declared = { dashboards: { shop }, alerts: { errors } }
const applied = afterApply(planOf(declared))

const withAlerts = (...alerts: readonly object[]): StoredObjects => remoteStateWith({ ...applied, alert: alerts })
const [own] = applied.alert

describe('an object that is not clear', () => {
  it('an object is reported when its marker is on two objects', () => {
    const plan = planOf(declared, withAlerts({ ...own }, { ...own, id: 'copy' }))
    expect(messagesOf(plan)).toEqual([
      'held: alerts.errors: apply leaves it as it is: 2 alerts have this ownership marker (alerts-errors, copy). To name the one to manage, set adopt to its id; to repair all of them, when no other run is at work, set WATCHKEEPER_REPAIR: duplicates for one run',
    ])
    expect(plan.diagnostics[0]).toMatchObject({ severity: 'error', location: { file: 'f.yml', line: 1 } })
    expect(plan.orphans).toEqual([])
  })

  it('an object with the marker is the one that adopt names, with a warning about the others', () => {
    const adopting = { dashboards: { shop }, alerts: { errors: { ...errors, adopt: 'b' } } }
    const messages = [
      ['a', 'b'],
      ['c', 'b', 'a'],
    ].map((ids) => messagesOf(planOf(adopting, withAlerts(...ids.map((id) => ({ ...own, id }))))))
    const because = 'because adopt names b'
    expect(messages).toEqual([
      [`duplicate-marker: alerts.errors: a has this ownership marker, too, and is left as it is, ${because}`],
      [`duplicate-marker: alerts.errors: c, a have this ownership marker, too, and are left as it is, ${because}`],
    ])
  })

  it('an object is repaired when its marker is on several: equal ones are deleted, and others are released with what differs', () => {
    const changed = { name: 'X', threshold: 7, interval: '1h', thresholdType: 'below', message: 'm' }
    const copies = [
      { ...own, id: 'z' },
      { ...own, ...changed, id: 'a' },
      { ...own, ...changed, id: 'b', groupBy: 'x', scheduleOffsetMinutes: 3 },
    ]
    const more = { ...declared, alerts: { errors, more: { ...errors, name: 'More' } } }
    const plan = planOf(more, withAlerts(...copies, { ...own }), { repairDuplicates: true })
    const notes = (one: typeof plan) => one.changes.flatMap(({ id, action, notes }) => (notes.length > 0 ? [[id, action, ...notes]] : []))
    const five = 'a duplicate of alerts-errors that differs in name, threshold, thresholdType, interval, message'
    expect(notes(plan)).toEqual([
      ['a', 'release', `${five}; it becomes unmanaged, and stays`],
      ['b', 'release', `${five}, 1 more; it becomes unmanaged, and stays`],
      ['z', 'delete', 'a duplicate of alerts-errors, and equal to it'],
    ])
    expect(steps(plan)).toContain('alerts.more create')
    const none = planOf(declared, withAlerts({ ...own, ...changed, id: 'y' }, { ...own, ...changed, id: 'x' }), { repairDuplicates: true })
    expect(notes(none)).toEqual([['y', 'delete', 'a duplicate of x, and equal to it']])
  })

  it('an object with the marker is the one, whatever ids adopt has', () => {
    for (const adopt of ['alerts-errors', 'other', ['other', 'gone']]) {
      const plan = planOf(
        { dashboards: { shop }, alerts: { errors: { ...errors, adopt } } },
        withAlerts({ ...own }, { id: 'other', name: 'O' }),
      )
      expect(steps(plan)).toEqual(['dashboards.shop unchanged', 'alerts.errors unchanged'])
      expect(plan.diagnostics).toEqual([])
    }
  })

  it('an object that is as declared twice is one object for each declaration', () => {
    const stored = withAlerts(...['x', 'y'].map((id) => ({ ...own, id, note: 'n' })))
    const { changes } = planOf({ dashboards: { shop }, alerts: { errors, again: errors, more: errors } }, stored)
    expect(changes.slice(1).map(({ key, action, id }) => [key, action, id])).toEqual([
      ['errors', 'adopt', 'x'],
      ['again', 'adopt', 'y'],
      ['more', 'create', undefined],
    ])
  })

  it('several ids of one service are an error', () => {
    const stored = withAlerts({ id: 'x', name: 'X' }, { id: 'y', name: 'Y' })
    expect(messagesOf(planOf({ dashboards: { shop }, alerts: { errors: { ...errors, adopt: ['x', 'y'] } } }, stored))).toEqual([
      'held: alerts.errors: apply does not create it: adopt has several ids of this service (x, y). Keep one of them',
    ])
  })

  it('reports an object whose name several objects have', () => {
    const two = [
      { id: 'x', name: 'Errors' },
      { id: 'y', name: 'Errors' },
    ]
    const plan = planOf({ dashboards: { shop }, alerts: { errors: { ...errors, adopt: true } } }, withAlerts(...two))
    expect(messagesOf(plan)).toEqual([
      'held: alerts.errors: apply leaves it as it is: could be one of the unmanaged alerts x, y, which differ. To keep the values of the file, set adopt to x@2.64898f9f04.files or y@2.64898f9f04.files; if it is another object, give the one in the file another name',
    ])
    expect(plan.diagnostics[0]?.severity).toBe('error')
  })

  it.each([
    ['without an id, and may name another object', undefined, 'set adopt to x@2.64898f9f04.files', true],
    ['with an earlier decision', ['x@2.0123456789.abcdef', 'other'], 'set its entry in adopt to x@2.64898f9f04.files', false],
    ['with only an id of another service', ['other'], 'add x@2.64898f9f04.files to adopt', false],
  ])('an object that differs in nine fields is held with five of them and a decision for a file %s', (_, adopt, way, mayBeOther) => {
    const plan = planOf({ dashboards: { shop }, alerts: { errors: { ...errors, adopt } } }, withAlerts({ id: 'x', name: 'Errors' }))
    const [message = ''] = messagesOf(plan)
    expect(message).toMatch(/the unmanaged alert "Errors" \(x\) differs \(source, threshold, thresholdType, interval, note, 4 more\)/)
    expect(message).toContain(`To keep the values of the file, ${way}; to take those of the service, run `)
    expect(message.endsWith('; if it is another object, give the one in the file another name')).toBe(mayBeOther)
  })

  it('an unmanaged object that differs in the text with the marker is a warning, and an error where adopt names it', () => {
    const stored = withAlerts({ ...own, id: 'x', note: 'by hand' })
    const severities = [undefined, true, 'x'].map((adopt) =>
      planOf({ dashboards: { shop }, alerts: { errors: { ...errors, adopt } } }, stored).diagnostics.map(({ severity }) => severity),
    )
    expect(severities).toEqual([['warning'], ['error'], ['error']])
  })

  it('an object that could be one of several is held with a decision for three of them', () => {
    const stored = withAlerts(...['w', 'x', 'y', 'z'].map((id) => ({ id, name: 'Errors' })))
    expect(messagesOf(planOf(declared, stored))).toEqual([
      expect.stringMatching(/alerts w, x, y, z, which differ\. To keep the values of the file, set adopt to w@\S+ or x@\S+ or y@\S+; if /),
    ])
  })

  it('reports an object that two keys refer to', () => {
    const both = { errors: { ...errors, adopt: 'x' }, more: { ...errors, adopt: 'x' } }
    const plan = planOf({ dashboards: { shop }, alerts: both }, withAlerts({ id: 'x', name: 'Errors' }))
    expect(messagesOf(plan)).toContain('owned-elsewhere: alerts.more: alerts.errors refers to x, too')
  })

  it('an object is not reported when only one key refers to it', () => {
    const both = { errors: { ...errors, adopt: 'x' }, more: { ...errors, adopt: 'y' } }
    const plan = planOf({ dashboards: { shop }, alerts: both }, withAlerts({ id: 'x', name: 'Errors' }, { id: 'y', name: 'Errors' }))
    expect(plan.diagnostics.map(({ rule }) => rule)).toEqual(['held', 'held'])
  })

  it('an object is created beside one without a name', () => {
    const plan = planOf(declared, withAlerts({ id: 'n', name: null }))
    expect(plan.diagnostics).toEqual([])
    expect(steps(plan)).toContain('alerts.errors create')
  })

  it('is not created beside an unmanaged object of its name', () => {
    const stored = withAlerts({ id: 'x', name: 'Errors' })
    expect(planOf(declared, stored).diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['held', 'error']])
  })
})

describe('an object of the same name that belongs to somebody', () => {
  const markedBy = (marker: string, name = 'Errors') => withAlerts({ id: 'x', name, note: `watchkeeper: ${marker} 0a1b2c` })

  it('an object of the same name that belongs to somebody is an error while this project owns nothing: it may have been renamed', () => {
    const plan = planOf(
      { alerts: { errors: { ...errors, dashboard: { id: 'd' }, tile: { id: 't' } } } },
      {
        ...markedBy('other/project errors'),
        dashboard: [],
      },
    )
    expect(plan.diagnostics.filter(({ rule }) => rule === 'other-project')).toMatchObject([
      {
        severity: 'error',
        message:
          'alerts.errors: the project other/project owns an alert named "Errors" (x); shop/main owns nothing yet. If the project was renamed, add previous-project: other/project to .watchkeeper.yml. To create a second set of objects, add previous-project: false',
      },
    ])
  })

  it('an object of the same name is one error with one command and no plan after the rename of a project with several objects', () => {
    const declarations = { dashboards: { shop }, alerts: { errors } }
    const applied = afterApply(planOf(declarations, undefined, { project: 'other/project' }))
    const plan = planOf(declarations, applied)
    expect(plan.changes).toEqual([])
    expect(messagesOf(plan)).toEqual([
      'other-project: dashboards.shop: the project other/project owns a dashboard named "Shop" (dashboards-shop), and 1 more object of these files; shop/main owns nothing yet. If the project was renamed, add previous-project: other/project to .watchkeeper.yml. To create a second set of objects, add previous-project: false',
    ])
    expect(problemsIn(planOf(declarations, applied, { previousOwner: { project: 'other/project' } }))).toEqual([])
  })

  it('an object of the same name that belongs to somebody is a warning where this project owns something', () => {
    const name = 'x'.repeat(200)
    const plan = planOf({ ...declared, alerts: { errors: { ...declared.alerts.errors, name } } }, markedBy('other/project errors', name))
    expect(plan.diagnostics).toMatchObject([
      {
        rule: 'other-project',
        severity: 'warning',
        message: expect.stringMatching(/named "x{60}…[^"]*" .*; a second one will be created/),
      },
    ])
  })

  it('an object of the same name that belongs to somebody is this project’s own under a key that no file declares any more', () => {
    expect(messagesOf(planOf(declared, markedBy('shop/main old-key')))).toEqual([
      'same-name: alerts.errors: this project owns an alert with this name (x), but no file declares its key. If you changed the key, add previousKey: old-key. Otherwise, apply creates a second one, and prune deletes the existing one',
    ])
  })
})

describe('objects that another repository applied', () => {
  const by = (name: string | undefined) => ({ repository: { name, effect: 'write' } as const })
  const one = { savedSearches: { slow } }
  const theirs = afterApply(planOf(one, undefined, by('host/they/own')))

  it('stop the plan where they are all objects of the project, and be it one', () => {
    expect(messagesOf(planOf(one, theirs, by('host/we/own')))).toEqual([
      expect.stringMatching(/^other-repository: .* applied all objects of this project: saved search "Slow" \(savedSearches-slow\)\./),
    ])
  })

  it('are counted where this run does not know its repository, and no others', () => {
    const mixed = afterApply(planOf({ ...one, dashboards: { shop } }, theirs, by(undefined)), theirs)
    expect(messagesOf({ diagnostics: problemsIn(planOf({ ...one, dashboards: { shop } }, mixed, by(undefined))) })).toEqual([
      expect.stringMatching(/^unknown-repository: a repository applied 1 object of this project,/),
    ])
    const ours = afterApply(planOf(declared))
    expect(planOf(declared, ours, by(undefined)).diagnostics).toEqual([])
  })
})

describe('an object whose marker does not tell everything', () => {
  const key = 'a-key-that-is-too-long-for-a-tag'

  it('an object whose marker does not tell everything is under a key that the user has to know', () => {
    const storedObjects = afterApply(planOf({ dashboards: { [key]: shop } }))
    expect(messagesOf(planOf({ dashboards: { shop } }, storedObjects))).toEqual([
      expect.stringContaining('If you changed the key, add previousKey with the previous key. Otherwise, apply creates a second one'),
    ])
  })

  it('an object whose marker does not tell everything belongs to a project that is not named', () => {
    const storedObjects = afterApply(planOf({ dashboards: { shop } }, undefined, { project: 'other/project' }))
    expect(messagesOf(planOf({ dashboards: { shop } }, storedObjects))).toEqual([
      expect.stringMatching(/^other-project: dashboards\.shop: another project owns a dashboard named "Shop" \(dashboards-shop\)/),
    ])
  })
})

describe('a list that may not be whole', () => {
  const reason = 'holds 1000 objects'
  const withIncompleteLists = (storedObjects: StoredObjects, ...kinds: readonly string[]): StoredObjects => ({
    ...storedObjects,
    incompleteLists: Object.fromEntries(kinds.map((kind) => [kind, reason])),
  })
  const words = (noun: string) => `incomplete-list: the list of ${noun} ${reason}; nothing is created or deleted based on such a list`

  it('creates nothing of its kind', () => {
    const plan = planOf(declared, withIncompleteLists(withAlerts(), 'alert'))
    expect(messagesOf(plan)).toEqual([words('alerts')])
    expect(plan.diagnostics[0]).toMatchObject({ severity: 'error', location: plan.changes.at(-1)?.location })
  })

  it('creates what is of another kind, and updates what was found', () => {
    expect(planOf(declared, withIncompleteLists(withAlerts(), 'dashboard', 'savedSearches')).diagnostics).toEqual([])
    expect(
      planOf({ ...declared, alerts: { errors: { ...errors, threshold: 2 } } }, withIncompleteLists(applied, 'alerts', 'dashboard'))
        .diagnostics,
    ).toEqual([])
  })

  it('deletes nothing of its kind, and nothing that alerts may hang on', () => {
    const prune = { prune: true }
    const plan = planOf(
      { alerts: { a: { ...errors, dashboard: { id: 'dashboards-shop' }, tile: 'A' } } },
      withIncompleteLists(applied, 'dashboard'),
      prune,
    )
    expect(messagesOf(plan)).toContain(words('dashboards'))
    expect(plan.diagnostics.find(({ rule }) => rule === 'incomplete-list')?.location).toEqual({ file: 'prune' })
    const boards = afterApply(planOf({ dashboards: { shop, store: { ...shop, name: 'Store' } } }))
    expect(messagesOf(planOf({ dashboards: { shop } }, withIncompleteLists(boards, 'alert'), prune))).toEqual([words('alerts')])
  })

  it('removes no tile while the list of alerts may be incomplete', () => {
    const less = { ...shop, tiles: [{ ...shop.tiles[1], name: 'B', config: { displayType: 'markdown', markdown: 'x' } }] }
    const removing = planOf({ dashboards: { shop: less } }, withIncompleteLists(withAlerts(), 'alert'))
    expect(messagesOf({ diagnostics: problemsIn(removing) })).toEqual([words('alerts')])
  })
})

describe('deletes', () => {
  const many = afterApply(planOf({ dashboards: { a: { ...shop, name: 'A' }, b: { ...shop, name: 'B' }, shop } }))

  it.each([
    [2, []],
    [1, ['too-many-deletes: 2 deletes (dashboards.a, dashboards.b), and max-deletes allows 1. Check them, then set max-deletes: 2']],
    [0, ['too-many-deletes: 2 deletes (dashboards.a, dashboards.b), and max-deletes allows 0. Check them, then set max-deletes: 2']],
  ])('deletes are at most %i where so many are allowed', (maxDeletes, expected) => {
    const plan = planOf({ dashboards: { shop } }, many, { prune: true, maxDeletes })
    expect(messagesOf(plan)).toEqual(expected)
    for (const { severity, location } of plan.diagnostics)
      expect({ severity, location }).toEqual({ severity: 'error', location: { file: 'prune' } })
  })
})

describe('an object that is adopted by its name', () => {
  const adopt = (name: string, ...names: readonly string[]) => {
    const storedObjects = withAlerts(...names.map((one, i) => ({ id: `${i}`, name: one })))
    const { changes, diagnostics } = planOf({ dashboards: { shop }, alerts: { errors: { ...errors, name, adopt: true } } }, storedObjects)
    const change = changes.find(({ key }) => key === 'errors')
    return [change?.action, change?.id, ...diagnostics.map(({ rule }) => rule)]
  }

  it.each([
    ['is the one whose name is exactly so, before one with a blank more', 'Errors', ['Errors ', 'Errors'], ['held', '1', 'held']],
    ['is the same whatever the order', 'Errors', ['Errors', ' Errors'], ['held', '0', 'held']],
    ['is the one with the blank where the declaration has it', 'Errors ', ['Errors', 'Errors '], ['held', '1', 'held']],
    ['is the trimmed one where none is exactly so', 'Errors ', ['Errors', 'Other'], ['held', '0', 'held']],
    ['is not clear where two are alike, and none is exactly so', 'Errors', [' Errors', 'Errors '], ['held', undefined, 'held']],
    [
      'is not clear where two are exactly so, whatever others there are',
      'Errors',
      ['Errors', 'Errors', 'Errors '],
      ['held', undefined, 'held'],
    ],
  ])('an object that is adopted by its name %s', (_, name, names, expected) => {
    expect(adopt(name, ...names)).toEqual(expected)
  })

  it('an object that is adopted by its name is the one that an error names, where adopt is not given', () => {
    const plan = planOf(declared, withAlerts({ id: 'blank', name: 'Errors ' }, { id: 'exact', name: 'Errors' }))
    expect(messagesOf(plan)).toEqual([
      expect.stringMatching(/^held: alerts\.errors: apply leaves it as it is: the unmanaged alert "Errors" \(exact\) differs/),
    ])
  })
})
