// Sources as code: their kind and name identify them, because the API has no field for a marker.
import { describe, expect, it } from 'vitest'
import { findUndocumented } from '../../../src/emulator/gateways/documented-fields.ts'
import type { Source } from '../../../src/emulator/index.ts'
import { fieldsByKind, undocumentedInCloud } from '../../../src/kinds/source/source.ts'
import { conditions } from '../../support/conditions.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { actions, errorRules, errors, outcomes, shop, tile } from '../../support/shop-declaration.ts'
import { emptyPlan, type Site, withSite } from '../../support/site.ts'
import { circle } from '../../support/source-declarations.ts'

const fileOf = (declared: object) => ({ 'a.json': declared })
const files = fileOf({ sources: circle })

function useService(dialect: 'hyperdx' | 'clickhouse-cloud') {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  return {
    emulator,
    site: <T>(use: (one: Site) => Promise<T>): Promise<T> => withSite(emulator(), dialect, use),
    stored: (name: string): Source => {
      const found = serviceOf(emulator()).sources.find((one) => one.name === name)
      if (found === undefined) throw new Error(`there is no source ${name}`)
      return found
    },
  }
}

describe('sources as code', () => {
  const dialect = 'clickhouse-cloud'
  const { emulator, site, stored } = useService(dialect)
  const haveApplied = useApplied(emulator, () => site((one) => one.apply(files)))

  it('finds a change by hand, and reverts it', () =>
    site(async (one) => {
      await haveApplied()
      Object.assign(stored('New logs'), { bodyExpression: 'Message', traceSourceId: stored('Logs').id })
      const drift = await one.drift(files)
      expect(drift.objects.flatMap(({ fields }) => fields.map(({ path, before, after }) => [path, before, after]))).toEqual([
        ['bodyExpression', 'Message', undefined],
        ['traceSource', 'Logs', 'New traces'],
      ])
      expect(outcomes(await one.apply(files))).toMatchObject({ 'new-logs': 'updated' })
      expect(stored('New logs')).toMatchObject({ traceSourceId: stored('New traces').id })
      expect(await one.plan(files)).toMatchObject(emptyPlan)
    }))

  it('W7: never deletes a source, also with prune', () =>
    site(async (one) => {
      await haveApplied()
      const count = serviceOf(emulator()).sources.length
      const pruned = await one.apply(fileOf({}), { prune: true, allowEmpty: true })
      expect([errorRules(pruned), pruned.changed, pruned.orphans]).toEqual([[], false, []])
      expect(serviceOf(emulator()).sources).toHaveLength(count)
    }))

  it('does not change a source that exists, unless the file adopts it', () =>
    site(async (one) => {
      const { id: _, connection: __, ...logs } = stored('Logs')
      const before = structuredClone(stored('Logs'))
      const plain = { ...circle['new-logs'], name: 'Logs', adopt: undefined, traceSource: undefined, metricSource: undefined }
      expect(errorRules(await one.apply(fileOf({ sources: { logs: plain } })))).toEqual(['held'])
      expect(stored('Logs')).toEqual(before)
      const applied = await one.apply(fileOf({ sources: { logs: { ...plain, adopt: true } } }))
      expect(outcomes(applied)).toEqual({ logs: 'updated' })
      expect(logs.defaultTableSelectExpression).not.toBe(stored('Logs').defaultTableSelectExpression)
    }))

  it('accepts without adopt a source that is as declared', () =>
    site(async (one) => {
      const plain = Object.fromEntries(Object.entries(circle).map(([key, { adopt: _, ...source }]) => [key, source]))
      await one.apply(fileOf({ sources: plain }))
      const planned = await one.plan(fileOf({ sources: plain }))
      expect([errorRules(planned), planned.changed]).toEqual([[], false])
    }))

  it('reports two sources with one kind and name by both ids, and manages the one that the file names', () =>
    site(async (one) => {
      await haveApplied()
      const first = stored('New metrics')
      const second = { ...structuredClone(first), id: 'abcdefabcdefabcdefabcdef' }
      serviceOf(emulator()).sources.push(second)
      const only = { ...circle['new-metrics'], logSource: undefined }
      const planned = await one.plan(fileOf({ sources: { metrics: only } }))
      expect(errorRules(planned)).toContain('held')
      expect(planned.diagnostics.map(({ message }) => message).join('\n')).toContain(`(${first.id}, ${second.id})`)
      const byId = fileOf({ sources: { metrics: { ...only, id: second.id } } })
      expect(outcomes(await one.apply(byId))).toEqual({ metrics: 'updated' })
      expect(stored('New metrics')).toEqual(first)
    }))

  it('names the sources that two runs created at the same time, and what to do, because no run deletes one', async () => {
    const { logSource: _, ...metrics } = circle['new-metrics']
    const file = JSON.stringify({ sources: { metrics } })
    const apply = (more: Readonly<Record<string, string>> = {}) =>
      invokeText({
        inputs: { ...inputsFor(emulator(), dialect), operation: 'apply', project: 'shop', ...more },
        files: { 'observability/a.json': file },
      })
    const created = () => serviceOf(emulator()).sources.filter(({ name }) => name === 'New metrics')
    // The other run creates it at the same moment.
    const { sources } = serviceOf(emulator())
    sources.push = (...added) =>
      sources.splice(sources.length, 0, ...added.flatMap((one) => [one, { ...one, id: `f${one.id.slice(1)}` }])).length
    const first = await apply()
    const ids = created().map(({ id }) => id)
    expect(ids).toHaveLength(2)
    expect(first.document.diagnostics).toEqual([expect.objectContaining({ rule: 'duplicate-marker' })])
    const [message] = JSON.stringify(first.document.diagnostics).match(/2 sources have[^"]*/) ?? []
    expect(message).toMatch(new RegExp(`^2 sources have this identity \\(${ids.join(', ')}\\)`))
    expect(message).toContain('a source is never deleted. In the web app, delete the one that you do not need')
    const { document } = await apply({ repair: 'duplicates' })
    expect(document).toMatchObject({ status: 'warn', changed: false })
    expect(JSON.stringify(document.diagnostics)).toContain(
      `this run manages the source ${ids[0]}, and leaves its duplicate ${ids[1]} as it is`,
    )
    expect(created()).toHaveLength(2)
  })

  it('renames a source with previousName, and keeps its id', () =>
    site(async (one) => {
      await haveApplied()
      const { id } = stored('New metrics')
      const renamed = { ...circle['new-metrics'], name: 'Renamed', previousName: 'New metrics' }
      const all = fileOf({ sources: { ...circle, 'new-metrics': renamed, 'new-logs': { ...circle['new-logs'], metricSource: 'Renamed' } } })
      expect(outcomes(await one.apply(all))).toMatchObject({ 'new-metrics': 'updated', 'new-logs': 'unchanged' })
      expect(stored('Renamed').id).toBe(id)
      expect(await one.plan(all)).toMatchObject(emptyPlan)
    }))

  it('a source is used by dashboards and saved searches of the same run', () =>
    site(async (one) => {
      const slow = { name: 'Slow', source: 'New traces', where: 'Duration:>1' }
      const tiles = shop.tiles.map((tile) => ({ ...tile, config: { ...tile.config, sourceId: { source: 'New traces' } } }))
      const all = fileOf({ sources: circle, savedSearches: { slow }, dashboards: { shop: { ...shop, tiles } } })
      const applied = await one.apply(all)
      expect([errorRules(applied), new Set(Object.values(outcomes(applied)))]).toEqual([[], new Set(['created'])])
      expect(serviceOf(emulator()).savedSearches.at(-1)).toMatchObject({ sourceId: stored('New traces').id })
      expect(await one.plan(all)).toMatchObject(emptyPlan)
    }))

  it('completes a source whose create was the last thing that a run did', () =>
    site(async (one) => {
      const plain = Object.fromEntries(Object.entries(circle).map(([key, { adopt: _, ...source }]) => [key, source]))
      await one.apply(fileOf({ sources: plain }))
      const { traceSourceId: _, metricSourceId: __, ...interrupted } = stored('New logs')
      const { sources } = serviceOf(emulator())
      sources.splice(sources.indexOf(stored('New logs')), 1, interrupted as Source)
      const applied = await one.apply(fileOf({ sources: plain }))
      expect([errorRules(applied), actions(applied)['new-logs']]).toEqual([[], 'update'])
      expect(await one.plan(fileOf({ sources: plain }))).toMatchObject(emptyPlan)
    }))

  it('an update waits for a source that the same run creates, and is skipped when the create fails', () =>
    site(async (one) => {
      const { sessionSource: _, logSource: __, ...traces } = circle['new-traces']
      const { metricSource: ___, ...logs } = circle['new-logs']
      const both = fileOf({ sources: { logs: { ...logs, name: 'Logs' }, traces } })
      const before = structuredClone(stored('Logs'))
      emulator().addFault({ match: { method: 'POST', path: '/sources' }, effect: { kind: 'status', status: 400 } })
      const failed = await one.apply(both)
      expect(failed.objects.map(({ key, outcome, message }) => [key, outcome, message])).toEqual([
        ['logs', 'skipped', 'sources.traces was not written'],
        ['traces', 'failed', expect.any(String)],
      ])
      expect(stored('Logs')).toEqual(before)
      expect(outcomes(await one.apply(both))).toEqual({ logs: 'updated', traces: 'created' })
      expect(stored('Logs')).toMatchObject({ traceSourceId: stored('New traces').id })
    }))

  it('what depends on a source without an answer, directly or not, is written after the source is found', () =>
    site(async (one) => {
      const { logSource: _, ...metrics } = circle['new-metrics']
      const select = [{ aggFn: 'max', valueExpression: 'Value', metricName: 'queue.size', metricType: 'gauge' }]
      const tiles = [tile('A', 0, { displayType: 'line', source: 'New metrics', select })]
      emulator().addFault({ match: { method: 'POST', path: '/sources' }, act: 'after', effect: { kind: 'reset' } })
      const applied = await one.apply(fileOf({ sources: { metrics }, dashboards: { shop: { ...shop, tiles } }, alerts: { errors } }))
      expect(outcomes(applied)).toEqual({ metrics: 'created', shop: 'created', errors: 'created' })
      expect(serviceOf(emulator()).sources.filter(({ name }) => name === 'New metrics')).toHaveLength(1)
    }))

  it('a source is pulled with names for connections and other sources, and PromQL is left alone', () =>
    site(async (one) => {
      await haveApplied()
      const [logs] = serviceOf(emulator()).sources
      Object.assign(serviceOf(emulator()).sources, [...serviceOf(emulator()).sources])
      serviceOf(emulator()).sources.push({
        ...structuredClone(logs),
        id: 'aaaaaaaaaaaaaaaaaaaaaaaa',
        name: 'Prom',
        kind: 'promql',
      } as Source)
      const pulled = await one.pull({}, undefined, { select: conditions('kind=source') })
      const prom = pulled.objects.find(({ name }) => name === 'Prom')
      expect([prom?.outcome, prom?.reason]).toEqual(['not-exportable', 'files cannot declare a source of the kind promql'])
      const written = pulled.writtenFiles.map(({ content }) => content).join()
      expect(written).toContain('traceSource: New traces')
      const again = Object.fromEntries(pulled.writtenFiles.map(({ path, content }) => [path, content]))
      const planned = await one.plan(again)
      expect([errorRules(planned), planned.changed]).toEqual([[], false])
    }))
})

describe.each(['hyperdx', 'clickhouse-cloud'] as const)('sources and their connections, profile %s', (dialect) => {
  const { emulator, site, stored } = useService(dialect)

  it('creates sources that refer to each other in a circle, and then has nothing to do', () =>
    site(async (one) => {
      expect(new Set(Object.values(outcomes(await one.apply(files))))).toEqual(new Set(['created']))
      const [logs, traces, sessions] = ['New logs', 'New traces', 'New sessions'].map(stored)
      expect(logs).toMatchObject({ traceSourceId: traces?.id, metricSourceId: stored('New metrics').id })
      expect(traces).toMatchObject({ logSourceId: logs?.id, sessionSourceId: sessions?.id })
      expect(await one.plan(files, { prune: true })).toMatchObject(emptyPlan)
      expect(await one.drift(files)).toMatchObject({ changed: false })
    }))

  it('takes the only connection that sources use, an id, or on a self-hosted server a name', () =>
    site(async (one) => {
      const [connection] = serviceOf(emulator()).connections
      const plan = (fields: object) => one.plan(fileOf({ sources: { m: { ...circle['new-metrics'], logSource: undefined, ...fields } } }))
      expect(errorRules(await plan({}))).toEqual([])
      expect(errorRules(await plan({ connection: connection?.id }))).toEqual([])
      expect(errorRules(await plan({ connection: connection?.name }))).toEqual(dialect === 'hyperdx' ? [] : ['held'])
      expect(errorRules(await plan({ connection: 'nothing' }))).toEqual(['held'])
      stored('Logs').connection = 'bbbbbbbbbbbbbbbbbbbbbbbb'
      expect((await plan({})).diagnostics.map(({ message }) => message).join()).toContain('sources use several connections; add connection')
    }))

  const sqlTile = (fields: object, name = 'SQL') => ({
    name,
    config: { configType: 'sql', displayType: 'number', sqlTemplate: 'SELECT 1', ...fields },
  })
  const boardOf = (...tiles: readonly object[]) => fileOf({ dashboards: { board: { name: 'Board', tiles } } })

  it('an SQL tile takes the only connection that sources use, an id, or on a self-hosted server a name', () =>
    site(async (one) => {
      const [connection] = serviceOf(emulator()).connections
      const problems = async (fields: object) =>
        (await one.plan(boardOf(sqlTile(fields)))).diagnostics.flatMap(({ rule, message }) => (rule === 'unchecked-query' ? [] : [message]))
      for (const fields of [{}, { connection: connection?.id }, { connectionId: connection?.id }])
        expect(await problems(fields)).toEqual([])
      expect(await problems({ connection: connection?.name })).toEqual(
        dialect === 'hyperdx'
          ? []
          : [
              expect.stringContaining(
                'dashboards.board: apply does not create it: tiles["SQL"].config.connection: "Default" is not an id, and the server does not list',
              ),
            ],
      )
      expect(await problems({ connection: 'nothing' })).toEqual([expect.stringContaining('"nothing"')])
      expect(await problems({ connection: connection?.id, connectionId: connection?.id })).toEqual([
        expect.stringMatching(/^dashboards\.board\.tiles\["SQL"\]\.config\.connectionId: "\w+" cannot be combined with connection$/),
      ])
      stored('Logs').connection = 'bbbbbbbbbbbbbbbbbbbbbbbb'
      expect(await problems({})).toEqual([
        'dashboards.board: apply does not create it: tiles["SQL"].config: sources use several connections; add connection',
      ])
    }))

  it('an SQL tile is pulled with the name of its connection, and without the only one', () =>
    site(async (one) => {
      const { connections, dashboards } = serviceOf(emulator())
      const [connection] = connections
      if (connection === undefined) throw new Error('there is no connection')
      const second = { ...connection, id: 'cccccccccccccccccccccccc', name: 'Second' }
      connections.push(second)
      const given = dialect === 'hyperdx' ? { connection: 'Second' } : { connection: second.id }
      const files = boardOf(sqlTile({}, 'Default'), sqlTile(given, 'Second'))
      expect(outcomes(await one.apply(files))).toEqual({ board: 'created' })
      const stateOfTiles = () => dashboards.at(-1)?.tiles.map(({ config }) => config?.connectionId)
      expect(stateOfTiles()).toEqual([connection.id, second.id])
      expect(await one.plan(files)).toMatchObject(emptyPlan)
      const pulled = await one.pull({}, undefined, { select: conditions('name~Board') })
      const content = pulled.writtenFiles.map(({ content: text }) => text).join()
      expect(content.match(/connection.*/g)).toEqual([`connection: ${given.connection}`])
      expect(await one.plan(Object.fromEntries(pulled.writtenFiles.map((file) => [file.path, file.content])))).toMatchObject(emptyPlan)
      const written = boardOf(sqlTile({ connectionId: connection.id }, 'Default'), sqlTile(given, 'Second'))
      // Its marker is then of this declaration, and needs no base in the file.
      await one.apply(written)
      expect((await one.pull(written, ['a.json'], { only: 'declared' })).writtenFiles).toEqual([])
    }))
})

describe('fields that the document of the cloud does not have', () => {
  it('the undocumented fields of each kind of source are all known', () => {
    const inApi = (field: string): string => field.replace(/^(log|trace|metric|session)Source$/, '$1SourceId')
    const refused = Object.entries(fieldsByKind).map(([kind, { required, optional }]) => [
      kind,
      [...required, ...optional]
        .filter((field) => findUndocumented({ kind, [inApi(field)]: 'x' }, 'POST', 'sources', () => false) !== undefined)
        .toSorted(),
    ])
    expect(refused).toEqual(Object.entries(undocumentedInCloud).map(([kind, fields]) => [kind, fields.toSorted()]))
  })

  it('are a warning with the cloud, and none with a self-hosted server', async () => {
    const { logSource: _, ...metrics } = { ...circle['new-metrics'], seriesTable: 'series' }
    const validate = async (profile: string) => {
      const files = { 'observability/a.json': JSON.stringify({ sources: { metrics } }) }
      const { document } = await invokeText({ inputs: { operation: 'validate', profile }, files })
      return (document.diagnostics as readonly { readonly rule: string }[]).map(({ rule }) => rule)
    }
    expect([await validate('clickhouse-cloud'), await validate('hyperdx')]).toEqual([['undocumented-field'], []])
  })
})
