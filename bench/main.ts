// `npm run bench` prints what was measured. `--short` takes a quarter of a minute, `--write` keeps the tables in docs/benchmarks.md,
// `--summary FILE` appends them to a job summary. `--compare NAME=FILE`, once or more, compares the start with that of another action.
// `--tofu DIRECTORY` compares applies with OpenTofu and the ClickHouse provider, whose binaries are in the directory.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { say, trusted, untrusted } from '../src/platform/core/line.ts'
import type { Block } from '../src/platform/report/blocks.ts'
import { renderMarkdown } from '../src/platform/report/markdown.ts'
import { renderTerminal } from '../src/platform/report/terminal.ts'
import { applies } from './applies.ts'
import type { Benchmark } from './benchmark.ts'
import { coldStart } from './cold-start.ts'
import { pacing } from './pacing.ts'
import { plans } from './plans.ts'
import { sizes } from './sizes.ts'
import { slos } from './slos.ts'
import { windows } from './windows.ts'

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    summary: { type: 'string' },
    tofu: { type: 'string' },
    compare: { type: 'string', multiple: true, default: [] },
  },
})
const otherActions = values.compare.map((text) => {
  const [name, file] = text.split('=')
  if (!name || !file) throw new Error(`--compare ${text}: write it as NAME=FILE`)
  return { name, file: resolve(file) }
})
const benchmarks: readonly Benchmark[] = [coldStart, sizes, plans, applies, pacing, windows, slos]

const blocks: Block[] = [
  {
    kind: 'facts',
    facts: [
      { label: 'Node', value: [trusted(process.versions.node)] },
      { label: 'Processor', value: say`${untrusted(cpus()[0]?.model ?? 'unknown')}, ${cpus().length} cores` },
      { label: 'Day', value: [trusted(new Date().toISOString().slice(0, 10))] },
    ],
  },
]
for (const benchmark of benchmarks) {
  const measured = await benchmark({ isShort: values.short, otherActions, tofu: values.tofu })
  for (const line of renderTerminal(measured, { color: false })) process.stdout.write(`${line}\n`)
  blocks.push(...measured)
}

const page = renderMarkdown(blocks)
if (values.summary !== undefined) appendFileSync(values.summary, page)
if (values.write) {
  const { fillMarkers } = await import('../scripts/generate.ts')
  const file = new URL('../docs/benchmarks.md', import.meta.url)
  writeFileSync(file, fillMarkers(readFileSync(file, 'utf8'), { measured: page.trim() }, 'docs/benchmarks.md'))
}
