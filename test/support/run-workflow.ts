import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { data, Evaluator, Lexer, Parser } from '@actions/expressions'
import { parse } from 'yaml'
import { type ProfileName, profileNamed, profileNames } from '../../src/platform/api/profiles.ts'
import { digestOfText } from '../../src/platform/core/digest.ts'
import { defaultApiUrl } from '../../src/platform/operation/inputs.ts'
import type { Operation } from '../../src/platform/operation/operation.ts'
import { allOperations } from './examples.ts'
import { invokeText } from './invoke.ts'
import { type Job, reusableWorkflows, type Step } from './workflows.ts'

// Calls a reusable workflow: its inputs with their defaults, its jobs, and what it hands back.

export interface InputDefinition {
  readonly description?: string
  readonly type: 'string' | 'boolean' | 'number'
  readonly required?: boolean
  readonly default?: string | boolean | number
}

interface Described {
  readonly description?: string
}

interface ReusableWorkflow {
  readonly on: {
    readonly workflow_call: {
      readonly inputs: Readonly<Record<string, InputDefinition>>
      readonly secrets: Readonly<Record<string, Described & { readonly required?: boolean }>>
      readonly outputs: Readonly<Record<string, Described & { readonly value: string }>>
    }
  }
  readonly concurrency: { readonly group: string; readonly 'cancel-in-progress': boolean | string }
  readonly jobs: Readonly<Record<string, RunnableJob>>
}

/** By the file's name between `reusable-` and `.yml`. */
export const reusable: ReadonlyMap<string, ReusableWorkflow> = new Map(
  reusableWorkflows.map(({ name, text }) => [/reusable-(.*)\.yml$/.exec(name)?.[1] ?? '', parse(text) as ReusableWorkflow]),
)

/** The profiles with which each operation of a workflow works. */
export function profilesOf(name: string): readonly ProfileName[] {
  const steps = Object.values(reusable.get(name)?.jobs ?? {}).flatMap((job) => job.steps)
  const used = allOperations.filter((one) => steps.some((step) => step.with?.operation === one.name))
  if (used.length === 0) throw new Error(`reusable-${name}.yml runs no operation`)
  return profileNames.filter((profile) => used.every(({ operation }) => worksWith(operation, profile)))
}

/** A self-hosted server has neither organizations nor services. */
const worksWith = ({ scope }: Operation, profile: ProfileName): boolean =>
  !(profileNamed(profile).isSelfHosted && (scope === 'organization' || scope === 'service'))

/** The context `github` of a push to the default branch. */
export const onMain = {
  event_name: 'push',
  ref: 'refs/heads/main',
  repository: 'shop/infra',
  workflow: 'observability',
  event: { repository: { default_branch: 'main' } },
}

