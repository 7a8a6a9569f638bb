import * as z from 'zod'
import { inputError, WatchkeeperError } from '../core/errors.ts'
import { isMapping, withoutUndefined } from '../core/keys.ts'
import { counted, join, type Line, say, sentence, trusted } from '../core/line.ts'
import { nameFirst, plural, quote } from '../core/text.ts'
import type { Body } from '../kinds/kind.ts'
import { createKinds } from '../kinds/kinds.ts'
import { connectionCollection } from '../kinds/source/source-wire.ts'
import { filePath, flag, glob, lines } from '../operation/inputs.ts'
import { type Context, defineOperation, noFields } from '../operation/operation.ts'
import { type Block, countFacts } from '../report/blocks.ts'
import { pass, type Report, type Verdict } from '../report/report.ts'
import { table } from '../report/table.ts'
import { claimKey } from '../sync/pull/select.ts'
import { type NewFields, writeNewFile } from '../sync/pull/write-yaml.ts'
import { type Comparison, compareQueries, comparisonSchema } from './check.ts'
import { readGrafanaFile } from './grafana-file.ts'
import { type Outcome, outcomeSchema, translateRule, withoutEffect } from './translate.ts'

const pair = z.string().regex(/^[^=\r\n]+=[^\r\n]+$/)

const inWorkspace = 'a directory inside the workspace'

const input = z.strictObject({
  files: lines(
    'Alert rules of Grafana, as provisioned or exported, in YAML or JSON.',
    'globs inside the workspace, one per line',
    glob,
  ).min(1),
  connection: lines('Connections by the uid of a data source: `UID=NAME`.', 'UID=NAME, one per line', pair).min(1),
  webhook: lines('Webhooks by contact point: `CONTACT=NAME`; `*` is for rules without one.', 'CONTACT=NAME, one per line', pair).min(1),
  directory: filePath('Directory for the new files, one for each folder. A file with other content is an error.', inWorkspace).default(
    'observability',
  ),
  allowPartial: flag('Writes the other rules although some are refused. Otherwise the run fails, and writes nothing.').default(false),
  check: flag('Compares each query with the original over 24 windows of the last day. Needs the settings of a server.').default(false),
})

const importedRule = outcomeSchema.extend({
  key: z.string().optional().describe('Key of the alert. Absent for rules that are not written.'),
  check: comparisonSchema.optional(),
})

const details = z.object({
  exact: z.int().describe('Rules whose alerts have the same values and states.'),
  changed: z.int().describe('Rules with differences.'),
  refused: z.int().describe('Rules without an equivalent.'),
  paused: z.int().describe('Paused rules, which are not written.'),
  differing: z.int().describe('Rules whose values differ, with `check`.'),
  rules: z.array(importedRule).describe('All rules, in the order of the files, with each difference in a sentence.'),
  notes: z.array(z.string()).describe('What stays in Grafana, and fields that do not affect an alert.'),
  written: z.boolean().describe('Whether the files were written.'),
  files: z.array(z.object({ path: z.string(), content: z.string(), size: z.int() })).describe('The declarations by file.'),
})

type Input = z.output<typeof input>
type Result = z.output<typeof details>
type Rule = Result['rules'][number]
type ImportContext = Context<'read', 'none'>

/** The key is that of the alert. */
type Imported = Outcome & { readonly key?: string }

