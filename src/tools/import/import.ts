import * as z from 'zod'
import type { Body } from '../../kinds/kind.ts'
import { sectionNames } from '../../kinds/kind-names.ts'
import { createKinds, type Kinds } from '../../kinds/kinds.ts'
import { connectionCollection } from '../../kinds/source/source-wire.ts'
import { inputError, WatchkeeperError } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { counted, join, type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { namesAtMost, plural, quote, quoteLong } from '../../platform/core/text.ts'
import { readDocument } from '../../platform/documents/document.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { filePath, flag, glob, lines } from '../../platform/operation/inputs.ts'
import { type Context, defineOperation, noFields } from '../../platform/operation/operation.ts'
import { type Block, countFacts } from '../../platform/report/blocks.ts'
import { pass, type Report, type Verdict } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'
import { claimKey, toFileName } from '../../sync/pull/select.ts'
import { type NewFields, writeNewFile } from '../../sync/pull/write-yaml.ts'
import { type Comparison, compareQueries, queryComparisonSchema } from './check.ts'
import { readImportedFile } from './grafana-file.ts'
import { type ImportOutcome, outcomeSchema, translateRule, unlessTyped } from './translate.ts'
import { type DashboardOutcome, dashboardOutcome, translateDashboard } from './web-app.ts'

const pair = z.string().regex(/^[^=\r\n]+=[^\r\n]+$/)

const input = z.strictObject({
  files: lines(
    'Dashboards of the web app, as exported or provisioned, or in the form of the API, and alert rules of Grafana, in JSON or YAML.',
    'paths of files, and globs for files in this directory or below it',
    z.string().regex(/^[^\0\r\n]{1,4096}$/),
  ).min(1),
  connection: lines(
    'Connections: `UID=NAME` by the uid of a data source of Grafana, and `NAME=ID` for dashboards, which have one of the two and get the other.',
    'UID=NAME or NAME=ID, one per line',
    pair,
  ).optional(),
  source: lines('Sources of dashboards of the API; an id can be a placeholder.', 'ID=NAME, one per line', pair).optional(),
  webhook: lines(
    'Webhooks by contact point of Grafana: `CONTACT=NAME`; `*` is for rules without one.',
    'CONTACT=NAME, one per line',
    pair,
  ).optional(),
  directory: filePath(
    'Directory for the new files, one for each dashboard, and for each folder of Grafana. A file with other content is an error.',
    'a directory inside the workspace',
  ).default('observability'),
  allowPartial: flag('Writes the rest although something is refused. Otherwise the run fails, and writes nothing.').default(false),
  check: flag('Compares each query of a rule with the original over 24 windows of the last day. Needs the settings of a server.').default(
    false,
  ),
})

const importedRule = outcomeSchema.extend({
  key: z.string().optional().describe('Key of the alert. Absent for rules that are not written.'),
  check: queryComparisonSchema.optional(),
})

const importedDashboard = dashboardOutcome.extend({ key: z.string().optional().describe('Key of the dashboard. Absent if it is refused.') })

const details = z.object({
  exact: z
    .int()
    .describe('Dashboards that are stored as by an import in the web app, and rules whose alerts have the same values and states.'),
  changed: z.int().describe('Dashboards with losses, and rules with differences.'),
  refused: z.int().describe('Dashboards and rules without an equivalent.'),
  paused: z.int().describe('Paused rules, which are not written.'),
  differing: z.int().describe('Rules whose values differ, with `check`.'),
  dashboards: z.array(importedDashboard).describe('All dashboards, with each loss in a sentence.'),
  rules: z.array(importedRule).describe('All rules, in the order of the files, with each difference in a sentence.'),
  notes: z.array(z.string()).describe('What stays in Grafana, alerts of tiles, and what to know about files.'),
  written: z.boolean().describe('Whether the files were written.'),
  files: z.array(z.object({ path: z.string(), content: z.string(), size: z.int() })).describe('The declarations by file.'),
})

type Input = z.output<typeof input>
type Result = z.output<typeof details>
type Rule = Result['rules'][number]
type ImportContext = Context<'read', 'none'>

/** The key is that of the alert. */
type Imported = ImportOutcome & { readonly key?: string; readonly check?: Comparison }

type ImportedDashboard = DashboardOutcome & { readonly key?: string }

async function runImport(context: ImportContext, given: Input): Promise<Result> {
  const choices = { connections: toMap(given.connection), sources: toMap(given.source), webhooks: toMap(given.webhook) }
  const named = new Set([...choices.connections.keys(), ...choices.sources.keys()])
  const [inside = [], outside = []] = [true, false].map((is) => given.files.filter((one) => glob.safeParse(one).success === is))
  const paths = [...(await context.files.find(inside, 'files')).paths, ...outside]
  const contents = await Promise.all(paths.map((path) => context.files.read(path, 'files', outside.includes(path))))
  const read = paths.map((path, i) => ({ path, ...readImportedFile(contents[i] ?? '', path, named) }))
  const rules = read.flatMap((one) => one.rules)
  const kinds = createKinds(context.profile, 0)
  const [dashboardKeys, keys] = [new Set<string>(), new Set<string>()]
  const dashboards = read.flatMap(({ path, dashboard }): ImportedDashboard[] => {
    const outcome = dashboard && translateDashboard(dashboard, path, { kind: kinds.dashboard, ...choices })
    if (outcome?.declared === undefined) return outcome === undefined ? [] : [outcome]
    return [{ ...outcome, key: claimKey({ name: outcome.title, noun: 'dashboard' }, dashboardKeys) }]
  })
  if (rules.length + dashboards.length === 0)
    throw inputError('files', paths.length === 0 ? `no file matches ${given.files.join(', ')}` : 'have no dashboards and no alert rules')
  const outcomes = await Promise.all(rules.map((rule) => translateRule(rule, choices, context.sqlFunctions)))
  const checked = given.check ? await compareAll(context, outcomes) : []
  const imported = outcomes.map((outcome, i): Imported => {
    const judged = withCheck(outcome, checked[i])
    if (judged.translated === undefined) return judged
    return { ...judged, key: claimKey({ name: outcome.title, id: outcome.uid, noun: 'rule' }, keys) }
  })
  const shown = imported.map(({ translated: _, ...one }): Rule => one)
  const counts = { exact: 0, changed: 0, refused: 0, paused: 0 }
  for (const { result } of [...dashboards, ...shown]) counts[result] += 1
  const differing = shown.filter(({ check }) => check?.difference !== undefined).length
  const written = counts.exact + counts.changed > 0 && (counts.refused + differing === 0 || given.allowPartial)
  const places = { directory: given.directory.replace(/(?<!\/)\/+$/, ''), names: new Set<string>(), kinds }
  const files = [...toDashboardFiles(dashboards, places, keys), ...toRuleFiles(imported, places, dashboardKeys)]
  const ofAlerts = dashboards.flatMap(({ location, alerts = [] }) =>
    alerts.length === 0 ? [] : [`${location}: ${plural(alerts.length, 'alert')} of its tiles, under alerts`],
  )
  const notes = [
    ...read.flatMap((one) => one.notes),
    ...ofAlerts,
    ...(written ? await refuseExisting(context, files, places.directory) : []),
  ]
  const shownDashboards = dashboards.map(({ declared: _, alerts: __, ...one }) => one)
  return { ...counts, differing, dashboards: shownDashboards, rules: shown, notes, written, files }
}

/** Values decide over what the text of a query says. */
function withCheck(outcome: ImportOutcome, check: Comparison | undefined): Imported {
  const { translated: _, ...common } = outcome
  if (check?.fails) return { ...common, differences: [], result: 'refused', reason: `the rule fails in Grafana: ${check.reason}` }
  if (check === undefined || check.reason !== undefined) return { ...outcome, ...(check && { check }) }
  const known = outcome.differences.filter((one) => !one.startsWith(unlessTyped))
  if (check.difference !== undefined)
    return { ...outcome, check, result: 'changed', differences: [...known, `other values ${check.difference}`] }
  const isExact = outcome.result === 'changed' && known.length === 0
  return { ...outcome, check, result: isExact ? 'exact' : outcome.result, differences: known }
}

const toMap = (all: readonly string[] = []): ReadonlyMap<string, string> =>
  new Map(all.map((one) => [one.slice(0, one.indexOf('=')).trim(), one.slice(one.indexOf('=') + 1).trim()]))

const maxNameLength = 1024

interface Places {
  readonly directory: string
  readonly names: Set<string>
  readonly kinds: Kinds
}

function toFile(name: string, objects: readonly NewFields[], { directory, names, kinds }: Places): Result['files'][number] {
  const path = `${directory}/${toFileName(claimKey({ name, noun: 'folder' }, names))}.yml`
  const content = writeNewFile(path, objects, kinds)
  return { path, content, size: Buffer.byteLength(content) }
}

const toDashboardFiles = (dashboards: readonly ImportedDashboard[], places: Places, keys: Set<string>): Result['files'] =>
  dashboards.flatMap(({ key, declared: after = {}, alerts = [] }) => {
    const ofTiles = alerts.map(({ name, tile, ...fields }): NewFields => {
      const claimed = claimKey({ name: String(name ?? tile), noun: 'alert' }, keys)
      return { kind: 'alert', key: claimed, after: { name, dashboard: key, tile, ...fields } }
    })
    return key === undefined ? [] : [toFile(key, [{ kind: 'dashboard', key, after }, ...ofTiles], places)]
  })

/** One file for each folder, with a dashboard for each group. */
function toRuleFiles(imported: readonly Imported[], places: Places, dashboards: Set<string>): Result['files'] {
  const written = imported.filter(({ key }) => key !== undefined)
  return [...Map.groupBy(written, (one) => one.folder)].map(([folder, ofFolder]) => {
    const objects = [...Map.groupBy(ofFolder, (one) => one.group)].flatMap(([group, ofGroup]): readonly NewFields[] => {
      const whole = [folder, group].filter((part) => part !== '').join(' / ') || 'Grafana'
      const name = whole.slice(0, maxNameLength).toWellFormed()
      const dashboard = claimKey({ name, noun: 'group' }, dashboards)
      const alerts = ofGroup.map(({ translated, key = '' }): NewFields => {
        const { name: title, query, ...fields }: Body = translated?.alert ?? {}
        return { kind: 'alert', key, after: { name: title, query, dashboard, ...fields } }
      })
      return [{ kind: 'dashboard', key: dashboard, after: { name } }, ...alerts]
    })
    return toFile(folder || 'grafana', objects, places)
  })
}

/** A file may have been edited, renamed or moved since the last import. */
async function refuseExisting({ files }: ImportContext, wanted: Result['files'], directory: string): Promise<string[]> {
  // No escape works for all of these.
  const find = async (path: string, rest = '') => (await files.find([path.replace(/[*?[\]{}()!+@\\]/g, '?') + rest], 'directory')).paths
  const [own, existing]: [string[], string[]] = [[], []]
  for (const { path, content } of wanted) {
    const found = await find(path)
    own.push(...found)
    const current = await files.read(path, 'directory').catch((thrown: Error) => {
      if (found.length === 0 && thrown.message.includes('does not exist')) return content
      throw thrown
    })
    if (current !== content) existing.push(`other content in ${path}`)
  }
  const keys = wanted.flatMap(({ path, content }) => keysIn(content, path))
  const paths = await find(directory, '/{,!(node_modules)/**/}*.{yml,yaml,json}').catch(() => undefined)
  for (const path of paths ?? []) {
    const content = own.includes(path) ? '' : await files.read(path, 'directory').catch(() => '')
    if (keys.some((key) => content.includes(key.replace(/.*\./, ''))))
      existing.push(...keysIn(content, path).flatMap((key) => (keys.includes(key) ? `${key} in ${path}` : [])))
  }
  const advice = 'remove what you did not edit and run import again, or choose another directory'
  if (existing.length > 0) throw inputError('directory', `already has ${namesAtMost(10, existing)}; ${advice}`)
  return paths ? [] : [`${directory} has too many files to look for the same keys`]
}

/** `dashboards.orders`; none of a file that cannot be read. */
function keysIn(content: string, path: string): readonly string[] {
  const document = readDocument(content, path)
  const root = 'diagnostics' in document ? undefined : document.value
  return sectionNames.flatMap((section) => Object.keys(ownValue(root, section) ?? {}).map((key) => `${section}.${key}`))
}

async function compareAll(context: ImportContext, imported: readonly ImportOutcome[]): Promise<readonly (Comparison | undefined)[]> {
  // The scope of a run with `check` is that of a service, which has an API and a service.
  const { api, service, clock, files, progress } = context as Context<'read', 'none' | 'service-or-server'>
  if (api === undefined || service === undefined) throw inputError('check', 'needs a server')
  if (await files.mayBeFromFork())
    throw new WatchkeeperError('refused', 'Nothing was compared: the files may be those of a fork, and the server would run their SQL.')
  const connections = api.profile.isSelfHosted ? (await connectionCollection.list(api, service)).items : []
  const checked: (Comparison | undefined)[] = []
  for (const [i, { title, translated }] of imported.entries()) {
    if (translated === undefined) continue
    const { connection } = translated.alert.query
    const names = connections.map(({ name }) => quote(name))
    const found = connections.find(({ name, id }) => name === connection || id === connection)
    if (found === undefined && api.profile.isSelfHosted)
      throw inputError(
        'connection',
        `"${quote(connection)}" is not a connection of the server, which has ${namesAtMost(10, names) || 'none'}`,
      )
    checked[i] = await compareQueries({ api, service, nowMs: clock.now(), connectionId: found?.id ?? '' }, translated)
    await progress({ done: i + 1, total: imported.length, line: say`rule ${title}`, result: async () => ({}) })
  }
  return checked
}

function judgeImport({ refused, differing, rules, written }: Result, { allowPartial }: Input): Verdict {
  const unchecked = rules.filter(({ check }) => check?.reason !== undefined).length
  const ofValues = differing > 0 ? [say`the values of ${counted(differing, 'rule')} differ`] : []
  const advice = say`nothing was written; correct what is refused, or set ${trusted(spellInput('allow-partial', 'true'))} to write the rest`
  if (refused > 0 && !allowPartial) return { status: 'fail', reasons: [advice, ...ofValues] }
  if (differing > 0) return { status: 'fail', reasons: ofValues }
  if (!written) return { status: 'warn', reasons: [say`nothing is to be written`] }
  return unchecked > 0 ? { status: 'warn', reasons: [say`${counted(unchecked, 'rule')} could not be compared`] } : pass
}

const order: readonly string[] = ['refused', 'changed', 'paused', 'exact']

/** A long table is cut, so what needs attention comes first. */
const sortByResult = <T extends { readonly result: string }>(all: readonly T[]) =>
  all.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result))

