// Older files do not replace newer ones: what teams do on GitHub, from merges and re-runs to force-pushes, and what the service has then.
import { demo } from '../../src/emulator/index.ts'
import { demandEqual, type JobOptions, Story, search } from './github-story.ts'
import type { Edit } from './repository.ts'

const workflow = '.github/workflows/apply.yml'
const { catalog, checkout } = demo.services

/** A file of the project. */
const obs = (key: string): Edit => ({ [`observability/${key}.yml`]: search(key) })
const without = (key: string): Edit => ({ [`observability/${key}.yml`]: null })
const app = (text = '1'): Edit => ({ 'app/main.go': text })

type Verdict = 'applied' | 'refused' | 'failed'

class Team extends Story {
  /** Pushes to main. */
  push(edit: Edit): string {
    return this.repository.push(edit)
  }

  /** Runs the workflow, and tells what it did. */
  async apply(commit: string, options: Omit<JobOptions, 'commit'> = {}): Promise<Verdict> {
    const { exitCode, outputs, result } = await this.job({ commit, ...options })
    const [status, isApplied, reason] = ['status', 'applied', 'failure-reason'].map((name) => outputs.get(name))
    const isRefused = result?.newerFiles !== undefined
    const said = /^Not applied: .* has newer files\. Start the workflow on .* if no run of it follows\. To go back, revert\.$/.test(
      reason ?? '',
    )
    demandEqual(
      'outputs',
      [exitCode === 0 && status !== 'error', isApplied, said],
      [isRefused || exitCode === 0, String(exitCode === 0 && !isRefused), isRefused],
    )
    return isRefused ? 'refused' : exitCode === 0 ? 'applied' : 'failed'
  }

  async demand(right: Verdict, commit: string, options: Omit<JobOptions, 'commit'> = {}): Promise<void> {
    demandEqual(`the run of ${commit}`, await this.apply(commit, options), right)
  }

  /** The service has what the files of a commit say. */
  has(commit: string, { folder, service }: { readonly folder?: string; readonly service?: string } = {}): void {
    demandEqual('the service', this.stored(service), this.declared(commit, folder))
  }
}

const generated = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`app/g${i}.go`, 'x']))

