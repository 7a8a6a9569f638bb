// Locations of files become links to lines in the repository: in the comment, the issue and the summary, and nowhere else.
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../../../support/corpus.ts'
import { inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { useGitHub } from '../../../support/github-server.ts'
import { runGitHubStep } from '../../../support/notify.ts'
import { nodesOf, parseMarkdown, unexpectedHtml } from '../../../support/output-oracle.ts'
import type { RanAction } from '../../../support/run-process.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
const github = useGitHub()

const commit = 'c'.repeat(40)

/** What actions/checkout leaves behind for a pull request. */
const checkout = (prefix = ''): Readonly<Record<string, string>> => ({
  [`${prefix}.git/HEAD`]: `${commit}\n`,
  [`${prefix}.git/config`]: '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://github.example/acme/shop\n',
})

const page = `https://github.example/acme/shop/blob/${commit}`

/** Its second line has an unknown field. */
const wrong = 'savedSearches:\n  errors: { name: Errors, source: Logs, select: Body, tags: [t], nonsense: 1 }\n'

const validate = (files: Readonly<Record<string, string>>, inputs: Readonly<Record<string, string>> = {}): Promise<RanAction> =>
  runGitHubStep(github(), {
    inputs: { operation: 'validate', profile: 'hyperdx', comment: 'always', issue: 'on-failure', files: '**/*.yml', ...inputs },
    files,
  })

const linksIn = (markdown = ''): readonly string[] =>
  [...nodesOf(parseMarkdown(markdown))].flatMap((node) => ('url' in node ? [String(node.url)] : [])).filter((url) => url.includes('/blob/'))

const foldStart = '<details><summary>Previous report</summary>'

const wholeComment = (): string => github().store.comments.at(-1)?.body ?? ''

/** Without the previous report. */
const comment = (): string => wholeComment().split(foldStart)[0] ?? ''

const annotatedFiles = ({ stdout }: RanAction): readonly string[] =>
  [...stdout.matchAll(/^::error file=(.*?),line=/gm)].map(([, file = '']) => file)

describe('a location', () => {
  it('a location is a link in the comment, the issue and the summary, and text in the log and the result', async () => {
    const ran = await validate({ ...checkout(), 'observability/a.yml': wrong })
    const links = [`${page}/observability/a.yml#L2`]
    expect(linksIn(comment())).toEqual(links)
    expect(comment()).toContain(`| [\`observability/a.yml:2:66\`](${page}/observability/a.yml#L2) |`)
    expect(linksIn(github().store.issues[0]?.body)).toEqual(links)
    expect(linksIn(ran.summary)).toEqual(links)
    expect(ran.stdout).toContain('observability/a.yml:2:66  error')
    expect(ran.stdout + JSON.stringify(ran.result)).not.toContain('/blob/')
  })

  it('a location leads to the commit that is checked out: detached, on a branch, and below the workspace', async () => {
    const file = { 'a.yml': wrong }
    const ssh = '[remote "origin"]\n\turl = git@github.example:acme/shop.git\n'
    const branch = { '.git/config': ssh, '.git/HEAD': 'ref: refs/heads/release/1\n', '.git/refs/heads/release/1': `${'d'.repeat(40)}\n` }
    await validate({ ...branch, ...file })
    expect(linksIn(comment())).toEqual([`https://github.example/acme/shop/blob/${'d'.repeat(40)}/a.yml#L2`])
    const ran = await validate({ ...checkout('sources/shop/'), 'sources/shop/observability/a.yml': wrong })
    expect(linksIn(comment())).toEqual([`${page}/observability/a.yml#L2`])
    expect(annotatedFiles(ran)).toEqual(['observability/a.yml'])
  })

  it('a location leads to the commit of a branch whose reference is packed, and of an origin in any form', async () => {
    const packed = `# pack-refs with: peeled\n${'e'.repeat(40)} refs/heads/main-2\n${'d'.repeat(40)} refs/heads/main\n`
    const head = { '.git/HEAD': 'ref: refs/heads/main\r\n', '.git/packed-refs': packed, 'a.yml': wrong }
    for (const url of [
      'https://github.example/acme/shop/',
      'https://x:y@github.example/Acme/shop.git/',
      'ssh://git@github.example:22/acme/shop',
      'git@github.example:acme/shop.git',
    ]) {
      await validate({ ...head, '.git/config': `[remote "origin"]\r\n\turl = ${url}\r\n` })
      expect(linksIn(comment()), url).toEqual([`https://github.example/acme/shop/blob/${'d'.repeat(40)}/a.yml#L2`])
    }
  })

  it('a location in another repository is text from the workspace on, also where this one is another remote or a submodule', async () => {
    const own = 'url = https://github.example/acme/shop'
    for (const config of [
      `[remote "origin"]\n\turl = https://gitlab.example/acme/shop\n`,
      `[remote "origin"]\n\turl = https://github.example/evil/shop\n[remote "upstream"]\n\t${own}\n`,
      `[remote "origin"]\n\turl = https://github.example/evil/shop\n[submodule "lib"]\n\t${own}\n`,
      `[remote "origin"]\n\turl = https://evil.example/github.example/acme/shop\n`,
    ]) {
      const other = { 'other/.git/HEAD': `${commit}\n`, 'other/.git/config': config, 'other/obs/a.yml': wrong }
      const ran = await validate({ ...checkout(), ...other })
      expect(linksIn(comment()), config).toEqual([])
      expect(annotatedFiles(ran), config).toEqual(['other/obs/a.yml'])
    }
  })

  it('a location is text where the page of the line is unknown', async () => {
    const file = { 'a.yml': wrong }
    const other = { ...checkout(), '.git/config': '[remote "origin"]\n\turl = https://github.example/acme/shop-alerts\n' }
    for (const files of [file, { ...other, ...file }, { ...checkout(), '.git/HEAD': 'ref: refs/heads/gone\n', ...file }]) {
      const ran = await validate(files)
      expect(linksIn(comment())).toEqual([])
      expect(comment()).toContain('| `a.yml:2:66` |')
      expect(annotatedFiles(ran)).toEqual(['a.yml'])
    }
  })

  it('S6: a location with any file name leads only to its line', { tags: 'slow' }, () =>
    forEachEntry(
      ['a b#c?d%20e.yml', 'a](javascript:1).yml', '[x](y).yml', 'a|b.yml', 'a`b.yml', '<img src=x>.yml', 'a&amp;b.yml', 'ü_*_.yml'],
      async (name) => {
        const ran = await validate({ ...checkout(), [`observability/${name}`]: wrong })
        for (const text of [comment(), ran.summary]) {
          const [link = '', ...others] = linksIn(text)
          expect(others).toEqual([])
          expect(decodeURIComponent(link)).toBe(`${page}/observability/${name}#L2`)
          expect(new URL(link).hash).toBe('#L2')
          expect(unexpectedHtml(text.replaceAll(/<!--.*-->/g, ''))).toEqual([])
        }
      },
    ),
  )

  it('a location of the config file is a link and an annotation', async () => {
    const ran = await validate({ ...checkout(), '.watchkeeper.yml': 'profile: hyperdx\nprofle: hyperdx\n' }, { 'comment-label': 'x' })
    expect(comment()).toContain(`\n[\`.watchkeeper.yml:2:1\`](${page}/.watchkeeper.yml#L2): "profle" is an unknown setting`)
    expect(annotatedFiles(ran)).toEqual(['.watchkeeper.yml'])
  })
})

it('objects of a plan and an apply are links to their declarations', async () => {
  const file = 'savedSearches:\n  errors: { name: Errors, source: Logs, select: Body, tags: [t] }\n'
  const step = (operation: string) =>
    runGitHubStep(github(), {
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation, project: 'acme/shop', comment: 'always' },
      files: { ...checkout(), 'observability/a.yml': file },
    })
  const link = (text: string) => `[\`${text}\`](${page}/observability/a.yml#L2)`
  const planned = await step('plan')
  expect(comment()).toContain(`(observability/a.yml:2)\n`)
  expect(comment()).toContain(`\n\`\`\`\n\nIn the files: saved search ${link('errors')}\n\n`)
  expect(planned.stdout).not.toContain('In the files')
  await step('apply')
  expect(comment()).toContain(`| created | saved search | ${link('Errors')} |`)
  // An object that no file declares has no line.
  serviceOf(emulator()).savedSearches.length = 0
  await step('drift')
  expect(linksIn(comment())).toEqual([`${page}/observability/a.yml#L2`])
})

it('the same problem at another commit is no previous report', async () => {
  await validate({ ...checkout(), 'a.yml': wrong })
  await validate({ ...checkout(), '.git/HEAD': `${'d'.repeat(40)}\n`, 'a.yml': wrong })
  expect(linksIn(comment())).toEqual([`https://github.example/acme/shop/blob/${'d'.repeat(40)}/a.yml#L2`])
  expect(wholeComment()).not.toContain(foldStart)
})
