// Owns the demo: every step run for real against an emulator of its own, and shown as a person would meet it.

import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { startEmulator } from '../../emulator/index.ts'
import { exitCodes } from '../../kernel/errors.ts'
import { type DemoRun, runStep } from './demo-process.ts'
import { type DemoStep, demoEnvironment, demoSteps } from './demo-steps.ts'

export interface DemoOptions {
  /** The action's bundle, to be started as a runner starts it; without it, this command line is used. */
  readonly bundle: string | undefined
  readonly write: (text: string) => void
  readonly color: boolean
}

/** Resolves to 0 when every step did what it is there to show. */
export async function runDemo({ bundle, write, color }: DemoOptions): Promise<number> {
  const paint = (format: 'bold' | 'dim' | 'cyan' | 'green' | 'red', text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text
  const line = (text = ''): void => write(`${text}\n`)
  const script = bundle === undefined ? fileURLToPath(new URL('../../cli.js', import.meta.url)) : resolve(bundle)
  const emulator = await startEmulator()
  try {
    const steps = demoSteps(emulator)
    line(
      `An emulator of the API listens on ${emulator.url}: no account, no network. ${bundle === undefined ? 'The command line' : `The action's bundle ${bundle}`} does ${steps.length} things.`,
    )
    let surprises = 0
    for (const [i, step] of steps.entries()) {
      line()
      line(paint('bold', `━━ ${i + 1} of ${steps.length} · ${step.title} `.padEnd(88, '━')))
      const before = emulator.requests.length
      const run = await runStep(step, script, bundle !== undefined, demoEnvironment(emulator))
      for (const text of show(step, run, bundle !== undefined)) line(text)
      const requests = emulator.requests.slice(before).map(({ method }) => method)
      line(paint('dim', `requests: ${requests.join(', ')} · exit code ${run.exitCode}`))
      const isAsExpected = (run.exitCode !== 0) === (step.fails === true)
      if (!isAsExpected) surprises += 1
    }
    line()
    line(
      surprises === 0
        ? paint('green', 'Everything went as it should, the failing gates included. Nothing left this machine.')
        : paint('red', `${surprises} steps did not go as they should.`),
    )
    return surprises === 0 ? exitCodes.ok : exitCodes.error
  } finally {
    await emulator.close()
  }
}

const indent = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `   ${line}`.trimEnd())

function show(step: DemoStep, { log, outputs, summary }: DemoRun, asAction: boolean): readonly string[] {
  const given = Object.entries(step.inputs)
  const call = asAction
    ? ['with:', `   operation: ${step.operation}`, ...given.map(([name, value]) => `   ${name}: ${value}`)]
    : [`$ watchkeeper ${[step.operation, ...given.map(([name, value]) => `--${name} '${value}'`)].join(' ')}`]
  return [
    ...call,
    'log:',
    ...indent(asRunnerShows(log)),
    ...(outputs === '' ? [] : ['outputs:', ...readOutputs(outputs).map((text) => `   ${text}`)]),
    'job summary (Markdown):',
    ...indent(shorten(summary)),
  ]
}

/** The runner swallows masks and shows an annotation as its level and text. */
function asRunnerShows(log: string): string {
  const lines = log.split('\n')
  const masks = lines.filter((line) => line.startsWith('::add-mask::')).length
  const shown = lines
    .filter((line) => !line.startsWith('::add-mask::'))
    .map((line) => line.replace(/^::(error|warning)[^:]*::/, (_, level: string) => `${level === 'error' ? 'Error' : 'Warning'}: `))
  return [...(masks === 0 ? [] : [`(${masks} values masked)`]), ...shown].join('\n').trim()
}

const longestShown = 100

function readOutputs(text: string): readonly string[] {
  return [...text.matchAll(/^(.+?)<<(ghadelimiter_.+)\n([\s\S]*?)\n?\2$/gm)].map(
    ([, name, , value = '']) =>
      `${name} = ${value.length > longestShown ? `${value.slice(0, longestShown)}…` : value.replaceAll('\n', ' ')}`,
  )
}

/** Folded parts stay folded, and a drawing stays a drawing. */
const shorten = (summary: string): string =>
  summary
    .replace(/<details><summary>(.*?)<\/summary>[\s\S]*?<\/details>/g, '▸ $1')
    .replace(/```mermaid\n[\s\S]*?\n```/g, '▸ bar chart (Mermaid)')
