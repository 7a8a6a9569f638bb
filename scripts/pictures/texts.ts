// The reports of the documents' pictures: runs against the emulator on a fixed day.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeBody } from '../../src/delivery/github/body.ts'
import { readGitHubRun } from '../../src/delivery/github/run.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import type { Location } from '../../src/platform/core/diagnostics.ts'
import { version } from '../../src/platform/core/version.ts'
import { renderMarkdown } from '../../src/platform/report/markdown.ts'
import { createVirtualClock } from '../../test/support/clocks.ts'
import { ids, inputsFor } from '../../test/support/emulator.ts'
import { type Invoked, invokeText } from '../../test/support/invoke.ts'
import { contentOf } from '../../test/support/notify.ts'

export interface Picture {
  readonly medium: 'summary' | 'comment' | 'page'
  /** Of the window, in pixels. */
  readonly width: number
  /** The heading before which the picture ends. */
  readonly until?: string
  report(emulator: Emulator): Promise<Invoked>
}

const root = join(import.meta.dirname, '../..')

export const imagesDirectory = join(root, 'docs/images')

/** Of the texts that the pictures were drawn from. */
export const digestsFile = join(imagesDirectory, 'digests.json')

export const readDigests = (): Readonly<Record<string, string>> => JSON.parse(readFileSync(digestsFile, 'utf8'))

/** Each picture has a file for each. */
export const themes = ['light', 'dark'] as const

const atMs = Date.parse('2026-11-24T09:00:00Z')

const run = (
  emulator: Emulator,
  inputs: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): Promise<Invoked> =>
  invokeText({
    inputs: { ...inputsFor(emulator), ...inputs },
    files,
    clock: createVirtualClock(atMs),
    env: { WATCHKEEPER_UI_URL: 'https://hyperdx.example.com' },
    isAction: true,
  })

const usage = { operation: 'usage-cost', period: 'month-to-date', budget: '360', 'forecast-budget': '360' }

async function planOf(emulator: Emulator): Promise<Invoked> {
  const example = readFileSync(join(root, 'examples/observability/checkout.yml'), 'utf8').replaceAll(
    'webhook: oncall',
    `webhookId: ${ids.webhook}`,
  )
  const changed = [
    ['SeverityText:error', 'SeverityText:(error OR fatal)'],
    [
      '      - name: What to do',
      '      - name: Queue\n        config: { displayType: line, source: Logs, select: [{ aggFn: count, where: Body:queue }] }\n      - name: What to do',
    ],
    ['threshold: 5\n', 'threshold: 20\n'],
    ['in the last half hour? Roll it back.', 'in the last hour? Roll it back, and say so in #checkout.'],
  ].reduce((text, [from = '', to = '']) => text.replace(from, to), example)
  await run(emulator, { operation: 'apply', project: 'shop/infra' }, { 'observability/checkout.yml': example })
  return run(emulator, { operation: 'plan', project: 'shop/infra' }, { 'observability/checkout.yml': changed })
}

/** Variables of a runner. */
const runner = {
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_RUN_ID: '1',
  GITHUB_JOB: 'plan',
  GITHUB_SHA: 'a1b2c3d'.padEnd(40, '0'),
}

export const pictures: Readonly<Record<string, Picture>> = {
  'cost-summary': { medium: 'summary', width: 760, until: 'Spikes', report: (emulator) => run(emulator, usage) },
  'cost-page': {
    medium: 'page',
    width: 1000,
    until: 'Spikes',
    report: (emulator) => run(emulator, { ...usage, reports: 'html=page.html' }),
  },
  'plan-comment': { medium: 'comment', width: 830, report: planOf },
}

/** What a picture shows, as Markdown or HTML. */
export async function textOfPicture({ medium, report }: Picture): Promise<string> {
  const emulator = await startEmulator({ rateLimit: 'off', now: () => atMs })
  try {
    const { blocks, files } = await report(emulator)
    if (medium === 'page') return files[0]?.content ?? ''
    if (medium === 'summary') return renderMarkdown(blocks)
    const read = await readGitHubRun(runner)
    if ('problem' in read) throw new Error(read.problem)
    const content = contentOf('pass', { blocks, atMs })
    const linkTo = ({ file, line }: Location) => `https://github.com/acme/shop/blob/${runner.GITHUB_SHA}/${file}#L${line}`
    return writeBody('comment', { content, label: 'plan', redact: (text) => text, run: read.run, linkTo }, undefined)
  } finally {
    await emulator.close()
  }
}

/** A new version changes no picture. */
export const digestOfPicture = (text: string): string =>
  createHash('sha256').update(text.replaceAll(version, '')).digest('hex').slice(0, 16)
