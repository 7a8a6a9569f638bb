// Runs the action and reports which source files the run entered: those of which at least one function was called. Started as a
// process of its own by replay-offline.test.ts, with the environment of a step; the list goes to the file ENTERED_FILES.
import { readdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

const src = new URL('../../src/', import.meta.url)
// Everything is loaded before, so that a function called while a module is evaluated does not count as part of the run.
const entryPoints = ['action.ts', 'cli.ts']
for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
  if (name.endsWith('.ts') && !entryPoints.includes(name)) await import(new URL(name, src).href)
}
const { runAction } = await import('../../src/runtime/action/run-action.ts')

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
process.exitCode = await runAction(process.env, process)
const { result } = await session.post('Profiler.takePreciseCoverage')

// The function of the module itself begins at its first character.
const isCalled = ({ functions }: (typeof result)[number]): boolean =>
  functions.some(({ ranges: [range] }) => range !== undefined && range.count > 0 && range.startOffset > 0)
const entered = result.filter(({ url }) => url.startsWith(src.href)).filter(isCalled)
writeFileSync(process.env.ENTERED_FILES ?? '', JSON.stringify(entered.map(({ url }) => url.slice(src.href.length)).toSorted()))