/** What happens, and what is right then. */
export const stories: Readonly<Record<string, (team: Team) => Promise<unknown>>> = {
  async 'usual: merge, apply at the head'(team) {
    const x = team.push(obs('x'))
    await team.demand('applied', x)
    team.has(x)
  },
  async 'rerun of older after newer applied'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    const y = team.push(obs('y'))
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async 'rerun of older, both succeeded'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    const y = team.push(obs('y'))
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async 'both fail in an outage, reruns newest first'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    const y = team.push(obs('y'))
    await team.apply(y, { fails: 'at once' })
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async 'both fail in an outage, reruns oldest first'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    const y = team.push(obs('y'))
    await team.apply(y, { fails: 'at once' })
    await team.demand('refused', x)
    await team.demand('applied', y)
    team.has(y)
  },
  async 'monorepo: app commit lands before the job starts, path filter'(team) {
    const x = team.push(obs('x'))
    team.push(app())
    await team.demand('applied', x)
    team.has(x)
  },
  async 'monorepo: failed apply, app commits since, rerun'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    for (let i = 0; i < 5; i++) team.push(app(`v${i}`))
    await team.demand('applied', x)
    team.has(x)
  },
  async 'monorepo: rerun of failed jobs only, app commits since'(team) {
    const x = team.push({ ...obs('x'), 'environments/staging.yml': 'variables: { A: 1 }', 'environments/prod.yml': 'variables: { A: 2 }' })
    await team.apply(x, { environment: 'staging', service: catalog })
    await team.apply(x, { environment: 'prod', fails: 'at once' })
    team.push(app())
    // The file of another environment is not one that the run reads for its own objects.
    team.push({ 'environments/staging.yml': 'variables: { A: 3 }' })
    await team.demand('applied', x, { environment: 'prod' })
    team.has(x)
  },
  async 'bot bumps the version on main, which starts no run'(team) {
    const x = team.push(obs('x'))
    team.push({ 'package.json': '2' })
    await team.demand('applied', x)
    team.has(x)
  },
  async 'bot bumps after every merge, three merges'(team) {
    for (const key of ['x', 'y', 'z']) {
      const commit = team.push(obs(key))
      team.push({ 'package.json': key })
      await team.demand('applied', commit)
      team.has(commit)
    }
  },
  async '[skip ci] commit of the app at the head'(team) {
    const x = team.push(obs('x'))
    team.push(app())
    await team.demand('applied', x)
    team.has(x)
  },
  async '[skip ci] commit of the project at the head'(team) {
    const x = team.push(obs('x'))
    const y = team.push(obs('y'))
    await team.demand('refused', x)
    // "Start the workflow on main if no run of it follows."
    await team.demand('applied', y, { event: 'workflow_dispatch' })
    team.has(y)
  },
  async 'two projects by folders: other project at the head'(team) {
    const [a, b] = [
      { files: 'svc/a/*.yml', project: 'acme/a' },
      { files: 'svc/b/*.yml', project: 'acme/b', service: catalog },
    ]
    const x = team.push({ 'svc/a/1.yml': search('a1') })
    const y = team.push({ 'svc/b/1.yml': search('b1') })
    await team.demand('applied', y, b)
    await team.demand('applied', x, a)
    team.has(x, { folder: 'svc/a' })
    team.has(y, { folder: 'svc/b', service: catalog })
  },
  async 'two projects: rerun of older a after newer a'(team) {
    const a = { files: 'svc/a/*.yml' }
    const x = team.push({ 'svc/a/1.yml': search('a1') })
    await team.apply(x, { ...a, fails: 'at once' })
    const y = team.push({ 'svc/a/2.yml': search('a2') })
    await team.apply(y, a)
    team.push({ 'svc/b/2.yml': search('b2') })
    await team.demand('refused', x, a)
    team.has(y, { folder: 'svc/a' })
  },
  async 'matrix of services at one commit, app commit between the legs'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    team.push(app())
    await team.demand('applied', x, { service: catalog })
    team.has(x)
    team.has(x, { service: catalog })
  },
  async 'reviewer approves after 30 minutes, app commits since'(team) {
    const x = team.push(obs('x'))
    await team.job({ operation: 'plan', commit: x, planFile: true })
    for (let i = 0; i < 9; i++) team.push(app(`v${i}`))
    await team.demand('applied', x, { planFile: true })
    team.has(x)
  },
  async 'reviewer approves x while y (same project) waits in the group'(team) {
    const x = team.push(obs('x'))
    const y = team.push(obs('y'))
    await team.demand('refused', x)
    await team.demand('applied', y)
    team.has(y)
  },
  // A limit: approve the newest run.
  async 'reviewer: each approval is overtaken by the next merge of the project (5 times)'(team) {
    let commit = team.push(obs('m'))
    for (let i = 0; i < 5; i++) {
      const next = team.push(obs(`m${i}`))
      await team.demand('refused', commit)
      commit = next
    }
    await team.demand('applied', commit)
    team.has(commit)
  },
  async 'reviewer: each approval is overtaken by a merge of the app (5 times)'(team) {
    const commit = team.push(obs('m'))
    for (let i = 0; i < 5; i++) {
      team.push(app(`q${i}`))
      await team.demand('applied', commit)
    }
    team.has(commit)
  },
  async 'late approval of x after y was applied, without a concurrency group'(team) {
    const x = team.push(obs('x'))
    await team.job({ operation: 'plan', commit: x, planFile: true })
    const y = team.push(obs('y'))
    await team.apply(y)
    await team.demand('refused', x, { planFile: true })
    team.has(y)
  },
  async 'runs out of order'(team) {
    const x = team.push(obs('x'))
    const y = team.push(obs('y'))
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async 'three pushes in a second, middle one canceled'(team) {
    const x = team.push(obs('x'))
    team.push(obs('y'))
    const z = team.push(obs('z'))
    await team.apply(x)
    await team.demand('applied', z)
    team.has(z)
  },
  async 'three pushes, the last one is of the app only; first one canceled'(team) {
    team.push(obs('x'))
    const y = team.push(obs('y'))
    team.push(app())
    await team.demand('applied', y)
    team.has(y)
  },
  async 'cancel-in-progress: x stopped in the middle, y applies'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'in part' })
    const y = team.push(obs('y'))
    await team.demand('applied', y)
    team.has(y)
  },
  async 'merge queue: two pull requests in one push'(team) {
    team.push(obs('x'))
    const y = team.push(obs('y'))
    await team.demand('applied', y)
    team.has(y)
  },
  async 'merge_group run that applies, its branch is gone'(team) {
    const x = team.push(obs('x'))
    const ref = 'refs/heads/gh-readonly-queue/main/pr-1-abc'
    await team.demand('applied', x, { event: 'merge_group', ref })
    team.has(x)
  },
  async 'schedule at the head'(team) {
    const x = team.push(obs('x'))
    await team.demand('applied', x, { event: 'schedule' })
    team.has(x)
  },
  async 'rerun of a nightly run after newer merge applied'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { event: 'schedule' })
    const y = team.push(obs('y'))
    await team.apply(y)
    await team.demand('refused', x, { event: 'schedule' })
    team.has(y)
  },
  async 'newer was a direct push without a pull request; rerun of older'(team) {
    const x = team.repository.merge(team.repository.openPull([obs('x')]))
    await team.apply(x)
    const y = team.push(obs('y'))
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async 'workflow_dispatch on a feature branch with its own service'(team) {
    const { repository } = team
    repository.setBranch('feature/a', repository.head())
    const feature = repository.push(obs('f'), { branch: 'feature/a' })
    team.push(obs('y'))
    const options = { event: 'workflow_dispatch', ref: 'refs/heads/feature/a', service: catalog }
    await team.demand('applied', feature, options)
    team.has(feature, { service: catalog })
  },
  async 'deploy branch: main merged into production, main moves on'(team) {
    const x = team.push(obs('x'))
    team.repository.setBranch('production', x)
    team.push(obs('y'))
    await team.demand('applied', x, { ref: 'refs/heads/production' })
    team.has(x)
  },
  async 'deploy branch: rerun of older promotion'(team) {
    const ref = 'refs/heads/production'
    const x = team.push(obs('x'))
    team.repository.setBranch('production', x)
    await team.apply(x, { ref })
    const y = team.push(obs('y'))
    team.repository.setBranch('production', y)
    await team.apply(y, { ref })
    await team.demand('refused', x, { ref })
    team.has(y)
  },
  async 'branch deleted since, rerun'(team) {
    const { repository } = team
    repository.setBranch('f', repository.head())
    const feature = repository.push(obs('f'), { branch: 'f' })
    repository.setBranch('f', undefined)
    await team.demand('applied', feature, { ref: 'refs/heads/f' })
    team.has(feature)
  },
  async 'tag deploys, main moved on'(team) {
    const x = team.push(obs('x'))
    team.push(obs('y'))
    await team.demand('applied', x, { ref: 'refs/tags/v1' })
    team.has(x)
  },
  // A limit: tags are not compared, so that a start on an older tag goes back.
  async 'tag: rerun of v1 after v2 applied'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { ref: 'refs/tags/v1' })
    const y = team.push(obs('y'))
    await team.apply(y, { ref: 'refs/tags/v2' })
    await team.demand('applied', x, { ref: 'refs/tags/v1' })
    team.has(x)
  },
  async 'roll back on purpose: dispatch on tag v1 after v2'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { ref: 'refs/tags/v1' })
    const y = team.push(obs('y'))
    await team.apply(y, { ref: 'refs/tags/v2' })
    await team.demand('applied', x, { ref: 'refs/tags/v1', event: 'workflow_dispatch' })
    team.has(x)
  },
  async 'roll back on purpose: rerun of an old run of main'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    const y = team.push(obs('y'))
    await team.apply(y)
    // It cannot be told from a mistake, and the text says to revert.
    await team.demand('refused', x)
    team.has(y)
  },
  async 'roll back by revert'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    const reverted = team.push(without('x'))
    await team.demand('applied', reverted)
    team.has(reverted)
  },
  async 'x failed, reverted and applied, then rerun of x'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    const reverted = team.push(without('x'))
    await team.apply(reverted)
    await team.demand('refused', x)
    team.has(reverted)
  },
  async 'x applied, reverted, landed again; rerun of x'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    await team.apply(team.push(without('x')))
    const again = team.push(obs('x'))
    await team.apply(again)
    await team.demand('applied', x)
    team.has(again)
  },
  async 'force-push: x amended to x2, x2 applied, rerun of x'(team) {
    const before = team.repository.head()
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    team.repository.setBranch('main', before)
    const amended = team.push(obs('x2'))
    await team.apply(amended)
    await team.demand('refused', x)
    team.has(amended)
  },
  async 'force-push: main set back before x, rerun of x'(team) {
    const before = team.repository.head()
    await team.apply(before)
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    team.repository.setBranch('main', before)
    await team.apply(before)
    await team.demand('refused', x)
    team.has(before)
  },
  async 'force-push: history rewritten, files the same, rerun'(team) {
    const before = team.repository.head()
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    team.repository.setBranch('main', before)
    demandEqual('another commit', team.push(obs('x')) === x, false)
    await team.demand('applied', x)
    team.has(x)
  },
  async '400 generated files of the app at the head, then a project file'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    const y = team.push({ ...generated, ...obs('y') })
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async '400 generated files of the app at the head only'(team) {
    const x = team.push(obs('x'))
    team.push(generated)
    await team.demand('applied', x)
    team.has(x)
  },
  async 'checkout with ref: main in an old run'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    const y = team.push(obs('y'))
    await team.demand('applied', x, { checkedOut: y })
    team.has(y)
  },
  async 'workflow_run after slow tests: GITHUB_SHA is the head, the checkout is older, newer applied'(team) {
    const x = team.push(obs('x'))
    const y = team.push(obs('y'))
    const tested = { event: 'workflow_run', payload: { workflow_run: { head_branch: 'main' } } }
    await team.apply(y, { ...tested, checkedOut: y })
    await team.demand('refused', y, { ...tested, checkedOut: x })
    team.has(y)
  },
  // A limit: values in the file of the workflow are not compared, because each new pin of an action would stop a re-run.
  async 'variables in the workflow changed since, rerun of older'(team) {
    const files = { 'observability/x.yml': search('x', `'\${{ env.VALUE }}'`), [workflow]: 'VALUE: 1' }
    const x = team.push(files)
    await team.apply(x, { env: { WATCHKEEPER_VAR_VALUE: 'one' } })
    const y = team.push({ [workflow]: 'VALUE: 2' })
    await team.apply(y, { env: { WATCHKEEPER_VAR_VALUE: 'two' } })
    await team.demand('applied', x, { env: { WATCHKEEPER_VAR_VALUE: 'one' } })
    demandEqual('the value', team.stored().x, 'one')
  },
  async 'environment file changed since, rerun of older'(team) {
    const environment = 'prod'
    const x = team.push({ 'observability/x.yml': search('x', `'\${{ env.VALUE }}'`), 'environments/prod.yml': 'variables: { VALUE: one }' })
    await team.apply(x, { environment })
    const y = team.push({ 'environments/prod.yml': 'variables: { VALUE: two }' })
    await team.apply(y, { environment })
    await team.demand('refused', x, { environment })
    demandEqual('the value', team.stored().x, 'two')
  },
  async 'file renamed since (no other change), rerun of older'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    const y = team.push({ ...without('x'), 'observability/other.yml': search('x') })
    await team.apply(y)
    await team.demand('refused', x)
    team.has(y)
  },
  async 'y is invalid and fails; rerun of x'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    const y = team.push({ 'observability/y.yml': '{{{' })
    await team.demand('failed', y)
    await team.demand('refused', x)
  },
  async 'no token'(team) {
    const x = team.push(obs('x'))
    team.push(app())
    await team.demand('applied', x, { inputs: { 'github-token': '' } })
    team.has(x)
  },
  async 'token without contents: read'(team) {
    const x = team.push(obs('x'))
    team.github.store.may.contents = false
    team.push(app())
    const ran = await team.job({ commit: x })
    demandEqual(
      'the note',
      ran.stdout.includes(
        'The files are not compared with the head of main: GitHub answered 403: Resource not accessible by integration. The branch is gone, or the job needs contents: read',
      ),
      true,
    )
    team.has(x)
  },
  async 'rebase merge of three commits, app commit after'(team) {
    const x = team.repository.merge(team.repository.openPull([obs('x1'), obs('x2'), obs('x3')]), 'rebase')
    team.push(app())
    await team.demand('applied', x)
    team.has(x)
  },
  async 'drift pull request merged by a bot, which starts no run; rerun of older'(team) {
    const x = team.push(obs('x'))
    await team.apply(x)
    team.push({ 'observability/base.yml': search('base', 'changed') })
    await team.demand('refused', x)
  },
  async 'globs at the root, app commit at the head'(team) {
    const files = '**/*.yml'
    const x = team.push({ ...obs('x'), [workflow]: 'on: push' })
    // A hidden file is not read.
    team.push({ ...app(), [workflow]: 'on: [push]' })
    await team.demand('applied', x, { files })
    team.has(x)
    team.push({ 'deep/er/z.yml': search('z') })
    await team.demand('refused', x, { files })
  },
  async 'README in the folder of the project changed at the head'(team) {
    const x = team.push(obs('x'))
    const y = team.push({ 'observability/README.md': 'hi' })
    await team.demand('applied', x)
    await team.demand('applied', y)
    team.has(x)
  },
  async 'only a comment in the workflow file changed at the head'(team) {
    const x = team.push(obs('x'))
    team.push({ [workflow]: '# a comment' })
    await team.demand('applied', x)
    team.has(x)
  },
  async 'dependabot bumps the pin of the action in the workflow, then rerun of the failed apply'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    team.push({ [workflow]: 'uses: watchkeeper/watchkeeper@v2' })
    await team.demand('applied', x)
    team.has(x)
  },
  async 'two workflows for two branches and two services, rerun on main'(team) {
    const x = team.push(obs('x'))
    team.repository.setBranch('prod', x)
    await team.apply(x, { fails: 'at once' })
    await team.apply(x, { ref: 'refs/heads/prod', service: catalog })
    team.push(app())
    await team.demand('applied', x)
    team.has(x, { service: checkout })
    team.has(x, { service: catalog })
  },
  // More than the 60 stories of a usual repository.
  async 'the config file appears only at the head'(team) {
    const x = team.push(obs('x'))
    await team.apply(x, { fails: 'at once' })
    team.push({ '.watchkeeper.yml': 'project: acme/shop\n' })
    await team.demand('refused', x)
  },
  async 'a checkout in a folder of the workspace, named as a folder'(team) {
    const options = { folder: 'main', files: 'main/observability' }
    const x = team.push(obs('x'))
    team.push(app())
    await team.demand('applied', x, options)
    const y = team.push(obs('y'))
    await team.demand('refused', x, options)
    await team.demand('applied', y, options)
    team.has(y)
  },
  async 'more files than GitHub lists'(team) {
    const x = team.push(obs('x'))
    team.push(obs('y'))
    team.github.store.hasManyFiles = true
    const ran = await team.job({ commit: x })
    demandEqual('the note', ran.stdout.includes('The files are not compared with the head of main: the list of files is too long'), true)
    team.has(x)
  },
  async 'a plan of older files that is saved for another job'(team) {
    const x = team.push(obs('x'))
    team.push(obs('y'))
    const { exitCode, outputs, written } = await team.job({ operation: 'plan', commit: x, planFile: true })
    const saved = ['status', 'needs-apply', 'plan-file'].map((name) => outputs.get(name))
    demandEqual('the plan', [exitCode, ...saved, written], [0, 'warn', 'false', '', {}])
    // A plan that is only shown is one of these files.
    const shown = await team.job({ operation: 'plan', commit: x })
    demandEqual('the shown plan', [shown.outputs.get('status'), shown.outputs.get('changed')], ['pass', 'true'])
  },
}

/** Plays a story of a new team. */
export async function playStory(
  play: (team: Team) => Promise<unknown>,
  ...[github, emulator, isBuilt]: ConstructorParameters<typeof Story>
): Promise<void> {
  const team = new Team(github, emulator, isBuilt)
  try {
    team.push({ ...obs('base'), ...app('0'), [workflow]: 'threshold: 1' })
    await play(team)
  } finally {
    team.end()
  }
}