async function runImport(context: ImportContext, given: Input): Promise<Result> {
  const { paths } = await context.files.find(given.files, 'files')
  const read = await Promise.all(paths.map(async (path) => readGrafanaFile(await context.files.read(path, 'files'), path)))
  const rules = read.flatMap((one) => one.rules)
  if (rules.length === 0) throw inputError('files', paths.length === 0 ? 'match no file' : 'have no alert rules')
  const choices = { connections: toMap(given.connection), webhooks: toMap(given.webhook) }
  const keys = new Set<string>()
  const imported = rules.map((rule): Imported => {
    const outcome = translateRule(rule, choices)
    if (outcome.translated === undefined) return outcome
    return { ...outcome, key: claimKey({ name: outcome.title, id: outcome.uid, noun: 'rule' }, keys) }
  })
  const checked = given.check ? await compareAll(context, imported) : []
  const shown = imported.map(({ translated: _, ...one }, i): Rule => withoutUndefined({ ...one, check: checked[i] }))
  const numberOf = (result: Rule['result']): number => shown.filter((rule) => rule.result === result).length
  const counts = { exact: numberOf('exact'), changed: numberOf('changed'), refused: numberOf('refused'), paused: numberOf('paused') }
  const differing = shown.filter(({ check }) => check?.difference !== undefined).length
  const written = counts.exact + counts.changed > 0 && (counts.refused + differing === 0 || given.allowPartial)
  const files = toFiles(imported, given.directory.replace(/\/+$/, ''), context)
  if (written) await refuseExisting(context, files)
  const unused = [...new Set(rules.flatMap(({ value }) => unusedFields(value)))].toSorted()
  const ofFields = unused.length === 0 ? [] : [`Without effect on an alert: ${unused.join(', ')}`]
  const notes = [...read.flatMap((one) => one.notes), ...ofFields]
  return { ...counts, differing, rules: shown, notes, written, files: [...files] }
}

const toMap = (all: readonly string[]): ReadonlyMap<string, string> =>
  new Map(all.map((one) => [one.slice(0, one.indexOf('=')).trim(), one.slice(one.indexOf('=') + 1).trim()]))

/** What the data source reads, or an expression. */
const usedInModel = /^(?:rawSql|format|intervalMs|table|column|datasource|fillMode|type|expression|conditions|reducer|settings)$/

function unusedFields(rule: unknown): readonly string[] {
  const { data, ...fields } = isMapping(rule) ? rule : {}
  const models = (Array.isArray(data) ? data : []).flatMap((one: unknown) => (isMapping(one) && isMapping(one.model) ? [one.model] : []))
  const inModels = models.flatMap((model) => Object.keys(model).filter((key) => !usedInModel.test(key)))
  return [...Object.keys(fields).filter((key) => withoutEffect.test(key)), ...inModels.map((key) => `model.${quote(key, 40)}`)]
}

/** The longest name of a dashboard that files accept. */
const maxNameLength = 1024

/** One file for each folder, with a dashboard for each group. */
function toFiles(imported: readonly Imported[], directory: string, { profile }: ImportContext): Result['files'] {
  const kinds = createKinds(profile, 0)
  const [names, dashboards] = [new Set<string>(), new Set<string>()]
  const written = imported.filter(({ key }) => key !== undefined)
  return [...Map.groupBy(written, (one) => one.folder)].map(([folder, ofFolder]) => {
    const objects = [...Map.groupBy(ofFolder, (one) => one.group)].flatMap(([group, ofGroup]): readonly NewFields[] => {
      const whole = [folder, group].filter((part) => part !== '').join(' / ') || 'Grafana'
      const name = whole.slice(0, maxNameLength).toWellFormed()
      const dashboard = claimKey({ name, id: '', noun: 'group' }, dashboards)
      const alerts = ofGroup.map(({ translated, key = '' }): NewFields => {
        const { name: title, query, ...fields }: Body = translated?.alert ?? {}
        return { kind: 'alert', key, after: { name: title, query, dashboard, ...fields } }
      })
      return [{ kind: 'dashboard', key: dashboard, after: { name } }, ...alerts]
    })
    const path = `${directory}/${claimKey({ name: folder || 'grafana', id: '', noun: 'folder' }, names)}.yml`
    const content = writeNewFile(path, objects, kinds)
    return { path, content, size: Buffer.byteLength(content) }
  })
}

/** A file may have been edited since the last import. */
async function refuseExisting({ files }: ImportContext, wanted: Result['files']): Promise<void> {
  for (const { path, content } of wanted) {
    const { paths } = await files.find([path], 'directory').catch(() => ({ paths: [] }))
    if (paths.length > 0 && (await files.read(path, 'directory')) !== content)
      throw inputError('directory', `has ${path} already, with other content; remove that file, or choose another directory`)
  }
}