export interface Call {
  readonly inputs: Readonly<Record<string, string | boolean | number>>
  readonly secrets: Readonly<Record<string, string>>
  readonly github: Readonly<Record<string, unknown>>
  /** The repository of the caller, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** What happens before a job starts. */
  readonly before?: Readonly<Record<string, () => void>>
  /** Variables of the runner. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Called {
  readonly jobs: Readonly<Record<string, Ran>>
  readonly outputs: Readonly<Record<string, string>>
}

const nothing = { string: '', boolean: false, number: 0 } as const

function workflowNamed(name: string): ReusableWorkflow {
  const workflow = reusable.get(name)
  if (workflow === undefined) throw new Error(`there is no reusable-${name}.yml`)
  return workflow
}

/** The inputs of a call, with their defaults. */
const inputsOf = ({ on }: ReusableWorkflow, given: Call['inputs']) =>
  Object.fromEntries(
    Object.entries(on.workflow_call.inputs).map(([input, definition]) => [
      input,
      given[input] ?? definition.default ?? nothing[definition.type],
    ]),
  )

export async function callWorkflow(name: string, { inputs: given, secrets, github, ...more }: Call): Promise<Called> {
  const workflow = workflowNamed(name)
  const { outputs } = workflow.on.workflow_call
  const jobs = await runJobs(workflow.jobs, { values: { inputs: inputsOf(workflow, given), secrets, github }, ...more })
  const values = Object.fromEntries(Object.entries(outputs).map(([output, { value }]) => [output, value]))
  return { jobs, outputs: fillAll(values, { values: { jobs } }) }
}

interface CallConditions {
  readonly inputs?: Call['inputs']
  readonly github: Call['github']
}

/** Where a call waits, and whether it cancels the run before it. */
export function concurrencyOf(name: string, { inputs = {}, github }: CallConditions): { group: string; cancelsInProgress: boolean } {
  const workflow = workflowNamed(name)
  const values = { inputs: inputsOf(workflow, inputs), github }
  const { group, 'cancel-in-progress': cancel } = workflow.concurrency
  return { group: fill(group, { values }), cancelsInProgress: isTrue(String(cancel), { values }) }
}

/** Whether a job runs after the jobs that it needs, which succeeded. */
export function isJobDue(name: string, job: string, { needs, ...conditions }: CallConditions & { readonly needs: object }): boolean {
  const workflow = workflowNamed(name)
  const values = { inputs: inputsOf(workflow, conditions.inputs ?? {}), github: conditions.github, needs }
  return isDue(workflow.jobs[job]?.if, { values, passed: true })
}

// Runs the jobs of a workflow as a runner would: conditions, inputs and outputs by GitHub's own expressions, scripts in a shell, and the
// steps of the action in this process. It knows the actions that our workflows use, and no others.

type Texts = Readonly<Record<string, string>>

interface RunnableStep extends Step {
  readonly id?: string
  readonly if?: string
  readonly env?: Texts
  readonly 'continue-on-error'?: boolean
}

export interface RunnableJob extends Omit<Job, 'steps'> {
  readonly if?: string
  readonly env?: Texts
  readonly outputs?: Texts
  readonly steps: readonly RunnableStep[]
}

interface Ran {
  readonly result: 'success' | 'failure' | 'skipped'
  readonly outputs: Texts
  /** The operations that ran, in order. */
  readonly operations: readonly string[]
  /** Why operations did not pass. */
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
  /** What was passed to the action that opens pull requests. */
  readonly pullRequests: readonly PullRequest[]
  /** The files that were uploaded, by path. */
  readonly uploaded: Texts
  /** What scripts wrote to the log, where no mask is seen, and to the summary. */
  readonly log: string
  readonly summary: string
}

interface PullRequest {
  readonly inputs: Texts
  /** The workspace, by path. */
  readonly files: Texts
}

interface Run {
  /** Contexts of expressions: `github`, `inputs`, `secrets`, `vars`. */
  readonly values: Contexts['values']
  /** Of the whole workflow. */
  readonly env?: Texts
  /** The repository, by path. */
  readonly files?: Texts
  /** What happens before a job starts. */
  readonly before?: Readonly<Record<string, () => void>>
}

/** What the repository is called. */
export const repository = 'shop/infra'

export async function runJobs(
  jobs: Readonly<Record<string, RunnableJob>>,
  { values, env = {}, files = {}, before = {} }: Run,
): Promise<Readonly<Record<string, Ran>>> {
  const ran: Record<string, Ran> = {}
  const artifacts = new Map<string, readonly [path: string, content: string]>()
  for (const [id, job] of Object.entries(jobs)) {
    before[id]?.()
    ran[id] = await runJob(job, { values: { ...values, needs: ran }, env, files: new Map(Object.entries(files)), artifacts })
  }
  return ran
}

interface JobContext {
  readonly values: Contexts['values']
  readonly env: Texts
  readonly files: Map<string, string>
  readonly artifacts: Map<string, readonly [path: string, content: string]>
}

interface State extends JobContext {
  readonly env: Record<string, string>
  readonly steps: Record<string, { readonly outputs: Texts; readonly outcome: string }>
  readonly operations: string[]
  readonly reasons: string[]
  readonly warnings: string[]
  readonly pullRequests: PullRequest[]
  readonly uploaded: Record<string, string>
  readonly scripts: { log: string; summary: string }
}

const nothingRan = { outputs: {}, operations: [], reasons: [], warnings: [], pullRequests: [], uploaded: {}, log: '', summary: '' }

async function runJob(job: RunnableJob, around: JobContext): Promise<Ran> {
  const needed = [job.needs ?? []].flat().map((id) => (around.values.needs as Record<string, Ran>)[id]?.result)
  const isNeeded = needed.every((result) => result === 'success')
  if (!isDue(job.if, { ...around, passed: isNeeded })) return { ...nothingRan, result: 'skipped' }
  const env = { ...fillAll(around.env, around), ...fillAll(job.env ?? {}, around) }
  const own = { operations: [], reasons: [], warnings: [], pullRequests: [], uploaded: {}, scripts: { log: '', summary: '' } }
  const state: State = { ...around, ...own, env, steps: {} }
  let passed = true
  for (const step of job.steps) {
    const done: StepDone | undefined = isDue(step.if, { ...contextsOf(state), passed }) ? await runStep(step, state) : undefined
    if (step.id !== undefined) state.steps[step.id] = toStepContext(done)
    passed &&= done?.passed !== false || step['continue-on-error'] === true
  }
  const { operations, reasons, warnings, pullRequests, uploaded, scripts } = state
  const outputs = fillAll(job.outputs ?? {}, contextsOf(state))
  return { result: passed ? 'success' : 'failure', outputs, operations, reasons, warnings, pullRequests, uploaded, ...scripts }
}

const toStepContext = (done: StepDone | undefined) => ({
  outputs: done?.outputs ?? {},
  outcome: done === undefined ? 'skipped' : done.passed ? 'success' : 'failure',
})

const contextsOf = ({ values, steps, env, files }: State): Contexts => ({
  values: { runner: { temp: '/runner/temp' }, ...values, steps, env },
  hashFiles: (path) => (files.has(path) ? digestOfText(files.get(path) ?? '', 64) : ''),
})

/** The texts with their expressions filled in. */
export const fillAll = (texts: Readonly<Record<string, unknown>>, contexts: Contexts): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(String(text), contexts)]))

