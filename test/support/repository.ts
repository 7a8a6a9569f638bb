// The repository of a team, in Git: files, commits, branches, and pull requests that are merged as GitHub merges them.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitHubServer } from './github-server.ts'
import { isAncestor, runGit } from './github-server.ts'

/** Texts by path. Null removes a file. */
export type Edit = Readonly<Record<string, string | null>>

export const mergeMethods = ['squash', 'merge', 'rebase'] as const

export type MergeMethod = (typeof mergeMethods)[number]

export interface Pull {
  readonly number: number
  /** Each is one commit. */
  readonly edits: readonly Edit[]
  readonly head: string
  /** Where it leads to. */
  readonly base: string
}

type Tree = Readonly<Record<string, string>>

export class Repository {
  readonly directory = mkdtempSync(join(tmpdir(), 'watchkeeper-repository-'))
  readonly #github: GitHubServer
  readonly #trees = new Map<string, Tree>()
  #pulls = 0
  #seconds = 1_700_000_000

  constructor(github: GitHubServer) {
    this.#github = github
    runGit(this.directory, 'init', '-q', '-b', 'main', '.')
    github.store.git = this.directory
    github.store.pulls = []
  }

  remove(): void {
    rmSync(this.directory, { recursive: true })
  }

  /** All commits that were ever pushed. */
  get commits(): readonly string[] {
    return [...this.#trees.keys()]
  }

  contains(commit: string, other: string): boolean {
    return isAncestor(this.directory, other, commit)
  }

  /** The files of a commit. */
  filesOf(commit: string): Tree {
    const tree = this.#trees.get(commit)
    if (tree === undefined) throw new Error(`no commit ${commit}`)
    return tree
  }

  head(branch = 'main'): string {
    return runGit(this.directory, 'rev-parse', `refs/heads/${branch}`)
  }

  /** Commits to a branch, on top of its last commit, or of `onto`. */
  push(edit: Edit, options: PushOptions = {}): string {
    return this.pushAll([edit], options).at(-1) ?? ''
  }

  /** A commit for each edit. `parents` are those of the first one. */
  pushAll(
    edits: readonly Edit[],
    { branch = 'main', onto = this.#known(branch), parents = onto === undefined ? [] : [onto] }: PushOptions = {},
  ): readonly string[] {
    const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
    const [from, ...merged] = parents
    const trees: Tree[] = []
    const commits = edits.map((edit, i) => {
      const before = trees.at(-1) ?? (onto === undefined ? {} : this.filesOf(onto))
      const tree = Object.fromEntries(Object.entries({ ...before, ...edit }).filter(([, text]) => text !== null)) as Tree
      trees.push(tree)
      const parent = i > 0 ? `:${i}` : from
      return [
        `commit refs/heads/${branch}\nmark :${i + 1}\ncommitter A Person <a@example.com> ${++this.#seconds} +0000\n${data('change')}`,
        parent === undefined ? '' : `from ${parent}\n`,
        ...(i > 0 ? [] : merged.map((one) => `merge ${one}\n`)),
        'deleteall\n',
        ...Object.entries(tree).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
        `\nget-mark :${i + 1}\n`,
      ].join('')
    })
    // A branch that a push replaces is no longer needed.
    const reset = `reset refs/heads/${branch}\n${from === undefined ? '' : `from ${from}\n`}\n`
    const git = ['-C', this.directory, 'fast-import', '--quiet', '--force']
    const pushed = execFileSync('git', git, { input: reset + commits.join(''), encoding: 'utf8' })
      .trim()
      .split('\n')
    for (const [i, tree] of trees.entries()) this.#trees.set(pushed[i] ?? '', tree)
    return pushed
  }

  #known(branch: string): string | undefined {
    try {
      return this.head(branch)
    } catch {
      return undefined
    }
  }

  /** Sets a branch to a commit, as a force-push does. */
  setBranch(branch: string, commit: string | undefined): void {
    runGit(this.directory, 'update-ref', ...(commit === undefined ? ['-d', `refs/heads/${branch}`] : [`refs/heads/${branch}`, commit]))
  }

  openPull(edits: readonly Edit[], base = 'main'): Pull {
    const number = ++this.#pulls
    const branch = `change-${number}`
    this.setBranch(branch, this.head(base))
    const commits = [...this.pushAll(edits, { branch })]
    this.#github.store.pulls.push({ number, state: 'open', commits, base })
    return { number, edits, head: commits.at(-1) ?? '', base }
  }

  /** Merges into the base, and returns the last commit that this adds to it. */
  merge({ number, edits, head, base }: Pull, method: MergeMethod = 'squash'): string {
    const before = this.head(base)
    const whole = Object.assign({}, ...edits) as Edit
    const brought =
      method === 'rebase'
        ? this.pushAll(edits, { branch: base })
        : [this.push(whole, { branch: base, parents: method === 'merge' ? [before, head] : [before] })]
    const pull = this.#github.store.pulls.find((one) => one.number === number)
    const mergeCommit = brought.at(-1) ?? ''
    const commits = method === 'merge' ? [...brought, ...(pull?.commits ?? [])] : brought
    if (pull !== undefined) Object.assign(pull, { state: 'closed', mergeCommit, brought: commits })
    return mergeCommit
  }
}

interface PushOptions {
  readonly branch?: string
  readonly onto?: string | undefined
  readonly parents?: readonly string[]
}