const statuses = { exact: 'pass', changed: 'warn', refused: 'fail', paused: 'warn' } as const

function describeCheck({ check }: Rule): Line {
  if (check === undefined) return []
  if (check.reason !== undefined) return untrustedSentence(`not compared: ${check.reason}`)
  return untrustedSentence(check.difference ?? `equal in ${plural(check.windows, 'window')}, ${check.withValues} of them with a value`)
}

function reportImport({ dashboards, rules, exact, changed, refused, paused, notes }: Result): Report {
  const isChecked = rules.some(({ check }) => check !== undefined)
  const columns = {
    Rule: ({ title }: Rule) => title,
    Group: ({ folder, group }: Rule) => [folder, group].filter(Boolean).join(' / '),
    Result: ({ result }: Rule) => trusted(result),
    Why: ({ differences, reason }: Rule) =>
      reason === undefined ? join(differences.map(untrustedSentence), '; ') : untrustedSentence(reason),
    ...(isChecked && { Values: describeCheck }),
  }
  const rows = sortByResult(dashboards).flatMap(({ losses, reason = '', ...one }) => [
    ...(losses.length === 0 || reason !== '' ? [{ ...one, tile: '', loss: reason }] : []),
    ...losses.map(({ tile = '', loss }) => ({ ...one, tile, loss })),
  ])
  const blocks: readonly Block[] = [
    countFacts({ Exact: exact, Changed: changed, Refused: refused, Paused: paused }),
    table(
      'Dashboards',
      rows,
      {
        Dashboard: ({ title }) => title,
        Result: ({ result }) => trusted(result),
        Tile: ({ tile }) => tile,
        Why: ({ loss }) => (loss === '' ? [] : untrustedSentence(loss)),
      },
      ({ result }) => statuses[result],
    ),
    table('Rules', sortByResult(rules), columns, ({ result, check }) => (check?.difference === undefined ? statuses[result] : 'fail')),
    { kind: 'list', items: notes.map(untrustedSentence) },
  ]
  const ofDashboards = dashboards.length === 0 ? [] : [say`${counted(dashboards.length, 'dashboard')}`]
  const ofRules = rules.length === 0 ? [] : [say`${counted(rules.length, 'rule')} of Grafana`]
  const rare = [...(refused > 0 ? [say`${refused} refused`] : []), ...(paused > 0 ? [say`${paused} paused`] : [])]
  const results = join([say`${exact} exact`, say`${changed} changed`, ...rare], ', ')
  const headline = say`${join([...ofDashboards, ...ofRules], ' and ')}: ${results}`
  return { headline, blocks }
}

export const importFiles = defineOperation({
  summary:
    'Translates dashboards of the web app or of the API, and alert rules of Grafana on ClickHouse, to declarations, offline, and says what changes.',
  effect: 'read',
  scope: 'none',
  scopeWith: ({ check }) => (check === true ? 'service-or-server' : 'none'),
  isOutsideOfAction: true,
  input,
  positional: 'files',
  output: noFields,
  details,
  example: {
    files: ['examples/web-app/orders.json', 'examples/grafana/checkout.yml'],
    connection: ['clickhouse=Local ClickHouse'],
    webhook: ['*=oncall'],
    directory: 'imported',
  },
  run: runImport,
  judge: judgeImport,
  report: reportImport,
  files: ({ written, files }) =>
    (written ? files : []).map(({ path, content, size }) => {
      if (Buffer.byteLength(content) === size) return { input: 'directory', path, content, isEssential: true, staysInWorkspace: true }
      throw new WatchkeeperError('refused', `No file was written, because "${quoteLong(path)}" would contain a secret of this run.`)
    }),
})
