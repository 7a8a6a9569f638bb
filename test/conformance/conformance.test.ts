import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { declaredAlert } from '../../src/kinds/alert/alert.ts'
import { declaredDashboard } from '../../src/kinds/dashboard/dashboard.ts'
import { declaredSavedSearch } from '../../src/kinds/saved-search/saved-search.ts'
import type { Dialect } from './case.ts'
import { cases } from './cases/index.ts'
import { describeDifferences, findDifferences, type Recording, recordedPath } from './recording.ts'
import { runCases } from './run-cases.ts'
import { startEmulatorTarget } from './targets.ts'

const recordedText = readFileSync(recordedPath, 'utf8')

const recording = JSON.parse(recordedText) as Recording

/** Runs all cases, and describes the differences to the recorded answers; empty without differences. */
async function compareEmulator(dialect: Dialect): Promise<{ readonly count: number; readonly differences: string }> {
  const target = await startEmulatorTarget(dialect)
  try {
    const answers = await runCases(target, cases)
    return { count: Object.keys(answers).length, differences: describeDifferences(findDifferences(cases, recording, answers, target)) }
  } finally {
    await target.close()
  }
}

describe('the emulator', () => {
  it('answers as self-hosted HyperDX does', { tags: 'slow' }, async () => {
    const { count, differences } = await compareEmulator('hyperdx')
    expect(differences).toBe('')
    expect(count).toBe(cases.length)
  })

  it('answers as HyperDX does behind the gateway of ClickHouse Cloud', { tags: 'slow' }, async () => {
    const { count, differences } = await compareEmulator('clickhouse-cloud')
    expect(differences).toBe('')
    expect(count).toBe(cases.filter(({ dialects }) => dialects?.includes('clickhouse-cloud') !== false).length)
  })
})

/** The names of all properties in a JSON Schema. */
function propertiesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {} } = schema as { readonly properties?: object }
  const own = Array.isArray(schema) ? [] : Object.keys(properties)
  return [...own, ...Object.values(schema).flatMap(propertiesIn)]
}

/** Fields of files that the API does not have. They are resolved to ids, or help to find an object. */
const fileOnly = [
  'appliesToSources',
  'adopt',
  'previousKey',
  'rewrite',
  'raw',
  'query',
  'dashboard',
  'tile',
  'savedSearch',
  'webhook',
  'source',
  'properties',
  'items',
]

describe('the cases', () => {
  it('the cases have unique names', () => {
    const names = cases.map(({ name }) => name)
    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([])
    expect(names.length).toBeGreaterThan(300)
  })

  it('the cases are the recorded cases', () => {
    expect(Object.keys(recording).sort()).toEqual(cases.map(({ name }) => name).sort())
  })

  it('the cases use every field that files can have', () => {
    const text = JSON.stringify(cases)
    const fields = [declaredAlert, declaredDashboard, declaredSavedSearch].flatMap((schema) =>
      propertiesIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })),
    )
    expect(new Set(fields).size).toBeGreaterThan(60)
    expect([...new Set(fields)].filter((field) => !fileOnly.includes(field) && !text.includes(`"${field}"`))).toEqual([])
  })

  it('the cases have a source for every expectation of a gateway', () => {
    expect(cases.filter(({ gateway }) => gateway !== undefined && gateway.source.length < 10)).toEqual([])
  })
})

describe('the recorded answers', () => {
  it('the recorded answers contain no keys, people or ids of the recorded server', () => {
    const patterns = {
      uuid: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/i,
      email: /[\w.]+@[\w.]+/,
      header: /bearer /i,
      id: /\b[0-9a-f]{24}\b/i,
      password: /password"/i,
    }
    expect(
      Object.entries(patterns)
        .filter(([, pattern]) => pattern.test(recordedText))
        .map(([name]) => name),
    ).toEqual([])
  })

  it('the recorded answers contain only times that cases sent', () => {
    const times = recordedText.match(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g) ?? []
    expect([...new Set(times)].filter((time) => !time.startsWith('2026-01-01T'))).toEqual([])
  })
})

describe('a comparison', () => {
  it('names the field that differs, with both values', () => {
    const [one] = cases
    if (one === undefined) throw new Error('there are no cases')
    const answer = { status: 200, body: { data: { tiles: [{ x: 1 }], name: 'a' } } }
    const other = { status: 200, body: { data: { tiles: [{ x: 2, y: 0 }] } } }
    const target = { dialect: 'hyperdx', isStrictGateway: false } as const
    expect(describeDifferences(findDifferences([one], { [one.name]: [answer] }, { [one.name]: [other] }, target))).toBe(
      [one.name, '  body.data.tiles.0.x: 1 / 2', '  body.data.tiles.0.y: – / 0', '  body.data.name: "a" / –'].join('\n'),
    )
  })

  it('rejects a server with other objects, and deletes its own objects', { tags: 'slow' }, async () => {
    const target = await startEmulatorTarget('hyperdx')
    const send = (method: string, path: string, text?: string) => target.send({ method, path, headers: {}, text })
    try {
      const created = JSON.parse((await send('POST', 'dashboards', '{"name":"Theirs","tiles":[]}')).text) as { data: { id: string } }
      await expect(runCases(target, cases)).rejects.toThrow('The server has dashboards that this suite did not create')
      await send('DELETE', `dashboards/${created.data.id}`)
      const { remember: _, ...server } = target
      await runCases(
        server,
        cases.filter(({ name }) => /^(delete|create an alert: on|update a webhook)/.test(name)),
      )
      for (const list of ['dashboards', 'alerts', 'saved-searches', 'webhooks', 'sources'])
        expect(JSON.parse((await send('GET', list)).text), list).toMatchObject({ data: [] })
    } finally {
      await target.close()
    }
  })
})