/** Without a function of the status in its condition, a step or job is due only if what came before it passed. */
function isDue(condition: string | undefined, { passed, ...contexts }: Contexts & { readonly passed: boolean }): boolean {
  if (condition === undefined) return passed
  const filled = condition.replace(/\b(always|success|failure)\(\)/g, (_, name: string) =>
    String(name === 'always' || passed === (name === 'success')),
  )
  return (filled !== condition || passed) && isTrue(filled, contexts)
}

interface StepDone {
  readonly passed: boolean
  readonly outputs: Texts
}

async function runStep({ uses = '', run, with: given = {}, env = {} }: RunnableStep, state: State): Promise<StepDone> {
  const inputs = fillAll(given, contextsOf(state))
  const { name = '', path = '' } = inputs
  if (run !== undefined) return runScript(run, fillAll(env, contextsOf(state)), state)
  if (uses.startsWith('watchkeeper/watchkeeper@'))
    return runOperation(inputs, { ...state, env: { ...state.env, ...fillAll(env, contextsOf(state)) } })
  if (uses.startsWith('peter-evans/create-pull-request@')) return openPullRequest(inputs, state)
  if (uses.startsWith('actions/upload-artifact@')) {
    state.artifacts.set(name, [path, state.files.get(path) ?? ''])
    for (const [file, content] of state.files) if (file === path || file.startsWith(`${path}/`)) state.uploaded[file] = content
  } else if (uses.startsWith('actions/download-artifact@')) state.files.set(...(state.artifacts.get(name) ?? ['nothing', '']))
  else if (!uses.startsWith('actions/checkout@')) throw new Error(`no step of these workflows uses ${uses}`)
  return { passed: true, outputs: {} }
}

async function runOperation(inputs: Texts, { env, files, operations, reasons, warnings }: State): Promise<StepDone> {
  operations.push(inputs.operation ?? '')
  const variables = { GITHUB_REPOSITORY: repository, ...env }
  // The action reads its default like this.
  const given = inputs['api-url'] === defaultApiUrl ? { ...inputs, 'api-url': '' } : inputs
  const ran = await invokeText({ inputs: given, env: variables, files: Object.fromEntries(files) })
  if (ran.document.status !== 'pass') reasons.push(ran.document.failureReason)
  warnings.push(...ran.annotations.flatMap(({ severity, message }) => (severity === 'warning' ? [message] : [])))
  for (const { path, content } of ran.files) files.set(path, content)
  return { passed: ran.exitCode === 0, outputs: { ...ran.outputs, result: JSON.stringify(ran.document) } }
}

