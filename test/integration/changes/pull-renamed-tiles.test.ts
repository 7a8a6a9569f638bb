// A tile that was renamed or deleted in the service: the declarations of its alerts name it.
import { describe, expect, it } from 'vitest'
import type { Alert, Dashboard } from '../../../src/emulator/index.ts'
import { passed, written } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

describe('a pull after a tile was renamed in the service', () => {
  const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const tile = (name: string, where = '') =>
    `      - { name: ${name}, config: { displayType: line, source: Logs, select: [{ aggFn: count, where: '${where}' }] } }\n`
  const board = `dashboards:\n  board:\n    name: Board\n    tiles:\n${tile('One')}${tile('Two', 'a')}`
  const alertOn = (key: string, name: string, more = '') =>
    `  ${key}:\n    name: ${key}\n    dashboard: board\n    tile: ${name} # the tile\n    threshold: 5\n    interval: 5m\n    channel: { type: webhook, webhook: oncall }\n${more}`
  const both = `${board}alerts:\n${alertOn('two', 'Two')}`
  const anchored = both.replace('  two:\n', '  two: &two\n')

  type Inputs = Readonly<Record<string, string>>
  type Contents = Readonly<Record<string, string>>
  const run = (operation: string, files: Contents, inputs: Inputs = {}, env: Inputs = {}) =>
    invokeText({
      inputs: {
        ...inputsFor(emulator(), 'clickhouse-cloud'),
        operation,
        files: 'o/**/*.yml',
        ...(operation !== 'validate' && { project: 'shop' }),
        ...inputs,
      },
      env: passed({ TILE: 'Two', ...env }),
      files,
    })
  const dashboard = (): Dashboard => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Board') as Dashboard
  const change = (from: string, fields: { name?: string; config?: object } | undefined): void => {
    const tiles = dashboard().tiles.flatMap((one) => (one.name !== from ? [one] : fields === undefined ? [] : [{ ...one, ...fields }]))
    const gone = dashboard().tiles.filter(({ id }) => tiles.every((one) => one.id !== id))
    Object.assign(dashboard(), { tiles })
    // The server deletes the alerts of a tile with it.
    serviceOf(emulator()).alerts = serviceOf(emulator()).alerts.filter(({ tileId }) => gone.every(({ id }) => id !== tileId))
  }
  const alertOf = (key: string): Alert => serviceOf(emulator()).alerts.find(({ name }) => name === key) as Alert
  const deleteAlert = (key: string): void => {
    serviceOf(emulator()).alerts = serviceOf(emulator()).alerts.filter(({ name }) => name !== key)
  }

  /** The files after the change and a pull, and what is wrong with them. */
  async function pullAfter(before: Contents, edit: () => void, inputs: Inputs, files = before) {
    const { document: applied } = await run('apply', before)
    if (applied.status !== 'pass') throw new Error(applied.failureReason)
    edit()
    const pulled = await run('pull', files, inputs)
    const after = { ...files, ...Object.fromEntries(pulled.files.map(({ path: place, content }) => [place, content])) }
    const [valid, again, planned] = [await run('validate', after), await run('pull', after, inputs), await run('plan', after)]
    // The files are valid, and another pull changes nothing.
    const problems = [valid.document.errorCount === 0 ? [] : valid.document.diagnostics, again.document.changed ? again.files : []].flat()
    // Without the bases of `adopt`, which a pull writes for each object that it changes.
    const withoutBases = Object.fromEntries(
      Object.entries(after).map(([place, content]) => [place, content.replaceAll(/^ +adopt: \S+@2\.\S+\n/gm, '')]),
    )
    return { after: withoutBases, document: pulled.document, plan: planned.document, problems }
  }

  const modes: readonly Inputs[] = [{ only: 'drifted' }, { only: 'drifted-or-deleted' }, { only: 'declared' }, {}]
  const rename = (): void => change('Two', { name: 'Three' })

  it('F2: the alert in the file follows a renamed tile, with every kind of pull', { tags: 'slow' }, async () => {
    for (const inputs of modes) {
      emulator().reset()
      const { after, document, plan, problems } = await pullAfter({ 'o/a.yml': both }, rename, { ...inputs, select: 'key=board,two' })
      expect(problems).toEqual([])
      expect(after['o/a.yml']).toBe(both.replaceAll('Two', 'Three'))
      expect(document).toMatchObject({ status: expect.stringMatching(/pass|warn/), updated: 2, leftOut: 0 })
      expect(document.objects).toContainEqual(
        expect.objectContaining({ key: 'two', outcome: 'updated', fields: [{ path: 'tile', file: 'Two', service: 'Three' }] }),
      )
      expect(plan).toMatchObject({ changed: false })
    }
  })

  it('the alert in the file follows a renamed tile although it was not selected, does not exist, or was changed in the files', {
    tags: 'slow',
  }, async () => {
    const cases: readonly [string, () => void, Inputs, string, string][] = [
      ['not selected', rename, { select: 'kind=dashboard' }, both, 'updated'],
      [
        'not selected, and with another threshold in the service',
        () => {
          rename()
          alertOf('two').threshold = 9
        },
        { select: 'kind=dashboard' },
        both,
        'updated',
      ],
      [
        'deleted',
        () => {
          rename()
          deleteAlert('two')
        },
        {},
        both,
        'missing',
      ],
      ['changed in the files', rename, {}, both.replace('threshold: 5', 'threshold: 7'), 'updated'],
    ]
    for (const [name, edit, inputs, files, outcome] of cases) {
      emulator().reset()
      const { after, document, problems } = await pullAfter({ 'o/a.yml': both }, edit, { only: 'drifted', ...inputs }, { 'o/a.yml': files })
      expect(problems).toEqual([])
      expect(after['o/a.yml'], name).toBe(files.replaceAll('Two', 'Three'))
      expect(document.objects, name).toContainEqual(expect.objectContaining({ key: 'two', outcome }))
    }
  })

  it('a dashboard is left out whose tile was renamed, or is gone, where the declaration of an alert on it cannot follow', {
    tags: 'slow',
  }, async () => {
    const cases: readonly [string, string, () => void, Inputs, RegExp][] = [
      ['an anchor', anchored, rename, {}, /because the file uses an anchor or alias here/],
      [
        'an expression',
        both.replace('tile: Two', written('tile: ‹env.TILE›')),
        rename,
        {},
        /because the service has another value than .*env\.TILE/,
      ],
      [
        'a deleted tile',
        both,
        () => change('Two', undefined),
        {},
        /^the files would have an error: .*the service does not have this alert, so remove its declaration$/,
      ],
      [
        'a tile with another query, and no alert',
        both,
        () => {
          change('Two', { name: 'Three', config: { ...dashboard().tiles[0]?.config, displayType: 'number' } })
          deleteAlert('two')
        },
        {},
        /the service does not have this alert/,
      ],
    ]
    for (const [name, text, edit, inputs, reason] of cases)
      for (const only of ['drifted', 'declared']) {
        // A pull of all replaces an expression.
        if (only === 'declared' && name === 'an expression') continue
        emulator().reset()
        const { after, document, problems } = await pullAfter({ 'o/a.yml': text }, edit, { only, ...inputs })
        expect(problems).toEqual([])
        expect(after['o/a.yml'], name).toBe(text)
        expect(document.objects, name).toContainEqual(
          expect.objectContaining({ key: 'board', outcome: 'left-out', reason: expect.stringMatching(reason) }),
        )
      }
  })

  it('removes the declaration of an alert together with its tile', async () => {
    const other = alertOn('one', 'One')
    const { after, document, problems } = await pullAfter({ 'o/a.yml': `${both}${other}` }, () => change('Two', undefined), {
      only: 'drifted-or-deleted',
    })
    expect(problems).toEqual([])
    expect(after['o/a.yml']).toBe(`${board.replace(tile('Two', 'a'), '')}alerts:\n${other}`)
    expect(document).toMatchObject({ updated: 1, removed: 1, leftOut: 0 })
  })

  it('a dashboard is left out whose tile is gone, where an alert that is gone, too, has the id of the tile', { tags: 'slow' }, async () => {
    const twice = `${board}${tile('Two', 'b')}`
    await run('apply', { 'o/a.yml': twice })
    const [, , last] = dashboard().tiles
    const byId = `${twice}alerts:\n${alertOn('two', `{ id: ${last?.id} }`)}`
    const deleteLast = () => {
      Object.assign(dashboard(), { tiles: dashboard().tiles.slice(0, 2) })
      deleteAlert('two')
    }
    const applied = structuredClone(emulator().store)
    for (const only of ['drifted', 'declared']) {
      Object.assign(emulator().store, structuredClone(applied))
      const { after, document, plan, problems } = await pullAfter({ 'o/a.yml': byId }, deleteLast, { only })
      expect(problems).toEqual([])
      expect(after['o/a.yml']).toBe(byId)
      expect(document.objects).toContainEqual(
        expect.objectContaining({
          key: 'board',
          outcome: 'left-out',
          reason: expect.stringMatching(
            /^the files would have an error: .* no tile .*the service does not have this alert, so remove its declaration$/,
          ),
        }),
      )
      expect(JSON.stringify(plan.diagnostics)).toContain(`no tile ${last?.id}; name one of its tiles, or remove the alert`)
    }
    const { files } = await run('pull', { 'o/a.yml': twice }, { only: 'drifted' })
    expect(files[0]?.content.replace(/^ +adopt: .*\n/m, '')).toBe(board)
  })

  it('an alert with another change gets only this change where its dashboard is left out', async () => {
    const edit = () => {
      rename()
      change('One', undefined)
      alertOf('two').threshold = 9
    }
    const text = `${both}${alertOn('one', 'One')}`
    const { after, problems } = await pullAfter({ 'o/a.yml': text }, edit, { only: 'drifted' })
    expect(problems).toEqual([])
    expect(after['o/a.yml']).toBe(text.replace('threshold: 5', 'threshold: 9'))
  })

  const instances = (text: string, more = '') => written(`instances: { a: { limit: 5 }, b: { limit: 6 } }\n${more}alerts:\n${text}`)
  const template = alertOn('‹instance.key›', 'Two').replace('threshold: 5', 'threshold: ‹instance.limit›')

  it('F2: the alerts of a file with instances follow a renamed tile, and the file keeps every other byte', { tags: 'slow' }, async () => {
    const renameAndDelete = () => {
      rename()
      deleteAlert('a')
    }
    for (const inputs of modes.slice(1))
      for (const edit of [rename, renameAndDelete]) {
        emulator().reset()
        const files = { 'o/board.yml': board, 'o/alerts.yml': instances(template) }
        const { after, document, plan, problems } = await pullAfter(files, edit, { ...inputs, select: 'key=board,a,b' })
        expect(problems).toEqual([])
        expect(after).toEqual({ 'o/board.yml': board.replace('Two', 'Three'), 'o/alerts.yml': instances(template).replace('Two', 'Three') })
        expect(document).toMatchObject({ leftOut: 0 })
        expect(plan).toMatchObject({ toUpdate: 0, toReplace: 0, toDelete: 0 })
      }
  })

  it('the alerts of a file with instances follow a tile of a dashboard that the files do not declare', async () => {
    await run('apply', { 'o/board.yml': board })
    const named = instances(template.replace('dashboard: board', 'dashboard: { name: Board }'))
    const { after, plan, problems } = await pullAfter({ 'o/alerts.yml': named }, rename, { only: 'drifted' })
    expect(problems).toEqual([])
    expect(after['o/alerts.yml']).toBe(named.replace('Two', 'Three'))
    expect(plan).toMatchObject({ changed: false })
  })

  it('a dashboard is left out where alerts of a file with instances cannot all follow its tile', { tags: 'slow' }, async () => {
    const tiles = `${tile('Errors of a')}${tile('Errors of b', 'b')}`
    const text = board.replace(tile('One') + tile('Two', 'a'), tiles)
    const byValue = instances(template.replace('tile: Two', 'tile: Errors of ‹instance.key›'))
    for (const only of ['drifted', 'declared']) {
      emulator().reset()
      const files = { 'o/board.yml': text, 'o/alerts.yml': byValue }
      const { after, document, problems } = await pullAfter(files, () => change('Errors of a', { name: 'All errors of a' }), { only })
      expect(problems).toEqual([])
      expect(after).toEqual(files)
      expect(document.objects).toContainEqual(
        expect.objectContaining({ key: 'board', outcome: 'left-out', reason: expect.stringContaining('no tile named "Errors of a"') }),
      )
    }
  })
})