async function compareAll(context: ImportContext, imported: readonly Imported[]): Promise<readonly (Comparison | undefined)[]> {
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
    const names = connections.map(({ name }) => quote(name, 60))
    const found = connections.find(({ name, id }) => name === connection || id === connection)
    if (found === undefined && api.profile.isSelfHosted)
      throw inputError(
        'connection',
        `"${quote(connection, 60)}" is not a connection of the server, which has ${nameFirst(names, 10) || 'none'}`,
      )
    checked[i] = await compareQueries({ api, service, nowMs: clock.now(), connectionId: found?.id ?? '' }, translated)
    await progress({ done: i + 1, total: imported.length, line: say`rule ${title}`, result: async () => ({}) })
  }
  return checked
}

function judgeImport({ refused, differing, rules, written }: Result, { allowPartial }: Input): Verdict {
  const unchecked = rules.filter(({ check }) => check?.reason !== undefined).length
  const ofValues = differing > 0 ? [say`the values of ${counted(differing, 'rule')} differ`] : []
  const advice = say`nothing was written; correct the refused rules, or set allow-partial to write the others`
  if (refused > 0 && !allowPartial) return { status: 'fail', reasons: [advice, ...ofValues] }
  if (differing > 0) return { status: 'fail', reasons: ofValues }
  if (!written) return { status: 'warn', reasons: [say`no rule is to be written`] }
  return unchecked > 0 ? { status: 'warn', reasons: [say`${counted(unchecked, 'rule')} could not be compared`] } : pass
}

/** A long table is cut, so what needs attention comes first. */
const order: readonly string[] = ['refused', 'changed', 'paused', 'exact']

const statuses = { exact: 'pass', changed: 'warn', refused: 'fail', paused: 'warn' } as const

function describeCheck({ check }: Rule): Line {
  if (check === undefined) return []
  if (check.reason !== undefined) return sentence(`not compared: ${check.reason}`)
  return sentence(check.difference ?? `equal in ${plural(check.windows, 'window')}, ${check.withValues} of them with a value`)
}

function reportImport({ rules, exact, changed, refused, paused, files, written, notes }: Result): Report {
  const isChecked = rules.some(({ check }) => check !== undefined)
  const columns = {
    Rule: ({ title }: Rule) => title,
    Group: ({ folder, group }: Rule) => [folder, group].filter(Boolean).join(' / '),
    Result: ({ result }: Rule) => trusted(result),
    Why: ({ differences, reason }: Rule) => (reason === undefined ? join(differences.map(sentence), '; ') : sentence(reason)),
    ...(isChecked && { Values: describeCheck }),
  }
  const sorted = rules.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result))
  const blocks: readonly Block[] = [
    countFacts({ Exact: exact, Changed: changed, Refused: refused, Paused: paused }),
    table('Rules', sorted, columns, ({ result, check }) => (check?.difference === undefined ? statuses[result] : 'fail')),
    { kind: 'list', items: [...notes.map(sentence), ...(written ? files.map(({ path }) => say`Wrote ${path}`) : [])] },
  ]
  const headline = say`${counted(rules.length, 'rule')} of Grafana: ${exact} exact, ${changed} changed, ${refused} refused, ${paused} paused`
  return { headline, blocks }
}

export const importRules = defineOperation({
  summary: 'Translates alert rules of Grafana on ClickHouse to declared alerts, offline, and says for each rule what changes.',
  effect: 'read',
  scope: 'none',
  scopeWith: ({ check }) => (check === true ? 'service-or-server' : 'none'),
  isOutsideOfAction: true,
  input,
  positional: 'files',
  output: noFields,
  details,
  example: {
    files: ['examples/grafana/checkout.yml'],
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
      throw new WatchkeeperError('refused', `No file was written, because "${quote(path)}" would contain a secret of this run.`)
    }),
})