/** In the place of the action: it records what it gets. */
function openPullRequest(inputs: Texts, { files, pullRequests }: State): StepDone {
  const body = inputs['body-path'] ?? ''
  if (!files.has(body)) throw new Error(`File '${body}' does not exist.`)
  pullRequests.push({ inputs, files: Object.fromEntries(files) })
  return { passed: true, outputs: { 'pull-request-number': '7', 'pull-request-operation': 'created' } }
}

/** Of the files, scripts of our workflows read only other workflows, and write only below `restore-drill`. */
async function runScript(script: string, env: Texts, state: State): Promise<StepDone> {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-called-'))
  const [variables, outputs, summary] = [join(directory, 'env'), join(directory, 'output'), join(directory, 'summary')]
  try {
    for (const file of [variables, outputs, summary]) writeFileSync(file, '')
    for (const [path, text] of state.files)
      if (path.startsWith('.github/')) {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), text)
      }
    const files = {
      GITHUB_ENV: variables,
      GITHUB_OUTPUT: outputs,
      GITHUB_PATH: join(directory, 'path'),
      GITHUB_STEP_SUMMARY: summary,
      PATH: state.env.PATH ?? process.env.PATH,
    }
    const options = { cwd: directory, env: { ...state.env, ...files, ...env } }
    const passed = await new Promise<boolean>((resolve) => {
      execFile('bash', ['-e', '-o', 'pipefail', '-c', script], options, (error, stdout) => {
        state.warnings.push(...stdout.split('\n').filter((line) => /^::(?:notice|warning|error)::/.test(line)))
        state.scripts.log += stdout.replace(/^::add-mask::.*\n/gm, '')
        resolve(error === null)
      })
    })
    Object.assign(state.env, assignmentsIn(variables))
    state.scripts.summary += readFileSync(summary, 'utf8')
    const written = join(directory, 'restore-drill')
    if (existsSync(written))
      for (const name of readdirSync(written)) state.files.set(`restore-drill/${name}`, readFileSync(join(written, name), 'utf8'))
    return { passed, outputs: assignmentsIn(outputs) }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** `NAME=value`, one a line, as the runner reads its files. */
const assignmentsIn = (file: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      // The last line ends with a newline.
      .slice(0, -1)
      .map((line) => {
        const at = line.indexOf('=')
        if (at < 1) throw new Error(`the runner refuses the line ${JSON.stringify(line)}`)
        return [line.slice(0, at), line.slice(at + 1)]
      }),
  )

// Expressions are evaluated by the evaluator that GitHub publishes.

interface Contexts {
  /** By name: `inputs`, `github`, `steps` and so on. */
  readonly values: Readonly<Record<string, object>>
  /** What `hashFiles` says of a path. */
  readonly hashFiles?: (path: string) => string
}

const toData = (value: unknown): data.ExpressionData => JSON.parse(JSON.stringify(value), data.reviver) as data.ExpressionData

function evaluate(expression: string, { values, hashFiles = () => '' }: Contexts): data.ExpressionData {
  const hash = {
    name: 'hashFiles',
    minArgs: 1,
    maxArgs: 1,
    call: (path: data.ExpressionData) => new data.StringData(hashFiles(path.coerceString())),
  }
  const { tokens } = new Lexer(expression).lex()
  const parsed = new Parser(tokens, Object.keys(values), [hash]).parse()
  const context = new data.Dictionary(...Object.entries(values).map(([key, value]) => ({ key, value: toData(value) })))
  return new Evaluator(parsed, context, new Map([['hashfiles', hash]])).evaluate()
}

/** A text with its expressions filled in. */
const fill = (text: string, contexts: Contexts): string =>
  text.replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => evaluate(expression.trim(), contexts).coerceString())

/** What an `if` says; the brackets may be left out there. */
function isTrue(condition: string, contexts: Contexts): boolean {
  const result = evaluate(condition.replace(/^\$\{\{(.*)\}\}$/s, '$1').trim(), contexts)
  return !['', 'false', '0'].includes(result.coerceString())
}
